"""Random numbers from counters: seeds of games and plies, hash keys of states. `compiled/rng.py` draws the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:  # the Python backend of a game starts without NumPy
    import numpy as np

    from evallearn.core.game import Action

Words = TypeVar("Words", int, "np.ndarray")
"""A 64-bit word, or uint64[...]."""
MASK64 = 0xFFFFFFFFFFFFFFFF
GOLDEN = 0x9E3779B97F4A7C15
"""The step of SplitMix64: 2**64 divided by the golden ratio."""
GAME_STEP = 0xD1B54A32D192ED03
"""Between the states of two games, or resamples: odd, and unlike GOLDEN."""
UNIT = 2.0**-53


def scramble(x: Words) -> Words:
    """Return a bijection of 64-bit words whose output looks random: the finaliser of SplitMix64."""
    x = x & MASK64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK64
    return x ^ (x >> 31)


def drawn(word: int, probabilities: Sequence[float]) -> int:
    """Return the index of the outcome that the random word falls on."""
    point, reached = (word >> 11) * UNIT, 0.0
    for i, probability in enumerate(probabilities[:-1]):
        reached += probability
        if point < reached:
            return i
    return len(probabilities) - 1


class SplitMix64:
    """Steele, Lea & Flood's generator: all that it knows is one word, `state`."""

    def __init__(self, seed: int | None = None) -> None:
        self.state = scramble(0 if seed is None else seed)

    @classmethod
    def of_game(cls, seed: int, number: int) -> SplitMix64:
        """Return the numbers of game `number`, the same whoever plays it and when."""
        rng = cls(seed)
        rng.state ^= number * GAME_STEP & MASK64
        return rng

    def word(self) -> int:
        """Return the next 64 bits."""
        self.state = (self.state + GOLDEN) & MASK64
        return scramble(self.state)

    def uniform(self) -> float:
        """Return 0 <= u < 1."""
        return (self.word() >> 11) * UNIT

    def below(self, n: int) -> int:
        """Return 0 .. n - 1; the bias is below n / 2**32."""
        return ((self.word() >> 32) * n) >> 32

    def index(self, chances: Sequence[tuple[Action, float]]) -> int:
        """Return which of a game's outcomes the dice say."""
        return drawn(self.word(), [probability for _, probability in chances])
