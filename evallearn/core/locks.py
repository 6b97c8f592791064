"""One process at a time in a folder that is resumed: a lock that the operating system holds, and frees with its owner.

The lock is on the first byte of a file `.lock`; behind it stands the number of the process, for messages alone. A file
that is left behind locks nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evallearn.errors import DataError

NAME = ".lock"


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Keep everybody else out of the folder, which is made if it is not there. Raises DataError: who is in it.

    A folder that was made for the lock goes with it if nothing else was put there: a refused command leaves none.
    """
    is_new = not folder.exists()
    with _hold(folder / NAME, f"{folder} is in use", "choose another folder"):
        try:
            yield
        finally:
            if is_new and [path.name for path in folder.iterdir()] == [NAME]:
                with suppress(OSError):  # Windows removes no file that is open
                    (folder / NAME).unlink()
                    folder.rmdir()


@contextmanager
def hold_file(path: Path) -> Iterator[None]:
    """Keep everybody else from working on the file, by a lock beside it. Raises DataError: who does."""
    lock = path.with_name(f".{path.name}{NAME}")
    with _hold(lock, f"{path} is in use", "choose another file"):
        try:
            yield
        finally:
            with suppress(OSError):  # Windows removes no file that is open
                lock.unlink()


@contextmanager
def _hold(file: Path, what: str, remedy: str) -> Iterator[None]:
    from filelock import FileLock, SoftFileLock, Timeout

    file.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(file, blocking=False, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise DataError(f"{what}{_owner(file)}: wait until that ends, or {remedy}") from None
    try:
        if not isinstance(lock, SoftFileLock):  # of file systems that hold no locks: it writes into the file itself
            _sign(file)
        yield
    finally:
        lock.release()


def _sign(file: Path) -> None:
    """Write the number of this process behind the byte that is locked, which Windows lets nobody read."""
    with file.open("r+b", buffering=0) as opened:
        opened.seek(1)
        opened.write(str(os.getpid()).encode())
        opened.truncate()


def _owner(file: Path) -> str:
    with suppress(OSError, ValueError), file.open("rb", buffering=0) as opened:
        opened.seek(1)
        return f" by process {int(opened.read(20))}"
    return " by another process"
