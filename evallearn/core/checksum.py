"""Files that notice damage: JSON objects with a checksum, and journals, a checked JSON object on each line.

A checksum covers what a file says, not how it is laid out, and what it belongs to: the same step of another run is
refused as well. The line of a journal also says which line it is, so that one which was taken out, doubled or moved is
noticed. The last line of a journal may be torn by a crash: it is dropped, and a notice says so. A line that was emptied
by hand counts as lost, and all others are kept.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from evallearn.core.digest import json_digest, parse_json, plain_json
from evallearn.core.files import write_json
from evallearn.core.json_shapes import Json, JsonDict
from evallearn.errors import DataError

log = logging.getLogger(__name__)
CHECKSUM = "sha256"
LINE = "line"
SHORT = 16
"""Hexadecimal digits of the checksum of a line."""
EARLIER = "it has no checksum, as files of earlier versions"


# --- JSON objects ----------------------------------------------------------------------------------------------------
def write_checked(path: Path, data: Json, belongs_to: str = "") -> None:
    """Write the JSON object with its checksum, whole or not at all."""
    write_json(path, with_checksum(data, belongs_to))


def with_checksum(data: Json, belongs_to: str = "") -> JsonDict:
    """Return the object as JSON gives it back, and its checksum with it."""
    plain = plain_json(data)
    return {**plain, CHECKSUM: json_digest(plain, belongs_to)}


def read_checked(path: Path, remedy: str, belongs_to: str = "") -> JsonDict:
    """Return the object that `write_checked` wrote. Raises DataError, with the remedy, for a file with any damage."""
    try:
        return parse_checked(path.read_bytes(), belongs_to)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error}): {remedy}") from None
    except ValueError as error:
        raise DataError(f"{path} is damaged ({error}): {remedy}") from None


def parse_checked(text: bytes | str, belongs_to: str = "", digits: int | None = None) -> JsonDict:
    """Return the object without its checksum, of which so many digits were written. Raises ValueError."""
    try:
        found = parse_json(text)
    except ValueError:
        raise ValueError("it is not JSON") from None
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    if CHECKSUM not in found:
        raise ValueError(EARLIER)
    checksum = found.pop(CHECKSUM)
    try:
        fits = checksum == json_digest(found, belongs_to)[:digits]
    except RecursionError:
        fits = False
    if not fits:
        raise ValueError("its checksum does not fit")
    return found


# --- journals --------------------------------------------------------------------------------------------------------
@dataclass
class Journal:
    """A file to which a line is added for every piece of work that is done."""

    path: Path
    belongs_to: str
    """What the work depends on, or a digest of it: lines of other work are refused."""
    lost: str
    """What becomes of the work of a lost line, for messages: `its set is played again`."""
    _file: IO[str] | None = field(default=None, init=False)
    _count: int = field(default=0, init=False)

    def read(self) -> list[JsonDict | None]:
        """Return what the lines say, None for an emptied one. Raises DataError with line and remedy."""
        lines, torn = self._lines()
        if torn:
            log.warning("%s ends in a torn line: it is left out, and %s", self.path, self.lost)
        entries, problems = list[JsonDict | None](), dict[int, str]()
        for number, line in enumerate(lines, 1):
            try:
                entries.append(parse_checked(line, self.belongs_to, SHORT) if line.strip() else None)
            except ValueError as error:
                entries.append(None)
                problems[number] = str(error)
        self._refuse(entries, problems)
        empty = [number for number, entry in enumerate(entries, 1) if entry is None]
        if empty:
            log.warning("%s, %s empty: %s", self.path, _numbered(empty), self.lost)
        return [entry and {k: v for k, v in entry.items() if k != LINE} for entry in entries]

    def open(self) -> list[JsonDict | None]:
        """Return what `read` does, and take further lines from now on. A torn line is cut off."""
        entries = self.read()
        lines, torn = self._lines()
        if torn:
            with self.path.open("r+b") as file:
                file.truncate(sum(len(line) + 1 for line in lines))
        self._count, self._file = len(entries), self.path.open("a", encoding="utf-8", newline="\n")
        return entries

    def append(self, entry: Json) -> None:
        """Write one line and hand it to the system at once."""
        assert self._file is not None
        plain = {LINE: self._count + 1, **plain_json(entry)}
        self._file.write(line_text(plain, self.belongs_to))
        self._file.flush()
        self._count += 1

    def close(self) -> None:
        """Take no further lines."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def is_ours(self) -> bool:
        """Return whether any line fits what the file should belong to."""
        return any(self._fits(line) for line in self._lines()[0])

    def _fits(self, line: bytes) -> bool:
        try:
            return bool(parse_checked(line, self.belongs_to, SHORT))
        except ValueError:
            return False

    def damaged(self, numbers: Sequence[int], why: str) -> DataError:
        """Return the error for lines that must not be believed."""
        one = len(numbers) == 1
        remedy = "leave an empty line in its place" if one else "leave empty lines in their places"
        return DataError(
            f"{self.path}, {_numbered(numbers)} damaged ({why}): {remedy}, and all others are kept; {self.lost}"
        )

    def _lines(self) -> tuple[list[bytes], bool]:
        """Return the whole lines, and whether half a line follows them."""
        *whole, rest = self.path.read_bytes().split(b"\n") if self.path.exists() else [b""]
        return whole, bool(rest)

    def _refuse(self, entries: Sequence[JsonDict | None], problems: Mapping[int, str]) -> None:
        """Raise DataError for the first line that is not what was written there, and name others of its kind."""
        if problems and set(problems.values()) == {EARLIER} and not any(entries):
            raise DataError(f"{self.path} has no checksums, as files of earlier versions: remove {self.path.parent}")
        for number, entry in enumerate(entries, 1):
            if number in problems:
                raise self.damaged(sorted(problems), problems[number])
            if entry is not None and entry.get(LINE) != number:
                raise self._misplaced(number, entry.get(LINE))

    def _misplaced(self, number: int, written: object) -> DataError:
        if not isinstance(written, int) or written < number:
            remedy = "so it stands there twice, or in the wrong place: take it out"
        elif written == number + 1:
            remedy = "so the line before it is missing: put an empty line before it"
        else:
            n = written - number
            remedy = f"so {n} lines before it are missing: put {n} empty lines before it"
        return DataError(f"{self.path}, line {number} was written as line {written}, {remedy}; {self.lost}")


def line_text(plain: Json, belongs_to: str) -> str:
    """Return the line of a journal that says this, its end included."""
    checksum = json_digest(plain, belongs_to)[:SHORT]
    return json.dumps({**plain, CHECKSUM: checksum}, separators=(",", ":")) + "\n"


def _numbered(numbers: Sequence[int]) -> str:
    """Return `line 7 is`, or `lines 7, 8 and 9 are`."""
    if len(numbers) == 1:
        return f"line {numbers[0]} is"
    return f"lines {', '.join(map(str, numbers[:-1]))} and {numbers[-1]} are"
