"""The games of a match as files that people know, and back: which formats a game has, by the suffix of the file.

.jsonl and .json hold every game; .pgn is for chess, .pdn for checkers, .txt (transcripts) for all others. The same
records give the same bytes, and a file is whole or absent. What is read was played over, move by move, before it is
handed out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evallearn.arena import scores, transcripts
from evallearn.arena.records import GameRecord, check_seats, place, replay
from evallearn.core.files import write_atomically
from evallearn.core.game import Game
from evallearn.errors import DataError

FORMAT, VERSION = "evallearn games", 1
LARGEST = 1 << 30
"""Bytes of a file of games: a million games of chess or more."""


@dataclass(frozen=True)
class Format:
    """How files of one kind are made, game by game, and read."""

    write: Callable[[Game, GameRecord, str], str]
    """write(game, record, where): one game; `where` begins a message."""
    read: Callable[[Game, str, str], Iterator[GameRecord]]
    """read(game, text, source): the games of a file, not yet played over."""
    begin: Callable[[Game], str] = lambda game: ""
    between: str = ""
    finish: str = ""


# --- JSON ------------------------------------------------------------------------------------------------------------
def json_header(game: Game) -> str:
    """Return the first line of a .jsonl file, without its end."""
    return json.dumps({"format": FORMAT, "version": VERSION, "game": game.name})


def json_line(record: GameRecord) -> str:
    """Return the line of a game in a .jsonl file, without its end: for whoever writes while a match goes on."""
    return json.dumps(record.to_json())


def _write_line(game: Game, record: GameRecord, where: str) -> str:
    return f"{json_line(record)}\n"


def _write_object(game: Game, record: GameRecord, where: str) -> str:
    return json_line(record)


def _read_lines(game: Game, text: str, source: str) -> Iterator[GameRecord]:
    head, *lines = text.split("\n")
    _check_header(game, _json(head, f"{source}, line 1"), source)
    if lines and lines[-1] == "":
        lines.pop()
    for at, line in enumerate(lines, 2):
        where = f"{source}, line {at}"
        yield GameRecord.from_json(_json(line, where), where)


def _read_document(game: Game, text: str, source: str) -> Iterator[GameRecord]:
    data = _json(text, source)
    _check_header(game, data, source)
    if not isinstance(data.get("games"), list):
        raise DataError(f"{source} has no list 'games': the file is damaged; give one that was written by write_games")
    for i, one in enumerate(data["games"], 1):
        yield GameRecord.from_json(one, f"{source}, record {i}")


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        why = (
            f"{error.msg}, character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else "too deep or long"
        )
        raise DataError(f"{where}: damaged or no JSON ({why}): mend the file, or cut it off before that") from None


def _check_header(game: Game, data: object, source: str) -> None:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise DataError(
            f"{source} is no file of games: it does not begin with the format {FORMAT!r}; give one that does"
        )
    if data.get("version") != VERSION:
        found = data.get("version")
        raise DataError(f"{source} has version {found!r}, this program reads version {VERSION}: use one that wrote it")
    if data.get("game") != game.name:
        raise DataError(f"{source} has games of {data.get('game')}, not of {game.name}: read it as {data.get('game')}")


# --- which format ----------------------------------------------------------------------------------------------------
EVERYWHERE = {
    ".jsonl": Format(_write_line, _read_lines, lambda game: f"{json_header(game)}\n"),
    ".json": Format(
        _write_object, _read_document, lambda game: f'{json_header(game)[:-1]}, "games": [\n', ",\n", "\n]}\n"
    ),
}
TRANSCRIPT = Format(transcripts.transcript, transcripts.read_transcripts, transcripts.header, "\n")
OWN = {
    "chess": {".pgn": Format(scores.write_pgn_game, scores.read_pgn_games, between="\n")},
    "checkers": {".pdn": Format(scores.write_pdn_game, scores.read_pdn_games, between="\n")},
}
"""{game: {suffix: what players of this game use}}; all others have transcripts."""


def formats_of(game: Game) -> dict[str, Format]:
    """Return {suffix: format}, the game's own first."""
    return {**OWN.get(game.name, {".txt": TRANSCRIPT}), **EVERYWHERE}


def format_for(path: Path, game: Game) -> Format:
    """Return the format that the suffix names. Raises DataError that names those which this game has."""
    known = formats_of(game)
    if path.suffix.lower() not in known:
        raise DataError(
            f"{path}: no games of {game.name} in files {path.suffix or 'without suffix'}: use {' '.join(known)}"
        )
    return known[path.suffix.lower()]


# --- files -----------------------------------------------------------------------------------------------------------
def write_games(path: str | Path, game: Game, records: Iterable[GameRecord]) -> int:
    """Write the records as they come, never holding more than one; return how many there were. Raises DataError.

    An old file of this name is replaced when the new one is complete, and stays if anything goes wrong.
    """
    path, game = Path(path), getattr(game, "plain", game)
    kind = format_for(path, game)
    count = 0

    def chunks() -> Iterator[str]:
        nonlocal count
        yield kind.begin(game)
        for record in records:
            where = place(str(path), record.number)
            check_seats(game, record, where)
            yield (kind.between if count else "") + kind.write(game, record, where)
            count += 1
        yield kind.finish

    try:
        write_atomically(path, (chunk.encode() for chunk in chunks()))
    except OSError as error:
        raise DataError(f"cannot write {path} ({error.strerror or error}): choose another name or folder") from None
    return count


def read_games(path: str | Path, game: Game, *, check: bool = True) -> list[GameRecord]:
    """Return the games of a file, each played over by the rules. Raises DataError that names the place and the remedy.

    Without `check`, only the shape of .json and .jsonl is checked, which is quicker.
    """
    path, game = Path(path), getattr(game, "plain", game)
    kind = format_for(path, game)
    found = []
    for record in kind.read(game, _text(path), str(path)):
        if check:
            replay(game, record, source=str(path))
        found.append(record)
    return found


def _text(path: Path) -> str:
    try:
        if path.exists() and (not path.is_file() or path.stat().st_size > LARGEST):
            raise OSError(f"it is no file of at most {LARGEST} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path} ({error.strerror or error}): give the name of a file of games") from None
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}, line {line}: the text is not UTF-8: the file is damaged, or convert it") from None
