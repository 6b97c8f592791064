"""Stochastic gradient descent: scikit-learn's SGDClassifier on the log loss, a batch at a time, averaged.

Each batch is shuffled by the seed and learned from at once, so the fit needs no second look at it. Exact methods reach
the same weights in fewer passes while features are few; this one does not care how many there are.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn import config_context
from sklearn.linear_model import SGDClassifier

from evallearn.train.fit.methods import Fitted, Settings
from evallearn.train.fit.stream import RecordStream, Summary, by_group, check_same_length

STEP = 4.0
"""The first step, as a share of 1 / (mean squared length of a row): a log loss bends by at most a quarter."""


class PooledSgd:
    """One model of all phases and one of each. A phase's own counts by its records, as with the other methods.

    theta[k] = common + n[k] / (n[k] + phase_alpha) * (own[k] - common): where features are uncorrelated, that is
    what the penalty `phase_alpha` on the distance from the common weights gives.
    With `tapered`, one model of twice the features: `alpha` then penalises the change over the phases too.
    """

    def __init__(self, settings: Settings, n_phases: int, expected: float, average_from: int) -> None:
        """Set up the learners.

        expected: records of an epoch. average_from: records after which the weights are averaged.
        """
        self.settings, self.n_phases = settings, n_phases
        self.tapered = settings.tapered and n_phases > 1
        self.seen = np.zeros(n_phases, np.int64)
        self.expected, self.average_from = expected, average_from
        self.common = self._model(1.0)
        self.own = [self._model(1.0 / n_phases) for _ in range(n_phases)] if n_phases > 1 and not self.tapered else []

    def _model(self, share: float) -> SGDClassifier:
        return SGDClassifier(
            loss="log_loss", alpha=self.settings.alpha / self.expected, learning_rate="invscaling", power_t=0.5,
            average=max(1, int(self.average_from * share)), random_state=self.settings.seed, eta0=1.0,
        )  # fmt: skip

    def learn(self, z: np.ndarray, phase: np.ndarray, y: np.ndarray) -> None:
        """Learn from z: float64[n, n_features], standardised."""
        q = (1.0 + y) / 2.0
        self.seen += np.bincount(phase, minlength=self.n_phases)
        if self.tapered:
            place = 2.0 * phase / (self.n_phases - 1) - 1.0
            z = np.hstack([place[:, None] * z, place[:, None], z])
        jobs = [(self.common, np.arange(len(z)))]
        if self.own:
            jobs += [(self.own[k], rows) for k, rows in by_group(phase, self.n_phases)]
        with ThreadPoolExecutor(2) as pool:  # all phases together are as many records as each by itself
            list(pool.map(lambda job: _learn(job[0], job[1], z, q), jobs))

    def theta(self) -> np.ndarray:
        """Return float64[n_phases, n_features + 1]: log odds."""
        common = _coefficients(self.common)
        if self.tapered:
            change, middle = np.split(common, 2)
            tapered: np.ndarray = middle + np.linspace(-1.0, 1.0, self.n_phases)[:, None] * change
            return tapered
        theta = np.tile(common, (self.n_phases, 1))
        for k, model in enumerate(self.own):
            if self.seen[k]:
                trust = self.seen[k] / (self.seen[k] + self.settings.phase_alpha)
                theta[k] += trust * (_coefficients(model) - common)
        return theta


def _learn(model: SGDClassifier, rows: np.ndarray, z: np.ndarray, q: np.ndarray) -> None:
    """Learn from some rows of z. A draw is two rows of half a weight, one won and one lost."""
    model.eta0 = STEP / (z.shape[1] + 1.0)
    won, lost = rows[q[rows] > 0.0], rows[q[rows] < 1.0]
    x, weight = z.take(np.append(won, lost), axis=0), np.append(q[won], 1.0 - q[lost])
    label = np.repeat([1, 0], [len(won), len(lost)])
    with config_context(assume_finite=True):  # `summarise`, or `checked`, has looked
        model.partial_fit(x, label, classes=[0, 1], sample_weight=weight)


def _coefficients(model: SGDClassifier) -> np.ndarray:
    coefficients: np.ndarray = np.append(model.coef_[0], model.intercept_)
    return coefficients


def fit_sgd(stream: RecordStream, summary: Summary, settings: Settings) -> Fitted:
    """Make `epochs` passes; the weights are averaged from the second on (of a single one, over its second half)."""
    n = summary.n_records
    model = PooledSgd(settings, stream.n_phases, n, n if settings.epochs > 1 else n // 2)
    for _ in range(settings.epochs):
        seen = 0
        for b in stream.batches("train"):
            seen += len(b.outcome)
            if len(b.outcome):
                model.learn(summary.design(b.features)[:, :-1], np.asarray(b.phase), b.outcome.astype(np.float64))
        check_same_length(seen, n)
    model.seen = summary.phase_records.copy()  # every record once, however often it was read
    return Fitted(model.theta(), settings.epochs, model=model)
