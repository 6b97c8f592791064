"""Lasso and elastic net: which features are worth a weight, decided on the sums of one pass over the records."""

from __future__ import annotations

import math

import numpy as np
from sklearn.linear_model import ElasticNet, Lasso

from evallearn.errors import SpecError
from evallearn.train.fit.newton import square_root
from evallearn.train.fit.stream import Summary

GAP = 1e-8
"""Coordinate descent ends when its duality gap is this share of the variance that can be explained."""


def noise_level(summary: Summary) -> float:
    """Return the correlation with the outcome that the luckiest of the features reaches if none means anything.

    It is the universal threshold sqrt(2 ln(2 d) / n) of Donoho and Johnstone. Records count as independent; where
    the n records of a game repeat each other, alpha = sqrt(n) is the same threshold for games.
    """
    return math.sqrt(2.0 * math.log(2.0 * len(summary.mean)) / summary.n_records)


def select(summary: Summary, alpha: float, l1_ratio: float) -> np.ndarray:
    """Return the standardised weights of all phases together, float64[n_features], many of them 0.

    They have the least |y - z w|^2 / 2n + level |w|_1 + level (1 - l1_ratio) / l1_ratio |w|^2 / 2, where level is
    alpha times the noise level and z, y have a mean of 0. Raises SpecError if no feature is left.
    """
    gram, target = centred(summary)
    level, n = alpha * noise_level(summary), summary.n_records
    x, y = square_root(gram, target)
    per_row = level * n / len(x)  # scikit-learn divides the squares by the rows it sees
    if l1_ratio == 1.0:
        model = Lasso(alpha=per_row, fit_intercept=False, tol=GAP, max_iter=100_000)
    else:
        model = ElasticNet(alpha=per_row / l1_ratio, l1_ratio=l1_ratio, fit_intercept=False, tol=GAP, max_iter=100_000)
    found: np.ndarray = model.fit(x, y).coef_
    if not found.any():
        largest = np.abs(target).max() / n / noise_level(summary)
        raise SpecError(
            f"alpha={alpha:g} drops every feature: give an alpha below {largest:.3g}, or use method 'ridge'"
        )
    return found


def centred(summary: Summary) -> tuple[np.ndarray, np.ndarray]:
    """Return (gram [f, f], target [f]) of all phases together, after the constant has explained what it can."""
    gram, target = summary.gram.sum(axis=0), summary.target.sum(axis=0)
    share = gram[:-1, -1] / gram[-1, -1]
    return gram[:-1, :-1] - np.outer(share, gram[-1, :-1]), target[:-1] - share * target[-1]
