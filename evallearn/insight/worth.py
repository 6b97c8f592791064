"""What each feature is worth: its weight, what is lost when it is shuffled or left out, and what others carry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from evallearn import train  # its trainers are imported when they are asked for
from evallearn.agents import SearchAgent
from evallearn.arena import MatchSettings, play_match
from evallearn.core.game import Game
from evallearn.core.json_shapes import JsonDict
from evallearn.core.search import Limits
from evallearn.errors import DataError
from evallearn.evaluators.features import FeatureEval
from evallearn.evaluators.linear import LinearEval
from evallearn.insight.resampling import RESAMPLES, GameMeans, Interval
from evallearn.insight.sources import Blank, with_column
from evallearn.insight.weights import Weights, study_weights
from evallearn.train.fit.metrics import Predict, bounded, measure, predictor
from evallearn.train.fit.stream import RecordBatch, RecordStream

SHUFFLES = 3
"""Times that a feature is shuffled: the mean of so many is steady enough beside the interval."""
Move = Callable[[int, int], None]


@dataclass(frozen=True)
class FeatureWorth:
    """One feature. Losses are log losses on held-out games; above 0 means that the feature is of use."""

    name: str
    mean: float
    deviation: float
    weight: Interval
    """Per unit of the feature, one for all phases of the game."""
    effect: Interval
    """The same per standard deviation: comparable between features."""
    phases: tuple[Interval, ...]
    """Per unit, in each phase."""
    shuffled: Interval
    """How much the evaluator's loss grows when the feature is shuffled among the records (permutation importance)."""
    dropped: Interval
    """How much the loss grows when a linear evaluator is fitted without it."""
    outcome_correlation: float
    partner: str
    """The feature that is most correlated with this one; empty if there is none."""
    partner_correlation: float
    inflation: float
    """Variance inflation: 1 on its own; above 10 its weight means little without those of others."""
    match: JsonDict | None = None
    """The evaluator with it against the evaluator without it: elo, low, high, games."""

    @property
    def constant(self) -> bool:
        """True if it never varied."""
        return self.deviation == 0.0

    @property
    def weight_may_be_zero(self) -> bool:
        """True if the data do not show the sign of its weight, in any phase."""
        return self.weight.holds_zero and all(p.holds_zero for p in self.phases)


@dataclass(frozen=True)
class FeatureStudy:
    """All features of a game, by one set of records."""

    game: str
    eval: str
    """The evaluator whose features were shuffled."""
    records: int
    """That were learned from."""
    held_out: int
    held_out_games: int
    log_loss: float
    """Of that evaluator, on held-out games."""
    fitted_log_loss: float
    """Of the linear evaluator that was fitted here."""
    baseline_log_loss: float
    """Of the best constant."""
    features: tuple[FeatureWorth, ...]
    correlation: tuple[tuple[float, ...], ...]
    """Of the features with each other, in the order of `features`."""

    def to_json(self) -> JsonDict:
        """Return plain dicts, lists and numbers, for json.dump."""
        plain = asdict(self)
        more = [{**f, "constant": w.constant} for f, w in zip(plain["features"], self.features, strict=True)]
        return {**plain, "features": more, "correlation": [list(row) for row in self.correlation]}


