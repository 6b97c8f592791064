"""`evallearn features`: what it prints, writes and refuses, and its page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from evallearn import get_game
from evallearn.cli import run
from evallearn.cli.features import feature_eval, ties_table, worth_table
from evallearn.errors import SpecError
from evallearn.evaluators import FunctionEval, LinearEval, save
from evallearn.insight import FeatureStudy, FeatureWorth, Interval
from evallearn.report.features_page import headline, render_features


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("selfplay")
    play = ["--games", "300", "--limit", "depth=1", "--eval", "handwritten:squares", "--workers", "1"]
    assert run(["selfplay", "tic_tac_toe", "--out", str(folder), *play]) == 0
    return folder


@pytest.fixture(scope="module")
def result(records: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("json") / "f.json"
    assert run(["features", "tic_tac_toe", str(records), "--workers", "1", "--json", str(path)]) == 0
    return json.loads(path.read_text())


def test_everything_is_told_in_80_columns(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["features", "tic_tac_toe", str(records), "--workers", "1"]) == 0
    out = capsys.readouterr().out
    for said in ("what each feature is worth", "how features hang together", "held-out log loss", "wins_now"):
        assert said in out
    rows = [line for line in out.splitlines() if line.startswith(" ")]
    assert max(map(len, rows)) <= 80
    assert "…" not in out


def test_long_names_and_wide_figures_fit_80_columns() -> None:
    wide, loss = Interval(-12.3456, -12.3456, 10.9876), Interval(-1.2345, -2.3456, 3.4567)
    worth = FeatureWorth("n" * 40, 0.0, 1.0, wide, wide, (), loss, loss, -0.5, "m" * 40, -0.5, 1e6)
    study = FeatureStudy("g", "e", 1, 1, 1, 0.5, 0.5, 0.6, (worth,), ((1.0,),))
    for table in (worth_table(study), ties_table(study)):
        assert Console(width=1000).measure(table).maximum <= 80


def test_json_holds_every_figure_and_is_the_same_again(records: Path, result: Any, tmp_path: Path) -> None:
    names = [f["name"] for f in result["features"]]
    assert names == list(get_game("tic_tac_toe").feature_names)
    for f in result["features"]:
        for key in ("weight", "effect", "shuffled", "dropped"):
            assert f[key]["low"] <= f[key]["high"]
    assert len(result["correlation"]) == len(names)
    path = tmp_path / "again.json"
    assert run(["features", "tic_tac_toe", str(records), "--workers", "1", "--json", str(path)]) == 0
    again = json.loads(path.read_text())
    assert again["features"] == result["features"]


@pytest.mark.long
def test_matches_add_elo(records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, terms = tmp_path / "f.json", ["--matches", "2", "--depth", "1", "--workers", "1"]
    assert run(["features", "tic_tac_toe", str(records), *terms, "--json", str(path)]) == 0
    assert "Elo with it against without it" in capsys.readouterr().out
    found = json.loads(path.read_text())
    assert all(f["match"]["games"] == 4 for f in found["features"])
    assert "Elo" in render_features(found)


def test_a_bad_eval_is_shuffled_and_rings(records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = get_game("tic_tac_toe")
    path, page = tmp_path / "bad.safetensors", tmp_path / "page.html"
    save(LinearEval(game, np.full((1, 5), -3.0), metadata={"name": "bad"}), path)
    assert run(["features", "tic_tac_toe", str(records), "--eval", str(path), "--html", str(page)]) == 0
    out = capsys.readouterr().out
    assert "Alarms" in out
    assert "The evaluator is worse than a constant" in out
    assert "The evaluator is worse than a constant" in page.read_text()


def test_a_page_is_whole_and_needs_no_network(result: Any) -> None:
    page = render_features(result)
    assert page == render_features(result)
    for section in ("advice", "worth", "correlation", "made", "glossary"):
        assert f'<section id="{section}">' in page
    assert page.count("<svg") == 3
    assert not re.findall(r'(?:src|href)="https?:', page)


def test_a_page_leaves_out_what_a_result_lacks() -> None:
    page = render_features({"game": "<b>mine</b>"})
    assert "<b>mine" not in page
    assert '<section id="worth">' not in page
    assert "None of the 0 features" in headline({})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tic_tac_toe", "nowhere"], "nowhere holds neither records nor generations of a run"),
        (["connect_four", "RECORDS"], "tic_tac_toe"),
        (["tic_tac_toe", "RECORDS", "--eval", "handwritten:sqares"], "squares"),
    ],
)
def test_bad_input_is_told(
    arguments: list[str], message: str, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["features", *(str(records) if a == "RECORDS" else a for a in arguments)]) == 2
    assert message in capsys.readouterr().err


def test_an_eval_that_sees_no_features_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    game = get_game("tic_tac_toe")
    blind = FunctionEval(game, lambda s, player: 0.0)
    monkeypatch.setattr("evallearn.cli.features.parse_evaluator", lambda text, game, trust: blind)
    with pytest.raises(
        SpecError, match="--eval mine: a FunctionEval evaluator does not judge by features: give a linear or"
    ):
        feature_eval("mine", game)
