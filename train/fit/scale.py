"""One factor K for all weights, so that tanh(K * prediction) has the least log loss: one pass over the records."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from evallearn.train.fit.newton import Triple, newton

BINS = 8192
"""Intervals of tanh(prediction). Within one, predictions are replaced by their mean: K is off by less than 1e-6."""


def fit_scale(
    predictions: Iterable[tuple[np.ndarray, np.ndarray]], alpha: float, *, max_iter: int, tol: float
) -> float:
    """Return K, shrunk towards 1 by `alpha` records, which only matters where they are few or perfectly predicted.

    predictions: pairs (prediction [n], outcome [n] in [-1, 1]), chunk by chunk.
    """
    count, total, wins = np.zeros(BINS), np.zeros(BINS), np.zeros(BINS)
    for v, y in predictions:
        index = np.minimum(((np.tanh(v) + 1.0) * (BINS / 2)).astype(np.int64), BINS - 1)
        count += np.bincount(index, minlength=BINS)
        total += np.bincount(index, v, BINS)
        wins += np.bincount(index, (1.0 + y) / 2.0, BINS)
    seen = count > 0
    count, wins, x = count[seen], wins[seen], 2.0 * total[seen] / count[seen]  # p = (1 + tanh(v)) / 2 = logistic(2 v)

    def sums(theta: np.ndarray) -> Triple:
        raw = x * theta[0, 0]
        p = (1.0 + np.tanh(raw / 2.0)) / 2.0
        loss = np.sum(count * np.logaddexp(0.0, raw) - wins * raw)
        gram, slope = np.sum(count * p * (1.0 - p) * x**2), np.sum((wins - count * p) * x)
        return np.full((1, 1, 1), gram), np.full((1, 1), slope), np.full(1, loss)

    found, _ = newton(sums, np.ones((1, 1)), np.full(1, alpha), max_iter=max_iter, tol=tol)
    return float(found[0, 0])
