"""The linear trainer: streamed ridge and logistic regression, one weight vector per game phase.

No pass keeps a record. Each adds up, per phase, a Gram matrix and a gradient; scikit-learn's Ridge then solves a
data set of at most n_features + 1 rows, a square root of that Gram, whose solution is exactly that of all the records.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it ships no types

from evallearn.errors import SpecError, unknown
from evallearn.evaluators.linear import LinearEval
from evallearn.protocols import Game
from evallearn.train.metrics import predict_linear
from evallearn.train.stream import RecordStream, Summary, by_group, check_fits, check_same_length, chunks, summarise

METHODS = ("ridge", "logistic")
Rows = Callable[[], Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]]
"""Each call is a new pass over (design float64[n, d], probability of a win [n], group [n])."""


class LinearEvalTrainer(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Fits EVAL = tanh(w[phase] . f + b[phase]) to the outcomes of games, in the manner of scikit-learn.

    Phases are pooled in part: one weight vector is fitted to all records first, then each phase is fitted with a
    penalty on its distance from that one. So a phase with many records goes its own way, one with few stays close
    to the others, and one with none simply takes the common weights.
    """

    def __init__(
        self,
        *,
        method: str = "logistic",
        alpha: float = 1.0,
        phase_alpha: float = 100.0,
        max_iter: int = 50,
        tol: float = 1e-4,
    ) -> None:
        """Only stores; `fit` checks.

        method: "ridge" (least squares on the outcome, then one scale for all) or "logistic" (probability of a win).
        alpha: L2 penalty on the standardised common weights, in records: with ridge, a feature on its own reaches
            half of its weight after this many.
        phase_alpha: the same for a phase's distance from the common weights. It is larger because a game leaves
            many records with one and the same outcome in a phase.
        max_iter: passes over the records before an iterative fit gives up.
        tol: an iterative fit ends when no standardised weight moves by more.
        """
        self.method = method
        self.alpha = alpha
        self.phase_alpha = phase_alpha
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, stream: RecordStream) -> LinearEvalTrainer:
        """Learn from the train split. Memory does not depend on the number of records."""
        self._check_settings()
        # One BLAS thread: the order of additions, and so the last bit, is the same on every number of cores.
        with threadpool_limits(limits=1, user_api="blas"):
            summary = summarise(stream)
            self.n_iter_ = 1
            if self.method == "ridge":
                self._fit_ridge(stream, summary)
            else:
                self._fit_logistic(stream, summary)
        self.n_records_, self.phase_records_ = summary.n_records, summary.phase_records
        self.n_features_in_, self.n_phases_ = stream.n_features, stream.n_phases
        self.feature_names_, self.data_checksum_ = tuple(stream.feature_names), stream.checksum
        self.constant_features_ = tuple(
            n for n, s in zip(self.feature_names_, summary.inverse_scale, strict=True) if s == 0
        )
        return self

    def predict(self, features: np.ndarray, phase: np.ndarray) -> np.ndarray:
        """float64[n]: the value of each row to its player to move."""
        check_is_fitted(self)
        return predict_linear(self.weights_, self.bias_, features, phase)

    def evaluator(self, game: Game, made: Mapping[str, Any] | None = None) -> LinearEval:
        """The Eval for a game with these features; `made` adds to what its file will tell about its origin."""
        check_is_fitted(self)
        check_fits(self.feature_names_, self.n_phases_, game)
        origin = {
            "trainer": type(self).__name__,
            "settings": self.get_params(),
            "records": self.n_records_,
            "data_checksum": self.data_checksum_,
        }
        return LinearEval(game, self.weights_, self.bias_, {**origin, **(made or {})})

    # --- the two methods -------------------------------------------------------------------------------------------
    def _fit_ridge(self, stream: RecordStream, summary: Summary) -> None:
        common = solve_ridge(summary.gram.sum(axis=0), summary.target.sum(axis=0), self.alpha, free_last=True)
        theta = np.tile(common, (stream.n_phases, 1))
        if stream.n_phases > 1:
            for k, (gram, target) in enumerate(zip(summary.gram, summary.target, strict=True)):
                theta[k] += solve_ridge(gram, target - gram @ common, self.phase_alpha, free_last=False)
        self._unstandardise(theta, summary)
        self.scale_ = self._fit_scale(stream, summary)
        self.weights_ *= self.scale_
        self.bias_ *= self.scale_

    def _fit_scale(self, stream: RecordStream, summary: Summary) -> float:
        """K such that tanh(K * prediction) has the least log loss: least squares knows nothing of the squashing.

        It is shrunk towards 1 by `alpha`, which only matters where the records are few or perfectly predicted.
        """
        w, bias = self.weights_, self.bias_

        def rows() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
            for x, phase, y in _records(stream, summary):
                prediction = np.einsum("ij,ij->i", x, w[phase]) + bias[phase]
                yield 2.0 * prediction[:, None], (1.0 + y) / 2.0, phase  # p = (1 + tanh(v)) / 2 = logistic(2 v)

        return float(self._newton(rows, np.ones((1, 1)), self.alpha, free_last=False)[0, 0])

    def _fit_logistic(self, stream: RecordStream, summary: Summary) -> None:
        def rows() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
            for x, phase, y in _records(stream, summary):
                yield summary.design(x), (1.0 + y) / 2.0, phase

        theta = self._newton(rows, np.zeros((1, stream.n_features + 1)), self.alpha, free_last=True)
        if stream.n_phases > 1:
            theta = self._newton(rows, np.tile(theta, (stream.n_phases, 1)), self.phase_alpha, free_last=False)
        self.scale_ = 0.5  # 2 logistic(z) - 1 = tanh(z / 2)
        self._unstandardise(self.scale_ * theta, summary)

    def _unstandardise(self, theta: np.ndarray, summary: Summary) -> None:
        self.weights_ = theta[:, :-1] * summary.inverse_scale
        self.bias_ = theta[:, -1] - self.weights_ @ summary.mean

    # --- Newton's method, streamed ---------------------------------------------------------------------------------
    def _newton(self, rows: Rows, prior: np.ndarray, alpha: float, *, free_last: bool) -> np.ndarray:
        """float64[groups, d]: each group's least log loss + alpha/2 |theta - prior|^2, by iteratively reweighted ridge.

        Each pass gives the loss and the next step; a step that made the loss worse is halved and tried again.
        """
        best: np.ndarray = prior.copy()
        step: np.ndarray = np.zeros_like(prior)
        best_loss = np.full(len(prior), np.inf)
        for _ in range(self.max_iter):
            theta: np.ndarray = best + step
            gram, slope, loss = logistic_sums(rows, theta)
            self.n_iter_ += 1
            delta = theta - prior
            loss += alpha / 2.0 * np.sum((delta[:, :-1] if free_last else delta) ** 2, axis=1)
            for k in range(len(prior)):
                if loss[k] <= best_loss[k] * (1.0 + 1e-12):
                    best[k], best_loss[k] = theta[k], loss[k]
                    step[k] = solve_ridge(gram[k], gram[k] @ delta[k] + slope[k], alpha, free_last=free_last) - delta[k]
                else:
                    step[k] /= 2.0
            if np.abs(step).max() <= self.tol:
                break
        else:
            warnings.warn(
                f"the fit still moved by {np.abs(step).max():.2g} after max_iter={self.max_iter} passes: "
                f"raise max_iter, or raise alpha (now {self.alpha:g})",
                ConvergenceWarning,
                stacklevel=4,
            )
        theta = best + step
        return theta

    def _check_settings(self) -> None:
        if self.method not in METHODS:
            raise unknown("method", str(self.method), METHODS)
        for name in ("alpha", "phase_alpha", "tol"):
            value = getattr(self, name)
            if not 0.0 < value < float("inf"):
                raise SpecError(f"{name}={value!r} does not work: give a number above 0")
        if self.max_iter < 1:
            raise SpecError(f"max_iter={self.max_iter!r} does not work: give a whole number of 1 or more")


