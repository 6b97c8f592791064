"""Records as a stream: what a trainer reads, in batches, as often as it likes, without ever holding them all.

A data set is split by game, never by position: the positions of one game share its outcome, so a trainer that has
seen half of a game knows the answer to the other half.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from evallearn.data.dataset import Batch, is_test
from evallearn.errors import DataError, unknown

if TYPE_CHECKING:
    from evallearn.core.game import Game

SPLITS = ("train", "test")
CHUNK = 8192
"""Rows that are worked on at once: 8192 rows of 40 float64 features fit a second-level cache."""
TILE = 64
"""Rows to which numpy applies a vector in one go: row by row, starting its inner loop takes as long as the sums do."""


class RecordBatch(Protocol):
    """The records of one batch. Read-only, so that any class with these attributes or properties will do."""

    @property
    def features(self) -> np.ndarray:
        """float32[n, n_features], as the player to move sees them."""

    @property
    def phase(self) -> np.ndarray:
        """int64[n], 0 .. n_phases - 1."""

    @property
    def outcome(self) -> np.ndarray:
        """float32[n] in [-1, 1]: how the game ended for the player to move, as a share of a win."""

    @property
    def game(self) -> np.ndarray:
        """int64[n]: the number of the game that the record comes from."""


class RecordStream(Protocol):
    """A data set that can be read again and again, always in the same order."""

    @property
    def n_features(self) -> int: ...

    @property
    def n_phases(self) -> int: ...

    @property
    def feature_names(self) -> tuple[str, ...]: ...

    @property
    def checksum(self) -> str:
        """A text that changes whenever any record does."""

    def batches(self, split: str) -> Iterator[RecordBatch]:
        """Yield the records of "train" or "test", a bounded number of rows at a time.

        Each call starts from the front.
        """


class ArrayStream:
    """Arrays in memory as a RecordStream: for tests, and for people with data of their own."""

    def __init__(
        self,
        features: np.ndarray,
        outcome: np.ndarray,
        *,
        game: np.ndarray,
        phase: np.ndarray | None = None,
        feature_names: Sequence[str] | None = None,
        n_phases: int | None = None,
        test_share: float = 0.1,
        seed: int = 0,
        batch_rows: int = 65536,
    ) -> None:
        """Take features: [n, n_features]; outcome, game, phase: [n].

        `game` has no default: the split needs it.
        """
        x = np.ascontiguousarray(features, np.float32)
        if x.ndim != 2:
            raise DataError(f"features have shape {x.shape}: give one row per record, one column per feature")
        k = np.zeros(len(x), np.int64) if phase is None else np.asarray(phase, np.int64)
        self._all = Batch(x, k, np.asarray(outcome, np.float32), np.asarray(game, np.int64))
        self.n_features = x.shape[1]
        self.n_phases = n_phases if n_phases is not None else int(k.max(initial=0)) + 1
        self.feature_names = tuple(feature_names or unnamed(self.n_features))
        if len(self.feature_names) != self.n_features:
            raise DataError(f"{len(self.feature_names)} feature names for {self.n_features} columns: give one for each")
        for column in ("phase", "outcome", "game"):
            if getattr(self._all, column).shape != (len(x),):
                got = getattr(self._all, column).shape
                raise DataError(f"{column} has shape {got}, features have {len(x)} rows: give one {column} per row")
        if not 0.0 <= test_share < 1.0:
            raise DataError(f"test_share={test_share!r}: give the share of games to hold out, 0 or more and below 1")
        self._batch_rows = batch_rows
        held_out = is_test(seed, self._all.game, test_share)
        self._rows = {"train": np.flatnonzero(~held_out), "test": np.flatnonzero(held_out)}
        self.checksum = self._digest(held_out)

    def __repr__(self) -> str:
        return f"<ArrayStream of {len(self._all):,} records of {self.n_features} features>"

    def _digest(self, held_out: np.ndarray) -> str:
        digest = hashlib.sha256(repr((self.feature_names, self.n_phases)).encode())
        b = self._all
        for array in (b.features, b.phase, b.outcome, b.game, held_out):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def batches(self, split: str) -> Iterator[Batch]:
        if split not in self._rows:
            raise unknown("split", split, SPLITS)
        rows, b = self._rows[split], self._all
        for start in range(0, len(rows), self._batch_rows):
            i = rows[start : start + self._batch_rows]
            yield Batch(b.features[i], b.phase[i], b.outcome[i], b.game[i])


def checked(stream: RecordStream, split: str) -> Iterator[RecordBatch]:
    """Yield the batches of a stream whose shapes, phases, outcomes and features are as promised. Raises DataError."""
    for b in stream.batches(split):
        n = len(b.outcome)
        if b.features.shape != (n, stream.n_features) or b.phase.shape != (n,) or b.game.shape != (n,):
            raise DataError(
                f"a batch of {n} {split} records has features {b.features.shape}, phase {b.phase.shape}, "
                f"game {b.game.shape}: expected ({n}, {stream.n_features}), ({n},), ({n},)"
            )
        if n == 0:
            continue
        low, high = b.features.min(axis=0), b.features.max(axis=0)  # one NaN makes both NaN, an infinity shows in one
        bad = np.flatnonzero(~(np.isfinite(low) & np.isfinite(high)))
        if len(bad):
            raise _not_finite(stream, split, b, int(bad[0]))
        if not (b.outcome.min() >= -1.0 and b.outcome.max() <= 1.0):  # written so that NaN is caught too
            i = int(np.flatnonzero(~(np.abs(b.outcome) <= 1.0))[0])
            raise DataError(
                f"column 'outcome' is {b.outcome[i]} in a {split} record of game {b.game[i]}: "
                "divide it by the utility of a win, so that it lies in [-1, 1]"
            )
        if b.phase.min() < 0 or b.phase.max() >= stream.n_phases:
            i = int(np.flatnonzero((b.phase < 0) | (b.phase >= stream.n_phases))[0])
            raise DataError(
                f"column 'phase' is {b.phase[i]} in a {split} record of game {b.game[i]}, but there are "
                f"{stream.n_phases} phases, 0 to {stream.n_phases - 1}: correct phase(s) or n_phases of the game"
            )
        yield b


def _not_finite(stream: RecordStream, split: str, b: RecordBatch, column: int) -> DataError:
    i = int(np.flatnonzero(~np.isfinite(b.features[:, column]))[0])
    return DataError(
        f"feature {stream.feature_names[column]!r} is {b.features[i, column]} in a {split} record of game {b.game[i]}: "
        "correct the feature function (a division by zero?) and generate the records again"
    )


@dataclass(frozen=True, eq=False)
class Summary:
    """What one pass over the training records tells: enough to standardise them, and all that ridge needs."""

    n_records: int
    phase_records: np.ndarray
    """int64[n_phases]."""
    mean: np.ndarray
    """float64[n_features]."""
    inverse_scale: np.ndarray
    """float64[n_features]: 1 / standard deviation; 0 for a constant feature, which so gets no weight."""
    gram: np.ndarray
    """float64[n_phases, n_features + 1, n_features + 1]: the sums of z z', where z = (standardised features, 1)."""
    target: np.ndarray
    """float64[n_phases, n_features + 1]: the sums of z * outcome."""

    def design(self, features: np.ndarray, extra: int = 0) -> np.ndarray:
        """Return float64[n, n_features + 1 + extra]: z of each row, and as many more columns of ones."""
        n, f = features.shape
        z = np.ones((n, f + 1 + extra))
        z[:, :f] = features
        unchanged = np.zeros(1 + extra)
        shift, stretch = np.append(self.mean, unchanged), np.append(self.inverse_scale, unchanged + 1.0)
        whole = n - n % TILE
        tiles = z[:whole].reshape(-1, TILE * z.shape[1])
        tiles -= np.tile(shift, TILE)
        tiles *= np.tile(stretch, TILE)
        z[whole:] -= shift
        z[whole:] *= stretch
        return z


