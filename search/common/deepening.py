"""Iterative deepening for the searches of the Python backend: limits, ties and the result are the same for all."""

from __future__ import annotations

from abc import ABC, abstractmethod

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Action, Game, State
from evallearn.core.search import IsCutoff, Limits, SearchResult
from evallearn.errors import Interrupted
from evallearn.search.common.budget import Budget, Stopped
from evallearn.search.common.requirements import (
    MAX_DEPTH,
    cut_at_depth,
    is_minimax,
    require_decision,
    require_own_eval,
    tie_ranks,
    values_to_all,
)

Line = tuple[Action, ...]


class Deepening(ABC):
    """A search that looks at all lines up to the cutoff, one depth after the other until a limit strikes.

    Depth counts the players' moves; a roll of the dice is free. So depth 1 asks the evaluator right after the own move.
    """

    prunes: bool = False
    """True if `root_values` gives mere bounds of all but the best actions, unless `all_values` is set."""

    def __init__(self, game: Game, evaluator: Evaluator, *, is_cutoff: IsCutoff = cut_at_depth) -> None:
        require_own_eval(game, evaluator)
        self.game, self.evaluator, self.is_cutoff = game, evaluator, is_cutoff
        self.certain: tuple[float, ...] = game.utility_range if is_minimax(game) else ()
        """Values that only the end of the game can have told, since an evaluator lies strictly between them."""

    @abstractmethod
    def root_values(self, s: State, depth: int) -> list[tuple[float, Line]]:
        """Return the value of each action to the player to move, and the line that leads to it."""

    def begin(self, s: State, seed: int | None) -> None:  # noqa: B027  # most searches need nothing
        """Prepare the search; called once before the first iteration."""

    def estimate(self, s: State) -> float:
        """Return the value of the root where no iteration was finished."""
        return self.evaluator.evaluate(s, self.player)

    def values(self, s: State, best: int, value: float) -> tuple[float, ...] | None:
        """Return the utilities to all players, where the value of root action number `best` is known."""
        return values_to_all(self.game, self.player, value)

    def standard_error(self, best: int) -> float | None:
        """Of the value of root action number `best` in the last finished iteration; None if nothing was sampled."""
        return None

    def search(self, s: State, limits: Limits, *, seed: int | None = None, action_values: bool = False) -> SearchResult:
        """Deepen until a limit strikes; ties go to the earlier action or, with a `seed`, to a random one.

        Where nothing is pruned the values of all root actions come with the result, asked for or not.
        """
        require_decision(self.game, s)
        self.budget = Budget(limits.nodes, limits.seconds)
        self.eval_calls = self.ended = self.recalled = 0  # EVALs, UTILITYs, earlier EVALs that a table answered for
        self.player, actions = self.game.to_play(s), self.game.actions(s)
        self.ranks, self.all_values = tie_ranks(len(actions), seed), action_values
        self.found: list[tuple[float, Line]] = []
        best, depth, exact, interrupted = self.ranks.index(0), 0, False, False
        self.begin(s, seed)
        try:
            for d in range(1, min(limits.depth or MAX_DEPTH, MAX_DEPTH) + 1):
                before = self.eval_calls + self.recalled
                self.budget.spend()
                found = self.root_values(s, d)
                first = max((value, -self.ranks[i], i) for i, (value, _) in enumerate(found))
                done = self.eval_calls + self.recalled == before
                self.found, best, depth, exact = found, first[-1], d, done  # at once: Ctrl-C may come between lines
                if exact:
                    break
        except Stopped:
            pass  # what was finished before the limit struck counts
        except KeyboardInterrupt:
            interrupted = True
        value, line = self.found[best] if self.found else (self.estimate(s), ())
        error = self.standard_error(best) if self.found else None
        proven = (exact and error is None) or (depth > 0 and value in self.certain)
        told = self.found and (action_values or not self.prunes)
        result = SearchResult(
            action=actions[best],
            value=value + 0.0,  # a draw is 0.0, not -0.0
            player=self.player,
            depth=depth,
            nodes=self.budget.nodes,
            pv=(actions[best], *line),
            exact=proven,
            seconds=self.budget.seconds,
            action_values={a: v for a, (v, _) in zip(actions, self.found, strict=True)} if told else None,
            leaf_calls=self.eval_calls + self.ended,
            standard_error=error,
            value_depth=depth,
            values=self.values(s, best, value),
        )
        if interrupted:
            raise Interrupted(result)
        return result
