"""evallearn replay, as a user meets it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evallearn.agents import RandomAgent, parse_agent
from evallearn.arena import MatchSettings, play_match
from evallearn.arena.formats import write_games
from evallearn.arena.records import GameRecord
from evallearn.cli import run
from evallearn.core.checksum import write_checked
from evallearn.registry import get_game

TTT = get_game("tic_tac_toe")
WON = GameRecord(1, ".X.......", ("2",), ("alice", "bob"), ("1", "5", "4", "8"), (1.0, -1.0), set=3)
CUT = GameRecord(2, "X........", None, ("bob", "alice"), ("5",), (0.0, 0.0), "adjudicated: plies=1")


@pytest.fixture
def match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    write_games("games.jsonl", TTT, [WON, CUT])
    return Path("games.jsonl")


def test_a_table_shows_every_game_and_that_all_are_legal(match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(match), "--game", "tic_tac_toe"]) == 0
    shown = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines() if "│" in line]
    assert rows == [
        ["1", "3", "alice - bob", "1 -1", "5", "by the rules"],
        ["2", "0", "bob - alice", "0 0", "1", "adjudicated: plies=1"],
    ]
    assert shown.splitlines()[-1] == "2 games, all legal"


def test_folder_of_a_match_is_read_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = parse_agent("zero@depth=1", TTT), RandomAgent(TTT)
    found = play_match(TTT, *two, MatchSettings(pairs=3), folder=tmp_path, keep_games=True)
    assert run(["replay", str(tmp_path), "--game", "tic_tac_toe", "--json"]) == 0
    games = json.loads(capsys.readouterr().out)["games"]
    assert games == [{**r.to_json(), "plies": len(r.moves)} for r in found.records]
    path = tmp_path / "sets.jsonl"
    good = path.read_text()
    path.write_text(good.replace('"actions":[', '"actions":[99,', 1))
    assert run(["replay", str(tmp_path), "--game", "tic_tac_toe"]) == 2
    assert "sets.jsonl, line 1 is damaged (its checksum does not fit)" in capsys.readouterr().err.replace("\n", " ")
    for agents in (["one"], 7, [1, 2]):
        write_checked(tmp_path / "match.json", {"agents": agents})
        assert run(["replay", str(tmp_path), "--game", "tic_tac_toe"]) == 2
        assert "match.json names no two agents: play the match again, in another folder" in capsys.readouterr().err


def test_one_game_is_shown_move_by_move(match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", "games.jsonl", "--game", "tic_tac_toe", "--number", "1"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("game 1 of set 3: alice - bob\n")
    assert "1. player 1 (alice): 2 (opening)\n" in shown
    assert "2. player 2 (bob): 1\n" in shown
    assert TTT.board(TTT.from_text("OX.OX..X.")) in shown
    assert shown.splitlines()[-1] == "by the rules, 1 -1"
    assert "bob - alice" not in shown


def test_the_last_board_of_every_game(match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", "games.jsonl", "--game", "tic_tac_toe", "--board"]) == 0
    shown = capsys.readouterr().out
    assert TTT.board(TTT.from_text("OX.OX..X.")) in shown
    assert TTT.board(TTT.from_text("X...O....")) in shown


def test_rolls_are_chances(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = get_game("backgammon")
    record = GameRecord(
        0, game.to_text(game.initial()), (), ("a", "b"), ("31", "8/5 6/5"), (1.0, -1.0), "forfeit: time"
    )
    write_games(tmp_path / "x.txt", game, [record])
    assert run(["replay", str(tmp_path / "x.txt"), "--game", "backgammon", "--number", "0"]) == 0
    shown = capsys.readouterr().out
    assert "1. chance: 31\n" in shown
    assert "2. player 1 (a): 8/5 6/5\n" in shown
    assert shown.splitlines()[-1] == "forfeit: time, 1 -1"


def test_figures_for_scripts(match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", "games.jsonl", "--game", "tic_tac_toe", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["file"], figures["game"]) == ("games.jsonl", "tic_tac_toe")
    assert figures["games"] == [{**WON.to_json(), "plies": 5}, {**CUT.to_json(), "plies": 1}]
    assert run(["replay", "games.jsonl", "--game", "tic_tac_toe", "--number", "2", "--json"]) == 0
    (game,) = json.loads(capsys.readouterr().out)["games"]
    assert game["positions"] == [{"action": "5", "leads_to": "X...O...."}]


def test_errors_are_one_sentence(match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_games("bad.txt", TTT, [replace(WON, actions=("1", "5", "4"))])
    write_games("none.txt", TTT, [])
    for arguments, message in (
        (["bad.txt"], "bad.txt: game 1, after ply 4: the game goes on"),
        (["absent.jsonl"], "cannot read absent.jsonl"),
        (["."], ". is no folder of a match: it lacks match.json or sets.jsonl; give one that has both"),
        (["run/x.pgn"], "no games of tic_tac_toe in files .pgn: use .txt .jsonl .json"),
        (["games.jsonl", "--number", "7"], "--number 7: no such game in games.jsonl; it has 1 to 2"),
        (["none.txt", "--number", "7"], "--number 7: no such game in none.txt; it has none"),
    ):
        assert run(["replay", *arguments, "--game", "tic_tac_toe"]) == 2
        shown = capsys.readouterr()
        assert message in shown.err
        assert len(shown.err.splitlines()) == 1
        assert not shown.out
    assert run(["replay", "none.txt", "--game", "tic_tac_toe"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "0 games, all legal"
