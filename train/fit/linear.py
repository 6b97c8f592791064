"""The linear trainer: from records to one weight vector per game phase, by any of the methods of the field.

No pass keeps a record: memory does not depend on their number. `train/fit/methods.py` has the methods.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from evallearn.core.game import Game
from evallearn.errors import DataError, SpecError
from evallearn.evaluators.linear import LinearEval
from evallearn.train.fit.blas import one_blas_thread
from evallearn.train.fit.constraints import Tied, TiedStream
from evallearn.train.fit.methods import METHODS, REFIT, Fitted, Settings, fit_lasso, fit_logistic, fit_ridge, records
from evallearn.train.fit.metrics import measure, predict_linear
from evallearn.train.fit.scale import fit_scale
from evallearn.train.fit.sgd import PooledSgd, fit_sgd
from evallearn.train.fit.stream import ArrayStream, RecordBatch, RecordStream, Summary, check_fits, checked, summarise
from evallearn.train.fit.wdl import fit_wdl, probabilities

FIT = {
    "ridge": fit_ridge,
    "logistic": fit_logistic,
    "sgd": fit_sgd,
    "lasso": fit_lasso,
    "elasticnet": fit_lasso,
    "wdl": fit_wdl,
    "ordinal": fit_wdl,
}
ONLINE_AVERAGE = 10_000
"""Records after which `partial_fit` begins to average the weights: before, they still move too far."""
__all__ = ["METHODS", "LinearFitter"]


class LinearFitter(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Fits EVAL = tanh(w[phase] . f + b[phase]) to the outcomes of games, in the manner of scikit-learn.

    Phases are pooled in part: one weight vector is fitted to all records first, then each phase is fitted with a
    penalty on its distance from that one. So a phase with many records goes its own way, one with few stays close
    to the others, and one with none simply takes the common weights.

    It takes a stream of records, or arrays (X, y) as scikit-learn does: y are outcomes in [-1, 1], all in one phase.

    Learned: weights_ [n_phases, n_features], bias_ [n_phases], selected_ and dropped_ and constant_features_ (names),
    scale_, n_iter_ (passes after the first), draw_margin_ (wdl), n_records_, phase_records_.
    """

    def __init__(
        self,
        *,
        method: str = "logistic",
        alpha: float = 1.0,
        phase_alpha: float = 100.0,
        l1_ratio: float = 0.5,
        relax: bool = True,
        tapered: bool = False,
        tied: Tied | None = None,
        epochs: int = 3,
        seed: int = 0,
        max_iter: int = 50,
        tol: float = 1e-4,
    ) -> None:
        """Only store the settings; `fit` checks them.

        method: "ridge" (least squares on the outcome, then one scale for all), "logistic" (probability of a win),
            "sgd" (the same by stochastic gradient descent), "lasso" and "elasticnet" (least squares on few
            features), "wdl" or "ordinal" (win, draw and loss by proportional odds).
        alpha: L2 penalty on the standardised common weights, in records: with ridge, a feature on its own reaches
            half of its weight after this many. With lasso and elasticnet: what a feature must explain to be kept, in
            units of what the luckiest of as many meaningless ones explains.
        phase_alpha: the same for a phase's distance from the common weights. It is larger because a game leaves
            many records with one and the same outcome in a phase.
        l1_ratio: elasticnet's share of the L1 penalty; the L2 penalty comes on top, the L1 penalty stays.
        relax: lasso and elasticnet only select, and the selected features are fitted without their shrinkage.
        tapered: weights and bias go in a straight line from the first phase to the last.
        tied: features that share one weight, [("a", "b"), ("c", "-d")]: d takes the negative of c's.
        epochs, seed: of sgd.
        max_iter: passes over the records before an iterative fit gives up.
        tol: an iterative fit ends when no standardised weight moves by more.
        """
        self.method = method
        self.alpha = alpha
        self.phase_alpha = phase_alpha
        self.l1_ratio = l1_ratio
        self.relax = relax
        self.tapered = tapered
        self.tied = tied
        self.epochs = epochs
        self.seed = seed
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: RecordStream | Any, y: Any = None) -> LinearFitter:
        """Learn from the train split of a stream, or from all rows of the arrays (X, y)."""
        settings = Settings(**self.get_params())
        stream = _as_stream(X, y)
        used = TiedStream(stream, settings.tied) if settings.tied else stream
        with one_blas_thread():
            summary = summarise(used)
            _check_varies(used, summary)
            fitted = FIT[settings.method](used, summary, settings)
            self._take(used, summary, fitted)
        self.n_records_, self.phase_records_ = summary.n_records, summary.phase_records
        self.n_features_in_, self.n_phases_ = stream.n_features, stream.n_phases
        self.feature_names_, self.data_checksum_ = tuple(stream.feature_names), stream.checksum
        self._tells_phases = y is None
        self._untie(used, summary)
        self._online: tuple[Summary, PooledSgd] | None = None if fitted.model is None else (summary, fitted.model)
        return self

    def _take(self, stream: RecordStream, summary: Summary, fitted: Fitted) -> None:
        self.n_iter_, self.draw_margin_ = 1 + fitted.n_iter, fitted.draw_margin
        self.scale_ = 1.0 if fitted.scale is None else fitted.scale
        self.weights_, self.bias_ = _unstandardise(self.scale_ * fitted.theta, summary)
        self._kept = np.ones(stream.n_features, bool) if fitted.kept is None else fitted.kept
        if fitted.scale is None:
            self.scale_ = self._fit_scale(stream, summary)
            self.weights_, self.bias_ = self.scale_ * self.weights_, self.scale_ * self.bias_
            self.n_iter_ += 1

    def _fit_scale(self, stream: RecordStream, summary: Summary) -> float:
        """Return the scale, as `fit_scale` finds it.

        Least squares knows nothing of the squashing, proportional odds nothing of the missing margin.
        """
        w, bias = self.weights_, self.bias_

        def predictions() -> Iterator[tuple[np.ndarray, np.ndarray]]:
            for x, phase, y in records(stream, summary):
                yield np.einsum("ij,ij->i", x, w[phase]) + bias[phase], y

        alpha = self.alpha if self.method == "ridge" else REFIT
        return fit_scale(predictions(), alpha, max_iter=self.max_iter, tol=self.tol)

    def _untie(self, used: RecordStream, summary: Summary) -> None:
        """Go from the columns that were learned from to the features of the game."""
        constant = summary.inverse_scale == 0.0
        matrix = used.matrix if isinstance(used, TiedStream) else np.eye(used.n_features)
        self.weights_ = self.weights_ @ matrix.T if isinstance(used, TiedStream) else self.weights_
        of_feature = np.argmax(matrix != 0.0, axis=1)
        kept, fixed = (self._kept & ~constant)[of_feature], constant[of_feature]
        self.selected_, self.dropped_ = self._named(kept), self._named(~kept)
        self.constant_features_ = self._named(fixed)

    def _named(self, which: np.ndarray) -> tuple[str, ...]:
        return tuple(name for name, chosen in zip(self.feature_names_, which, strict=True) if chosen)

    # --- a batch at a time -----------------------------------------------------------------------------------------
    def partial_fit(
        self, X: RecordBatch | Any, y: Any = None, *, n_phases: int = 1, feature_names: Sequence[str] | None = None
    ) -> LinearFitter:
        """Learn from one more batch, with method "sgd": a RecordBatch, or arrays (X, y).

        After `fit` it goes on from there. Else the first batch sets how features are standardised, so it should be
        large and like the others; n_phases and feature_names are read from the first call only.
        """
        if self.method != "sgd":
            raise SpecError(f"method {self.method!r} cannot learn batch by batch: use method 'sgd', or fit(stream)")
        stream = _batch_stream(X, y, getattr(self, "n_phases_", n_phases), feature_names or self._names_so_far())
        used = TiedStream(stream, self.tied) if self.tied else stream
        online = getattr(self, "_online", None)
        if online is None:
            online = self._begin(used)
            self._online, self.data_checksum_ = online, ""
        summary, model = online
        for b in checked(used, "train"):
            model.learn(summary.design(b.features)[:, :-1], b.phase, b.outcome.astype(np.float64))
        self.n_records_, self.phase_records_ = int(model.seen.sum()), model.seen.copy()
        self.data_checksum_ = hashlib.sha256((self.data_checksum_ + stream.checksum).encode()).hexdigest()
        self.n_features_in_, self.n_phases_, self.feature_names_ = (
            stream.n_features,
            stream.n_phases,
            stream.feature_names,
        )
        self._take(used, summary, Fitted(model.theta(), 0))
        self._untie(used, summary)
        return self

    def _begin(self, used: RecordStream) -> tuple[Summary, PooledSgd]:
        settings, summary = Settings(**self.get_params()), summarise(used)
        _check_varies(used, summary)
        return summary, PooledSgd(settings, used.n_phases, summary.n_records, ONLINE_AVERAGE)

    def _names_so_far(self) -> tuple[str, ...] | None:
        return getattr(self, "feature_names_", None)

    # --- what was learned --------------------------------------------------------------------------------------------
    def predict(self, features: Any, phase: np.ndarray | None = None) -> np.ndarray:
        """Return the value of each row to its player to move, float64[n], in (-1, 1).

        Without phases, all are in phase 0.
        """
        x, k = self._rows(features, phase)
        return predict_linear(self.weights_, self.bias_, x, k)

    def predict_wdl(self, features: Any, phase: np.ndarray | None = None) -> np.ndarray:
        """Return float64[n, 3]: probabilities of a loss, a draw and a win, as the proportional odds model has them.

        `predict` is the nearest that tanh of a sum comes to P(win) - P(loss), and all that the evaluator keeps.
        """
        x, k = self._rows(features, phase)
        if self.method not in ("wdl", "ordinal"):
            raise SpecError(f"method {self.method!r} knows no draws: fit with method 'wdl' to predict them")
        eta = (np.einsum("ij,ij->i", x, self.weights_[k]) + self.bias_[k]) / self.scale_
        return probabilities(eta, self.draw_margin_)

    def _rows(self, features: Any, phase: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self, "weights_")
        x = np.asarray(features)
        if x.ndim != 2 or x.shape[1] != self.n_features_in_:
            raise DataError(
                f"features have shape {x.shape}, the trainer was fitted on {self.n_features_in_} features "
                f"({', '.join(self.feature_names_)}): give one row per position, one column for each"
            )
        return x, np.zeros(len(x), np.int64) if phase is None else phase

    def score(self, X: RecordStream | Any, y: Any = None) -> float:
        """Return minus the log loss (the larger the better): on a stream's test split, or on the arrays (X, y)."""
        if y is None:
            return -measure(self.predict, X).log_loss
        return -measure(self.predict, _as_stream(X, y), "train").log_loss

    def evaluator(self, game: Game, metadata: Mapping[str, Any] | None = None) -> LinearEval:
        """Return the evaluator for a game with these features; `metadata` adds to the origin that its file tells.

        Arrays tell no phases: what was fitted to them serves all phases of the game.
        """
        check_is_fitted(self, "weights_")
        copies = 1 if getattr(self, "_tells_phases", True) else game.n_phases
        check_fits(self.feature_names_, self.n_phases_ * copies, game)
        origin = {
            "trainer": type(self).__name__,
            "settings": self.get_params(),
            "records": self.n_records_,
            "data_checksum": self.data_checksum_,
            "dropped": list(self.dropped_),
        }
        weights, bias = np.tile(self.weights_, (copies, 1)), np.tile(self.bias_, copies)
        return LinearEval(game, weights, bias, {**origin, **(metadata or {})})


