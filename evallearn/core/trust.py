"""What a text may name: everything if a person wrote it, only what is shipped if it stands in a file.

A text that describes an agent, an evaluator or a game may start a program (`cmd:PROGRAM`), import a module
(`module:Class`) or open a file. The person at the command line means that; a file may come from a stranger. So every
function that reads such a text takes a Trust, and without one it takes the text for a file's.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from evallearn.errors import SpecError


@dataclass(frozen=True)
class Trust:
    """What a text may name, besides what is shipped."""

    everything: bool = False
    """A person wrote the text, on a command line or in a program."""
    folder: Path | None = None
    """The folder that the person named: files in it may be opened."""
    remedy: str = "if you wrote it yourself, pass trust=evallearn.FULL_TRUST"
    """What the person can do who wants it all the same."""

    def require_program(self, text: str) -> None:
        """Raise SpecError unless `text` may start a program."""
        self._require(self.everything, f"{text!r} starts a program")

    def require_module(self, text: str, module: str) -> None:
        """Raise SpecError unless `text` may import `module`."""
        self._require(self.everything, f"{text!r} imports the module {module}")

    def require_file(self, text: str) -> None:
        """Raise SpecError unless the file that `text` names may be opened."""
        where = "" if self.folder is None else f" outside of the folder {str(self.folder)!r}"
        self._require(self.may_open(text), f"{text!r} opens a file{where}")

    def may_open(self, path: str | Path) -> bool:
        """Return True if the file may be opened; the disk is not asked for one that may not."""
        return self.everything or (self.folder is not None and is_inside(path, self.folder))

    def _require(self, allowed: bool, what: str) -> None:
        if not allowed:
            raise SpecError(f"{what}, which a text in a file may not: {self.remedy}")


NO_TRUST = Trust()
"""For texts of which nothing is known."""
FULL_TRUST = Trust(everything=True)
"""For texts that a person wrote, and for nothing else."""


def is_inside(path: str | Path, folder: str | Path) -> bool:
    """Return True if `path` lies in `folder`, as it is written and with links resolved."""
    try:
        real = os.path.realpath(folder)
        if not any(Path(os.path.abspath(path)).is_relative_to(f) for f in (os.path.abspath(folder), real)):
            return False  # before the disk is asked: on Windows even that may call another computer
        return Path(os.path.realpath(path)).is_relative_to(real)
    except (OSError, ValueError):  # a NUL, a name that is too long
        return False
