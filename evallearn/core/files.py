"""Files that are whole or absent: after a crash at any moment the name stands for the old file or the new one."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from evallearn.core.json_shapes import Json

LONGEST_NAME = 200
"""Bytes of the name of a file: file systems take 255, and an ending may be added."""


def data_folder() -> Path:
    """Return the folder of endgame tables and unfinished games: $EVALLEARN_DATA, or the user's folder for data."""
    if given := os.environ.get("EVALLEARN_DATA"):
        return Path(given).expanduser()
    try:
        return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "evallearn"
    except RuntimeError:  # a user without a home
        return Path("evallearn-data")


def short_name(name: str) -> str:
    """Return the name; where it is too long for a file system, its beginning and a digest."""
    data = os.fsencode(name)
    if len(data) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(data).hexdigest()[:12]
    return f"{data[: LONGEST_NAME - 13].decode(errors='ignore')}-{digest}"


def file_name(text: str) -> str:
    """Return any text as the name of a file: without what some system refuses, and not too long."""
    return short_name(re.sub(r"[^\w.,=@+-]", "_", text))


def write_atomically(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write beside it, flush to the disk, rename. The folder is made if it is not there. Chunks are never all held."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{short_name(path.name)}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.writelines([data] if isinstance(data, bytes) else data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:  # Ctrl-C too
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def write_json(path: Path, data: Json) -> None:
    """Write plain JSON types, indented for people."""
    write_atomically(path, (json.dumps(data, indent=2) + "\n").encode())


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # Windows opens no folders; there the rename has to do
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
