"""Any Python function as an Eval."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evallearn.errors import EvaluatorError
from evallearn.protocols import Evaluator, Game, State


class FunctionEval(Evaluator):
    """A hand-written Python function function(s, player) as an Eval; upper floor only.

    Terminal states are answered with the utility; elsewhere the function shall stay strictly between loss and win. A
    value beyond them raises EvaluatorError.
    """

    def __init__(self, game: Game, function: Callable[[State, int], float]) -> None:
        self.game, self.function = game, function
        self.name = getattr(function, "__name__", "function")
        self.low, self.high = game.utility_range

    def evaluate(self, s: State, player: int) -> float:
        if self.game.is_terminal(s):
            return self.game.utility(s, player)
        value = self.function(s, player)
        try:
            inside = self.low <= value <= self.high  # a NaN is not
        except (TypeError, ValueError):  # None, an array
            inside = False
        if not inside:
            raise self._beyond(s, player, value)
        return value

    def _beyond(self, s: State, player: int, value: Any) -> EvaluatorError:
        game = self.game
        return EvaluatorError(
            f"{self.name}(s, {player}) is {value!r} in {game.name} position {game.to_text(s)!r}: an Eval stays between "
            f"{self.low:g} and {self.high:g}, a loss and a win; scale what it returns, as by tanh"
        )
