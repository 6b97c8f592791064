"""evallearn fit: every method from the command line, what it tells, and that a refusal leaves old files alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evallearn.cli import run
from evallearn.cli.fit import METHODS
from evallearn.train.fit.methods import METHODS as LINEAR

OTHER_VERSION = """
from evallearn.games.tic_tac_toe import TicTacToe


class Mine(TicTacToe):
    def features(self, s, player):
        return tuple(2 * x for x in super().features(s, player))

    rules = None
"""


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    folder = tmp_path_factory.mktemp("selfplay") / "data"
    made = run(
        ["selfplay", "tic_tac_toe", "--out", str(folder), "--games", "200", "--limit", "depth=2", "--workers", "1"]
    )
    assert made == 0
    return str(folder)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")


def fit(records, *arguments, game="tic_tac_toe"):
    return run(["fit", records, "--game", game, "--out", "x.safetensors", *arguments])


def fitted(capsys, records, *arguments):
    capsys.readouterr()
    assert fit(records, *arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


def refusal(capsys, records, *arguments, **options):
    capsys.readouterr()
    assert fit(records, *arguments, **options) == 2
    return " ".join(capsys.readouterr().err.split())


def test_the_command_knows_every_method():
    assert {*METHODS} == {*LINEAR, "net"} - {"ordinal"}


@pytest.mark.parametrize("method", [m for m in METHODS if m != "net"])
@pytest.mark.parametrize("tapered", [[], ["--tapered"]], ids=["phases", "tapered"])
def test_every_linear_method_learns(capsys, records, method, tapered):
    told = fitted(capsys, records, "--method", method, *tapered)
    assert told["method"] == method
    assert told["metrics"]["log_loss"] < told["metrics"]["baseline_log_loss"]
    assert isinstance(told["dropped"], list)
    assert run(["info", "x.safetensors", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["made"]
    assert (made["settings"]["method"], made["settings"]["tapered"]) == (method, bool(tapered))
    assert made["dropped"] == told["dropped"]


def test_alpha_decides_what_lasso_drops(capsys, records):
    few, many = (fitted(capsys, records, "--method", "lasso", "--penalty", a)["dropped"] for a in ("0.01", "4"))
    assert len(few) < len(many)
    assert fit(records, "--method", "lasso", "--penalty", "4") == 0
    assert f"features without a weight: {', '.join(many)}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--penalty", "-1"], "'--penalty': -1.0 is not in the range 0<x<="),
        (["--method", "lasso", "--penalty", "1e9"], "alpha=1e+09 drops every feature: give an alpha below"),
        (
            ["--method", "net", "--penalty", "1"],
            "method 'net' knows no penalty: leave it out, or choose a linear method",
        ),
        (["--method", "net", "--tapered"], "method 'net' knows no tapered"),
        (["--method", "lars"], "'lars' is not one of"),
    ],
)
def test_a_refusal_leaves_the_old_file(capsys, records, arguments, message):
    Path("x.safetensors").write_bytes(b"old")
    assert message in refusal(capsys, records, *arguments)
    assert Path("x.safetensors").read_bytes() == b"old"


def test_alarms_are_told_in_words_and_in_json(capsys, records, monkeypatch):
    assert fitted(capsys, records)["alarms"] == []
    assert fit(records) == 0
    assert "no alarm rang" in capsys.readouterr().out
    monkeypatch.setattr("evallearn.insight.alarms.SURE", 0.1)  # any value claims to be certain
    told = fitted(capsys, records)["alarms"]
    assert [(a["name"], a["about"]) for a in told] == [("saturated", "x")]
    assert fit(records) == 0
    assert f"alarm (x): {told[0]['text']}" in capsys.readouterr().out


def test_records_of_another_game_or_of_other_features_are_refused(capsys, records):
    Path("x.safetensors").write_bytes(b"old")
    assert "tic_tac_toe" in refusal(capsys, records, game="othello")
    Path("fit_other_version.py").write_text(OTHER_VERSION)
    told = refusal(capsys, records, game="fit_other_version:Mine")
    assert "learn from one kind at a time, or make the records again" in told
    Path("empty").mkdir()
    assert "empty" in refusal(capsys, "empty")
    assert Path("x.safetensors").read_bytes() == b"old"
