"""`analyse` for scripts: the same figures as the command's, with fields."""

from __future__ import annotations

import json

import pytest

import evallearn as ev
from evallearn.cli import run


def test_a_script_gets_what_the_command_tells(capsys: pytest.CaptureFixture[str]) -> None:
    game = ev.get_game("tic_tac_toe")
    found = ev.analyse(game, "XX.OO....", limits=ev.Limits(depth=2), search="minimax")
    best = found.answer
    assert (best.action, best.value, best.exact, best.line, found.player) == ("3", 1.0, True, ("3",), 0)
    assert best.actions[0].action == best.action
    assert run(["analyse", "tic_tac_toe", "XX.OO....", "--depth", "2", "--search", "minimax", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    mine = json.loads(json.dumps(found.to_json()))
    for figures in (told, mine):
        del figures["analysis"]["seconds"]
    assert told == mine


@pytest.mark.parametrize(
    ("game", "position", "message"),
    [
        ("tic_tac_toe", "XXXOO....", "the game is over in tic_tac_toe position"),
        ("pig", None, "unknown search 'alfabeta'"),
    ],
)
def test_what_cannot_be_analysed_is_refused(game: str, position: str | None, message: str) -> None:
    with pytest.raises(ev.EvallearnError, match=message):
        ev.analyse(ev.get_game(game), position, search="alfabeta")
