"""Games as files: they go on as they would have, and whatever is wrong with one is told."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from at_the_board import (
    LooseEnds,
    PlainTicTacToe,
    agents,
    finish,
    session_of,
)
from toys import CoinRace, Takeaway

from evallearn.core.game import Game
from evallearn.errors import DataError
from evallearn.play import load_game, save_game
from evallearn.registry import game_names, get_game


@pytest.mark.parametrize("game", [PlainTicTacToe(), CoinRace(), Takeaway(), LooseEnds()], ids=repr)
def test_a_saved_game_goes_on_as_it_would_have(game: Game) -> None:
    session = session_of(game, None, *["zero@depth=1"] * (game.n_players - 1), seed=5, number=2)
    while len(session.plies) < 5 and not session.is_over:
        if session.step() is None:
            session.play(game.actions(session.state)[0])
    save_game(session, Path("a/b.json"))
    loaded = load_game(Path("a/b.json"), game, agents(game))
    assert (loaded.state, loaded.seed, loaded.number) == (session.state, 5, 2)
    assert [agent and agent.name for agent in loaded.seats] == [agent and agent.name for agent in session.seats]
    assert [replace(ply, thought=None) for ply in session.plies] == loaded.plies
    assert finish(loaded) == finish(session)
    save_game(session, Path("a/b.json"))  # over itself


@pytest.mark.parametrize("name", game_names())
def test_every_game_that_is_shipped_can_be_saved(name: str) -> None:
    game, rng = get_game(name), random.Random(1)
    session = session_of(game, *[None] * game.n_players, seed=1)
    while len(session.plies) < 25 and not session.is_over:
        if session.step() is None:
            session.play(rng.choice(game.actions(session.state)))
    save_game(session, Path("x.json"))
    loaded = load_game(Path("x.json"), game, agents(game))
    assert (loaded.state, loaded.plies) == (session.state, session.plies)


def saved(**changes: Any) -> Path:
    """A game of tic-tac-toe in which something is wrong."""
    session = session_of(PlainTicTacToe(), None, "zero@depth=1")
    for a in (4, 0):
        session.restore([*session.plies, replace(PLY, before=session.state, action=a, player=len(session.plies))])
    save_game(session, Path("x.json"))
    data = json.loads(Path("x.json").read_text())
    Path("x.json").write_text(json.dumps({**data, **changes}))
    return Path("x.json")


PLY = session_of(PlainTicTacToe(), None, None).play(0)
DAMAGED = {
    "is no saved game: its format is not 'evallearn game'": {"format": "PGN"},
    "x.json has version 2, this program reads version 1": {"version": 2},
    "x.json is a game of 'othello', not of tic_tac_toe: load it where you play that game": {"game": "othello"},
    "x.json is damaged: 'seed' is 'x', expected a whole number": {"seed": "x"},
    "x.json is damaged: 'number' is True, expected a whole number": {"number": True},
    "x.json is damaged: 'moves' is None, expected a list": {"moves": None},
    "x.json is damaged: 'moves' number 2 is 7, expected a text": {"moves": ["5", 7]},
    "x.json is damaged: 'seats' number 1 is None, expected a text": {"seats": [None, "zero"]},
    "x.json: 1 seats; tic_tac_toe has 2: list one for each player": {"seats": ["you"]},
    "x.json: seat 2: unknown agent 'zerro': did you mean 'zero'?": {"seats": ["you", "zerro"]},
    "x.json: its start cannot be: tic_tac_toe position '....'": {"start": "...."},
    "x.json: its start cannot be: the game is over": {"start": "XXXOO...."},
    "x.json: move 2 of 2, '5': no legal action '5' in tic_tac_toe": {"moves": ["5", "5"]},
    "x.json: move 6 of 6, '9': the game is over before it": {"moves": ["1", "4", "2", "5", "3", "9"]},
}


@pytest.mark.parametrize("message", DAMAGED)
def test_a_damaged_file_is_told_with_its_place(message: str) -> None:
    with pytest.raises(DataError) as error:
        load_game(saved(**DAMAGED[message]), PlainTicTacToe(), agents(PlainTicTacToe()))
    assert message in str(error.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"seed": ' + b"9" * 5000 + b"}"])
def test_a_file_that_is_no_json_is_told(content: bytes) -> None:
    Path("x.json").write_bytes(content)
    with pytest.raises(DataError, match="x.json is damaged or no saved game: it is not JSON; give a file that `save`"):
        load_game(Path("x.json"), PlainTicTacToe(), agents(PlainTicTacToe()))


def test_a_roll_that_cannot_be_is_told() -> None:
    game = CoinRace()
    session = session_of(game, None, None, seed=1)
    session.step()
    save_game(session, Path("x.json"))
    Path("x.json").write_text(Path("x.json").read_text().replace('"1"', '"3"').replace('"2"', '"3"'))
    with pytest.raises(DataError, match="move 1 of 1, '3': chance cannot give that; it gives one of 1 2: correct it"):
        load_game(Path("x.json"), game, agents(game))


def test_files_that_cannot_be_read_or_written_are_told() -> None:
    session = session_of(PlainTicTacToe(), None, None)
    Path("notes.txt").write_text("precious")
    with pytest.raises(DataError, match="notes.txt is there already and is no saved game: choose another name"):
        save_game(session, Path("notes.txt"))
    assert Path("notes.txt").read_text() == "precious"
    for path in ("notes.txt/x", "x" * 300):
        with pytest.raises(DataError, match="cannot write .*: choose another name or folder"):
            save_game(session, Path(path))
    for path in ("gone.json", "."):
        with pytest.raises(DataError, match="cannot read .*: give the name of a saved game"):
            load_game(Path(path), session.game, agents(session.game))
