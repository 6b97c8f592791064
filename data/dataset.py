"""A data set: the records of one or more folders as a stream of batches, split by game and never by position."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evallearn.core.digest import digest
from evallearn.core.rng import scramble
from evallearn.data.manifest import combine, no_records, read_manifest
from evallearn.data.origin import Origin
from evallearn.data.shards import Record, from_table, read_header, read_shard, shard_paths
from evallearn.errors import DataError, unknown

if TYPE_CHECKING:
    import pyarrow as pa

    from evallearn.core.game import Game, State

log = logging.getLogger("evallearn.data")
SPLITS = ("train", "test", "all")
BATCH_COLUMNS = ("game_number", "features", "phase", "outcome")
MORE_COLUMNS = ("value", "state")


@dataclass(frozen=True, eq=False)
class Batch:
    """Some records as arrays, from the view of the player to move."""

    features: np.ndarray
    """float32[n, n_features]"""
    phase: np.ndarray
    """int64[n]"""
    outcome: np.ndarray
    """float32[n] in [-1, 1]: how the game ended for that player, from the worst loss (or from what was won already,
    where utility accumulates) to the best win"""
    game: np.ndarray
    """int64[n]: which game; numbers of different folders never meet"""
    value: np.ndarray | None = None
    """float32[n], where requested: the value of the search, from the worst loss to the best win"""
    words: np.ndarray | None = None
    """uint64[n, n_words], where requested: the positions, encoded"""

    def __len__(self) -> int:
        return len(self.outcome)


@dataclass(frozen=True)
class _Shard:
    path: Path
    folder: int
    seed: int
    sha256: str | None


class Dataset:
    """The records of one folder or several. Nothing is kept in memory but the list of shards."""

    def __init__(
        self,
        folders: str | Path | Sequence[str | Path],
        game: Game | None = None,
        test_share: float = 0.1,
    ) -> None:
        """Read the headers of all shards.

        game: refuse records of other games or features. test_share: how many of the games are held out.
        """
        if not 0 <= test_share < 1:
            raise DataError(f"test_share={test_share!r}: give a share of the games from 0 to below 1, for example 0.1")
        self.test_share = test_share
        self.folders = [Path(f) for f in ([folders] if isinstance(folders, (str, Path)) else folders)]
        if len({f.resolve() for f in self.folders}) < len(self.folders):
            raise DataError(f"a folder of records is named twice: {', '.join(map(str, self.folders))}; name each once")
        self.n_records = self.n_games = 0
        self._shards: list[_Shard] = []
        self._origin: Origin | None = None
        self._where = ""
        if game is not None:
            self._origin, self._where = Origin.of(game), f"{game.name} v{game.version} of this program"
        for number, folder in enumerate(self.folders):
            self._add_folder(number, folder)
        if self._origin is None or not self._shards:
            raise DataError("no folder of records was named: name one that `evallearn selfplay` made")
        self.origin = self._origin
        self.n_features, self.n_phases = len(self.origin.feature_names), self.origin.n_phases
        self.feature_names = self.origin.feature_names

    def __repr__(self) -> str:
        where = ", ".join(map(str, self.folders[:3])) + ", ..." * (len(self.folders) > 3)
        return f"<Dataset of {self.origin.game}: {self.n_games:,} games, {self.n_records:,} records, in {where}>"

    def _add_folder(self, number: int, folder: Path) -> None:
        paths = [path for _, path in shard_paths(folder)]
        if not paths:
            raise no_records(folder)
        manifest = read_manifest(folder)
        if manifest is None:
            log.warning("%s has no whole manifest, as before the end of self-play: its whole shards are used", folder)
        listed = {s.name: s.sha256 for s in manifest.shards} if manifest else {}
        if gone := sorted(set(listed) - {p.name for p in paths}):
            raise DataError(f"{folder / 'records' / gone[0]} is missing: rerun the command that made it")
        for path in paths:
            origin, counts = read_header(path)
            self._check(path, origin)
            seed = int(str((origin.settings or {}).get("seed", 0)))
            self._shards.append(_Shard(path, number, seed, listed.get(path.name)))
            self.n_games += counts["games"]
            self.n_records += counts["records"]

    def _check(self, path: Path, origin: Origin) -> None:
        if self._origin is None:
            self._origin, self._where = origin, str(path)
        elif self._origin.same_features(origin):
            return
        else:
            raise DataError(
                f"{path} holds {origin.features_text()}, {self._where} has {self._origin.features_text()}: "
                "learn from one kind at a time, or make the records again"
            )

    @property
    def accumulates(self) -> bool:
        """True if outcomes are what was still to come, of a game whose utility accumulates."""
        return self.origin.accumulates

    @cached_property
    def checksum(self) -> str:
        """sha256 over the sha256 of all shards; of one folder it is the manifest's."""
        return combine(digest(shard.path.read_bytes()) for shard in self._shards)

    def verify(self) -> None:
        """Read every shard whole; raise DataError for one that is damaged or not what the manifest lists."""
        for shard in self._shards:
            self._check(shard.path, read_shard(shard.path, None, shard.sha256)[0])

    # --- streams -----------------------------------------------------------------------------------------------------
    def batches(self, split: str = "all", batch_size: int = 65536, *, whole: bool = False) -> Iterator[Batch]:
        """Yield the records of "train", "test" or "all" games, always in the same order.

        Only the last batch may be smaller.

        whole: with the search's value and, if the game has compiled rules, the position.
        """
        if batch_size < 1:
            raise DataError(f"batch_size={batch_size!r}: give a whole number of 1 or more")
        waiting: list[Batch] = []
        n = 0
        columns = BATCH_COLUMNS + (MORE_COLUMNS if whole else ()) + (("won",) if self.origin.accumulates else ())
        for shard, table, keep in self._tables(split, columns):
            waiting.append(self._batch(shard, table, keep))
            n += len(waiting[-1])
            while n >= batch_size:
                joined = _joined(waiting)
                yield _part(joined, 0, batch_size)
                waiting = [_part(joined, batch_size, n)]
                n -= batch_size
        if n:
            yield _joined(waiting)

    def records(self, split: str = "all") -> Iterator[Record]:
        """Yield the records themselves, in order."""
        for _, table, keep in self._tables(split, None):
            for record, kept in zip(from_table(table), keep.tolist(), strict=True):
                if kept:
                    yield record

    def states(self, game: Game, split: str = "all") -> Iterator[tuple[State, Record]]:
        """Yield (state, record): the positions as `game` plays them."""
        for record in self.records(split):
            if isinstance(record.state, str):
                yield game.from_text(record.state), record
            else:
                yield game.decode(np.frombuffer(record.state, "<u8").tolist()), record

    def _tables(self, split: str, columns: Sequence[str] | None) -> Iterator[tuple[_Shard, pa.Table, np.ndarray]]:
        """Yield (shard, table, bool[n] that marks the records of the split)."""
        if split not in SPLITS:
            raise unknown("split", split, SPLITS)
        if columns is not None and not self.n_features:
            columns = [c for c in columns if c != "features"]
        for shard in self._shards:
            origin, table = read_shard(shard.path, columns, shard.sha256)
            self._check(shard.path, origin)
            test = is_test(shard.seed, table["game_number"].to_numpy(), self.test_share)
            yield shard, table, np.ones_like(test) if split == "all" else test == (split == "test")

    def _batch(self, shard: _Shard, table: pa.Table, keep: np.ndarray) -> Batch:
        n = table.num_rows
        features = np.zeros((n, 0), np.float32)
        if self.n_features:
            features = _fixed(table["features"], "<f4", self.n_features)
        number = table["game_number"].to_numpy().astype(np.int64) + (shard.folder << 32)
        phase = table["phase"].to_numpy().astype(np.int64)
        won = table["won"].to_numpy() if self.origin.accumulates else None
        outcome = self.origin.share(table["outcome"].to_numpy(), won)
        value = words = None
        if "value" in table.column_names:
            value = self.origin.share(table["value"].to_numpy(), won)[keep]
            if self.origin.n_words:
                words = _fixed(table["state"], "<u8", self.origin.n_words)[keep]
        return Batch(features[keep], phase[keep], outcome[keep], number[keep], value, words)


