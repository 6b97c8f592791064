"""Openings from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from evallearn import get_game
from evallearn.agents import RandomAgent
from evallearn.arena import MatchSettings, play_match
from evallearn.arena.openings import read_openings
from evallearn.errors import DataError, SpecError
from evallearn.games.tic_tac_toe import TicTacToe

TTT = TicTacToe()
CHESS_OPENINGS = Path(__file__).parents[2].parent / "shared/reference/chess/chess_openings_30.fen"


def test_positions_of_a_file_are_each_played_from_both_seats(tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    path.write_text("# three of them\nX...O....\n\n  .X..O....  \nX.......O\n")
    found = play_match(TTT, RandomAgent(TTT, "A"), RandomAgent(TTT, "B"), MatchSettings(openings=path), keep_games=True)
    assert (found.games, found.pairs_asked, found.opening_plies) == (6, 200, 0)
    texts = ["X...O....", ".X..O....", "X.......O"]
    assert [r.opening for r in found.records] == [t for t in texts for _ in range(2)]
    assert all(r.opening_actions is None for r in found.records)
    again = play_match(TTT, RandomAgent(TTT), RandomAgent(TTT, "B"), MatchSettings(openings=path, repeat=True, pairs=5))
    assert again.games == 10
    assert play_match(TTT, RandomAgent(TTT), RandomAgent(TTT, "B"), MatchSettings(openings=path, pairs=2)).games == 4


def test_changed_file_is_another_match(tmp_path: Path) -> None:
    path, run = tmp_path / "openings.txt", tmp_path / "run"
    path.write_text("X...O....\n")
    play_match(TTT, RandomAgent(TTT), RandomAgent(TTT, "B"), MatchSettings(openings=path), folder=run)
    path.write_text(".X..O....\n")
    with pytest.raises(DataError, match="holds a match with openings='.*openings.txt #.*', you asked for"):
        play_match(TTT, RandomAgent(TTT), RandomAgent(TTT, "B"), MatchSettings(openings=path), folder=run)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no position: write one a line, in the notation of tic_tac_toe"),
        ("# nothing\n", "holds no position"),
        ("X...O....\nX\n", r"openings.txt, line 2: .*'X'"),
        ("X...O....\n\nX...O....\n", "line 3: the position of line 1 again: take one of them out"),
        ("XXXOO....\n", r"line 1: the game is over in 'XXXOO\.\.\.\.': take it out"),
    ],
)
def test_bad_files_are_refused_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "openings.txt"
    path.write_text(text)
    with pytest.raises(SpecError, match=message):
        read_openings(path, TTT)


def test_mirror_images_in_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "openings.txt").write_text("12\n44\n76\n")
    with pytest.raises(SpecError, match="line 3: a mirror image of the position of line 1: take one of them out"):
        read_openings(tmp_path / "openings.txt", get_game("connect_four"))


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        SpecError, match="cannot read the openings .*absent.txt .No such file or directory.: give a file"
    ):
        read_openings(tmp_path / "absent.txt", TTT)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match="cannot read the openings .*binary .it is no text."):
        read_openings(tmp_path / "binary", TTT)
    with pytest.raises(SpecError, match="openings of .* and 4 random plies: give one of the two"):
        MatchSettings(openings=tmp_path / "x", opening_plies=4)


def test_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(read_openings.__globals__, "LARGEST", 5)
    (tmp_path / "large").write_text("X...O....\n")
    with pytest.raises(SpecError, match="large has more than 5 bytes: give a file of positions, one a line"):
        read_openings(tmp_path / "large", TTT)


@pytest.mark.skipif(not CHESS_OPENINGS.exists(), reason="reference data are not beside the project")
def test_the_balanced_chess_openings_are_read() -> None:
    assert len(read_openings(CHESS_OPENINGS, get_game("chess"))) == 30
