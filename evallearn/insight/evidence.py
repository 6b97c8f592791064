"""What the alarms check: values beside outcomes, with the game, the seat and the position of each record."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from evallearn.data import Dataset
from evallearn.errors import DataError
from evallearn.evaluators.features import FeatureEval
from evallearn.train.fit.metrics import Predict, predictor

if TYPE_CHECKING:
    from evallearn.data.origin import Origin
    from evallearn.data.shards import Record

MOST_RECORDS = {"train": 150_000, "test": 50_000}
"""That are read, shared among the folders: some 10 MB, and enough for every alarm."""
AT_ONCE = 8192
"""Records that are turned into arrays together."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Some records of one split, from the side of the player to move."""

    value: np.ndarray
    """float64[n] in (-1, 1): what the evaluator says, as a share of a win."""
    outcome: np.ndarray
    """float64[n] in [-1, 1]."""
    game: np.ndarray
    """int64[n]."""
    player: np.ndarray
    """int64[n]: the seat of the player to move."""
    position: np.ndarray
    """uint64[n]: a hash of the position."""

    def __len__(self) -> int:
        return len(self.value)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What an evaluator says of records that it learned from and of others that were held out."""

    game: str
    n_players: int
    has_chance: bool
    train: Sample
    test: Sample


def gather(dataset: Dataset, evaluator: FeatureEval) -> Evidence:
    """Gather the evidence about an evaluator, from the first records of each folder.

    Memory does not grow with their number.
    """
    return gather_all(dataset, [evaluator])[0]


def gather_all(dataset: Dataset, evaluators: Sequence[FeatureEval]) -> list[Evidence]:
    """Gather the same about several evaluators of one game; the records are read once."""
    game, predicts = evaluators[0].game, [predictor(e) for e in evaluators]
    train, test = (_samples(dataset, split, predicts) for split in MOST_RECORDS)
    return [Evidence(game.name, game.n_players, game.has_chance, *both) for both in zip(train, test, strict=True)]


def _samples(dataset: Dataset, split: str, predicts: Sequence[Predict]) -> list[Sample]:
    most, parts = -(-MOST_RECORDS[split] // len(dataset.folders)), list[list[Sample]]()
    for number, folder in enumerate(dataset.folders):  # one by one: game numbers of two folders may be the same
        one = Dataset(folder, test_share=dataset.test_share)
        records = islice(one.records(split), most)
        while some := list(islice(records, AT_ONCE)):
            parts.append(_arrays(some, number << 32, one.origin, predicts))
    if not parts:
        raise DataError(f"the {split} split holds no records, no alarm can be judged: play more games")
    whole = Sample(*(np.concatenate([getattr(p[0], k) for p in parts]) for k in Sample.__dataclass_fields__))
    return [replace(whole, value=np.concatenate([p[i].value for p in parts])) for i in range(len(predicts))]


def _arrays(records: list[Record], offset: int, origin: Origin, predicts: Sequence[Predict]) -> list[Sample]:
    """Return some records with the values of each evaluator."""
    features = np.frombuffer(b"".join(r.features for r in records), "<f4").reshape(len(records), -1)
    phase = np.array([r.phase for r in records], np.int64)
    values = [np.asarray(predict(features, phase), np.float64) for predict in predicts]
    won = np.array([r.won for r in records]) if origin.accumulates else None
    seen = Sample(
        value=values[0],
        outcome=origin.share(np.array([r.outcome for r in records]), won),
        game=np.array([r.game_number for r in records], np.int64) + offset,
        player=np.array([r.player for r in records], np.int64),
        position=np.fromiter(_keys(records), np.uint64, len(records)),
    )
    return [replace(seen, value=value) for value in values]


def _keys(records: list[Record]) -> Iterator[int]:
    for r in records:
        state = r.state.encode() if isinstance(r.state, str) else r.state
        yield int.from_bytes(hashlib.blake2b(state, digest_size=8).digest(), "little")