def is_test(seed: int, game_numbers: np.ndarray, share: float) -> np.ndarray:
    """Return bool[n]: which games are held out. A hash decides, so a game stays on its side however many are added."""
    salt = int.from_bytes(bytes.fromhex(digest(f"split {seed}"))[:8], "little")
    x = game_numbers.astype(np.uint64) + np.uint64(salt)  # wraps around, as is meant
    held_out: np.ndarray = scramble(x) < np.uint64(int(share * 2.0**64))
    return held_out


def _fixed(column: pa.ChunkedArray, kind: str, width: int) -> np.ndarray:
    """Return kind[n, width] of a fixed-size binary column, without a Python object per record."""
    chunks = column.chunks
    flat = [np.frombuffer(c.buffers()[1], kind, (c.offset + len(c)) * width)[c.offset * width :] for c in chunks]
    return np.concatenate(flat).reshape(-1, width)


def _columns(batch: Batch) -> dict[str, np.ndarray]:
    return {k: v for k, v in vars(batch).items() if v is not None}


def _joined(batches: Sequence[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    return Batch(**{k: np.concatenate([getattr(b, k) for b in batches]) for k in _columns(batches[0])})


def _part(batch: Batch, start: int, stop: int) -> Batch:
    return Batch(**{k: v[start:stop] for k, v in _columns(batch).items()})
