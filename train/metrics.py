"""How good a predictor of outcomes is on records that it has not seen: losses, signs and calibration, in one pass.

A predictor is any function predict(features float32[n, n_features], phase int64[n]) -> values [n] in [-1, 1].
A value v stands for the probability p = (1 + v) / 2 of a win; a draw counts as half a win.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from evallearn.errors import DataError
from evallearn.evaluators.features import FeatureEval
from evallearn.evaluators.linear import LinearEval
from evallearn.evaluators.mlp import MlpEval
from evallearn.evaluators.squash import BOUND
from evallearn.train.stream import RecordStream, checked

Predict = Callable[[np.ndarray, np.ndarray], np.ndarray]


def bounded(values: np.ndarray) -> np.ndarray:
    """The values, strictly between a loss and a win, as every Eval keeps them."""
    inside: np.ndarray = np.clip(values, -BOUND, BOUND)
    return inside


def predict_linear(weights: np.ndarray, bias: np.ndarray, features: np.ndarray, phase: np.ndarray) -> np.ndarray:
    """float64[n]: what a LinearEval says, for many rows at once."""
    raw = np.einsum("ij,ij->i", features, weights[phase]) + bias[phase]
    return bounded(np.tanh(raw))


def predict_mlp(tensors: Mapping[str, np.ndarray], features: np.ndarray, phase: np.ndarray) -> np.ndarray:
    """float64[n]: what an MlpEval says, up to the order in which it adds."""
    h1 = np.maximum(features @ tensors["w1"] + tensors["b1"][phase], 0)
    h2 = np.maximum(h1 @ tensors["w2"] + tensors["b2"], 0)
    raw = (h2 @ tensors["w3"]).astype(np.float64) + tensors["b3"][0]
    return bounded(np.tanh(raw))


def predictor(evaluator: FeatureEval) -> Predict:
    """The Eval as a function of recorded features: a learned one, a hand-written one, or one from a file."""
    if isinstance(evaluator, LinearEval):
        weights, bias = evaluator.weights.astype(np.float64), evaluator.bias.astype(np.float64)
        return lambda features, phase: predict_linear(weights, bias, features, phase)
    if isinstance(evaluator, MlpEval):
        tensors = evaluator.tensors()
        return lambda features, phase: predict_mlp(tensors, features, phase)
    raise DataError(
        f"{evaluator.name!r} is a {type(evaluator).__name__}: only linear and MLP Evals predict from features"
    )


@dataclass(frozen=True)
class CalibrationBin:
    """The records whose predicted value lay in one interval."""

    low: float
    high: float
    predicted: float
    """Mean predicted value."""
    outcome: float
    """Mean outcome: equal to `predicted` if the predictor is calibrated."""
    count: int


@dataclass(frozen=True)
class Metrics:
    """The quality of a predictor on one split."""

    split: str
    n_records: int
    n_decided: int
    """Records of games that somebody won."""
    log_loss: float
    """Mean of -(q ln p + (1 - q) ln(1 - p)), q = 1 for a win, 1/2 for a draw, 0 for a loss."""
    brier: float
    """Mean of (p - q)^2."""
    mse: float
    """Mean of (value - outcome)^2: four times the Brier score."""
    sign_accuracy: float | None
    """Share of the decided records whose winner was named; a value of 0 counts half; None if all were draws."""
    baseline_log_loss: float
    """The log loss of the best constant: what a predictor without features reaches on the same records."""
    baseline_brier: float
    calibration_error: float
    """Mean distance between predicted and actual mean, over the bins, weighted by their records."""
    calibration: tuple[CalibrationBin, ...]
    """From the lowest values to the highest; an interval without records is left out."""

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers, for json.dump."""
        plain = asdict(self)
        plain["calibration"] = [asdict(b) for b in self.calibration]
        return plain


class _Sums:
    """The running sums behind Metrics; their size does not depend on the number of records."""

    def __init__(self, bins: int) -> None:
        self.n = self.decided = 0
        self.log_loss = self.square = self.right = self.outcome = self.outcome_square = 0.0
        self.edges = np.linspace(-1.0, 1.0, bins + 1)
        self.bins = np.zeros((3, bins))

    def add(self, v: np.ndarray, y: np.ndarray) -> None:
        q = (1.0 + y) / 2.0
        self.n += len(y)
        self.log_loss -= float(np.sum(q * np.log((1.0 + v) / 2.0) + (1.0 - q) * np.log((1.0 - v) / 2.0)))
        self.square += float(np.sum((v - y) ** 2))
        self.outcome += float(y.sum())
        self.outcome_square += float(np.sum(y**2))
        decided = y != 0.0
        self.decided += int(decided.sum())
        self.right += float(np.sum((1.0 + np.sign(v[decided]) * np.sign(y[decided])) / 2.0))
        index = np.searchsorted(self.edges[1:-1], v, side="right")
        for row, amount in zip(self.bins, (None, v, y), strict=True):
            row += np.bincount(index, amount, len(row))

    def metrics(self, split: str) -> Metrics:
        n, mean = self.n, self.outcome / self.n
        curve = tuple(
            CalibrationBin(float(low), float(high), float(v / c), float(y / c), int(c))
            for low, high, c, v, y in zip(self.edges, self.edges[1:], *self.bins, strict=False)
            if c
        )
        return Metrics(
            split=split,
            n_records=n,
            n_decided=self.decided,
            log_loss=self.log_loss / n,
            brier=self.square / n / 4.0,
            mse=self.square / n,
            sign_accuracy=self.right / self.decided if self.decided else None,
            baseline_log_loss=_entropy((1.0 + mean) / 2.0),
            baseline_brier=max(self.outcome_square / n - mean**2, 0.0) / 4.0,
            calibration_error=sum(b.count * abs(b.predicted - b.outcome) for b in curve) / n,
            calibration=curve,
        )


def _entropy(p: float) -> float:
    return float(-sum(x * np.log(x) for x in (p, 1.0 - p) if x > 0.0))


def measure(predict: Predict, stream: RecordStream, split: str = "test", *, bins: int = 20) -> Metrics:
    """The quality of `predict` on one split of the stream, in one pass."""
    sums = _Sums(bins)
    for b in checked(stream, split):
        v = np.asarray(predict(b.features, b.phase), np.float64)
        if v.shape != b.outcome.shape or not np.all(np.abs(v) <= 1.0):
            worst = v.flat[int(np.argmax(~(np.abs(v.ravel()) <= 1.0)))] if v.size else None
            raise DataError(
                f"predict gave values of shape {v.shape}, such as {worst}, for {len(b.outcome)} records: "
                "it must give one number in [-1, 1] for each"
            )
        # An Eval never claims a certain win; without the bound, one wrong certainty would cost an infinite loss.
        sums.add(bounded(v), b.outcome.astype(np.float64))
    if sums.n == 0:
        remedy = "play more games, or hold out a larger share" if split == "test" else "generate some games first"
        raise DataError(f"the {split} split holds no records, there is nothing to measure: {remedy}")
    return sums.metrics(split)
