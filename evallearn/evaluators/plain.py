"""Any Python function as an Eval."""

from __future__ import annotations

import math
from collections.abc import Callable

from evallearn.protocols import Evaluator, Game, State


class FunctionEval(Evaluator):
    """A hand-written Python function function(s, player) as an Eval; upper floor only.

    Terminal states are answered with the utility. Elsewhere values are kept strictly between loss and win: a search
    takes the end of that range for the end of the game.
    """

    def __init__(self, game: Game, function: Callable[[State, int], float]) -> None:
        self.game, self.function = game, function
        self.name = getattr(function, "__name__", "function")
        low, high = game.utility_range
        self.lowest, self.highest = math.nextafter(low, high), math.nextafter(high, low)

    def evaluate(self, s: State, player: int) -> float:
        if self.game.is_terminal(s):
            return self.game.utility(s, player)
        return min(max(self.function(s, player), self.lowest), self.highest)
