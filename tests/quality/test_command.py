"""`evallearn suite` and `evallearn quality`: what they write, what they show, and how they take bad input."""

from __future__ import annotations

import copy
import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from evallearn import get_game
from evallearn.cli import run
from evallearn.cli.quality import compared
from evallearn.quality import read_suite
from evallearn.quality.figures import Figure
from evallearn.report.quality import render_quality, write_quality

FAST = ["--swing-depth", "2", "--games", "2", "--workers", "1"]


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("suites") / "t.jsonl"
    assert (
        run(["suite", "tic_tac_toe", "--out", str(path), "--positions", "60", "--by", "exact", "--workers", "1"]) == 0
    )
    return path


def heuristics() -> list[str]:
    return [f"handwritten:{h}" for h in get_game("tic_tac_toe").heuristics]


def quality(suite: Path, *more: str) -> int:
    return run(["quality", "zero", *heuristics(), "--game", "tic_tac_toe", "--suite", str(suite), *FAST, *more])


@pytest.fixture(scope="module")
def told(suite: Path) -> tuple[str, Any, Path]:
    """What one run said on a terminal of 80 columns, its figures, and its page."""
    folder, shown = suite.parent / "told", StringIO()
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(shown):
        patched.setenv("COLUMNS", "80")
        assert quality(suite, "--json", str(folder / "q.json"), "--html", str(folder / "sub/q.html")) == 0
    return shown.getvalue(), json.loads((folder / "q.json").read_text()), folder / "sub/q.html"


@pytest.fixture
def figures(told: tuple[str, Any, Path]) -> Any:
    """A copy, which a test may change."""
    return copy.deepcopy(told[1])


