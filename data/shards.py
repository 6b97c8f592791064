"""Records: one per ply, in Parquet shards that are whole or absent.

    folder/records/shard-000000.parquet ...     the truth: each shard says in its footer where it comes from
    folder/manifest.json                        counts and checksums; can be rebuilt from the shards

A shard is written beside its place, synced and renamed, so a kill leaves the old file, the new one or a leftover
`.tmp`, never half a shard. Neither shards nor manifest hold a date or a path: the same games give the same bytes.
"""

from __future__ import annotations

import io
import json
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evallearn.core.checksum import CHECKSUM, parse_checked, with_checksum
from evallearn.core.digest import digest, parse_json
from evallearn.core.files import write_atomically
from evallearn.core.json_shapes import JsonDict
from evallearn.data.origin import Origin
from evallearn.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
"""Raise it whenever a column or the meaning of one changes."""
HEADER_KEY = b"evallearn"
COUNTS = ("first_game", "games", "records")
"""Of a shard, in its header."""
REMAKE = "delete it and rerun the same command: it is made again"
UNREADABLE = (OSError, ValueError, KeyError, TypeError, NotImplementedError, OverflowError, MemoryError)
"""What pyarrow and json raise on damaged bytes (ArrowInvalid is a ValueError)."""


class Record(NamedTuple):
    """One ply. `value` and `outcome` are utilities to `player`, who is to move and whose view `features` are."""

    game_number: int
    ply: int
    """Counted from the start of the game, random opening plies included."""
    player: int
    state: bytes | str
    """The compiled state's 64-bit words, little-endian; text where a game has no compiled rules."""
    features: bytes
    """float32[n_features], little-endian."""
    phase: int
    action: int | str
    """What was played; its text where a game has no compiled rules."""
    value: float
    """The value of the search in this state, also where an exploring action was played instead of its choice."""
    depth: int
    outcome: float
    """How the game ended."""
    won: float | None = None
    """What of that was won already, where utility accumulates (`Game.won`)."""


@dataclass(frozen=True)
class ShardInfo:
    """A shard in the manifest. Wins, draws and losses are player 0's."""

    name: str
    sha256: str
    first_game: int
    games: int
    records: int
    wins: int
    draws: int
    losses: int
    plies: int


# --- tables ----------------------------------------------------------------------------------------------------------
def schema(origin: Origin, *, wide: bool = False) -> pa.Schema:
    """Return the columns of a shard.

    A game without features has no such column, since Parquet knows no empty binary, and only games whose utility
    accumulates have `won`.

    wide: actions do not fit 16 bits (a turn of backgammon is one number), which few games need.
    """
    import pyarrow as pa

    number = pa.int32() if wide else pa.int16()
    compiled, width = origin.n_words > 0, 4 * len(origin.feature_names)
    columns = [
        ("game_number", pa.int32()),
        ("ply", pa.int16()),
        ("player", pa.int8()),
        ("state", pa.binary(8 * origin.n_words) if compiled else pa.string()),
        *([("features", pa.binary(width))] if width else []),
        ("phase", pa.int8()),
        ("action", number if compiled else pa.string()),
        ("value", pa.float32()),
        ("depth", pa.int8()),
        ("outcome", pa.float32()),
        *([("won", pa.float32())] if origin.accumulates else []),
    ]
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns])


def to_table(records: Sequence[Record], origin: Origin) -> pa.Table:
    """Build the table of the records, in their order."""
    import pyarrow as pa

    columns = dict(zip(Record._fields, zip(*records, strict=True), strict=True))
    kinds = schema(origin, wide=any(isinstance(a, int) and abs(a) >= 2**15 for a in columns["action"]))
    return pa.table([pa.array(columns[f.name], f.type) for f in kinds], schema=kinds)


def from_table(table: pa.Table) -> list[Record]:
    """Return the records of a table; floats come back as float32 rounded them."""
    n, names = table.num_rows, set(table.column_names)
    absent: dict[str, list[object]] = {"features": [b""] * n, "won": [None] * n}
    return list(map(Record, *(table[k].to_pylist() if k in names else absent[k] for k in Record._fields)))


def _tally(table: pa.Table) -> dict[str, int]:
    """Count games, records, player 0's results and plies, game by game: the last record of each holds how it ended.

    The outcome of another player, who wins or loses against player 0, counts with the opposite sign.
    """
    numbers = table["game_number"].to_numpy()
    last = np.flatnonzero(np.diff(numbers, append=-1))
    outcome, player = table["outcome"].to_numpy()[last], table["player"].to_numpy()[last]
    to_first = np.where(player == 0, outcome, -outcome)
    results = {"wins": to_first > 0, "draws": to_first == 0, "losses": to_first < 0}
    counts = {k: int(v.sum()) for k, v in results.items()}
    plies = int((table["ply"].to_numpy()[last].astype(np.int64) + 1).sum())
    return {"first_game": int(numbers[0]), "games": len(last), "records": len(numbers), **counts, "plies": plies}