class Study:
    """The work, step by step: `fit`, `drop`, `shuffle`, and `match` if it is asked for; then `result`."""

    def __init__(
        self,
        stream: RecordStream,
        game: Game,
        evaluator: FeatureEval | None = None,
        *,
        resamples: int = RESAMPLES,
        seed: int = 1,
    ) -> None:
        """Prepare the study.

        evaluator: whose features are shuffled; None: a linear one that is fitted here, on the train split.
        """
        if not stream.n_features:
            raise DataError(f"{game.name} has no features, there is nothing to study: give it feature_names")
        self.stream, self.game, self.resamples, self.seed = stream, game, resamples, seed
        self.given = evaluator
        self.matches: dict[int, JsonDict] = {}

    def fit(self) -> None:
        """Fit a linear evaluator on all features, and study what the training records say about each."""
        self.trainer = train.LinearFitter(method="logistic").fit(self.stream)
        self.full = self.trainer.evaluator(self.game, {"name": "full"})
        self.evaluator: FeatureEval = self.given or self.full
        self.weights: Weights = study_weights(self.stream, self.trainer, resamples=self.resamples, seed=self.seed)

    def drop(self, move: Move = lambda done, total: None) -> None:
        """Fit without each feature in turn, and compare on the held-out games."""
        self.reduced: list[LinearEval] = []
        for i, name in enumerate(self.stream.feature_names):
            self.reduced.append(self._without(i, {"name": f"without {name}"}))
            move(i + 1, self.stream.n_features)
        predicts = [predictor(e) for e in self.reduced]
        self.dropped = self._compare(predictor(self.full), lambda b, i: predicts[i](b.features, b.phase))

    def _without(self, i: int, metadata: JsonDict) -> LinearEval:
        """Fit a linear evaluator without feature i; where no other varies, return the best constant."""
        varies = self.weights.deviation > 0.0
        if not varies[i]:
            return LinearEval(self.game, self.full.weights, self.full.bias, metadata)
        if varies.sum() == 1:
            mean = float(bounded(np.array(self.weights.outcome_mean)))
            bias = np.full(self.game.n_phases, np.arctanh(mean))
            return LinearEval(self.game, np.zeros_like(self.full.weights), bias, metadata)
        return train.LinearFitter(method="logistic").fit(Blank(self.stream, i)).evaluator(self.game, metadata)

    def shuffle(self) -> None:
        """Shuffle each feature among the held-out records of a batch."""
        predict, rng = predictor(self.evaluator), np.random.default_rng(self.seed)

        def shuffled(b: RecordBatch, i: int) -> np.ndarray:
            column = b.features[:, i]
            return predict(with_column(b.features, i, rng.permutation(column)), b.phase)

        self.shuffled = self._compare(predict, shuffled, SHUFFLES)

    def _compare(self, predict: Predict, other: Callable[[RecordBatch, int], np.ndarray], times: int = 1) -> GameMeans:
        """Measure by how much the loss of other(batch, feature) exceeds that of `predict`."""
        means = GameMeans(self.stream.n_features, self.resamples, self.seed)
        for b in self.stream.batches("test"):
            own = log_losses(predict(b.features, b.phase), b.outcome)
            columns = []
            for i in range(self.stream.n_features):
                losses = [log_losses(other(b, i), b.outcome) for _ in range(times)]
                columns.append(sum(losses) / times - own)
            means.add(b.game, np.column_stack(columns))
        return means

    def match(self, pairs: int, depth: int, workers: int = 1, move: Move = lambda done, total: None) -> None:
        """Play the evaluator fitted with each feature against the one fitted without it, at equal depth."""
        limits, config = Limits(depth=depth), MatchSettings(pairs=pairs, seed=self.seed)
        for i, reduced in enumerate(self.reduced):
            agents = [SearchAgent(self.game, e, limits) for e in (self.full, reduced)]
            found = play_match(self.game, agents[0], agents[1], config, workers=workers)
            elo = found.elo
            self.matches[i] = {"elo": elo.elo, "low": elo.low, "high": elo.high, "games": found.games, "depth": depth}
            move(i + 1, len(self.reduced))

    def result(self) -> FeatureStudy:
        metrics = measure(predictor(self.evaluator), self.stream)
        fitted = metrics if self.given is None else measure(predictor(self.full), self.stream)
        return FeatureStudy(
            game=self.game.name,
            eval=self.evaluator.name if self.given is not None else "linear evaluator fitted here",
            records=self.trainer.n_records_,
            held_out=metrics.n_records,
            held_out_games=self.dropped.n_games,
            log_loss=metrics.log_loss,
            fitted_log_loss=fitted.log_loss,
            baseline_log_loss=metrics.baseline_log_loss,
            features=tuple(self._features()),
            correlation=tuple(tuple(row) for row in self.weights.correlation.tolist()),
        )

    def _features(self) -> list[FeatureWorth]:
        w, names = self.weights, self.stream.feature_names
        shuffled, dropped = self.shuffled.intervals(), self.dropped.intervals()
        found = []
        for i, name in enumerate(names):
            partner, correlation = _partner(w.correlation, i, names)
            deviation = float(w.deviation[i])
            found.append(
                FeatureWorth(
                    name=name,
                    mean=float(w.mean[i]),
                    deviation=deviation,
                    weight=w.common[i],
                    effect=w.common[i].times(deviation),
                    phases=tuple(phase[i] for phase in w.phases),
                    shuffled=shuffled[i],
                    dropped=dropped[i],
                    outcome_correlation=float(w.outcome_correlation[i]),
                    partner=partner,
                    partner_correlation=correlation,
                    inflation=float(w.inflation[i]),
                    match=self.matches.get(i),
                )
            )
        return found


def _partner(correlation: np.ndarray, i: int, names: Sequence[str]) -> tuple[str, float]:
    others = np.abs(correlation[i])
    others[i] = 0.0  # np.abs made a copy
    j = int(np.argmax(others))
    return (names[j], float(correlation[i, j])) if others[j] > 0 else ("", 0.0)


def log_losses(values: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    """Return float64[n]: -(q ln p + (1 - q) ln(1 - p)) of each record.

    Here p = (1 + value) / 2 and q = (1 + outcome) / 2.
    """
    v, q = bounded(np.asarray(values, np.float64)), (1.0 + outcome.astype(np.float64)) / 2.0
    losses: np.ndarray = -(q * np.log((1.0 + v) / 2.0) + (1.0 - q) * np.log((1.0 - v) / 2.0))
    return losses
