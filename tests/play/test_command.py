"""evallearn play as a user meets it: every kind of game through a pipe, exit codes, messages."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.panel import Panel
from toys import python_path

from evallearn.cli import run


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs `evallearn play`; the last argument is what is typed. Gives the exit code and all output."""

    def call(arguments: str, typed: str = "") -> tuple[int, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        code = run(["play", *arguments.split()])
        told = capsys.readouterr()
        return code, told.out + told.err

    return call


FAST = "--limit depth=1 --judge depth=1 --seed 3"


@pytest.mark.parametrize(
    ("game", "typed", "told"),
    [
        pytest.param(
            "three_player_connect --you second",
            "5\n5\n",
            "second: you; third: handwritten:threats@depth=1",
            marks=pytest.mark.long,
        ),
        pytest.param("three_player_connect --you 3", "5\n", "third: you", marks=pytest.mark.long),
        ("pig", "roll\nroll\nhint\nroll\nhold\n", "dice for you: "),
        pytest.param(
            "2048",
            "up\nleft\nright\ndown\nundo\n",
            "optimal in expectation (estimated, depth 1)",
            marks=pytest.mark.long,
        ),
        pytest.param("backgammon", "moves\nhint\n", "dice for you: ", marks=pytest.mark.long),
        pytest.param("backgammon --you second", "hint\n", "dice for the machine: ", marks=pytest.mark.long),
        ("matches", "3:1\nhint\n", "first: you; second: handwritten:nim@depth=1"),
        ("pig,target=10 --you none --opponent random --opponent zero", "", "first: random; second: zero@depth=1"),
    ],
)
def test_every_kind_of_game_can_be_played(
    play: Callable[..., tuple[int, str]], game: str, typed: str, told: str
) -> None:
    code, output = play(f"{game} {FAST}", typed)
    assert (code, told in output) == (0, True)
    again = play(f"{game} {FAST}", typed)
    assert again == (0, output)  # the same seed


def test_the_end_of_input_is_polite(play: Callable[..., tuple[int, str]]) -> None:
    code, output = play(f"tic_tac_toe {FAST}", "5\n")
    assert code == 0
    assert "end of input: goodbye" in output
    assert "you> 5" in output


def test_unfinished_game_is_kept_and_goes_on(play: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    _, output = play(f"tic_tac_toe {FAST}", "5\nquit\n")
    kept = tmp_path / "data" / "unfinished-tic_tac_toe.json"
    assert output.splitlines()[-1] == f"the game is kept: evallearn play tic_tac_toe --load {kept} goes on"
    code, output = play(f"tic_tac_toe --load {kept}", "quit\n")
    assert code == 0
    assert "| X |" in output  # where the five was
    assert "the game is kept" not in output  # nothing has happened since
    _, untouched = play(f"tic_tac_toe {FAST}", "quit\n")
    assert "the game is kept" not in untouched


def test_narrow_terminal_is_told_and_shows_the_whole_board() -> None:
    from evallearn.cli.play import framed

    assert isinstance(framed("12345", 9), Panel)
    assert framed("12345", 8).plain == "12345\n(this board wants a terminal of 9 columns; yours has 8)"


def test_agents_can_be_watched(play: Callable[..., tuple[int, str]]) -> None:
    code, output = play(f"tic_tac_toe --you none --opponent random --opponent handwritten:lines {FAST}")
    assert code == 0
    assert output.count(" plays ") == output.count("╭") >= 5
    assert "first plays" in output
    assert "your moves" not in output


def test_play_without_verdicts(play: Callable[..., tuple[int, str]]) -> None:
    code, output = play(f"tic_tac_toe --no-verdict {FAST}", "5\nhint\nscore\n")
    assert (code, "optimal" in output) == (0, False)
    assert "hint needs the judge: start without --no-verdict" in output
    assert "score needs the judge: start without --no-verdict" in output


def test_a_game_is_loaded_from_the_command_line(play: Callable[..., tuple[int, str]]) -> None:
    assert play(f"tic_tac_toe {FAST} --opponent random", "5\nsave x.json\n")[0] == 0
    code, output = play("tic_tac_toe --load x.json")
    assert (code, "x.json: 2 plies" in output, "second: random" in output) == (0, True, True)
    assert "first: zero@" in play("tic_tac_toe --load x.json --you second --opponent zero")[1]


def test_a_position_is_started_from(play: Callable[..., tuple[int, str]]) -> None:
    code, output = play(f"tic_tac_toe {FAST} --you second --opponent random --position X........", "2\n")
    assert (code, "you> 2" in output) == (0, True)
    assert "2 is probably not minimax-optimal (estimated, depth 1)" in output


def test_a_users_own_plain_game_is_played(play: Callable[..., tuple[int, str]]) -> None:
    Path("myplaingame.py").write_text("from toys import Takeaway\n\n\nclass Mine(Takeaway):\n    name = 'mine'\n")
    code, output = play("myplaingame:Mine --limit depth=3 --judge depth=12 --seed 1", "1\n")
    assert (code, "better: 2, worth +1, a win in 7 plies; then " in output) == (0, True)


BAD = {
    "otello": "unknown game 'otello': did you mean 'othello'?",
    "tic_tac_toe --you third": "--you 'third': tic_tac_toe has 2 players",
    "tic_tac_toe --opponent zerro": "unknown agent 'zerro': did you mean 'zero'?",
    "tic_tac_toe --opponent handwritten:x": "unknown heuristic of tic_tac_toe 'x'",
    "tic_tac_toe --opponent zero@depth=x": "limit 'depth=x': 'x' is no number",
    "tic_tac_toe --limit dept=3": "unknown limit 'dept': did you mean 'depth'?",
    "tic_tac_toe --judge time=0": "limits 'time=0'",
    "tic_tac_toe --judge-eval random": "unknown evaluator 'random': known: handwritten:lines",
    "tic_tac_toe --you both --opponent zero": "--opponent has no seat left in tic_tac_toe",
    "tic_tac_toe --opponent zero --opponent zero": "2 opponents for 1 seat of tic_tac_toe",
    "tic_tac_toe --position XX": "tic_tac_toe position 'XX'",
    "tic_tac_toe --position XXXOO....": "the game is over in tic_tac_toe position",
    "tic_tac_toe --load gone.json": "cannot read gone.json (No such file or directory)",
    "tic_tac_toe --load gone.json --seed 1": "the file says where the game starts",
    "2048 --you second": "2048 has one player; give first, 1",
    "tic_tac_toe --seed -1": "--seed",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input_is_told_and_exits_with_2(play: Callable[..., tuple[int, str]], line: str) -> None:
    code, output = play(line)
    assert (code, "Traceback" in output) == (2, False)
    assert BAD[line] in " ".join(output.split())


def test_nothing_heavy_is_imported_to_play() -> None:
    heavy = "torch", "sklearn", "matplotlib", "pyarrow"
    code = f"import sys, evallearn.cli.play; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": python_path()}
    )
    assert done.stdout.strip() == "[]"
