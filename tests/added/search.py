"""A new search: the best action by one ply, which proves nothing but a win."""

from __future__ import annotations

from time import perf_counter
from typing import Literal

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import A, Game, S
from evallearn.core.search import Limits, Search, SearchResult
from evallearn.errors import SearchError


class Greedy(Search[S, A]):
    """Takes the action after which the evaluator likes the position best; the first of equal ones."""

    backend: Literal["auto", "python", "compiled"] = "python"

    def __init__(self, game: Game[S, A], evaluator: Evaluator[S]) -> None:
        if game.has_chance:
            raise SearchError(f"greedy looks no further than a move, and {game.name} rolls dice: use expectiminimax")
        self.game, self.evaluator = game, evaluator

    def search(self, s: S, limits: Limits, *, seed: int | None = None, action_values: bool = False) -> SearchResult[A]:
        """Return the best action; its value is exact if it ends the game."""
        start, player = perf_counter(), self.game.to_play(s)
        values = {a: self.evaluator.evaluate(self.game.result(s, a), player) for a in self.game.actions(s)}
        best = max(values, key=values.__getitem__)
        return SearchResult(
            action=best, value=values[best], player=player, depth=1, nodes=len(values), pv=(best,),
            exact=self.game.is_terminal(self.game.result(s, best)), seconds=perf_counter() - start,
            action_values=values if action_values else None, leaf_calls=len(values),
        )  # fmt: skip
