"""Any Python function as an evaluator."""

from __future__ import annotations

import math
from collections.abc import Callable

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game, S
from evallearn.errors import EvaluatorError


class FunctionEval(Evaluator[S]):
    """A hand-written Python function function(s, player) as an evaluator; python backend only.

    Terminal states are answered with the utility. Elsewhere a value beyond loss and win, or less than what is won
    already (`Game.won`), raises EvaluatorError, and the ends of the range are moved inside: a search takes them for the
    end of the game.
    """

    def __init__(self, game: Game[S], function: Callable[[S, int], float]) -> None:
        self.game, self.function = game, function
        self.name = getattr(function, "__name__", "function")
        self.low, self.high = game.utility_range
        self.lowest, self.highest = math.nextafter(self.low, self.high), math.nextafter(self.high, self.low)

    def evaluate(self, s: S, player: int) -> float:
        if self.game.is_terminal(s):
            return self.game.utility(s, player)
        value = self.function(s, player)
        try:
            inside = self.game.won(s, player) <= value <= self.high  # a NaN is not
        except (TypeError, ValueError):  # None, an array
            inside = False
        if not inside:
            raise self._beyond(s, player, value)
        return min(max(value, self.lowest), self.highest)

    def _beyond(self, s: S, player: int, value: object) -> EvaluatorError:
        game = self.game
        where = f"{self.name}(s, {player}) is {value!r} in {game.name} position {game.to_text(s)!r}: an evaluator stays"
        if game.has("won"):
            return EvaluatorError(
                f"{where} between {game.won(s, player):g}, which is won already, and {self.high:g}, the best there is; "
                "add what is still to come to what is won"
            )
        return EvaluatorError(
            f"{where} between {self.low:g} and {self.high:g}, a loss and a win; scale what it returns, as by tanh"
        )
