"""Iterative deepening for the searches of the upper floor: limits, ties and the result are the same for all."""

from __future__ import annotations

from abc import ABC, abstractmethod

from evallearn.errors import Interrupted, SearchError
from evallearn.protocols import CHANCE, Action, Evaluator, Game, IsCutoff, Limits, SearchResult, State
from evallearn.search.common import (
    MAX_DEPTH,
    Budget,
    Stopped,
    cut_at_depth,
    require_own_eval,
    require_unfinished,
    tie_ranks,
)

Line = tuple[Action, ...]


class Deepening(ABC):
    """A search that looks at every line up to the cutoff, one depth after the other until a limit strikes.

    Depth counts the players' moves; a roll of the dice is free. So depth 1 asks the Eval right after the own move.
    """

    def __init__(self, game: Game, evaluator: Evaluator, *, is_cutoff: IsCutoff = cut_at_depth) -> None:
        require_own_eval(game, evaluator)
        self.game, self.evaluator, self.is_cutoff = game, evaluator, is_cutoff

    @abstractmethod
    def root_values(self, s: State, depth: int) -> list[tuple[float, Line]]:
        """The value of each action to the player to move, and the line that leads to it."""

    def search(self, s: State, limits: Limits, *, seed: int | None = None, action_values: bool = False) -> SearchResult:
        """Deepen until a limit strikes; ties go to the earlier action or, with a `seed`, to a random one.

        The values of all root actions come with the result, asked for or not: nothing is pruned.
        """
        require_unfinished(self.game, s)
        if self.game.to_play(s) == CHANCE:
            raise SearchError(f"{self.game.name} position {self.game.to_text(s)!r} waits for the dice: roll them first")
        self.budget, self.asked, self.ended = Budget(limits.nodes, limits.seconds), 0, 0  # EVALs, UTILITYs
        player, actions = self.game.to_play(s), self.game.actions(s)
        ranks = tie_ranks(len(actions), seed)
        best, depth, exact = ranks.index(0), 0, False
        found: list[tuple[float, Line]] = []
        interrupted = False
        try:
            for d in range(1, min(limits.depth or MAX_DEPTH, MAX_DEPTH) + 1):
                before = self.asked
                self.budget.spend()
                found = self.root_values(s, d)
                best = max(range(len(actions)), key=lambda i: (found[i][0], -ranks[i]))
                depth, exact = d, self.asked == before
                if exact:
                    break
        except Stopped:
            pass  # what was finished before the limit struck counts
        except KeyboardInterrupt:
            interrupted = True
        value, line = found[best] if found else (self.evaluator.evaluate(s, player), ())
        result = SearchResult(
            action=actions[best],
            value=value + 0.0,  # a draw is 0.0, not -0.0
            player=player,
            depth=depth,
            nodes=self.budget.nodes,
            pv=(actions[best], *line),
            exact=exact,
            seconds=self.budget.seconds,
            action_values={a: v for a, (v, _) in zip(actions, found, strict=True)} if found else None,
            leaves=self.asked + self.ended,
        )
        if interrupted:
            raise Interrupted(result)
        return result
