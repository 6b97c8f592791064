"""match, tournament and ladder, as a user meets them."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from evallearn.cli import run
from evallearn.core.checksum import read_checked
from evallearn.evaluators import heuristic, save
from evallearn.games.tic_tac_toe import TicTacToe

CRASHES = """
import json, sys
for i, line in enumerate(sys.stdin):
    if i == 7:
        sys.exit("out of memory")
    print(json.loads(line)["legal"][0], flush=True)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run([*arguments, "--workers=1"]) == 0
    return capsys.readouterr().out


def figures(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    return json.loads(told(capsys, *arguments, "--json"))  # type: ignore[no-any-return]


MATCH = ("match", "zero@depth=2", "random", "--game=tic_tac_toe", "--pairs=6")


def test_match_leaves_a_page_the_figures_and_its_games(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, *MATCH, "--games=games.txt")
    assert "12 games, " in out
    assert "zero@depth=2: +" in out
    (folder,) = Path("runs/matches").iterdir()
    assert out.splitlines()[-1] == f"report: {folder}/report.html"
    assert "<html" in (folder / "report.html").read_text()
    data = read_checked(folder / "result.json", "")
    assert data == {**figures(capsys, *MATCH, "--games=games.txt")}
    assert data["command"] == "evallearn match zero@depth=2 random --game=tic_tac_toe --pairs=6 --seed=1"
    assert data["files"]["games"] == "games.txt"
    assert "12 games, all legal" in told_replay(capsys, "games.txt")
    assert "12 games, all legal" in told_replay(capsys, str(folder))


def told_replay(capsys: pytest.CaptureFixture[str], path: str) -> str:
    assert run(["replay", path, "--game=tic_tac_toe"]) == 0
    return capsys.readouterr().out


def test_same_command_finds_its_games_and_another_gets_a_folder_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    first = told(capsys, *MATCH)
    assert told(capsys, *MATCH) == first
    assert len(list(Path("runs/matches").iterdir())) == 1
    told(capsys, *MATCH, "--seed=2")
    assert len(list(Path("runs/matches").iterdir())) == 2
    told(capsys, *MATCH, "--run=mine")
    files = [".lock", "match.json", "report.html", "result.json", "sets.jsonl"]
    assert sorted(p.name for p in Path("mine").iterdir()) == files
    assert run([*MATCH, "--run=mine", "--seed=2"]) == 2
    assert "mine holds a match with seed=1, you asked for 2: choose another --run" in capsys.readouterr().err


def test_match_tells_what_must_be_known(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, *MATCH, "--opening-plies=0")
    assert "tic_tac_toe has only 1 openings of 0 random plies: so many were played, not 6" in out
    assert "only" not in told(capsys, *MATCH, "--opening-plies=0", "--repeat")
    out = told(capsys, *MATCH, "--adjudicate=plies=3")
    assert "adjudicated by plies=3: " in out
    out = told(capsys, *MATCH, "--sprt=0,100,model=logistic", "--pairs=200")
    assert "SPRT: +100 Elo rather than +0 (LLR +" in out
    assert "for the stop" in out
    assert "score (not corrected for the stop)" in out
    out = told(capsys, "match", "handwritten:race", "random", "--game=pig", "--pairs=20")
    assert "points per game: +" in out
    assert "without the luck of the dice: +" in out
    assert "luck" not in told(capsys, "match", "handwritten:race", "random", "--game=pig", "--pairs=20", "--luck=none")


def test_scores_are_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, "match", "handwritten:hungry@depth=1", "random", "--game=pacman", "--pairs=3")
    assert "openings won" in out
    assert "mean utility less that of the other: +" in out


def test_crashing_engine_forfeits_games_and_the_match_goes_on(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "crashes.py").write_text(CRASHES)
    engine = f"cmd:{sys.executable} crashes.py"
    out = told(capsys, "match", engine, "random", "--game=tic_tac_toe", "--pairs=6")
    assert "crashes.py@depth=4 forfeited " in out
    assert "of 12 games; the last: " in out
    assert "out of memory" in out
    assert "12 games, " in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("match", "zero", "rndom"), "unknown agent 'rndom': did you mean 'random'?"),
        (("match", "zero", "cmd:no-such-program"), "no program 'no-such-program' in PATH"),
        (("match", "zero@depth=x", "random"), "limit 'depth=x': 'x' is no number"),
        (("match", "zero", "random", "--sprt=5"), "SPRT '5': give elo0,elo1"),
        (("match", "zero", "random", "--adjudicate=win=2"), "adjudication 'win=2': give a share of 0 to 1"),
        (("match", "zero", "random", "--luck=zero"), "luck is judged in two-player games with dice; tic_tac_toe"),
        (("match", "zero", "random", "--games=x.pgn"), "no games of tic_tac_toe in files .pgn: use .txt .jsonl .json"),
        (("match", "zero", "random", "--openings=absent"), "cannot read the openings absent (No such file"),
        (("match", "zero", "random", "--openings=absent", "--opening-plies=2"), "give one of the two"),
        (("tournament", "random"), "a tournament of 1 agents: give two or more different ones"),
        (("tournament", "random", "zero", "--anchor=x"), "anchor 'x' does not take part: give one of random, zero@"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "--game=tic_tac_toe"]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert not shown.out
    assert not Path("runs").exists()


def test_tournament_rates_everybody(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (
        "tournament",
        "random",
        "zero",
        "handwritten:lines",
        "--game=tic_tac_toe",
        "--limit=depth=2",
        "--pairs=4",
    )
    data = figures(capsys, *arguments)
    assert [r["name"] for r in data["ratings"]][-1] == "random"
    assert data["anchor"] == "handwritten:lines@depth=2"
    assert data["kinds"] == {"random": "random", "zero@depth=2": "zero", "handwritten:lines@depth=2": "handwritten"}
    assert len(data["matches"]) == 3
    out = told(capsys, *arguments, "--gauntlet", "--anchor=random")
    assert "anchor" in out
    assert out.splitlines()[-1] == "report: runs/tournament-tic_tac_toe/report.html"


def test_ladder_answers_learned_against_hand_written(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evallearn.evaluators.zoo.zoo_folder", lambda: here / "no zoo")
    game = TicTacToe()
    save(heuristic(game, "lines"), here / "runs" / "x" / "evaluators" / "linear.safetensors")
    arguments = ("ladder", "tic_tac_toe", "--limit=depth=1", "--pairs=4")
    data = figures(capsys, *arguments)
    assert len(data["names"]) == 5  # random, zero, squares, lines (or its copy), mcts
    out = told(capsys, *arguments, "zero@depth=3")
    assert "zero, depth 3" in out
    assert "learned" in out.lower()
    assert Path("runs/ladder-tic_tac_toe/report.html").exists()
    shutil.rmtree("runs/x")
    assert "No learned evaluator takes part" in told(capsys, *arguments)
