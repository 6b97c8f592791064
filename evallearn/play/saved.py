"""A game as a small JSON file, and back: every move is checked before anything of it counts.

{"format": "evallearn game", "version": 1, "game": "matches", "start": "3-5-7/k=3/first",
 "seats": ["you", "handwritten:nim@depth=4"], "seed": 1, "number": 0, "moves": ["1:2", "3:3"]}

Rolls of the dice stand among the moves, where they fell. Verdicts are not kept. A file may come from a stranger: its
seats start no program and open no file but evaluators beside it, unless the person has named the same agent.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evallearn.agents import Agent
from evallearn.core.files import write_json
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.trust import Trust
from evallearn.errors import DataError, EvallearnError, GameError
from evallearn.play.seats import PERSON, MakeAgent, Seats
from evallearn.play.session import Ply, Session
from evallearn.play.verdict import Judge

LARGEST = 10_000_000
"""Bytes of a file that may be a saved game; real ones have some thousand."""
FORMAT, VERSION = "evallearn game", 1
FIELDS = {"game": str, "start": str, "seats": list, "seed": int, "number": int, "moves": list}


@dataclass(frozen=True)
class SavedGame:
    """What the file says; the moves are not checked yet."""

    path: Path
    game: str
    start: str
    seats: list[str]
    seed: int
    number: int
    moves: list[str]


def save_game(session: Session, path: Path) -> None:
    """Write the file; one that is there already is replaced only if it is a saved game."""
    game = session.game
    data = {
        "format": FORMAT,
        "version": VERSION,
        "game": game.name,
        "start": game.to_text(session.start),
        "seats": [PERSON if agent is None else agent.name for agent in session.seats],
        "seed": session.seed,
        "number": session.number,
        "moves": [game.action_to_text(ply.before, ply.action) for ply in session.plies],
    }
    try:
        if path.exists() and not _is_saved_game(path):
            raise DataError(f"{path} is there already and is no saved game: choose another name")
        write_json(path, data)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot write {path} ({_why(error)}): choose another name or folder") from None


def load_game(
    path: Path,
    game: Game,
    make_agent: MakeAgent,
    *,
    judge: Judge | None = None,
    seats: Seats | None = None,
    named: Sequence[Agent] = (),
) -> Session:
    """Return the session that the file holds; `seats` instead of its own, if given. Raises DataError.

    named: agents that the person has named; the file may name them too, whatever they are.
    """
    saved = read_saved(path)
    if saved.game != game.name:
        raise DataError(f"{path} is a game of {saved.game!r}, not of {game.name}: load it where you play that game")
    if len(saved.seats) != game.n_players:
        raise DataError(f"{path}: {len(saved.seats)} seats; {game.name} has {game.n_players}: list one for each player")
    taken = seats or tuple(_agent(saved, i, make_agent, named) for i in range(game.n_players))
    try:
        start = game.from_text(saved.start)
        session = Session(game, taken, judge=judge, start=start, seed=saved.seed, number=saved.number)
    except GameError as error:
        raise DataError(f"{path}: its start cannot be: {error}") from None
    session.restore(replay(saved, game, start))
    return session


def replay(saved: SavedGame, game: Game, s: State) -> list[Ply]:
    """Return the plies of the file, each legal. Raises DataError with the number of the first that is not."""
    plies: list[Ply] = []
    for i, text in enumerate(saved.moves, 1):
        where = f"{saved.path}: move {i} of {len(saved.moves)}, {text!r}"
        if game.is_terminal(s):
            raise DataError(f"{where}: the game is over before it: take it out of the file")
        player = game.to_play(s)
        try:
            a = _roll(game, s, text) if player == CHANCE else game.action_from_text(s, text)
            after = game.result(s, a)
        except GameError as error:
            raise DataError(f"{where}: {error}: correct it, or cut the moves off before it") from None
        plies.append(Ply(s, a, player))
        s = after
    return plies


def read_saved(path: Path) -> SavedGame:
    """Return what the file says, each field of its type. Raises DataError."""
    try:
        if path.exists() and (not path.is_file() or path.stat().st_size > LARGEST):
            raise OSError(f"it is no file of at most {LARGEST} bytes")
        data: Any = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"cannot read {path} ({_why(error)}): give the name of a saved game") from None
    except (ValueError, RecursionError):
        raise DataError(f"{path} is damaged or no saved game: it is not JSON; give a file that `save` wrote") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise DataError(f"{path} is no saved game: its format is not {FORMAT!r}; give a file that `save` wrote")
    if data.get("version") != VERSION:
        raise DataError(
            f"{path} has version {data.get('version')!r}, this program reads version {VERSION}: use one that wrote it"
        )
    for field, kind in FIELDS.items():
        if type(data.get(field)) is not kind:
            raise DataError(f"{path} is damaged: {field!r} is {data.get(field)!r}, expected {_kind(kind)}")
    for field in ("seats", "moves"):
        for i, text in enumerate(data[field], 1):
            if not isinstance(text, str):
                raise DataError(f"{path} is damaged: {field!r} number {i} is {text!r}, expected a text")
    return SavedGame(path, *(data[field] for field in FIELDS))


def _is_saved_game(path: Path) -> bool:
    try:
        read_saved(path)
    except DataError:
        return False
    return True


def _agent(saved: SavedGame, player: int, make_agent: MakeAgent, named: Sequence[Agent]) -> Agent | None:
    text = saved.seats[player]
    if text == PERSON:
        return None
    if known := [agent for agent in named if agent.name == text]:
        return known[0]
    trust = Trust(folder=saved.path.parent, remedy="if you want to play against it, name it with --opponent")
    try:
        return make_agent(text, trust=trust)
    except EvallearnError as error:
        raise DataError(f"{saved.path}: seat {player + 1}: {error}") from None


def _roll(game: Game, s: State, text: str) -> Action:
    outcomes = {game.action_to_text(s, a): a for a, _ in game.chances(s)}
    if text not in outcomes:
        raise GameError(f"chance cannot give that; it gives one of {' '.join(outcomes)}")
    return outcomes[text]


def _kind(kind: type) -> str:
    return {str: "a text", list: "a list", int: "a whole number"}[kind]


def _why(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
