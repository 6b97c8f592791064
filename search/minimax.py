"""H-MINIMAX as in the textbook: no pruning, no table. Slow, short, and the oracle for every other search."""

from __future__ import annotations

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import A, Action, Game, S
from evallearn.core.search import IsCutoff, Limits, Search, SearchResult
from evallearn.errors import Interrupted, SearchError
from evallearn.search.common.backend import Backend
from evallearn.search.common.budget import Budget
from evallearn.search.common.requirements import (
    cut_at_depth,
    require_own_eval,
    require_two_player_zero_sum,
    require_unfinished,
    tie_ranks,
    values_to_all,
)


class Minimax(Search[S, A]):
    """Looks at every line up to the cutoff; any two-player zero-sum game without chance."""

    backend: Backend = "python"

    def __init__(
        self,
        game: Game[S, A],
        evaluator: Evaluator[S],
        *,
        is_cutoff: IsCutoff = cut_at_depth,
        quiescence: int = 0,
        extensions: int = 0,
    ) -> None:
        """quiescence, extensions: as in `Options` of alpha-beta."""
        require_two_player_zero_sum(game, "minimax")
        require_own_eval(game, evaluator)
        self.game, self.evaluator, self.is_cutoff = game, evaluator, is_cutoff
        self.quiescence, self.extensions = quiescence, extensions

    def search(self, s: S, limits: Limits, *, seed: int | None = None, action_values: bool = True) -> SearchResult[A]:
        """Return the H-minimax value at limits.depth, and the action that has it.

        Ties go to the earlier action or, with a `seed`, to a random one. The values of all root actions come with the
        result, asked for or not.
        """
        depth = fixed_depth(limits)
        require_unfinished(self.game, s)
        self.budget, self.eval_calls, self.leaf_calls = Budget(None, None), 0, 0
        self.budget.spend()
        player, actions = self.game.to_play(s), self.game.actions(s)
        lines: list[tuple[float, tuple[Action, ...]]] = []
        interrupted = False
        try:
            lines.extend(self.value(self.game.result(s, a), depth - 1, player) for a in actions)
        except KeyboardInterrupt:
            interrupted = True
        looked_at = len(lines)
        lines = lines or [(self.evaluator.evaluate(s, player), ())]
        ranks = tie_ranks(len(actions), seed)
        best = max(range(len(lines)), key=lambda i: (lines[i][0], -ranks[i]))
        value, pv = lines[best]
        result = SearchResult(
            action=actions[best],
            value=value + 0.0,  # a draw is 0.0, not -0.0
            player=player,
            depth=0 if interrupted else depth,
            nodes=self.budget.nodes,
            pv=(actions[best], *pv),
            exact=not interrupted and (self.eval_calls == 0 or value in self.game.utility_range),
            seconds=self.budget.seconds,
            action_values={a: v for a, (v, _) in zip(actions, lines, strict=True)}
            if looked_at == len(actions)
            else None,
            leaf_calls=self.leaf_calls,
            value_depth=limits.depth if looked_at else 0,
            values=values_to_all(self.game, player, value),
        )
        if interrupted:
            raise Interrupted(result)
        return result

    def value(self, s: S, depth_left: int, player: int, lengthened: int = 0) -> tuple[float, tuple[Action, ...]]:
        """H-MINIMAX(s, depth) to `player`, and the line that leads to it."""
        self.budget.spend()
        game = self.game
        if game.is_terminal(s):
            self.leaf_calls += 1
            return game.utility(s, player), ()
        if lengthened < self.extensions and game.forcing(s):
            lengthened, depth_left = lengthened + 1, depth_left + 1
        if self.is_cutoff(s, depth_left):
            return self.quiet_value(s, self.quiescence, player), ()
        choose = max if game.to_play(s) == player else min
        children = [(a, *self.value(game.result(s, a), depth_left - 1, player, lengthened)) for a in game.actions(s)]
        action, value, pv = choose(children, key=lambda child: child[1])
        return value, (action, *pv)

    def quiet_value(self, s: S, left: int, player: int) -> float:
        """EVAL, or what the mover likes better: a noisy action, `left` plies on. A threat must be answered."""
        game = self.game
        if game.is_terminal(s):
            self.leaf_calls += 1
            return game.utility(s, player)
        must_answer = left > 0 and game.forcing(s)
        choices = []
        if not must_answer:
            self.eval_calls += 1
            self.leaf_calls += 1
            choices = [self.evaluator.evaluate(s, player)]
        actions = game.actions(s) if must_answer else game.noisy_actions(s) if left > 0 else ()
        for a in actions:
            self.budget.spend()
            choices.append(self.quiet_value(game.result(s, a), left - 1, player))
        return (max if game.to_play(s) == player else min)(choices)


def fixed_depth(limits: Limits) -> int:
    """Return the depth, and refuse other limits: minimax neither deepens iteratively nor stops in between."""
    if limits.depth is None or limits.nodes is not None or limits.seconds is not None:
        raise SearchError(f"minimax runs to a fixed depth; got {limits}: give depth alone, or use alpha-beta")
    return limits.depth
