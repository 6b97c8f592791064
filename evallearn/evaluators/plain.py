"""Any Python function as an Eval."""

from __future__ import annotations

from collections.abc import Callable

from evallearn.protocols import Evaluator, Game, State


class FunctionEval(Evaluator):
    """A hand-written Python function function(s, player) as an Eval; upper floor only.

    Terminal states are answered with the utility; elsewhere the function is trusted to stay strictly between loss
    and win.
    """

    def __init__(self, game: Game, function: Callable[[State, int], float]) -> None:
        self.game, self.function = game, function
        self.name = getattr(function, "__name__", "function")

    def evaluate(self, s: State, player: int) -> float:
        return self.game.utility(s, player) if self.game.is_terminal(s) else self.function(s, player)
