"""Records of games: what cannot have been played is refused, with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recorded import WON, record_of, ttt

from evallearn import get_game
from evallearn.arena.formats import read_games, write_games
from evallearn.arena.records import GameRecord, play_over, replay
from evallearn.compiled.game import CompiledGame
from evallearn.core.game import CHANCE
from evallearn.errors import DataError

TTT = get_game("tic_tac_toe")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actions": ("1", "1")}, "game 1, ply 2, '1': no legal action '1'"),
        ({"actions": (*WON, "9")}, "game 1, ply 8, '9': the game is over before it"),
        ({"actions": WON[:-1]}, "game 1, after ply 6: the game goes on in 'XOXOXO...': its last moves are missing"),
        ({"utilities": (0.0, 0.0)}, "game 1, after ply 7: the game is over with 1 -1, but the record says 0 0"),
        ({"utilities": (0.0, 0.0), "end": "adjudicated: x"}, "game 1, after ply 7: the game is over with 1 -1"),
        ({"utilities": (1.0,)}, "game 1 has 1 utilities, but tic_tac_toe has 2 seats"),
        ({"players": ("a", "b", "c")}, "game 1 has 3 players, but tic_tac_toe has 2 seats"),
        ({"utilities": (2.0, -2.0)}, "game 1: utility 2: tic_tac_toe gives -1 to 1"),
        ({"opening": "X........"}, "its opening moves lead to '.........', but its opening is 'X........'"),
        ({"opening": "?"}, "game 1: its opening cannot be: "),
        ({"actions": ("1",), "end": "tired"}, "'end' is 'tired': expected nothing"),
    ],
)
def test_replay_refuses_what_cannot_have_been(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match="^here: ") as caught:
        replay(TTT, ttt(**changes), source="here")
    assert message in str(caught.value)


def test_replay_refuses_a_roll_that_no_dice_show() -> None:
    game = get_game("backgammon")
    record = GameRecord(4, game.to_text(game.initial()), (), ("a", "b"), ("11",), (1.0, -1.0), "forfeit: x")
    with pytest.raises(DataError, match="^game 4, ply 1, '11': chance cannot give that; it gives one of 21 31"):
        replay(game, record)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([], " is []: expected an object"),
        ({"number": None}, "'number' is None: expected a whole number"),
        ({"number": True}, "'number' is True: expected a whole number"),
        ({"set": -1}, "'set' is -1: expected a whole number of 0 or more"),
        ({"opening": 4}, "'opening' is 4: expected a text"),
        ({"end": ["x" * 90]}, "...: expected a text"),
        ({"players": "ab"}, "'players' is 'ab': expected a list of texts"),
        ({"actions": ["1", 2]}, "'actions' number 2 is 2: expected a text"),
        ({"opening_actions": 7}, "'opening_actions' is 7: expected a list of texts"),
        ({"utilities": 1}, "'utilities' is 1: expected a list of numbers"),
        ({"utilities": [1, float("nan")]}, "'utilities' number 2 is nan: expected a number"),
        ({"utilities": [10**400, 0]}, "...: expected a number"),
        ({"end": "resigned"}, "'end' is 'resigned': expected nothing for an end by the rules"),
        ({"colour": 1}, "unknown field 'colour': known: number, set"),
    ],
)
def test_from_json_believes_nothing(changes: Any, message: str) -> None:
    data = {**ttt().to_json(), **changes} if isinstance(changes, dict) else changes
    with pytest.raises(DataError, match="^it") as caught:
        GameRecord.from_json(data, "it")
    assert message in str(caught.value)


def test_from_json_fills_in_what_has_a_default() -> None:
    data = ttt().to_json()
    del data["end"], data["set"]
    assert GameRecord.from_json(data) == ttt()
    del data["players"]
    with pytest.raises(DataError, match="^game record has no 'players'"):
        GameRecord.from_json(data)


def test_a_compiled_game_is_played_over_on_the_plain_backend(tmp_path: Path) -> None:
    compiled = CompiledGame(TTT)
    write_games(tmp_path / "x.txt", compiled, [ttt()])
    assert read_games(tmp_path / "x.txt", compiled) == [ttt()]
    assert replay(compiled, ttt()) == TTT.from_text("XOXOXOX..")


def test_play_over_keeps_every_state() -> None:
    game = get_game("pig")
    record = record_of(game, 3)
    played = play_over(game, record)
    assert len(played.states) == len(record.moves) + 1
    assert game.to_text(played.states[played.opening_plies]) == record.opening
    assert CHANCE in map(game.to_play, played.states)
