"""The manifest: what a folder of records holds, with a checksum for each shard and one for all."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from evallearn.core.checksum import parse_checked, with_checksum
from evallearn.core.digest import digest
from evallearn.core.files import write_atomically
from evallearn.core.json_shapes import build, has_shape, rows
from evallearn.data.origin import Origin
from evallearn.data.shards import FORMAT, ShardInfo, inspect_shard, shard_paths
from evallearn.errors import DataError

COUNTS = ("first_game", "games", "records", "wins", "draws", "losses", "plies")
SHARD = {"name": str, "sha256": str, **dict.fromkeys(COUNTS, int)}
log = logging.getLogger("evallearn.data")


@dataclass(frozen=True)
class Manifest:
    """Counts and checksums of a folder of records. Wins, draws and losses are player 0's."""

    origin: Origin
    games: int
    records: int
    wins: int
    draws: int
    losses: int
    mean_plies: float
    """Length of a game, random opening plies included."""
    checksum: str
    """sha256 over the shards' sha256: equal if and only if all records are."""
    shards: tuple[ShardInfo, ...]

    def __repr__(self) -> str:
        results = f"player 0 won {self.wins:,}, drew {self.draws:,}, lost {self.losses:,}"
        return f"<records of {self.origin.game}: {self.games:,} games, {self.records:,} records; {results}>"

    def to_json(self) -> str:
        """Return the text of manifest.json: no date and no path, so the same records give the same text."""
        found = {k: v for k, v in asdict(self).items() if k != "origin"}
        plain = with_checksum({"format": FORMAT, **self.origin.to_json(), **found})
        return json.dumps(plain, indent=1, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Read what `to_json` wrote; raise ValueError, KeyError or TypeError on anything else."""
        found = parse_checked(text)
        if found["format"] != FORMAT:
            raise ValueError(f"manifest format {found['format']}")
        if not has_shape(found, {"shards": [SHARD]}):
            raise ValueError("its shards are no shards")
        return build_manifest(Origin.from_json(found), [build(ShardInfo, shard) for shard in rows(found["shards"])])


def build_manifest(origin: Origin, shards: Iterable[ShardInfo]) -> Manifest:
    """Build the manifest of these shards."""
    infos = tuple(shards)
    counts = {k: sum(getattr(s, k) for s in infos) for k in ("games", "records", "wins", "draws", "losses")}
    mean = round(sum(s.plies for s in infos) / max(1, counts["games"]), 4)
    return Manifest(origin, **counts, mean_plies=mean, checksum=combine(s.sha256 for s in infos), shards=infos)


def combine(checksums: Iterable[str]) -> str:
    """Combine many checksums into one."""
    return digest("\n".join(checksums))


def manifest_path(folder: Path) -> Path:
    """Return where a run folder's manifest lies."""
    return folder / "manifest.json"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write manifest.json, all or nothing."""
    write_atomically(manifest_path(folder), manifest.to_json().encode())


def read_manifest(folder: Path) -> Manifest | None:
    """Read the folder's manifest; return None if there is none or it is damaged: the shards are the truth."""
    try:
        return Manifest.from_json(manifest_path(folder).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        log.warning("%s is damaged: it is not used; the command that made it writes it again", manifest_path(folder))
        return None


def no_records(folder: Path) -> DataError:
    """Return the error for a folder without shards."""
    return DataError(f"no records in {folder}: make some with `evallearn selfplay`, or name the run's own folder")


def rebuild_manifest(folder: str | Path) -> Manifest:
    """Read every shard, check that they belong together and write the manifest anew."""
    folder = Path(folder)
    found = [(path, *inspect_shard(path)) for _, path in shard_paths(folder)]
    if not found:
        raise no_records(folder)
    first, origin, _ = found[0]
    for path, other, _ in found:
        if differences := origin.differences(other):
            raise DataError(
                f"{first} and {path} were made by different settings ({'; '.join(differences)}): "
                "move one of them to another folder"
            )
    manifest = build_manifest(origin, [info for _, _, info in found])
    write_manifest(folder, manifest)
    return manifest
