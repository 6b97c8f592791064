"""How good a predictor of outcomes is on records that it has not seen: losses, signs and calibration, in one pass.

A predictor is any function predict(features float32[n, n_features], phase int64[n]) -> values [n] in [-1, 1].
A value v stands for the probability p = (1 + v) / 2 of a win; a draw counts as half a win.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from evallearn.core.result import Result
from evallearn.core.shares import GroupSums, Share
from evallearn.errors import DataError
from evallearn.evaluators.features import FeatureEval
from evallearn.evaluators.linear import LinearEval
from evallearn.evaluators.net import TENSORS, NetEval, activate, of_phase
from evallearn.evaluators.squash import BOUND
from evallearn.train.fit.stream import RecordStream, checked

Predict = Callable[[np.ndarray, np.ndarray], np.ndarray]


def bounded(values: np.ndarray) -> np.ndarray:
    """Return the values, strictly between a loss and a win, as every evaluator keeps them."""
    inside: np.ndarray = np.clip(values, -BOUND, BOUND)
    return inside


def predict_linear(
    weights: np.ndarray, bias: np.ndarray, features: np.ndarray, phase: np.ndarray, squash: str = "tanh"
) -> np.ndarray:
    """Return what a LinearEval says, float64[n], for many rows at once."""
    raw = np.einsum("ij,ij->i", features, weights[phase]) + bias[phase]
    return bounded(np.tanh(raw) if squash == "tanh" else raw)


def predict_net(
    tensors: Mapping[str, np.ndarray],
    activation: str,
    features: np.ndarray,
    phase: np.ndarray,
    steps: np.ndarray | tuple[float, ...] = (2.0,),
) -> np.ndarray:
    """Return what a NetEval says, float64[n], up to the order in which it adds.

    steps: from each result to the next, where the worst is worth -1 and the best 1.
    """
    values, middle = np.empty(len(features)), len(steps) // 2
    for k in np.unique(phase):
        rows = phase == k
        w1, b1, w2, b2, w3, b3 = (of_phase(tensors[name], k) for name in TENSORS)
        h = activate(features[rows] @ w1 + b1, activation)
        if w2.shape[1]:
            h = activate(h @ w2 + b2, activation)
        p = 0.5 + 0.5 * np.tanh(0.5 * (h @ w3 + b3).astype(np.float64))
        p[:, middle:] = np.minimum.accumulate(p[:, middle:], axis=1)
        p[:, middle::-1] = np.maximum.accumulate(p[:, middle::-1], axis=1)
        values[rows] = p @ np.asarray(steps) - 1.0
    return bounded(values)


def predictor(evaluator: FeatureEval) -> Predict:
    """Return the evaluator as a function of recorded features.

    It may be a learned one, a hand-written one, or one from a file.
    """
    if isinstance(evaluator, LinearEval):
        weights, bias = evaluator.weights.astype(np.float64), evaluator.bias.astype(np.float64)
        return lambda features, phase: predict_linear(weights, bias, features, phase, evaluator.squash)
    if isinstance(evaluator, NetEval):
        tensors, steps = evaluator.tensors(), evaluator.steps / evaluator.scale
        return lambda features, phase: predict_net(tensors, evaluator.activation, features, phase, steps)
    raise DataError(
        f"{evaluator.name!r} is a {type(evaluator).__name__}: only linear evaluators and nets predict from features"
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
    outcome_low: float
    """The 95 % interval of the mean outcome, by games: the records of a game share its outcome."""
    outcome_high: float
    count: int


@dataclass(frozen=True)
class Metrics(Result):
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
    sign_accuracy_low: float | None
    """Its 95 % interval, by games."""
    sign_accuracy_high: float | None
    baseline_log_loss: float
    """The log loss of the best constant: what a predictor without features reaches on the same records."""
    baseline_brier: float
    calibration_error: float
    """Mean distance between predicted and actual mean, over the bins, weighted by their records."""
    calibration: tuple[CalibrationBin, ...] = field(repr=False)
    """From the lowest values to the highest; an interval without records is left out."""


class _ByGame:
    """Shares of hits, several at once, of records that come game by game."""

    def __init__(self, k: int) -> None:
        self.k = k
        self._sums = GroupSums(k)
        self._game: int | None = None
        self._open = np.zeros((2, k))
        """Hits and trials of the game that the last batch ended with: the next one may begin with it."""

    def add(self, game: np.ndarray, which: np.ndarray, hits: np.ndarray) -> None:
        """Add records: record i is a trial of share which[i], with hits[i] hits (0 to 1)."""
        numbers, index = np.unique(game, return_inverse=True)
        cell, cells = index * self.k + which, len(numbers) * self.k
        sums = np.array([np.bincount(cell, w, cells) for w in (hits, None)]).reshape(2, len(numbers), self.k)
        at = np.searchsorted(numbers, self._game) if self._game is not None else len(numbers)
        if at < len(numbers) and numbers[at] == self._game:
            sums[:, at] += self._open
        else:
            self._close()
        last = int(index[-1])
        self._game, self._open = int(numbers[last]), sums[:, last].copy()
        sums[:, last] = 0.0
        self._sums.add(*sums)

    def _close(self) -> None:
        self._sums.add(self._open[0][None], self._open[1][None])
        self._open[:] = 0.0

    def shares(self) -> list[Share | None]:
        self._close()
        return self._sums.shares()


class _Sums:
    """The running sums behind Metrics; their size does not depend on the number of records."""

    def __init__(self, bins: int) -> None:
        self.n = self.decided = 0
        self.log_loss = self.square = self.outcome = self.outcome_square = 0.0
        self.edges = np.linspace(-1.0, 1.0, bins + 1)
        self.bins = np.zeros((3, bins))
        self.won, self.named = _ByGame(bins), _ByGame(1)

    def add(self, v: np.ndarray, y: np.ndarray, game: np.ndarray) -> None:
        q = (1.0 + y) / 2.0
        self.n += len(y)
        self.log_loss -= float(np.sum(q * np.log((1.0 + v) / 2.0) + (1.0 - q) * np.log((1.0 - v) / 2.0)))
        self.square += float(np.sum((v - y) ** 2))
        self.outcome += float(y.sum())
        self.outcome_square += float(np.sum(y**2))
        decided = y != 0.0
        self.decided += int(decided.sum())
        if decided.any():
            right = (1.0 + np.sign(v[decided]) * np.sign(y[decided])) / 2.0
            self.named.add(game[decided], np.zeros(len(right), np.int64), right)
        index = np.searchsorted(self.edges[1:-1], v, side="right")
        for row, amount in zip(self.bins, (None, v, y), strict=True):
            row += np.bincount(index, amount, len(row))
        self.won.add(game, index, q)

    def metrics(self, split: str) -> Metrics:
        n, mean, named = self.n, self.outcome / self.n, self.named.shares()[0]
        curve = tuple(
            CalibrationBin(float(low), float(high), float(v / c), float(y / c), 2 * p.low - 1, 2 * p.high - 1, int(c))
            for low, high, p, c, v, y in zip(self.edges, self.edges[1:], self.won.shares(), *self.bins, strict=False)
            if p is not None
        )
        return Metrics(
            split=split,
            n_records=n,
            n_decided=self.decided,
            log_loss=self.log_loss / n,
            brier=self.square / n / 4.0,
            mse=self.square / n,
            sign_accuracy=named.value if named else None,
            sign_accuracy_low=named.low if named else None,
            sign_accuracy_high=named.high if named else None,
            baseline_log_loss=_entropy((1.0 + mean) / 2.0),
            baseline_brier=max(self.outcome_square / n - mean**2, 0.0) / 4.0,
            calibration_error=sum(b.count * abs(b.predicted - b.outcome) for b in curve) / n,
            calibration=curve,
        )


def _entropy(p: float) -> float:
    return float(-sum(x * np.log(x) for x in (p, 1.0 - p) if x > 0.0))


def measure(predict: Predict, stream: RecordStream, split: str = "test", *, bins: int = 20) -> Metrics:
    """Return the quality of `predict` on one split of the stream, in one pass."""
    sums = _Sums(bins)
    for b in checked(stream, split):
        v = np.asarray(predict(b.features, b.phase), np.float64)
        if v.shape != b.outcome.shape or not np.all(np.abs(v) <= 1.0):
            worst = v.flat[int(np.argmax(~(np.abs(v.ravel()) <= 1.0)))] if v.size else None
            raise DataError(
                f"predict gave values of shape {v.shape}, such as {worst}, for {len(b.outcome)} records: "
                "it must give one number in [-1, 1] for each"
            )
        # An evaluator never claims a certain win; without the bound, one wrong certainty would cost an infinite loss.
        sums.add(bounded(v), b.outcome.astype(np.float64), b.game)
    if sums.n == 0:
        remedy = "play more games, or hold out a larger share" if split == "test" else "generate some games first"
        raise DataError(f"the {split} split holds no records, there is nothing to measure: {remedy}")
    return sums.metrics(split)
