"""Intervals by resampling games, not records: the positions of a game share its outcome and are no new evidence.

Each resample weighs every game with a Poisson(1) count, which is a bootstrap that needs no second pass: sums for all
resamples are added up while the records stream by. A hash of the game's number draws the counts, so that a game has the
same ones in every batch and in every pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evallearn.core.rng import GAME_STEP, GOLDEN, UNIT, scramble

RESAMPLES = 400
"""The ends of a 95 % interval then move by some 5 % of its width from seed to seed."""
LEVEL = (0.025, 0.975)
_CDF = np.cumsum([math.exp(-1.0) / math.factorial(k) for k in range(13)])
"""Of Poisson(1); beyond twelve lies one in 10^10."""


@dataclass(frozen=True)
class Interval:
    """A figure with the 95 % interval that resampling games gives."""

    value: float
    low: float
    high: float

    @property
    def holds_zero(self) -> bool:
        """True if the data do not even show the sign."""
        return self.low <= 0.0 <= self.high

    def times(self, factor: float) -> Interval:
        """Return the same in another unit."""
        ends = sorted((self.low * factor, self.high * factor))
        return Interval(self.value * factor, ends[0], ends[1])


def interval(value: float, draws: np.ndarray) -> Interval:
    """Return the percentile interval of a figure that was computed for every resample."""
    low, high = np.quantile(draws, LEVEL)
    return Interval(float(value), float(low), float(high))


def poisson_counts(games: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Return float64[n, resamples]: how often each game (by its number) is in each resample."""
    salt = np.uint64((seed * GOLDEN + 0x632BE59BD9B4E019) % 2**64)
    step = np.arange(1, resamples + 1, dtype=np.uint64) * np.uint64(GAME_STEP)
    x = scramble(games.astype(np.uint64) + salt)[:, None] + step  # wraps around, as is meant
    u: np.ndarray = (scramble(x) >> 11) * UNIT
    return np.searchsorted(_CDF, u.ravel(), side="right").reshape(u.shape).astype(np.float64)


def by_game(game: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (numbers of the games, [games, k]: the sums of `values` [n, k] over each)."""
    numbers, index = np.unique(game, return_inverse=True)
    order = np.argsort(index, kind="stable")
    starts = np.searchsorted(index[order], np.arange(len(numbers)))
    return numbers, np.add.reduceat(values[order], starts, axis=0)


class GameMeans:
    """Means over records of k figures, with intervals by resampling games, in one pass."""

    def __init__(self, k: int, resamples: int = RESAMPLES, seed: int = 1) -> None:
        self.resamples, self.seed = resamples, seed
        self.n = 0
        self._games: set[int] = set()
        self._total = np.zeros(k)
        self._drawn = np.zeros((resamples, k + 1))

    def add(self, game: np.ndarray, values: np.ndarray) -> None:
        """Add some records, with their games; values: float64[n, k]."""
        with_one = np.column_stack([values, np.ones(len(values))])
        numbers, sums = by_game(game, with_one)
        self._games.update(numbers.tolist())
        self._total += sums[:, :-1].sum(axis=0)
        self._drawn += poisson_counts(numbers, self.resamples, self.seed).T @ sums
        self.n += len(values)

    @property
    def n_games(self) -> int:
        return len(self._games)

    def intervals(self) -> list[Interval]:
        """Return the mean of each figure; a resample without any game (there are few games) is left out."""
        full = self._drawn[self._drawn[:, -1] > 0]
        means = full[:, :-1] / full[:, -1:]
        return [interval(total / self.n, means[:, i]) for i, total in enumerate(self._total)]