def by_group(group: np.ndarray, n_groups: int) -> Iterator[tuple[int, Any]]:
    """Yield (group, its rows) for each group that occurs."""
    if n_groups == 1:
        yield 0, slice(None)
        return
    short = np.int16 if n_groups < 2**15 else np.int64  # numpy sorts short numbers by their digits, twice as fast
    order = np.argsort(group.astype(short), kind="stable")
    ends = np.append(0, np.cumsum(np.bincount(group, minlength=n_groups)))
    for k in range(n_groups):
        if ends[k] < ends[k + 1]:
            yield k, order[ends[k] : ends[k + 1]]


def chunks(b: RecordBatch) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield (features, phase, outcome) of a batch, a cacheful at a time."""
    for i in range(0, len(b.outcome), CHUNK):
        rows = slice(i, i + CHUNK)
        yield b.features[rows], b.phase[rows], b.outcome[rows]


def summarise(stream: RecordStream) -> Summary:
    """Make one checked pass over the training records. Raises DataError if there is nothing to learn from them."""
    p, f = stream.n_phases, stream.n_features
    gram, target, count = np.zeros((p, f + 1, f + 1)), np.zeros((p, f + 1)), np.zeros(p, np.int64)
    low, high, outcomes = np.full(f, np.inf), np.full(f, -np.inf), (np.inf, -np.inf)
    shift = None
    for b in checked(stream, "train"):
        if shift is None:  # sums about a point near the mean: large offsets would eat the digits of the variances
            shift = b.features.mean(axis=0, dtype=np.float64)
        low, high = np.minimum(low, b.features.min(axis=0)), np.maximum(high, b.features.max(axis=0))
        outcomes = min(outcomes[0], float(b.outcome.min())), max(outcomes[1], float(b.outcome.max()))
        for x, phase, y in chunks(b):
            z = np.ones((len(x), f + 1))
            np.subtract(x, shift, out=z[:, :-1])
            for k, rows in by_group(phase, p):
                part = z[rows]
                gram[k] += part.T @ part
                target[k] += part.T @ y[rows].astype(np.float64)
                count[k] += len(part)
    n = int(count.sum())
    if shift is None:
        raise DataError("the train split holds no records: generate some games first, or lower the test share")
    if outcomes[0] == outcomes[1]:
        raise DataError(
            f"column 'outcome' is {outcomes[0]:g} in all {n} training records, and from one outcome nothing can be "
            "learned: generate more games, with more random opening plies"
        )
    return _standardised(gram, target, count, shift, low == high)


def _standardised(
    gram: np.ndarray, target: np.ndarray, count: np.ndarray, shift: np.ndarray, constant: np.ndarray
) -> Summary:
    """Return the sums about `shift` as sums of standardised features.

    It is a linear map, applied to both sides of the Gram.
    """
    n, total = int(count.sum()), gram.sum(axis=0)
    off = total[:-1, -1] / n
    variance = np.maximum(np.diag(total)[:-1] / n - off**2, 0.0)
    constant = constant | (variance == 0.0)
    inverse_scale = np.where(constant, 0.0, 1.0 / np.sqrt(np.where(constant, 1.0, variance)))
    to_z = np.diag(np.append(inverse_scale, 1.0))
    to_z[:-1, -1] = -off * inverse_scale
    return Summary(n, count, shift + off, inverse_scale, to_z @ gram @ to_z.T, target @ to_z.T)


def check_same_length(seen: int, expected: int) -> None:
    """Refuse a stream that gave another number of training records than before."""
    if seen != expected:
        raise DataError(
            f"the train split gave {expected} records at first and {seen} in a later pass: batches() must start "
            "from the front at each call (return a new iterator), and the data set must not grow while it is read"
        )


def unnamed(n: int) -> tuple[str, ...]:
    """Return the names of columns that have none: they are taken for those of the game, in its order."""
    return tuple(f"x{i}" for i in range(n))


def is_unnamed(names: tuple[str, ...]) -> bool:
    """Return True if the columns were given no names."""
    return names == unnamed(len(names))


def check_fits(stream_names: tuple[str, ...], n_phases: int, game: Game) -> None:
    """Refuse to build an evaluator of a game whose features or phases are not those that were learned from."""
    names, known = tuple(game.feature_names), f"{game.name} v{game.version}"
    if len(stream_names) != len(names):
        remedy = f"compute all of {known}, in its order" if is_unnamed(stream_names) else "generate the records again"
        raise DataError(f"fitted on {len(stream_names)} features, {known} computes {len(names)}: {remedy}, and refit")
    if stream_names != names and not is_unnamed(stream_names):
        i = next(i for i, (a, b) in enumerate(zip(stream_names, names, strict=True)) if a != b)
        raise DataError(
            f"feature {i} that was learned from is {stream_names[i]!r}, that of {known} is {names[i]!r}: "
            "generate the records again, or put the columns in the game's order, and refit"
        )
    if n_phases != game.n_phases:
        raise DataError(
            f"fitted on {n_phases} phases, {game.name} has {game.n_phases}: generate the records again and refit"
        )
