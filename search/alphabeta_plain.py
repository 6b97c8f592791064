"""Alpha-beta on the upper floor: any game that follows the formalism, in plain Python.

It is the same algorithm as the kernel beside it, node for node (without a table), and the kernel's oracle.
"""

from __future__ import annotations

import math
from collections import defaultdict
from contextlib import suppress
from typing import Any

from evallearn.protocols import Action, Evaluator, Game, IsCutoff, Limits, SearchResult, State
from evallearn.search.common import MAX_DEPTH, Budget, Stopped, require_unfinished, tie_ranks

EXACT, LOWER, UPPER = 1, 2, 3
KILLER_SCORES = (1 << 29, 1 << 28)
TABLE_SCORE = 1 << 30
HISTORY_CAP = 1 << 27


class PlainAlphaBeta:
    """See `AlphaBeta` for what it promises."""

    def __init__(
        self, game: Game, evaluator: Evaluator, *, table: bool, killers: bool, history: bool, is_cutoff: IsCutoff
    ) -> None:
        self.game, self.evaluator, self.is_cutoff = game, evaluator, is_cutoff
        self.use_table, self.use_killers, self.use_history = table, killers, history

    def search(self, s: State, limits: Limits, *, seed: int | None, action_values: bool) -> SearchResult:
        """Iterative deepening until a limit strikes or the value is proven."""
        require_unfinished(self.game, s)
        self.budget = Budget(limits.nodes, limits.seconds)
        self.table: dict[State, tuple[int, int, bool, float, Action]] = {}
        self.killers: dict[int, list[Action]] = defaultdict(list)
        self.history: dict[tuple[int, Action], int] = defaultdict(int)
        self.asked = 0
        """How often the Eval was asked so far: a subtree that did not raise it is proven."""
        player, actions = self.game.to_play(s), self.game.actions(s)
        self.ranks = tie_ranks(len(actions), seed)
        first = min(range(len(actions)), key=self.ranks.__getitem__)
        best: tuple[float, int, tuple[Action, ...]] = (self.evaluator.evaluate(s, player), first, (actions[first],))
        depth, exact, values = 0, False, None
        free = limits.nodes is not None or limits.seconds is not None
        with suppress(Stopped):  # what was finished before the limit struck counts
            for d in range(1, min(limits.depth or MAX_DEPTH, MAX_DEPTH) + 1):
                before = self.asked
                found = self._root(s, player, actions, d, best[1], action_values)
                best, values, depth = found[0], found[1], d
                exact = self.asked == before
                # At a fixed depth the answer is minimax's at that depth; otherwise a proven win or loss is enough.
                if exact or (free and best[0] in self.game.utility_range):
                    break
        return SearchResult(
            action=actions[best[1]],
            value=best[0] + 0.0,  # a draw is 0.0, not -0.0
            player=player,
            depth=depth,
            nodes=self.budget.nodes,
            pv=best[2],
            exact=exact or (depth > 0 and best[0] in self.game.utility_range),
            seconds=self.budget.seconds,
            action_values=dict(zip(actions, values, strict=True)) if values and action_values else None,
        )

    def _root(
        self, s: State, player: int, actions: Any, depth: int, first: int, all_values: bool
    ) -> tuple[tuple[float, int, tuple[Action, ...]], list[float]]:
        """One iteration. Ties go to the lower rank: such an action is searched with a window that includes the tie."""
        self.budget.spend()
        values = [-math.inf] * len(actions)
        best, best_index = -math.inf, -1
        pv: tuple[Action, ...] = ()
        for i in [first, *(i for i in range(len(actions)) if i != first)]:
            alpha = best
            if all_values:
                alpha = -math.inf
            elif best_index >= 0 and self.ranks[i] < self.ranks[best_index]:
                alpha = math.nextafter(best, -math.inf)
            values[i], line = self._child(s, player, actions[i], depth, 0, alpha, math.inf)
            if values[i] > best or (values[i] == best and self.ranks[i] < self.ranks[best_index]):
                best, best_index, pv = values[i], i, (actions[i], *line)
        return (best, best_index, pv), values

    def _child(
        self, s: State, player: int, a: Action, depth: int, ply: int, alpha: float, beta: float
    ) -> tuple[float, tuple[Action, ...]]:
        """The value of action `a` to `player`, who moves in `s`."""
        child = self.game.result(s, a)
        if self.game.to_play(child) == player:
            return self._value(child, depth - 1, ply + 1, alpha, beta)
        value, line = self._value(child, depth - 1, ply + 1, -beta, -alpha)
        return -value, line

    def _value(self, s: State, depth: int, ply: int, alpha: float, beta: float) -> tuple[float, tuple[Action, ...]]:
        """Fail-soft, to the player to move in s.

        Returns v: exact if alpha < v < beta, an upper bound if v <= alpha, a lower bound if v >= beta.
        """
        self.budget.spend()
        player = self.game.to_play(s)
        if self.game.is_terminal(s):
            return self.game.utility(s, player), ()
        if self.is_cutoff(s, depth):
            self.asked += 1
            return self.evaluator.evaluate(s, player), ()
        table_action = None
        if self.use_table and s in self.table:
            stored_depth, flag, proven, v, table_action = self.table[s]
            # Only what plain minimax would find here: the same depth, or a proof that needed no more.
            usable = stored_depth == depth or (proven and stored_depth < depth)
            if usable and (flag == EXACT or (flag == LOWER and v >= beta) or (flag == UPPER and v <= alpha)):
                self.asked += not proven
                return v, (table_action,) if flag == EXACT else ()
        before, alpha0, best = self.asked, alpha, -math.inf
        best_action: Action | None = None
        pv: tuple[Action, ...] = ()
        for a in self._ordered(s, player, ply, table_action):
            v, line = self._child(s, player, a, depth, ply, alpha, beta)
            if v > best:
                best, best_action = v, a
                if v > alpha:
                    alpha, pv = v, (a, *line)
                    if v >= beta:
                        self._reward(a, player, depth, ply)
                        break
        if self.use_table:
            flag = EXACT if alpha0 < best < beta else LOWER if best >= beta else UPPER
            self.table[s] = (depth, flag, self.asked == before, best, best_action)
        return best, pv

    def _ordered(self, s: State, player: int, ply: int, table_action: Action | None) -> list[Action]:
        """The table's action, the killers of this ply, then by history; equals in the game's own order."""
        actions = list(self.game.actions(s))
        scores = {a: self.history[player, a] if self.use_history else 0 for a in actions}
        if self.use_killers:
            for killer, score in zip(self.killers[ply], KILLER_SCORES, strict=False):
                scores[killer] = score
        if table_action is not None:
            scores[table_action] = TABLE_SCORE
        return sorted(actions, key=lambda a: -scores[a])

    def _reward(self, a: Action, player: int, depth: int, ply: int) -> None:
        """Remember the action that refuted this position."""
        if self.use_killers and a not in self.killers[ply][:1]:
            self.killers[ply] = [a, *self.killers[ply][:1]]
        if self.use_history and depth > 0:
            self.history[player, a] = min(self.history[player, a] + depth * depth, HISTORY_CAP)