def _unstandardise(theta: np.ndarray, summary: Summary) -> tuple[np.ndarray, np.ndarray]:
    """Return (weights, bias) on the features as they are."""
    weights = theta[:, :-1] * summary.inverse_scale
    return weights, theta[:, -1] - weights @ summary.mean


def _as_stream(X: Any, y: Any) -> RecordStream:
    """Return arrays as a stream: each row a game of its own, nothing held out."""
    if y is None:
        if not hasattr(X, "batches"):
            raise DataError(f"fit was given a {type(X).__name__} without outcomes: call fit(stream) or fit(X, y)")
        stream: RecordStream = X
        return stream
    names = getattr(X, "columns", None)  # of a DataFrame
    return ArrayStream(
        np.asarray(X), np.asarray(y), game=np.arange(len(X)), test_share=0.0,
        feature_names=None if names is None else tuple(map(str, names)),
    )  # fmt: skip


def _batch_stream(X: Any, y: Any, n_phases: int, names: Sequence[str] | None) -> ArrayStream:
    if y is None:
        if not hasattr(X, "outcome"):
            raise DataError(f"partial_fit was given a {type(X).__name__} without outcomes: give a Batch, or (X, y)")
        features, outcome, game, phase = X.features, X.outcome, X.game, X.phase
    else:
        features, outcome, game, phase = np.asarray(X), np.asarray(y), np.arange(len(X)), None
    return ArrayStream(
        features, outcome, game=game, phase=phase, n_phases=n_phases, feature_names=names, test_share=0.0
    )


def _check_varies(stream: RecordStream, summary: Summary) -> None:
    if not summary.inverse_scale.any():
        raise DataError(
            f"every feature is constant in all {summary.n_records} training records "
            f"({', '.join(stream.feature_names)}): correct the feature function, or generate more games, "
            "with more random opening plies"
        )