def _records(stream: RecordStream, summary: Summary) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """A further pass over the training records, which `summarise` has checked."""
    seen = 0
    for b in stream.batches("train"):
        seen += len(b.outcome)
        yield from chunks(b)
    check_same_length(seen, summary.n_records)


def logistic_sums(rows: Rows, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(gram [g, d, d], slope [g, d], loss [g]): second and first derivatives and the log loss at `theta` [g, d]."""
    groups, d = theta.shape
    gram, slope, loss = np.zeros((groups, d, d)), np.zeros((groups, d)), np.zeros(groups)
    for z, q, group in rows():
        for k, i in by_group(group, groups):
            part, wins = z[i], q[i]
            raw = part @ theta[k]
            p = (1.0 + np.tanh(raw / 2.0)) / 2.0  # the logistic function, without overflow
            gram[k] += (part * (p * (1.0 - p))[:, None]).T @ part
            slope[k] += part.T @ (wins - p)
            loss[k] += np.sum(np.logaddexp(0.0, raw) - wins * raw)
    return gram, slope, loss


def solve_ridge(gram: np.ndarray, target: np.ndarray, alpha: float, *, free_last: bool) -> np.ndarray:
    """float64[d]: the t with least t' gram t - 2 target' t + alpha |t|^2; free_last: the last one is not penalised."""
    if free_last:  # what is left of the others after the free column has explained what it can
        n, s = gram[-1, -1], gram[:-1, -1]
        t = solve_ridge(gram[:-1, :-1] - np.outer(s, s) / n, target[:-1] - s * target[-1] / n, alpha, free_last=False)
        return np.append(t, (target[-1] - s @ t) / n)
    values, vectors = np.linalg.eigh(gram)
    keep = values > max(values[-1], 0.0) * len(values) * np.finfo(float).eps
    if not keep.any():
        return np.zeros(len(target))
    root = np.sqrt(values[keep])
    compact, outcome = root[:, None] * vectors[:, keep].T, vectors[:, keep].T @ target / root
    solution: np.ndarray = Ridge(alpha=alpha, fit_intercept=False, solver="svd").fit(compact, outcome).coef_
    return solution
