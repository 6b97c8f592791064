"""A match's folder: what is played, and every set that was finished. A match that was stopped goes on from it.

match.json    the terms: another match needs another folder
sets.jsonl    a line for each set, in the order in which they finished: how its opening came about (or the position,
              where that is not known) and its games; a half-written last line is played again

Actions are written as the numbers they are on the compiled floor, because turning them into text takes longer than a
quick search; where a game has none, as text. `read_sets` reads either.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from evallearn.agents import Agent
from evallearn.arena.openings import Opening
from evallearn.arena.seating import Played
from evallearn.atomic import write_json
from evallearn.errors import DataError, GameError
from evallearn.protocols import CHANCE, Game, State
from evallearn.trust import is_inside

TERMS, SETS = "match.json", "sets.jsonl"


def identity(agent: Agent) -> str:
    """The agent's name and, where it has weights, a digest of them: a file may change under the same name."""
    return agent.name + weights_mark(getattr(agent, "evaluator", None))


def weights_mark(evaluator: Any) -> str:
    """` #` and a digest of the Eval's weights, or nothing if it has none."""
    while hasattr(evaluator, "below"):  # tables over an Eval: its weights are what may change
        evaluator = evaluator.below
    if not hasattr(evaluator, "tensors"):
        return ""
    digest = hashlib.sha256()
    for name, tensor in sorted(evaluator.tensors().items()):
        digest.update(f"{name} {tensor.dtype} {tensor.shape} ".encode() + tensor.tobytes())
    return f" #{digest.hexdigest()[:10]}"


class Journal:
    """The folder of one match, to be written to."""

    def __init__(self, folder: Path, game: Game, terms: Mapping[str, Any]) -> None:
        self.folder, self.game, self.terms = folder, game, dict(terms)
        self.file: IO[str] | None = None

    def open(self, openings: Sequence[Opening]) -> dict[int, list[Played]]:
        """Create the folder, or find what was finished there: {number of the set: its games}."""
        path = self.folder / TERMS
        self.openings = openings
        if not is_inside(self.folder / SETS, self.folder):  # we would write to that file
            raise DataError(f"{self.folder / SETS} links to a file outside of its folder: choose another --run")
        if not path.exists():
            if (self.folder / SETS).exists():
                raise DataError(f"{self.folder} holds games but no {TERMS}: remove it, or choose another --run")
            write_json(path, self.terms)
        self._require_same(path)
        found = self._read()
        self.file = (self.folder / SETS).open("a")
        return found

    def write(self, number: int, played: Sequence[Played]) -> None:
        """A finished set: one line, handed to the system at once."""
        assert self.file is not None
        opening, game = self.openings[number], self.game
        known = opening.actions is not None
        entry = {
            "set": number,
            "opening": _packed(game, game.initial(), opening.actions or ()) if known else game.to_text(opening.state),
            "games": [{**g.to_json(), "actions": _packed(game, opening.state, g.actions)} for g in played],
        }
        self.file.write(json.dumps(entry, separators=(",", ":")) + "\n")
        self.file.flush()

    def forget(self, numbers: Sequence[int]) -> None:
        """These sets are to be played again."""
        assert self.file is not None
        self.file.write(json.dumps({"forget": list(numbers)}) + "\n")
        self.file.flush()

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None

    def _require_same(self, path: Path) -> None:
        try:
            found = json.loads(path.read_text())
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise DataError(f"{path} is damaged: remove the folder {self.folder}, or choose another --run")
        for key in {**self.terms, **found}:
            if found.get(key) != self.terms.get(key):
                raise DataError(
                    f"{self.folder} holds a match with {key}={found.get(key)!r}, you asked for "
                    f"{self.terms.get(key)!r}: choose another --run, or remove the folder"
                )

    def _read(self) -> dict[int, list[Played]]:
        path = self.folder / SETS
        if not path.exists():
            return {}
        size = path.stat().st_size
        found = read_sets(path, self.game)
        if size > path_end(path):  # killed in the middle of a line
            with path.open("r+b") as file:
                file.truncate(path_end(path))
        same = len(self.openings)
        return {number: played for number, (_, played) in found.items() if number < same}


def read_names(folder: Path) -> tuple[str, str]:
    """A and B of the match that a folder holds. Raises DataError."""
    try:
        agents = json.loads((folder / TERMS).read_bytes())["agents"]
        a, b = (str(each).partition(" #")[0] for each in agents)
        if not (folder / SETS).exists():
            raise KeyError(SETS)
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError(f"{folder} is no folder of a match: it lacks {TERMS} or {SETS}, or they are damaged") from None
    return a, b


def path_end(path: Path) -> int:
    """Bytes of the whole lines of a file."""
    return path.read_bytes().rfind(b"\n") + 1


def read_sets(path: Path, game: Game) -> dict[int, tuple[Opening, list[Played]]]:
    """{number of the set: (its opening, its games)} of a match, finished or not. Raises DataError: which line."""
    found: dict[int, tuple[Opening, list[Played]]] = {}
    for i, line in enumerate(path.read_bytes()[: path_end(path)].splitlines(), 1):
        try:
            entry = json.loads(line)
            for number in entry.get("forget", ()):
                found.pop(number, None)
            if "set" in entry:
                found[int(entry["set"])] = _unpacked_set(game, entry)
        except (ValueError, TypeError, KeyError, AttributeError, GameError):
            raise DataError(
                f"{path}, line {i} is damaged: take the line out, and its set is played again; or remove "
                f"the folder {path.parent}"
            ) from None
    return found


def _unpacked_set(game: Game, entry: dict[str, Any]) -> tuple[Opening, list[Played]]:
    if isinstance(entry["opening"], str):
        opening = Opening(game.from_text(entry["opening"]))
    else:
        s, moves = _unpacked(game, game.initial(), entry["opening"])
        opening = Opening(s, tuple(moves))
    played = [Played.from_json(g) for g in entry["games"]]
    if game.rules is None:
        for g in played:
            g.actions = _unpacked(game, opening.state, g.actions)[1]
    return opening, played


def _packed(game: Game, s: State, actions: Sequence[Any]) -> list[Any]:
    if game.rules is not None:
        return [int(a) for a in actions]
    texts = []
    for a in actions:
        texts.append(game.action_to_text(s, a))
        s = game.result(s, a)
    return texts


def _unpacked(game: Game, s: State, written: Sequence[Any]) -> tuple[State, list[Any]]:
    """The position after the moves, and the moves."""
    actions = []
    for each in written:
        a = each if game.rules is not None else read_move(game, s, str(each))
        actions.append(a)
        s = game.result(s, a)
    return s, actions


def read_move(game: Game, s: State, text: str) -> Any:
    """The action, or the outcome of the dice, that `text` says. Raises GameError."""
    rolls = {game.action_to_text(s, o): o for o, _ in game.chances(s)} if game.to_play(s) == CHANCE else {}
    return rolls[text] if text in rolls else game.action_from_text(s, text)
