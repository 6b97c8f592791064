"""What a run has found: `LearnResult`, which is result.json, and what the report shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from evallearn.arena import MatchResult
from evallearn.core.result import Result
from evallearn.data import Dataset
from evallearn.evaluators import FeatureEval
from evallearn.runs.curve import Point


@dataclass(frozen=True, kw_only=True)
class Row(Result):
    """A row of the ladder: a match, from the side of `name`."""

    name: str
    opponent: str
    limit: str
    elo: float
    low: float
    high: float
    los: float
    score: float
    games: int
    distinct_games: int
    wins: int
    draws: int
    losses: int
    nodes_per_move: Sequence[float]
    seconds_per_move: Sequence[float]

    @classmethod
    def of(cls, found: MatchResult) -> Row:
        """Return a match from A's side."""
        (name, _, limit), (opponent, _, _) = (name.partition("@") for name in found.names)
        elo = found.elo
        return cls(
            name=name, opponent=opponent, limit=limit, elo=elo.elo, low=elo.low, high=elo.high, los=elo.los,
            score=found.score, games=found.games, distinct_games=found.distinct_games, wins=found.wins,
            draws=found.draws, losses=found.losses, nodes_per_move=list(found.nodes_per_move),
            seconds_per_move=list(found.seconds_per_move),
        )  # fmt: skip

    @classmethod
    def reference(cls, name: str, limit: str) -> Row:
        """Return the row of whom all others meet: 0 Elo, no games."""
        counts = dict.fromkeys(("games", "distinct_games", "wins", "draws", "losses"), 0)
        return cls(
            name=name, opponent="", limit=limit, elo=0.0, low=0.0, high=0.0, los=0.5, score=0.5,
            nodes_per_move=[], seconds_per_move=[], **counts,
        )  # fmt: skip

    def reversed(self) -> Row:
        """Return the same match from the other side."""
        return Row(
            name=self.opponent, opponent=self.name, limit=self.limit, elo=-self.elo, low=-self.high, high=-self.low,
            los=1 - self.los, score=1 - self.score, games=self.games, distinct_games=self.distinct_games,
            wins=self.losses, draws=self.draws, losses=self.wins, nodes_per_move=self.nodes_per_move[::-1],
            seconds_per_move=self.seconds_per_move[::-1],
        )  # fmt: skip


KINDS = {"str": str, "int": int, "float": float, "Sequence[float]": [float]}
ROW = {f.name: KINDS[str(f.type)] for f in fields(Row)}
"""The shape of a row in a file."""


@dataclass(frozen=True, kw_only=True)
class Generation(Result):
    """What a loop that ends at a gate has brought, once."""

    generation: int
    promoted: bool
    gate: Row
    elo: float | None = None
    """Against the reference of the ladder, if there is one."""
    low: float | None = None
    high: float | None = None
    games: int = 0
    records: int = 0
    generator: str = ""
    """Who played."""
    checksum: str = ""
    """Of the records."""
    log_loss: float | None = None
    baseline_log_loss: float | None = None


@dataclass(frozen=True, kw_only=True)
class Curve(Result):
    """How a stage of self-play got better."""

    opponent: str
    points: Sequence[Point]


@dataclass(frozen=True, kw_only=True)
class Weights(Result):
    """The weights of a linear evaluator, and how much each feature varies in the records."""

    features: Sequence[str]
    weights: Sequence[Sequence[float]]
    bias: Sequence[float]
    spread: Sequence[float] = ()


@dataclass(frozen=True, kw_only=True)
class LearnResult(Result):
    """What a run has found."""

    evallearn: str
    game: str
    recipe: str
    run: str
    seed: int
    command: str
    """What makes this run again, in another folder."""
    settings: Mapping[str, Any]
    measured: Mapping[str, Any] | None = None
    """The speed of the game, and the numbers that were chosen by it."""
    games: int = 0
    records: int = 0
    """Or moves that taught, of which no record was kept."""
    seconds: Mapping[str, float]
    """Of each step."""
    files: Mapping[str, str]
    """Evaluators by their names, the result and the report."""
    reference: str = ""
    """The hand-written heuristic that has 0 Elo."""
    ladder: Sequence[Row] = ()
    equal_time: Sequence[Row] = ()
    generations: Sequence[Generation] = ()
    champion: int | None = None
    """The generation that nobody replaced."""
    stopped: str | None = None
    """Why a loop ended before its last generation."""
    curves: Mapping[str, Curve]
    fits: Mapping[str, Mapping[str, Any]]
    weights: Weights | None = None
    alarms: list[dict[str, str]] | None = None
    """None: there were no records to check."""

    def __repr__(self) -> str:
        made = ", ".join(name for name in self.files if name not in ("result", "report"))
        best = max((r for r in self.ladder if r.name in self.files), key=lambda r: r.elo, default=None)
        elo = "" if best is None else f"; {best.name} {best.elo:+.0f} Elo against {self.reference}"
        return f"<{self.recipe} run of {self.game} in {self.run}: {made}{elo}>"


def weights_of(evaluator: FeatureEval, dataset: Dataset | None) -> Weights:
    """Return the weights of a linear evaluator."""
    tensors = evaluator.tensors()
    return Weights(
        features=list(evaluator.game.feature_names), weights=tensors["weights"].tolist(),
        bias=tensors["bias"].tolist(), spread=[] if dataset is None else feature_spread(dataset),
    )  # fmt: skip


def feature_spread(dataset: Dataset) -> list[float]:
    """Return the standard deviation of each feature in the records."""
    n, total, squares = 0, np.zeros(dataset.n_features), np.zeros(dataset.n_features)
    for batch in dataset.batches("train"):
        x = batch.features.astype(np.float64)
        n, total, squares = n + len(x), total + x.sum(axis=0), squares + (x**2).sum(axis=0)
    spread: list[float] = np.sqrt(np.maximum(squares / n - (total / n) ** 2, 0)).tolist()
    return spread