# --- shards ----------------------------------------------------------------------------------------------------------
def shard_path(folder: Path, index: int) -> Path:
    """Return where shard number `index` of a run folder lies."""
    return folder / "records" / f"shard-{index:06d}.parquet"


def shard_paths(folder: Path) -> list[tuple[int, Path]]:
    """Return (index, path) of all shards of a run folder, in order."""
    found = (folder / "records").glob("shard-*.parquet")
    return sorted((int(digits), path) for path in found if (digits := path.stem[len("shard-") :]).isdecimal())


@contextmanager
def late_interrupt() -> Iterator[None]:
    """Delay Ctrl-C by these few milliseconds: raised inside a __del__ of pyarrow, Python would drop it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


@late_interrupt()
def write_shard(folder: Path, index: int, records: Sequence[Record], origin: Origin) -> ShardInfo:
    """Write at least one whole game as shard `index`, all or nothing."""
    import pyarrow.parquet as pq

    table = to_table(records, origin)
    tally = _tally(table)
    header = with_checksum({"format": FORMAT, **origin.to_json(), **{k: tally[k] for k in COUNTS}})
    # One page of bytes 0, one of bytes 1, ... packs words and floats best. The header goes into the footer once,
    # not also into Arrow's own copy of the schema; statistics of binary columns help nobody.
    split = ["state"] * (origin.n_words > 0) + ["features"] * (len(origin.feature_names) > 0)
    sink = io.BytesIO()
    options: JsonDict = {"use_dictionary": False, "use_byte_stream_split": split, "write_statistics": False}
    options |= {"compression": "zstd", "compression_level": 3, "store_schema": False, "write_page_checksum": True}
    with pq.ParquetWriter(sink, table.schema, **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({HEADER_KEY: json.dumps(header, sort_keys=True).encode()})
    data = sink.getvalue()
    path = shard_path(folder, index)
    write_atomically(path, data)
    return ShardInfo(path.name, digest(data), **tally)


def read_shard(path: Path, columns: Sequence[str] | None = None, sha256: str | None = None) -> tuple[Origin, pa.Table]:
    """Read a shard's origin and its table (or some columns), every page checked; raise DataError if any is damaged."""
    return _parse(path, _bytes(path, sha256), columns)


def inspect_shard(path: Path, sha256: str | None = None) -> tuple[Origin, ShardInfo]:
    """Read a whole shard and count what is in it."""
    data = _bytes(path, sha256)
    origin, table = _parse(path, data, None)
    return origin, ShardInfo(path.name, digest(data), **_tally(table))


def read_header(path: Path) -> tuple[Origin, dict[str, int]]:
    """Read a shard's origin and its counts (first_game, games, records), from the footer alone."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            header = _header(path, file.metadata.metadata)
            counts = {k: int(header[k]) for k in COUNTS}
            return Origin.from_json(header), counts
    except UNREADABLE as error:
        raise _damaged(path, error) from None


def _bytes(path: Path, sha256: str | None) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): rerun the command that made it") from None
    if sha256 is not None and digest(data) != sha256:
        raise DataError(f"{path} is not the file that manifest.json lists (other checksum): {REMAKE}")
    return data


def _parse(path: Path, data: bytes, columns: Sequence[str] | None) -> tuple[Origin, pa.Table]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        header = _header(path, file.metadata.metadata)
        origin = Origin.from_json(header)
        kinds, n = file.schema_arrow.remove_metadata(), file.metadata.num_rows
        known = any(kinds.equals(schema(origin, wide=wide)) for wide in (False, True))
        if not known or n != header["records"]:
            raise ValueError("its columns are not those its footer promises")
        return origin, file.read(columns, use_threads=False)
    except UNREADABLE as error:
        raise _damaged(path, error) from None


def _header(path: Path, metadata: Mapping[bytes, bytes] | None) -> Mapping[str, Any]:
    if HEADER_KEY not in (metadata or {}):
        raise DataError(f"{path} is a Parquet file, but not one of evallearn's records: move it elsewhere")
    header: Mapping[str, Any] = parse_json(metadata[HEADER_KEY])  # type: ignore[index]  # a shard has it
    if CHECKSUM in header:  # those of earlier versions have none
        header = parse_checked(metadata[HEADER_KEY])  # type: ignore[index]  # likewise
    if header["format"] != FORMAT:
        raise DataError(
            f"{path} has record format {header['format']}, this version reads {FORMAT}: "
            "install the evallearn that made it, or make the records again in another folder"
        )
    return header


def _damaged(path: Path, error: Exception) -> DataError:
    reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return DataError(f"{path} is damaged or cut off ({reason}): {REMAKE}")


# --- files that are whole or absent ----------------------------------------------------------------------------------
def remove_leftovers(folder: Path) -> None:
    """Delete the temporary files of writers that were killed."""
    for temporary in [*folder.glob(".*.tmp"), *(folder / "records").glob(".*.tmp")]:
        temporary.unlink(missing_ok=True)
