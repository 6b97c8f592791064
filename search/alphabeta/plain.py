"""Alpha-beta on the Python backend: any game that follows the formalism, in plain Python.

It is the same algorithm as the kernel beside it, node for node (without a table), and the kernel's oracle.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Action, Game, State
from evallearn.core.search import Limits, SearchResult
from evallearn.errors import EvaluatorError, Interrupted
from evallearn.search.alphabeta.margins import (
    ASPIRATION,
    EVAL_ORDER_DEPTH,
    FUTILITY,
    FUTILITY_DEPTH,
    INSIDE,
    LATE_DEPTH,
    LATE_FROM,
    NULL_DEPTH,
    eval_score,
    late_reduction,
    null_reduction,
    shifted,
)
from evallearn.search.alphabeta.options import Options
from evallearn.search.common.budget import Budget, Stopped
from evallearn.search.common.requirements import MAX_DEPTH, require_unfinished, tie_ranks, values_to_all

EXACT, LOWER, UPPER = 1, 2, 3
TABLE_SCORE, NOISY_SCORE, KILLER_SCORES, HISTORY_CAP = 1 << 30, 1 << 29, ((1 << 28) + 1, 1 << 28), 1 << 27
ZERO = np.float32(0)
Line = tuple[Action, ...]


class PlainAlphaBeta:
    """See `AlphaBeta` for what it promises."""

    def __init__(self, game: Game, evaluator: Evaluator, options: Options) -> None:
        self.game, self.evaluator, self.options = game, evaluator, options

    def search_without(self, off: Sequence[str], s: State, limits: Limits) -> SearchResult:
        """One search with these options off."""
        search = PlainAlphaBeta(self.game, self.evaluator, self.options.without(off))
        return search.search(s, limits, seed=None, action_values=False)

    def search(self, s: State, limits: Limits, *, seed: int | None, action_values: bool) -> SearchResult:
        """Search by iterative deepening until a limit strikes or the value is proven."""
        require_unfinished(self.game, s)
        self.budget = Budget(limits.nodes, limits.seconds)
        self.table: dict[tuple[State, int], tuple[int, int, bool, float, Action]] = {}
        self.killers: dict[int, list[Action]] = defaultdict(list)
        self.history: dict[tuple[int, Action], int] = defaultdict(int)
        self.eval_calls = self.leaf_calls = self.unsound = self.unproven = 0
        """eval_calls: how often an evaluator was needed so far; a subtree that did not raise it is proven. unproven:
        how often something unsound told of a win or a loss."""
        player, actions = self.game.to_play(s), tuple(self.game.actions(s))
        self.ranks = tie_ranks(len(actions), seed)
        first = self.ranks.index(0)
        self.order = [first, *(i for i in range(len(actions)) if i != first)]
        value, best = self.evaluator.evaluate(s, player), first
        line: Line = (actions[first],)
        depth = value_depth = 0
        exact, values = False, None
        interrupted, wins = False, self.game.utility_range
        free = limits.nodes is not None or limits.seconds is not None
        older = value
        try:
            for d in range(1, min(limits.depth or MAX_DEPTH, MAX_DEPTH) + 1):
                before, near, older = self.eval_calls, older, value
                found = self._iteration(s, player, actions, d, near, action_values)
                (value, best, line, values), depth, exact = (
                    found,
                    d,
                    self.eval_calls == before,
                )  # at once: Ctrl-C may come
                value_depth = d
                # At a fixed depth the answer is minimax's at that depth; otherwise a proven win or loss is enough.
                if exact or (free and value in wins):
                    break
        except Stopped:  # what was finished before the limit struck counts, and perhaps what is better already
            better = self.options.use_partial_iteration and not action_values and self.new_best
            if better and better[1] != best:
                value, best = better
                line, value_depth = (actions[best],), depth + 1
                self.unsound += 1
                self.unproven += value == wins[0]  # an action that was not looked at may be better
        except KeyboardInterrupt:
            interrupted = True
        result = SearchResult(
            action=actions[best],
            value=value + 0.0,  # a draw is 0.0, not -0.0
            player=player,
            depth=depth,
            nodes=self.budget.nodes,
            pv=line,
            exact=(exact and not self.unsound) or (value_depth > 0 and value in wins and not self.unproven),
            seconds=self.budget.seconds,
            action_values=dict(zip(actions, values, strict=True)) if values and action_values else None,
            leaf_calls=self.leaf_calls,
            value_depth=value_depth,
            values=values_to_all(self.game, player, value),
        )
        if interrupted:
            raise Interrupted(result)
        return result

    # --- the root ----------------------------------------------------------------------------------------------------
    def _iteration(
        self, s: State, player: int, actions: Line, depth: int, near: float, all_values: bool
    ) -> tuple[float, int, Line, list[float]]:
        """Value, index of the best action, line, and all values at `depth`; aspiration looks near `near` first."""
        floor, ceiling = -math.inf, math.inf
        if self.options.aspiration and depth > 2 and not all_values:
            margin = ASPIRATION * self.game.utility_range[1]
            floor, ceiling = float(np.float32(near - margin)), float(np.float32(near + margin))
        while True:
            found = self._root(s, player, actions, depth, floor, ceiling, all_values)
            if found[0] <= floor:
                floor = -math.inf
            elif found[0] >= ceiling:
                ceiling = math.inf
            else:
                return found

    def _root(
        self, s: State, player: int, actions: Line, depth: int, floor: float, ceiling: float, all_values: bool
    ) -> tuple[float, int, Line, list[float]]:
        """One look at the root actions in the order of the last iterations.

        A value up to `floor` is an upper bound, one from `ceiling` on a lower bound. Ties go to the lower rank: such an
        action is searched with a window that includes the tie.
        """
        self.new_best: tuple[float, int] | None = None
        self.budget.spend()
        values = [-math.inf] * len(actions)
        best, best_index = -math.inf, -1
        pv: Line = ()
        for i in self.order:
            low = max(best, floor)
            if all_values:
                low = -math.inf
            elif best > floor and self.ranks[i] < self.ranks[best_index]:
                low = math.nextafter(best, -math.inf)
            high = ceiling
            if self.options.pvs and best_index >= 0 and low > -math.inf:
                high = min(ceiling, math.nextafter(low, math.inf))
            child = self.game.result(s, actions[i])
            v, line = self._child(child, player, depth - 1, 1, low, high)
            if low < v < ceiling and high < ceiling:
                v, line = self._child(child, player, depth - 1, 1, low, ceiling)
            values[i] = v
            if v > best or (v == best and self.ranks[i] < self.ranks[best_index]):
                best, best_index, pv = v, i, (actions[i], *line)
                if v > floor:  # no mere upper bound: it counts even if the others are never looked at
                    self.new_best = v, i
                if v >= ceiling:
                    break
        self.order = [best_index, *(i for i in self.order if i != best_index)]
        return best, best_index, pv, values

    # --- inside the tree ---------------------------------------------------------------------------------------------
    def _child(
        self, child: State, player: int, depth: int, ply: int, alpha: float, beta: float, lengthened: int = 0
    ) -> tuple[float, Line]:
        """Return the value of `child` to `player`, who moved there, and its line."""
        if self.game.to_play(child) == player:
            return self._value(child, depth, ply, alpha, beta, lengthened)
        value, line = self._value(child, depth, ply, -beta, -alpha, lengthened)
        return -value, line

    def _value(
        self, s: State, depth: int, ply: int, alpha: float, beta: float, lengthened: int, passed: bool = False
    ) -> tuple[float, Line]:
        """Fail-soft, to the player to move in s.

        Returns v: exact if alpha < v < beta, an upper bound if v <= alpha, a lower bound if v >= beta.
        """
        self.budget.spend()
        game, options, player = self.game, self.options, self.game.to_play(s)
        if game.is_terminal(s):
            self.leaf_calls += 1
            return game.utility(s, player), ()
        low, high = self._bounds(s, player)
        if low >= beta or low == high:
            return low, ()
        if high <= alpha:
            return high, ()
        if lengthened < options.extensions and game.forcing(s):
            lengthened, depth = lengthened + 1, depth + 1
        if options.is_cutoff(s, depth):
            value = self._quiet(s, options.quiescence, alpha, beta)
            if not low <= value <= high:
                raise self._outside(s, value, low, high)
            return value, ()
        table_action = None
        place = (game.without_history(s), 0) if options.path_independent_table else (s, lengthened)
        if options.table and place in self.table:
            stored_depth, flag, proven, v, table_action = self.table[place]
            # Only what plain minimax would find here: the same depth, or a proof that needed no more.
            deeper = options.path_independent_table and stored_depth > depth
            usable = stored_depth == depth or (proven and stored_depth < depth) or deeper
            if usable and (flag == EXACT or (flag == LOWER and v >= beta) or (flag == UPPER and v <= alpha)):
                self.eval_calls += not proven or options.path_independent_table
                self.unsound += options.path_independent_table
                self.unproven += options.path_independent_table and v in game.utility_range and game.has("history")
                return v, (table_action,) if flag == EXACT else ()
        forced = (options.futility or options.late_move_reductions) and game.forcing(s)
        judged = options.futility and not forced
        static = self._static(s, player) if judged else np.float32(math.inf)
        if judged and 0 < depth <= FUTILITY_DEPTH and self._beyond(static, -FUTILITY[depth]) >= beta:
            self.unsound += 1
            self.eval_calls += 1
            return self._beyond(static), ()
        wished = depth >= NULL_DEPTH and beta < math.inf and self._beyond(static) >= beta
        if options.null_move and wished and not passed and game.may_pass(s):
            below = math.nextafter(beta, -math.inf)
            v, _ = self._value(
                game.passed(s), depth - 1 - null_reduction(depth), ply + 1, -beta, -below, lengthened, passed=True
            )
            if -v >= beta:
                self.unsound += 1
                self.eval_calls += 1  # a move was not made, so nothing is proven
                self.unproven += beta == game.utility_range[1]
                return beta, ()
        before, alpha0, best = self.eval_calls, alpha, -math.inf
        best_action: Action | None = None
        pv: Line = ()
        reducible = options.late_move_reductions and depth >= LATE_DEPTH and not forced
        futility_value = self._beyond(static, FUTILITY[depth]) if judged and 0 < depth <= FUTILITY_DEPTH else math.inf
        searched = 0
        for a, score in self._ordered(s, player, depth, ply, table_action):
            child, quiet = game.result(s, a), score <= HISTORY_CAP
            if futility_value <= alpha and quiet and searched > 0 and not game.forcing(child):
                self.unsound += 1
                self.eval_calls += 1
                best = max(best, futility_value)
                continue
            narrow = min(beta, math.nextafter(alpha, math.inf)) if options.pvs and searched > 0 else beta
            late = reducible and searched >= LATE_FROM and quiet and not game.forcing(child)
            reduction = late_reduction(depth, searched) if late else 0
            searched += 1
            v = math.inf
            if late:
                v, line = self._child(child, player, depth - 1 - reduction, ply + 1, alpha, narrow, lengthened)
                self.unsound += v <= alpha
            if v > alpha:
                v, line = self._child(child, player, depth - 1, ply + 1, alpha, narrow, lengthened)
                if alpha < v < beta and narrow < beta:
                    v, line = self._child(child, player, depth - 1, ply + 1, alpha, beta, lengthened)
            if v > best:
                best, best_action = v, a
                if v > alpha:
                    alpha, pv = v, (a, *line)
                    if v >= beta:
                        self._reward(a, player, depth, ply)
                        break
                    if v >= high:
                        break
        if options.table:
            flag = EXACT if alpha0 < best < beta else LOWER if best >= beta else UPPER
            self.table[place] = (depth, flag, self.eval_calls == before, best, best_action)
        return best, pv

    def _bounds(self, s: State, player: int) -> tuple[float, float]:
        """Between which values `s` must lie, as the evaluator says."""
        known = self.evaluator.bounds(s, player) if self.options.bounds else None
        return known or (-math.inf, math.inf)

    def _outside(self, s: State, value: float, low: float, high: float) -> EvaluatorError:
        here = f"{self.game.name} position {self.game.to_text(s)!r}"
        return EvaluatorError(
            f"the {self.evaluator.name} evaluator finds {value} in {here}, outside the bounds {low} to {high} that it "
            "offers: clip it, as BoundedEval does"
        )

    def _static(self, s: State, player: int) -> np.float32:
        """EVAL as a share of a win."""
        share = np.float32(self.evaluator.evaluate(s, player)) / np.float32(self.game.utility_range[1])
        return min(max(share, -INSIDE), INSIDE)

    def _beyond(self, static: np.float32, margin: np.float32 = ZERO) -> float:
        """Return the value if the evaluator is wrong by the margin."""
        share = static if margin == 0 else shifted(static, margin)
        return float(np.float32(self.game.utility_range[1]) * share)

    def _quiet(self, s: State, left: int, alpha: float, beta: float) -> float:
        """EVAL, or better by a noisy action; where something must be answered, the best of all actions."""
        game, player = self.game, self.game.to_play(s)
        must_answer = left > 0 and game.forcing(s)
        best = -math.inf
        if not must_answer:
            self.eval_calls += 1
            self.leaf_calls += 1
            best = self.evaluator.evaluate(s, player)
            if left <= 0 or best >= beta:
                return best
            alpha = max(alpha, best)
        for a in game.actions(s) if must_answer else game.noisy_actions(s):
            child = game.result(s, a)
            self.budget.spend()
            if game.is_terminal(child):
                self.leaf_calls += 1
                v = game.utility(child, player)
            elif game.to_play(child) == player:
                v = self._quiet(child, left - 1, alpha, beta)
            else:
                v = -self._quiet(child, left - 1, -beta, -alpha)
            if v > best:
                best, alpha = v, max(alpha, v)
                if v >= beta:
                    break
        return best

    def _ordered(
        self, s: State, player: int, depth: int, ply: int, table_action: Action | None
    ) -> list[tuple[Action, int]]:
        """Return the actions in search order, as pairs (action, score).

        The table's comes first, then noisy ones, killers of this ply, then quiet ones; equals in their own order.
        """
        actions, options = self.game.actions(s), self.options
        scores = {a: self.history[player, a] if options.history else 0 for a in actions}
        if options.killers:
            scores.update(zip(self.killers[ply], KILLER_SCORES, strict=False))
        noisy = self.game.noisy_actions(s) if options.noisy_first else ()
        if len(noisy) < len(actions):  # else that tells them apart no better
            scores.update(dict.fromkeys(noisy, NOISY_SCORE))
        if table_action is not None:
            scores[table_action] = TABLE_SCORE
        elif options.order_by_eval and depth >= EVAL_ORDER_DEPTH:
            scores.update((a, self._eval_score(s, player, a)) for a in actions if scores[a] <= HISTORY_CAP)
        return sorted(((a, scores[a]) for a in actions), key=lambda pair: -pair[1])

    def _eval_score(self, s: State, player: int, a: Action) -> int:
        """How EVAL likes the position after `a`, which counts as a node."""
        self.budget.spend()
        self.leaf_calls += 1
        value = self.evaluator.evaluate(self.game.result(s, a), player)
        return eval_score(value, self.game.utility_range[1])

    def _reward(self, a: Action, player: int, depth: int, ply: int) -> None:
        """Remember the action that refuted this position."""
        if self.options.killers and a not in self.killers[ply][:1]:
            self.killers[ply] = [a, *self.killers[ply][:1]]
        if self.options.history and depth > 0:
            self.history[player, a] = min(self.history[player, a] + depth * depth, HISTORY_CAP)
