"""A match's folder: what is played, and every set that was finished. A match that was stopped goes on from it.

match.json    the terms: another match needs another folder
sets.jsonl    a line for each set, in the order in which they finished: how its opening came about (or the position,
              where that is not known) and its games; a half-written last line is played again

Both carry checksums (evallearn/core/checksum.py). Those of the lines cover the terms too, so that sets of another match
do not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evallearn.agents import Agent
from evallearn.arena.openings import Opening
from evallearn.arena.seating import Played
from evallearn.arena.sets import SetReader, is_count, packed_opening, packed_set, require
from evallearn.core.checksum import Journal, read_checked, write_checked
from evallearn.core.digest import json_digest, plain_json, weights_mark
from evallearn.core.game import Game
from evallearn.core.json_shapes import Json, JsonDict, has_shape, items
from evallearn.core.trust import is_inside
from evallearn.errors import DataError, GameError

TERMS, SETS = "match.json", "sets.jsonl"
Sets = dict[int, tuple[Opening, list[Played]]]
"""{number of the set: (its opening, its games)}"""


def identity(agent: Agent) -> str:
    """Return the agent's name and, where it has weights, a digest of them: a file may change under the same name."""
    return agent.name + weights_mark(getattr(agent, "evaluator", None))


class MatchJournal:
    """The folder of one match, to be written to."""

    def __init__(self, folder: Path, game: Game, terms: Json) -> None:
        self.folder, self.game, self.terms = folder, game, plain_json(terms)
        self.sets = sets_of(folder, self.terms)

    def open(self, openings: Sequence[Opening]) -> dict[int, list[Played]]:
        """Create the folder, or find what was finished there; return {number of the set: its games}."""
        self.openings, path = openings, self.folder / TERMS
        if not is_inside(self.sets.path, self.folder):  # we would write to that file
            raise DataError(f"{self.sets.path} links to a file outside of its folder: choose another --run")
        if path.exists():
            self._require_same(read_terms(self.folder))
        elif self.sets.path.exists() and not self.sets.is_ours():
            raise DataError(
                f"{self.folder} holds games of another match, and no {TERMS}: remove it, or choose another --run"
            )
        else:
            write_checked(path, self.terms)
        found = read_entries(self.sets, self.sets.open(), self.game, openings)
        return {number: played for number, (_, played) in found.items() if number < len(openings)}

    def write(self, number: int, played: Sequence[Played]) -> None:
        """Append a finished set: one line, handed to the system at once."""
        self.sets.append(packed_set(self.game, number, self.openings[number], played))

    def forget(self, numbers: Sequence[int]) -> None:
        """Note that these sets are to be played again."""
        self.sets.append({"forget": list(numbers)})

    def close(self) -> None:
        """Take no further sets."""
        self.sets.close()

    def _require_same(self, found: Json) -> None:
        for key in {**self.terms, **found}:
            if found.get(key) != self.terms.get(key):
                raise DataError(
                    f"{self.folder} holds a match with {key}={found.get(key)!r}, you asked for "
                    f"{self.terms.get(key)!r}: choose another --run, or remove the folder"
                )


def sets_of(folder: Path, terms: Json) -> Journal:
    """Return the journal of a match with these terms."""
    return Journal(folder / SETS, json_digest(terms), "its games are played again when the match goes on")


def read_terms(folder: Path) -> JsonDict:
    """Return the terms that match.json holds. Raises DataError."""
    return read_checked(folder / TERMS, "delete it, and the command that plays this match writes it again and goes on")


def read_names(folder: Path) -> tuple[str, str]:
    """Return the names of A and B of the match that a folder holds. Raises DataError."""
    if not ((folder / TERMS).exists() and (folder / SETS).exists()):
        raise DataError(f"{folder} is no folder of a match: it lacks {TERMS} or {SETS}; give one that has both")
    terms = read_terms(folder)
    if not has_shape(terms, {"agents": [str]}) or len(items(terms["agents"])) != 2:
        raise DataError(f"{folder / TERMS} names no two agents: play the match again, in another folder")
    a, b = (str(name).partition(" #")[0] for name in items(terms["agents"]))
    return a, b


def read_sets(folder: Path, game: Game) -> Sets:
    """Read the sets of a match's folder, finished or not, played over by the rules. Raises DataError: which line."""
    journal = sets_of(folder, read_terms(folder))
    return read_entries(journal, journal.read(), game)


def read_entries(
    journal: Journal, entries: Sequence[JsonDict | None], game: Game, openings: Sequence[Opening] = ()
) -> Sets:
    """Return the sets that the lines hold. Raises DataError: which line.

    Sets with a number below `len(openings)` must begin with their opening.
    """
    found: Sets = {}
    reader = SetReader(game) if entries else None
    for line, entry in enumerate(entries, 1):
        try:
            if entry is not None and reader is not None:
                _take(entry, reader, found, openings)
        except (ValueError, GameError) as error:
            raise journal.damaged([line], str(error)) from None
    return found


def _take(entry: JsonDict, reader: SetReader, found: Sets, openings: Sequence[Opening]) -> None:
    if "forget" in entry:
        numbers = [n for n in items(entry["forget"]) if is_count(n)]
        require(numbers == entry["forget"], "it forgets what is no set")
        for number in numbers:
            found.pop(number, None)
        return
    claimed = entry.get("set")
    if is_count(claimed) and claimed < len(openings):
        expected = packed_opening(reader.game, openings[claimed])
        require(entry.get("opening") == expected, "its opening is not that of its set")
    number, opening, played = reader.read(entry)
    found[number] = opening, played
