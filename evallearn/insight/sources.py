"""Where figures about features come from: records of self-play or of a run, held in memory while they are few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from evallearn.core.game import Game
from evallearn.data import Dataset
from evallearn.data.dataset import Batch
from evallearn.errors import DataError
from evallearn.train.fit.stream import RecordBatch, RecordStream

MOST_BYTES = 256 * 2**20
"""Of records that are kept in memory. Many more are read from disk again at every pass: slower, as little memory."""
GENERATIONS = "generation-*"
"""Folders of records inside a run's folder."""


def dataset_of(folders: Sequence[Path], game: Game, test_share: float = 0.1) -> Dataset:
    """Open the records of self-play folders; a run of `evallearn learn` stands for all its generations."""
    found: list[Path] = []
    for folder in folders:
        found += [folder] if (folder / "records").is_dir() else _generations(folder)
    return Dataset(found, game=game, test_share=test_share)


def _generations(folder: Path) -> list[Path]:
    inside = [p for p in folder.glob(GENERATIONS) if (p / "records").is_dir()]
    if not inside:
        raise DataError(
            f"{folder} holds neither records nor generations of a run: name a folder that `evallearn selfplay` or "
            "`evallearn learn` made"
        )
    return sorted(inside, key=lambda p: (len(p.name), p.name))  # generation-10 comes after generation-9


class _Changed:
    """A stream like another, but for what `batches` makes of its records."""

    def __init__(self, stream: RecordStream) -> None:
        self.stream = stream
        self.n_features, self.n_phases = stream.n_features, stream.n_phases
        self.feature_names, self.checksum = tuple(stream.feature_names), stream.checksum
        self.accumulates = getattr(stream, "accumulates", False)


class Kept(_Changed):
    """A stream that is read from disk once, if its records are few enough to be held."""

    def __init__(self, stream: RecordStream, n_records: int, most_bytes: int = MOST_BYTES) -> None:
        super().__init__(stream)
        self.holds = n_records * (4 * stream.n_features + 20) <= most_bytes
        self._held: dict[str, list[RecordBatch]] = {}

    def batches(self, split: str) -> Iterator[RecordBatch]:
        if not self.holds:
            return self.stream.batches(split)
        if split not in self._held:
            self._held[split] = list(self.stream.batches(split))
        return iter(self._held[split])


class Blank(_Changed):
    """The same records, as if one feature were always 0: a trainer gives a constant no weight."""

    def __init__(self, stream: RecordStream, column: int) -> None:
        super().__init__(stream)
        self.column = column

    def batches(self, split: str) -> Iterator[Batch]:
        for b in self.stream.batches(split):
            yield Batch(with_column(b.features, self.column, 0.0), b.phase, b.outcome, b.game)


def with_column(features: np.ndarray, column: int, values: np.ndarray | float) -> np.ndarray:
    """Return a copy of the features with one column replaced."""
    changed = features.copy()
    changed[:, column] = values
    return changed


class OnePhase(_Changed):
    """The same records, as if the game had no phases."""

    def __init__(self, stream: RecordStream) -> None:
        super().__init__(stream)
        self.n_phases = 1

    def batches(self, split: str) -> Iterator[Batch]:
        for b in self.stream.batches(split):
            yield Batch(b.features, np.zeros_like(b.phase), b.outcome, b.game)


def feature_means(stream: RecordStream) -> list[float]:
    """Return the mean of every feature over the training records, in one pass."""
    total, n = np.zeros(stream.n_features), 0
    for b in stream.batches("train"):
        total += b.features.sum(axis=0, dtype=np.float64)
        n += len(b.outcome)
    if not n:
        raise DataError("the train split holds no records, so no feature has a mean: play more games")
    return [float(m) for m in total / n]
