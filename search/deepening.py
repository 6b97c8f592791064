"""Iterative deepening for the searches of the upper floor: limits, ties and the result are the same for all."""

from __future__ import annotations

from abc import ABC, abstractmethod

from evallearn.errors import Interrupted
from evallearn.protocols import Action, Evaluator, Game, IsCutoff, Limits, SearchResult, State
from evallearn.search.common import (
    MAX_DEPTH,
    Budget,
    Stopped,
    cut_at_depth,
    require_decision,
    require_own_eval,
    tie_ranks,
)

Line = tuple[Action, ...]


class Deepening(ABC):
    """A search that looks at all lines up to the cutoff, one depth after the other until a limit strikes.

    Depth counts the players' moves; a roll of the dice is free. So depth 1 asks the Eval right after the own move.
    """

    prunes: bool = False
    """True if `root_values` gives mere bounds of all but the best actions, unless `all_values` is set."""

    def __init__(self, game: Game, evaluator: Evaluator, *, is_cutoff: IsCutoff = cut_at_depth) -> None:
        require_own_eval(game, evaluator)
        self.game, self.evaluator, self.is_cutoff = game, evaluator, is_cutoff

    @abstractmethod
    def root_values(self, s: State, depth: int) -> list[tuple[float, Line]]:
        """The value of each action to the player to move, and the line that leads to it."""

    def begin(self, s: State, seed: int | None) -> None:  # noqa: B027  # most searches need nothing
        """Called once before the first iteration."""

    def standard_error(self, best: int) -> float | None:
        """Of the value of root action number `best` in the last finished iteration; None if nothing was sampled."""
        return None

    def search(self, s: State, limits: Limits, *, seed: int | None = None, action_values: bool = False) -> SearchResult:
        """Deepen until a limit strikes; ties go to the earlier action or, with a `seed`, to a random one.

        Where nothing is pruned the values of all root actions come with the result, asked for or not.
        """
        require_decision(self.game, s)
        self.budget = Budget(limits.nodes, limits.seconds)
        self.asked = self.ended = self.recalled = 0  # EVALs, UTILITYs, earlier EVALs that a table answered for
        self.player, actions = self.game.to_play(s), self.game.actions(s)
        self.ranks, self.all_values = tie_ranks(len(actions), seed), action_values
        self.found: list[tuple[float, Line]] = []
        best, depth, exact, interrupted = self.ranks.index(0), 0, False, False
        self.begin(s, seed)
        try:
            for d in range(1, min(limits.depth or MAX_DEPTH, MAX_DEPTH) + 1):
                before = self.asked + self.recalled
                self.budget.spend()
                self.found = self.root_values(s, d)
                best = max(range(len(actions)), key=lambda i: (self.found[i][0], -self.ranks[i]))
                depth, exact = d, self.asked + self.recalled == before
                if exact:
                    break
        except Stopped:
            pass  # what was finished before the limit struck counts
        except KeyboardInterrupt:
            interrupted = True
        value, line = self.found[best] if self.found else (self.evaluator.evaluate(s, self.player), ())
        error = self.standard_error(best)
        told = self.found and (action_values or not self.prunes)
        result = SearchResult(
            action=actions[best],
            value=value + 0.0,  # a draw is 0.0, not -0.0
            player=self.player,
            depth=depth,
            nodes=self.budget.nodes,
            pv=(actions[best], *line),
            exact=exact and error is None,
            seconds=self.budget.seconds,
            action_values={a: v for a, (v, _) in zip(actions, self.found, strict=True)} if told else None,
            leaves=self.asked + self.ended,
            standard_error=error,
        )
        if interrupted:
            raise Interrupted(result)
        return result
