"""EVAL: what an evaluator promises, in plain Python and compiled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from evallearn.core.game import Game, S
from evallearn.core.rules import W

if TYPE_CHECKING:
    import numpy as np


class Evaluator(ABC, Generic[S]):
    """An EVAL. On a terminal state it is the utility; on any other it lies strictly between loss and win.

    Where utility accumulates (`Game.won`) it never says less than what is won.

    Searches rely on that: a value at an end of `utility_range` is a proven win or loss.
    """

    game: Game[S]
    name: str = "evaluator"
    unit: float = 1.0
    """What 1 in its weights as they were written adds before the squashing (`Heuristic.unit`)."""

    @abstractmethod
    def evaluate(self, s: S, player: int) -> float:
        """Return what `s` is worth to `player`."""

    def evaluate_batch(self, states: Sequence[S], players: Sequence[int]) -> np.ndarray:
        """Return float32[n]: evaluate(states[i], players[i])."""
        import numpy as np

        return np.array([self.evaluate(s, p) for s, p in zip(states, players, strict=True)], dtype=np.float32)

    def bounds(self, s: S, player: int) -> tuple[float, float] | None:
        """Return (low, high) of all utilities and of all values of this evaluator to `player` at and below `s`.

        None: not offered. A move never widens them. Alpha-beta prunes by them. `BoundedEval` offers those of the game.
        """
        return None

    def explain(self, s: S, player: int) -> dict[str, float]:
        """Return how much each named part adds to the unsquashed value, largest first."""
        return {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} of {self.game.name}>"

    def kernel(self) -> EvalKernel | None:
        """Return the same evaluator for the compiled backend, or None if it only runs on the python backend."""
        return None


@dataclass(frozen=True, kw_only=True)
class EvalKernel(Generic[W]):
    """A compiled evaluator: functions and one NumPy record with its weights and its working memory."""

    params: np.record | np.ndarray
    """np.record; each search works on a copy of its own, because it is scratch space too."""
    evaluate_player: Callable[[W, int, np.record], float]
    """evaluate_player(s, player, params) -> float64, the value of a non-terminal state (a roll, too) to `player`."""
    evaluate_mover: Callable[[W, np.record], float] | None = None
    """evaluate_mover(s, params) -> float32, to the player to move; only where the rules are `_mover` ones."""
    bounds_mover: Callable[[W, np.record], tuple[float, float]] | None = None
    """bounds_mover(s, params) -> (low, high), float32: what Evaluator.bounds answers for the player to move."""
