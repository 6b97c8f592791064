"""Shares with Jeffreys' 95 % intervals, of single trials or of trials in groups that have much in common (games).

A resampled share has no width at 0 and 1 and too little of it near them: of 20 hits in 20 trials all resamples have 20.
Jeffreys' prior adds half a hit and half a miss (Brown, Cai and DasGupta, "Interval estimation for a binomial
proportion", 2001). `python benchmarks/intervals.py shares` shows how often these intervals hold the truth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

TAIL = 0.025
"""Of the posterior on either side of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Share:
    """A mean of numbers from 0 to 1, mostly hits (1) and misses (0), with the 95 % interval of its expectation."""

    value: float
    low: float
    """0 if there were no hits."""
    high: float
    """1 if there were hits only."""
    error: float
    """Standard error: the standard deviation of the posterior, and so above 0 where all trials ended alike."""

    def __str__(self) -> str:
        return f"{100 * self.value:.2f} % ({100 * self.low:.2f} to {100 * self.high:.2f})"


def share_of(hits: ArrayLike, trials: ArrayLike | None = None) -> Share | None:
    """Return the share of hits, or None if there are no trials.

    hits: float[n], each from 0 to 1, or for each group of trials the sum of its hits; then `trials` is their number.
    Trials of a group may be as dependent as they like, groups must not depend on each other.
    """
    x = np.asarray(hits, np.float64)
    sums = GroupSums(1)
    sums.add(x[:, None], np.ones((len(x), 1)) if trials is None else np.asarray(trials, np.float64)[:, None])
    return sums.shares()[0]


def counted(hits: int, trials: int) -> Share:
    """Return the share of hits of one single trial or more."""
    return _share(trials, hits, trials, hits, hits, trials)


class GroupSums:
    """The running sums behind k shares of trials in groups; their size does not depend on the number of groups."""

    def __init__(self, k: int) -> None:
        self._groups = np.zeros(k)
        self._sums = np.zeros((5, k))

    def add(self, hits: Floats, trials: Floats) -> None:
        """Add the sums of hits and the numbers of trials of some whole groups: float64[groups, k] each."""
        self._groups += (trials > 0).sum(axis=0)
        products = [np.einsum("ij,ij->j", *two) for two in ((hits, hits), (hits, trials), (trials, trials))]
        self._sums += np.array([hits.sum(axis=0), trials.sum(axis=0), *products])

    def shares(self) -> list[Share | None]:
        """Return each share; None where there were no trials."""
        return [_share(*column) if column[2] else None for column in zip(self._groups, *self._sums, strict=True)]


def jeffreys(hits: float, trials: float) -> tuple[float, float]:
    """Return the 95 % interval of a share: the middle of its distribution, Beta(hits + 1/2, misses + 1/2).

    Without hits it begins at 0, without misses it ends at 1: then nothing speaks against these.
    """
    from scipy.special import betaincinv

    a, b = hits + 0.5, trials - hits + 0.5
    low = 0.0 if hits <= 0 else float(betaincinv(a, b, TAIL))
    high = 1.0 if hits >= trials else 1.0 - float(betaincinv(b, a, TAIL))
    return low, high


def _share(groups: float, r: float, n: float, rr: float, rn: float, nn: float) -> Share:
    """Return the share from the sums over groups of hits, trials, hits^2, hits * trials and trials^2.

    `alike` is the variance of the groups over that of groups each of which is all hits or all misses; a quarter of a
    mean group on either side keeps it from 0 where all trials ended alike. Single hits and misses have 1. The interval
    is that of as many single trials as have the variance which was seen.
    """
    p = min(max(float(r / n), 0.0), 1.0)
    seen, most = max(rr - 2 * p * rn + p * p * nn, 0.0), p * (1 - p) * nn
    imaginary = nn / groups / 4
    alike = (seen + imaginary) / (most + imaginary)
    trials = float(n * n / nn / alike)
    low, high = jeffreys(p * trials, trials)
    a = p * trials + 0.5
    mean = a / (trials + 1)
    return Share(p, low, high, float(np.sqrt(mean * (1 - mean) / (trials + 2))))
