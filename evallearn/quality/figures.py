"""The arithmetic behind the figures: choices among ties, rank correlations, and the intervals of means over positions.

Ties are never broken by dice or by the order of the actions: where several actions have equal values, a figure is the
mean over all of them, which is what a fair draw among them would give in expectation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evallearn.arena.bootstrap import bootstrap_mean
from evallearn.core.json_shapes import JsonDict
from evallearn.core.shares import share_of

RESAMPLES = 300
"""Of a correlation; each sorts all positions anew."""
SAME = 1e-7
"""Values closer than this part of the utility range are equal: searches round to float32, dice sums too."""


@dataclass(frozen=True)
class Figure:
    """A figure of the positions with its standard error and its 95 % interval."""

    value: float
    error: float
    low: float
    high: float
    n: int
    """Positions."""

    def to_json(self) -> dict[str, float | int]:
        return {"value": self.value, "error": self.error, "low": self.low, "high": self.high, "n": self.n}


def share(values: Sequence[float] | np.ndarray) -> Figure | None:
    """Return the mean of values from 0 to 1 with Jeffreys' interval; None if there are none.

    NaN are left out: they stand for "says nothing".
    """
    return bounded_mean(values, 0.0, 1.0)


def bounded_mean(values: Sequence[float] | np.ndarray, low: float, high: float) -> Figure | None:
    """Return the mean of values between two bounds: the interval has a width even where all values are equal."""
    x = _told(values)
    found = share_of((x - low) / (high - low)) if high > low else None
    if found is None:
        return None
    width = high - low
    return Figure(float(x.mean()), width * found.error, low + width * found.low, low + width * found.high, len(x))


def mean(values: Sequence[float] | np.ndarray, *, seed: int = 0) -> Figure | None:
    """Return the mean of values without bounds, or far from them, with a studentised bootstrap interval."""
    x = _told(values)
    if not len(x):
        return None
    found = bootstrap_mean(x.tolist(), seed=seed)
    return Figure(found.value, found.standard_error, found.low, found.high, len(x))


def correlation(
    statistic: Callable[[np.ndarray, np.ndarray], float], x: np.ndarray, y: np.ndarray, *, seed: int = 0
) -> Figure | None:
    """Return a correlation of pairs; None where it says nothing (fewer than three pairs, or no spread)."""
    whole = statistic(x, y) if len(x) >= 3 else np.nan
    if np.isnan(whole):
        return None
    rng = np.random.default_rng(seed)
    drawn = [rng.integers(0, len(x), len(x)) for _ in range(RESAMPLES)]
    found = np.array([statistic(x[i], y[i]) for i in drawn])
    return _resampled(float(whole), found[~np.isnan(found)], len(x))


def _told(values: Sequence[float] | np.ndarray) -> np.ndarray:
    x = np.asarray(values, np.float64)
    return x[~np.isnan(x)]


def _resampled(value: float, resampled: np.ndarray, n: int) -> Figure:
    if not len(resampled):
        return Figure(value, 0.0, value, value, n)
    low, high = np.quantile(resampled, (0.025, 0.975))
    return Figure(value, float(resampled.std()), float(low), float(high), n)


# --- one position ----------------------------------------------------------------------------------------------------
def chosen(looks: np.ndarray, same: float) -> np.ndarray:
    """Return bool[n]: the actions with the highest value; several where they are equal."""
    best: np.ndarray = looks >= looks.max() - same
    return best


def agreement(looks: np.ndarray, truth: np.ndarray, same: float) -> float:
    """Return the probability that the chosen action is as good as the best."""
    return float((truth[chosen(looks, same)] >= truth.max() - same).mean())


def loss(looks: np.ndarray, truth: np.ndarray, same: float) -> float:
    """Return what the chosen action gives away, in expectation."""
    return float((truth.max() - truth[chosen(looks, same)]).mean())


def kept(looks: np.ndarray, truth: np.ndarray, same: float, middle: float) -> float:
    """Return the probability that the chosen action keeps the outcome: still a win, still a draw, or lost anyway."""
    outcome = outcomes(truth - middle, same)
    return float((outcome[chosen(looks, same)] == outcome.max()).mean())


def outcomes(values: np.ndarray, same: float) -> np.ndarray:
    """Return -1, 0 or 1 for each value, which is 0 in the middle between loss and win."""
    return np.where(np.abs(values) <= same, 0.0, np.sign(values))


# --- rank correlations -----------------------------------------------------------------------------------------------
def kendall(looks: np.ndarray, truth: np.ndarray, same: float) -> float:
    """Return Kendall's tau-b of two orderings of the same actions: 1 the same, -1 reversed, 0 unrelated.

    NaN if the truth holds all actions equal: there is no order to find. 0 if only the evaluator does: it finds none.
    """
    i, j = np.triu_indices(len(looks), 1)
    a, b = outcomes(looks[i] - looks[j], same), outcomes(truth[i] - truth[j], same)
    pairs_a, pairs_b = np.abs(a).sum(), np.abs(b).sum()
    if not pairs_b:
        return float("nan")
    return float((a * b).sum() / np.sqrt(pairs_a * pairs_b)) if pairs_a else 0.0


def ranks(x: np.ndarray) -> np.ndarray:
    """Return float64[n]: the rank of each number; equal ones share the mean of theirs."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: np.ndarray = (last - (counts - 1) / 2)[inverse]
    return mean


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Return Spearman's rank correlation; NaN if y does not vary, 0 if only x does not."""
    a, b = ranks(x), ranks(y)
    a, b = a - a.mean(), b - b.mean()
    if not b.any():
        return float("nan")
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())) if a.any() else 0.0


def plain(value: Figure | None) -> JsonDict | None:
    """Return a Figure, or None, for json.dump."""
    return dict(value.to_json()) if value else None
