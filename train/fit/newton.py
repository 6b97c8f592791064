"""Penalised least squares and logistic regression on sums over the records: no solver here sees a record twice at once.

A pass over the records adds up a Gram matrix, a slope and a loss; scikit-learn's Ridge then solves a data set of at
most d rows, a square root of that Gram, whose solution is exactly that of all the records. scikit-learn is imported
where it solves: it takes longer than the rest of most commands to start, and few of those that come by here need it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np

from evallearn.train.fit.stream import by_group

Rows = Callable[[], Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]]
"""Each call is a new pass over (design float64[n, d], probability of a win [n], group [n])."""
Triple = tuple[np.ndarray, np.ndarray, np.ndarray]
Sums = Callable[[np.ndarray], Triple]
"""sums(theta [g, d]) -> (gram [g, d, d], slope [g, d], loss [g]): the derivatives of the loss at theta, and itself."""


def logistic_sums(rows: Rows, theta: np.ndarray) -> Triple:
    """Return (gram [g, d, d], slope [g, d], loss [g]): the second and first derivatives and the log loss.

    They are those at `theta` [g, d].
    """
    groups, d = theta.shape
    gram, slope, loss = np.zeros((groups, d, d)), np.zeros((groups, d)), np.zeros(groups)
    for z, q, group in rows():
        for k, i in by_group(group, groups):
            part, wins = z[i], q[i]
            raw = part @ theta[k]
            p = (1.0 + np.tanh(raw / 2.0)) / 2.0  # the logistic function, without overflow
            slope[k] += part.T @ (wins - p)
            half = part * np.sqrt(p * (1.0 - p))[:, None]  # a matrix times itself costs BLAS half of any other product
            gram[k] += half.T @ half
            loss[k] += np.sum(np.logaddexp(0.0, raw) - wins * raw)
    return gram, slope, loss


def newton(
    sums: Sums, prior: np.ndarray, penalty: np.ndarray, *, max_iter: int, tol: float, start: np.ndarray | None = None
) -> tuple[np.ndarray, int]:
    """Return (theta [g, d], passes), by reweighted ridge.

    theta is where each group has the least loss + sum of penalty/2 (theta - prior)^2.

    Each pass gives the loss and the next step; a step that made the loss worse is halved and tried again.
    penalty: [d], 0 for a coefficient that is free. start: where to begin, `prior` if it is not given.
    """
    best: np.ndarray = prior.copy() if start is None else start.copy()
    step: np.ndarray = np.zeros_like(prior)
    best_loss = np.full(len(prior), np.inf)
    for done in range(1, max_iter + 1):
        theta: np.ndarray = best + step
        gram, slope, loss = sums(theta)
        delta = theta - prior
        loss = loss + np.sum(penalty / 2.0 * delta**2, axis=1)
        for k in range(len(prior)):
            if loss[k] <= best_loss[k] * (1.0 + 1e-12):
                best[k], best_loss[k] = theta[k], loss[k]
                step[k] = solve_ridge(gram[k], gram[k] @ delta[k] + slope[k], penalty) - delta[k]
            else:
                step[k] /= 2.0
        if np.abs(step).max() <= tol:
            return best + step, done
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"the fit still moved by {np.abs(step).max():.2g} after max_iter={max_iter} passes: "
        f"raise max_iter, or raise alpha (the penalty is {penalty.max():g})",
        ConvergenceWarning,
        stacklevel=6,
    )
    return best + step, max_iter


def solve_ridge(gram: np.ndarray, target: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Return float64[d]: the t with least t' gram t - 2 target' t + sum of penalty t^2.

    A penalty of 0 leaves it free.
    """
    free = penalty == 0.0
    if free.any():  # what is left of the others after the free columns have explained what they can
        held = ~free
        cross, own = gram[np.ix_(held, free)], gram[np.ix_(free, free)]
        explain = np.linalg.solve(own, cross.T)
        t = np.zeros(len(target))
        t[held] = solve_ridge(
            gram[np.ix_(held, held)] - cross @ explain, target[held] - explain.T @ target[free], penalty[held]
        )
        t[free] = np.linalg.solve(own, target[free] - cross.T @ t[held])
        return t
    if not len(penalty):
        return np.zeros(0)
    from sklearn.linear_model import Ridge

    alpha = penalty.max()
    stretch = np.sqrt(alpha / penalty)  # a column stretched by c is penalised 1 / c^2 as much
    compact, outcome = square_root(stretch[:, None] * gram * stretch, stretch * target)
    if not len(compact):
        return np.zeros(len(target))
    solution: np.ndarray = stretch * Ridge(alpha=alpha, fit_intercept=False, solver="svd").fit(compact, outcome).coef_
    return solution


def square_root(gram: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (x [r, d], y [r]) with x'x = gram and x'y = target, r its rank.

    It is a small data set that stands for all records.
    """
    values, vectors = np.linalg.eigh(gram)
    keep = values > max(values[-1], 0.0) * len(values) * np.finfo(float).eps
    root = np.sqrt(values[keep])
    return root[:, None] * vectors[:, keep].T, vectors[:, keep].T @ target / root
