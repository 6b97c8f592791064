"""The command line as a user meets it: exit codes, messages, JSON, resuming."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evallearn.cli import COMMANDS, run
from evallearn.registry import game_names

PERFT = {
    "othello": [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288],
    "connect_four": [7, 49, 343, 2401, 16807, 117649, 823536, 5673234],
    "tic_tac_toe": [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872],
    "checkers": [7, 49, 302, 1469, 7361, 36768, 179740, 845931, 3963680],
    "chess": [20, 400, 8902, 197281, 4865609],
}
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
LONG_PERFT = {
    "perft chess 6": 119060324,
    f"perft chess 5 --position {KIWIPETE!r}": 193690690,
}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


def json_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    assert f"Example: evallearn {name}" in " ".join(capsys.readouterr().out.split())


def test_help_lists_all_commands_and_the_first_one_to_try(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "Start with: evallearn learn connect_four" in shown
    assert all(name in shown for name in COMMANDS)


@pytest.mark.parametrize("game", PERFT)
def test_perft_gives_the_published_counts(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    for depth, count in enumerate(PERFT[game], 1):
        assert run(["perft", game, str(depth)]) == 0
        assert capsys.readouterr().out.splitlines()[-1] == str(count)


@pytest.mark.long
@pytest.mark.parametrize("line", LONG_PERFT)
def test_perft_gives_the_published_counts_further_down(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(shlex.split(line)) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(LONG_PERFT[line])


def test_perft_of_chess_goes_on_where_a_rule_has_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    """A king takes the last pawn, or the count of moves is full; the counts are those of the package `chess`."""
    for position, count in (("8/8/8/4k3/4P3/8/4K3/8 b - - 0 1", 302), ("8/8/8/4k3/8/8/4K2R/8 b - - 99 80", 865)):
        for backend in ([], ["--plain"]):
            assert run(["perft", "chess", "3", "--position", position, *backend]) == 0
            assert capsys.readouterr().out.splitlines()[-1] == str(count)


def test_moves_are_listed_with_the_position_they_lead_to(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, count, line in (
        (["connect_four", "444444"], 6, "3\t4444443"),
        (["chess", KIWIPETE], 48, "O-O\tr3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R4RK1 b kq - 1 1"),
        (["backgammon", "4HPwATDgc/ABMA", "--roll", "1", "3"], 16, "8/5 6/5\tsGfwATDgc/ABMA"),
        (["backgammon", "4HPwATDgc/ABMA"], 21, "66\t4HPwATDgc/ABMA:66"),
        (["matches,piles=1-2,k=2"], 3, "2:2\t1-0/k=2/second"),
        (["tic_tac_toe", "XXXOO...."], 0, ""),
    ):
        assert run(["moves", *arguments]) == 0
        shown = capsys.readouterr().out.splitlines()
        assert len(shown) == count
        assert not line or any(found.startswith(line) for found in shown), shown


def test_moves_of_a_finished_game_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["moves", "tic_tac_toe", "XXXOO...."]) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "the game is over: X has won\n")


@pytest.mark.long
def test_match_with_dice_takes_a_depth_that_suits_them(capsys: pytest.CaptureFixture[str]) -> None:
    found = json_of(capsys, "match", "handwritten:positional", "random", "--game", "backgammon", "--pairs", "2")
    assert found["names"] == ["handwritten:positional@depth=1", "random"]
    assert found["wins"] == 4


def test_one_game_is_told_with_its_features(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["games", "matches"]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("piles", "nim", "k", "features"))
    assert [g["name"] for g in json_of(capsys, "games", "pig,target=20")["games"]] == ["pig,target=20"]


def test_moves_as_json_are_what_the_lines_say(capsys: pytest.CaptureFixture[str]) -> None:
    found = json_of(capsys, "moves", "tic_tac_toe", "XX.OO....")
    assert (found["game"], found["over"]) == ("tic_tac_toe", False)
    assert {"action": "3", "leads_to": "XXXOO...."} in found["moves"]
    assert len(found["moves"]) == 5


def test_perft_plain_backend_and_position(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, count in (
        (["othello", "4", "--plain"], 244),
        (["othello", "3", "--position", "f5"], 61),
        (["connect_four", "1", "--position", "444444"], 6),
        (["tic_tac_toe", "0"], 1),
    ):
        assert run(["perft", *arguments]) == 0
        last = capsys.readouterr().out.splitlines()[-1]
        assert last == str(count)


BAD = {
    "perft otello 3": "unknown game 'otello': did you mean 'othello'?",
    "prft othello 3": "unknown command 'prft': did you mean 'perft'?",
    "perft othello x": "'x' is not a valid integer",
    "perft othello 3 --positon f5": "Did you mean",
    "perft othello 3 --position f9": "f9",
    "check nowhere:Game": "cannot import 'nowhere'",
    "check broken:Mine": "cannot import 'broken' of 'broken:Mine' (SyntaxError:",
    "check evallearn:Game": "cannot be built as Game() (Can't instantiate abstract class",
    "check [/x]": "unknown game '[/x]'",
    "selfplay othello --eval random --out x": "unknown evaluator 'random': known: handwritten:mobility",
    "perft --json connect_four 3": "'connect_four' looks like an argument: write --json last",
    "match random a@b.safetensors --game othello": "no evaluator file a@b.safetensors",
    "check evallearn.games.othello:Otelo": "did you mean 'Othello'?",
    "check evallearn.core.search:Limits": "no limit was given",
    "check :": "cannot import ''",
    "match random handwriten:mobility --game othello": "did you mean 'handwritten:mobility'?",
    "match random handwritten:mobilty --game othello": "heuristic of othello 'mobilty': did you mean 'mobility'?",
    "match random zero@depht=3 --game othello": "unknown limit 'depht': did you mean 'depth'?",
    "match random zero@depth=x --game othello": "limit 'depth=x': 'x' is no number",
    "match random zero@depth=0 --game othello": "depth=0 is no limit",
    "match random gone.safetensors --game othello": "no evaluator file gone.safetensors",
    "match random zero": "Missing option '--game'",
    "fit gone --game othello --out x.safetensors": "no records in gone",
    "learn three_player_connect --recipe online": "three_player_connect has no rules with features, seen by the mover",
    "learn othello --games 0": "'--games': 0 is not in the range 1<=x<=",
    "learn othello --recipe liner": "unknown recipe 'liner': did you mean 'linear'?",
    "learn othello --set generate": "--set 'generate': give STAGE.FIELD=VALUE, as in generate.games=500",
    "learn othello --set generate.epsilon=7": "stage 0 (generate): epsilon=7.0: give a number from 0 to 1",
    "learn othello --set ladder.milliseconds=0": "ladder: milliseconds=0.0: give a number above 0",
    "info gone": "no evaluator file gone",
    "info .": "holds neither records nor a finished run",
    "bench speed chess": "unknown game to bench 'chess'",
    "moves chess nonsense": "nonsense",
    "moves chess --roll 1 2": "--roll: nothing is rolled in chess position",
    "moves backgammon --roll 7 1": "--roll 7 1: no such roll in backgammon; known: 21, 31",
    "moves matches,j=3": "Matches has no parameter 'j': piles: ",
    "moves matches,k": "parameter 'k' of Matches: write it as NAME=VALUE; piles: ",
    "moves matches,k=2,k=3": "parameter 'k' of Matches is given twice: give it once",
    "moves othello,k=2": "Othello has no parameter 'k': it has none",
    "moves matches,k=many": "'many'",
    "selfplay othello --out x --epsilon 2": "is not in the range",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input_is_told_and_exits_with_2(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.py").write_text("class Mine(")
    assert run(line.split()) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert BAD[line] in told
    assert "Traceback" not in told


def test_names_may_hold_what_looks_like_markup(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["selfplay", "tic_tac_toe", "--games", "2", "--workers", "1", "--out", "[bold]x[/y]"]) == 0
    assert "records in [bold]x[/y]" in capsys.readouterr().out


@pytest.mark.long
def test_a_reader_who_leaves_early_is_no_error() -> None:
    for arguments in ("--help", "perft othello 3", "games"):
        command = f"{sys.executable} -m evallearn {arguments} | true; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False)


def test_openings_that_run_out_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    match = ["match", "zero@depth=1", "random", "--game", "tic_tac_toe", "--opening-plies", "1", "--workers", "1"]
    assert run([*match, "--pairs", "50"]) == 0
    assert "tic_tac_toe has only 9 openings of 1 random plies" in capsys.readouterr().out


def test_unwritable_output_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("file").write_text("")
    assert run(["selfplay", "tic_tac_toe", "--games", "2", "--out", "file/below"]) == 2
    assert "file" in capsys.readouterr().err


def test_json_goes_to_a_file_or_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert {g["name"] for g in json_of(capsys, "games")["games"]} == set(game_names())
    assert run(["perft", "othello", "3", "--json", "out/perft.json"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "56"
    assert json.loads(Path("out/perft.json").read_text())["count"] == 56
    assert json_of(capsys, "check", "tic_tac_toe", "--games", "2")["backends"] == ["python", "compiled"]


def test_a_users_own_game_is_found_beside_them(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mygame.py").write_text(
        "from evallearn.games.tic_tac_toe import TicTacToe\n\n\nclass Mine(TicTacToe):\n    name = 'mine'\n"
    )
    assert run(["check", "mygame:Mine"]) == 0
    assert "ok mine: 10 random games" in capsys.readouterr().out
    assert run(["perft", "mygame:Mine", "2"]) == 0


def test_selfplay_fit_match_info_work_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    selfplay = ["selfplay", "tic_tac_toe", "--out", "data", "--games", "200", "--limit", "depth=2", "--workers", "1"]
    made = json_of(capsys, *selfplay)
    assert made["games"] == 200
    assert json_of(capsys, *selfplay)["checksum"] == made["checksum"]  # nothing is played again
    assert run([*selfplay, "--seed", "2"]) == 2
    assert "seed" in capsys.readouterr().err
    for method in ("logistic", "ridge", "net"):
        fitted = json_of(
            capsys, "fit", "data", "--game", "tic_tac_toe", "--method", method, "--out", f"{method}.safetensors"
        )
        assert fitted["metrics"]["log_loss"] < fitted["metrics"]["baseline_log_loss"]
        header = json_of(capsys, "info", f"{method}.safetensors")
        assert header["game"] == "tic_tac_toe"
        assert header["made"]["data_checksum"] == made["checksum"]
    assert json_of(capsys, "info", "data")["records"] == made["records"]
    match = ["match", "logistic.safetensors", "random", "--game", "tic_tac_toe", "--pairs", "20", "--workers", "1"]
    found = json_of(capsys, *match)
    assert found["score"] > 0.6
    assert found["wins"] + found["draws"] + found["losses"] == 40
    assert run([*match, "--limit", "nodes=50"]) == 0
    assert "Elo" in capsys.readouterr().out
    assert run(["match", "net.safetensors", "random", "--game", "othello", "--pairs", "1"]) == 2
    assert "net.safetensors is an evaluator of tic_tac_toe, not of othello" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("agent", ["random", "zero@depth=3", "handwritten:threats@nodes=100"])
def test_an_agent_against_itself_is_exactly_even(agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = json_of(capsys, "match", agent, agent, "--game", "connect_four", "--pairs", "30", "--workers", "1")
    assert (found["score"], found["elo"]) == (0.5, 0.0)
    assert found["wins"] == found["losses"]


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "evallearn", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip


def wait_for(condition: Any, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, (process.stdout.read(), process.stderr.read())  # type: ignore[union-attr]
        assert time.monotonic() < end
        time.sleep(0.02)


def test_ctrl_c_exits_with_130_and_keeps_what_was_finished(capsys: pytest.CaptureFixture[str]) -> None:
    command = [
        "selfplay",
        "connect_four",
        "--out",
        "data",
        "--games",
        "1000000",
        "--limit",
        "depth=3",
        "--workers",
        "2",
    ]
    process = start(*command)
    wait_for(lambda: len(list(Path("data").glob("records/*.parquet"))) >= 3, process)
    os.kill(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"stopped by Ctrl-C" in told
    assert b"Traceback" not in told
    assert json_of(capsys, "info", "data")["records"] > 0


def test_ctrl_c_stops_a_long_search_at_once() -> None:
    code = (
        "import evallearn as e; g = e.get_game('othello'); s = e.AlphaBeta(g, e.LinearEval.zero(g))\n"
        "print('go', flush=True)\n"
        "try:\n    s.search(g.initial(), e.Limits(depth=60))\nexcept KeyboardInterrupt:\n    print('stopped')"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        assert process.wait(timeout=20) == 0