# --- suite -----------------------------------------------------------------------------------------------------------
def test_a_suite_is_written_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new/t.jsonl"
    arguments = ["suite", "tic_tac_toe", "--out", str(path), "--positions", "20", "--by", "depth=3", "--workers", "1"]
    assert run(arguments) == 0
    assert f"{path}: 20 positions of tic_tac_toe, judged by depth=3 with the" in capsys.readouterr().out
    first = path.read_bytes()
    assert run([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["positions"], told["file"]) == (20, str(path))
    assert path.read_bytes() == first
    assert len(read_suite(path, get_game("tic_tac_toe")).items) == 20


def test_without_limits_a_depth_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.jsonl"
    assert run(["suite", "tic_tac_toe", "--out", str(path), "--positions", "5", "--workers", "1"]) == 0
    assert re.search(r"judged by depth=\d+ with the", capsys.readouterr().out)


@pytest.mark.long
def test_fewer_positions_than_wanted_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["suite", "matches,piles=2-2,k=2", "--out", str(tmp_path / "m.jsonl"), "--by", "exact", "--workers", "1"]
    assert run(small) == 0
    assert re.search(r"no more than \d+ different positions were found, not 500", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["suite", "tic_tac_toe", "--by", "time=1"], "by time no suite repeats"),
        (["suite", "tic_tac_toe", "--by", "depth=x"], "'x' is no number"),
        (["suite", "tic_tac_toe", "--eval", "clever"], "unknown evaluator 'clever'"),
        (["suite", "chesss"], "unknown game 'chesss'"),
    ],
)
def test_bad_input_for_a_suite_is_told_in_a_sentence(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.jsonl"
    assert run([*arguments, "--out", str(path), "--workers", "1"]) == 2
    assert message in capsys.readouterr().err
    assert not path.exists()


# --- quality ---------------------------------------------------------------------------------------------------------
def test_people_see_a_table_and_a_verdict_for_each_part(told: tuple[str, Any, Path]) -> None:
    shown = told[0]
    for words in (
        "60 positions of tic_tac_toe, 60 of them exact",
        "as good as the best",
        "outcome kept",
        "Brier score",
    ):
        assert words in shown, shown
    for words in ("order of actions", "wrong side", "odd - even", "thrashing moves", "Chooses ", "Does not thrash"):
        assert words in shown, shown
    assert re.search(r"handwritten:\w+ (chooses|and zero cannot)", shown)
    table = [line for line in shown.splitlines() if line[:1] in "┏┃┡│└"]
    assert len(table) > 12
    assert all(len(line) <= 80 for line in table)


@pytest.mark.long
def test_figures_are_the_same_for_any_number_of_workers(
    suite: Path, figures: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert quality(suite, "--workers", "2", "--json") == 0
    two = json.loads(capsys.readouterr().out)
    assert figures["evals"] == two["evals"]
    assert figures["compared"] == two["compared"]


def test_the_figures_are_complete(figures: Any) -> None:
    assert [e["name"] for e in figures["evals"]] == ["zero", *heuristics()]
    assert [row["with"] for row in figures["compared"]] == ["zero"] * len(heuristics())
    zero = figures["evals"][0]
    assert set(zero["random"]) == {"agreement", "kept", "loss"}
    assert zero["agreement"]["n"] == figures["suite"]["positions"] == figures["suite"]["exact"] == 60
    assert zero["signs"]["value"] == 0.5
    assert len(zero["phases"]) == 3
    assert [s["depth"] for s in zero["swings"][0]["steps"]] == [1, 2]
    assert set(zero["verdicts"]) == {"choices", "values", "swing", "thrash"}


def test_without_a_suite_one_is_made_and_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["quality", "zero", "--game", "tic_tac_toe", *FAST, "--json", str(tmp_path / "q.json")]) == 0
    shown = capsys.readouterr().out
    assert "200 positions of tic_tac_toe" in shown
    assert "made now (`evallearn suite` makes one to keep)" in shown
    assert json.loads((tmp_path / "q.json").read_text())["suite"]["file"] is None


def test_a_difference_is_told_only_where_it_is_sure() -> None:
    better = compared("b", "a", Figure(0.1, 0.0, 0.05, 0.15, 9))
    assert better == "b chooses better than a: it gives away 0.100 less a move (95 %: 0.050 to 0.150)"
    assert "b chooses worse than a: it gives away 120 more" in compared(
        "b", "a", Figure(-120.0, 0.0, -140.0, -100.0, 9)
    )
    assert "b and a cannot be told apart" in compared("b", "a", Figure(0.1, 0.0, -0.1, 0.3, 9))


@pytest.mark.long
def test_parts_can_be_left_out(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert quality(suite, "--swing-depth", "0", "--games", "0") == 0
    shown = capsys.readouterr().out
    assert "thrash" not in shown
    assert "swing" not in shown


def test_bad_input_is_told_in_a_sentence(suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{}\n")
    for arguments, message in (
        (["clever", "--game", "tic_tac_toe"], "unknown evaluator 'clever'"),
        (["zero", "--game", "othello", "--suite", str(suite)], "a suite of 'tic_tac_toe', not of 'othello'"),
        (["zero", "--game", "tic_tac_toe", "--suite", str(broken)], "line 1: this is no suite"),
        (["zero", "--game", "tic_tac_toe", "--suite", str(tmp_path / "no")], "No such file"),
        (["zero", "--game", "tic_tac_toe", "--depth", "0"], "--depth"),
        (["--game", "tic_tac_toe"], "EVAL"),
    ):
        assert run(["quality", *arguments]) == 2
        assert message in capsys.readouterr().err, message


# --- the page --------------------------------------------------------------------------------------------------------
def test_the_page_stands_alone(told: tuple[str, Any, Path]) -> None:
    shown, _, path = told
    assert f"the page: {path}" in shown.replace("\n", "")  # a path may be longer than a line
    page = path.read_text()
    for section in ("verdicts", "figures", "calibration", "phases", "swing", "thrash", "made", "glossary"):
        assert f'<section id="{section}">' in page, section
    assert page.count("<svg") >= 2 + 3
    assert not re.search(r'(src|href)="(?!#)|https?://|@import', page)


@pytest.mark.long
def test_the_same_figures_give_the_same_page(figures: Any) -> None:
    assert render_quality(figures) == render_quality(figures)


@pytest.mark.long
def test_the_page_leaves_out_what_is_not_there(figures: Any, tmp_path: Path) -> None:
    absent: dict[str, Any] = {"calibration": None, "phases": [], "swings": [], "thrash": None, "agreement": None}
    bare = figures | {"evals": [e | absent for e in figures["evals"]]}
    page = write_quality(bare, tmp_path / "q.html").read_text()
    assert "<svg" not in page
    assert "values of positions only" in page
    assert "<h1>" in render_quality({})


@pytest.mark.long
def test_names_cannot_break_the_page(figures: Any) -> None:
    figures["evals"][0]["name"] = '<script>alert("x")</script>'
    assert "<script>alert" not in render_quality(figures)


def test_the_page_shows_where_thrashing_began() -> None:
    example = {
        "player": 0,
        "position": "x",
        "board": "% P %\n%%%",
        "moves": ["north", "south"],
        "length": 9,
        "period": 2,
    }
    thrash = {"share": 0.5, "longest": 9, "moves": 18, "games": 1, "example": example}
    page = render_quality({"game": "pacman", "evals": [{"name": "handwritten:score", "thrash": thrash}]})
    assert "score: 9 moves to and fro" in page
    assert "% P %\n%%%" in page
    assert "50.0 %" in page
