"""H-MINIMAX as in the textbook: no pruning, no table. Slow, short, and the oracle for every other search."""

from __future__ import annotations

from evallearn.errors import SearchError
from evallearn.protocols import Action, Evaluator, Game, IsCutoff, Limits, SearchResult, State
from evallearn.search.common import (
    Budget,
    cut_at_depth,
    require_own_eval,
    require_two_player_zero_sum,
    require_unfinished,
    tie_ranks,
)


class Minimax:
    """Looks at every line up to the cutoff; any two-player zero-sum game without chance."""

    def __init__(self, game: Game, evaluator: Evaluator, *, is_cutoff: IsCutoff = cut_at_depth) -> None:
        require_two_player_zero_sum(game, "minimax")
        require_own_eval(game, evaluator)
        self.game, self.evaluator, self.is_cutoff = game, evaluator, is_cutoff

    def search(self, s: State, limits: Limits, *, seed: int | None = None) -> SearchResult:
        """The H-minimax value at limits.depth; ties go to the earlier action or, with a `seed`, to a random one."""
        if limits.depth is None or limits.nodes is not None or limits.seconds is not None:
            raise SearchError(f"minimax runs to a fixed depth; got {limits}: give depth alone, or use alpha-beta")
        require_unfinished(self.game, s)
        self.budget, self.asked = Budget(None, None), 0
        self.budget.spend()
        player, actions = self.game.to_play(s), self.game.actions(s)
        lines = [self.value(self.game.result(s, a), limits.depth - 1, player) for a in actions]
        ranks = tie_ranks(len(actions), seed)
        best = max(range(len(actions)), key=lambda i: (lines[i][0], -ranks[i]))
        value, pv = lines[best]
        return SearchResult(
            action=actions[best],
            value=value,
            player=player,
            depth=limits.depth,
            nodes=self.budget.nodes,
            pv=(actions[best], *pv),
            exact=self.asked == 0 or value in self.game.utility_range,
            seconds=self.budget.seconds,
            action_values={a: v for a, (v, _) in zip(actions, lines, strict=True)},
        )

    def value(self, s: State, depth_left: int, player: int) -> tuple[float, tuple[Action, ...]]:
        """H-MINIMAX(s, depth) to `player`, and the line that leads to it."""
        self.budget.spend()
        if self.game.is_terminal(s):
            return self.game.utility(s, player), ()
        if self.is_cutoff(s, depth_left):
            self.asked += 1
            return self.evaluator.evaluate(s, player), ()
        choose = max if self.game.to_play(s) == player else min
        children = [(a, *self.value(self.game.result(s, a), depth_left - 1, player)) for a in self.game.actions(s)]
        action, value, pv = choose(children, key=lambda child: child[1])
        return value, (action, *pv)
