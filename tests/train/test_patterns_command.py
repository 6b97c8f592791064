"""evallearn patterns: the file, its checkpoint, and where settings come from."""

from __future__ import annotations

import json

import pytest

from evallearn.cli import run
from evallearn.cli.patterns import schedule_of
from evallearn.evaluators import load_evaluator
from evallearn.games.othello import Othello
from evallearn.registry import get_game
from evallearn.train.models.patterns import PatternModel
from evallearn.train.selfplay.settings import Schedule, SelfPlaySettings
from evallearn.train.selfplay.trainer import SelfPlayTrainer


def trainer(games: int) -> SelfPlayTrainer:
    """What the command makes of --games."""
    settings = SelfPlaySettings(schedule=Schedule(shape="linear", games=games))
    return SelfPlayTrainer(PatternModel(Othello(), "straight-3"), settings)


def test_command_writes_an_eval_and_leaves_no_checkpoint(tmp_path, capsys):
    file = tmp_path / "o.safetensors"
    arguments = ["patterns", "othello", "--set", "straight-3", "--games", "30", "--out", str(file), "--json"]
    assert run(arguments) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["games"] == 30
    assert figures["bytes"] == file.stat().st_size
    assert [p.name for p in tmp_path.iterdir()] == ["o.safetensors"]
    e = load_evaluator(file, get_game("othello"))
    s = Othello().from_text("f5d6")
    assert e.evaluate(s, 0) == trainer(30).fit(games=30).evaluator.evaluate(s, 0)


def test_file_tells_the_command_without_a_folder(tmp_path, monkeypatch):
    file = tmp_path / "o.safetensors"
    arguments = ["patterns", "othello", "--set", "straight-3", "--games", "3", f"--out={file}"]
    monkeypatch.setattr("sys.argv", ["evallearn", *arguments])
    assert run(arguments) == 0
    made = load_evaluator(file, Othello()).made
    assert made["command"] == "evallearn patterns othello --set straight-3 --games 3 --out=o.safetensors"


def test_command_goes_on_from_its_checkpoint(tmp_path, capsys):
    file = tmp_path / "o.safetensors"
    trainer(30).fit(games=10, checkpoint=tmp_path / "o.safetensors.resume")
    assert run(["patterns", "othello", "--set", "straight-3", "--games", "30", "--out", str(file)]) == 0
    said = capsys.readouterr()
    assert "going on from" in said.err
    assert "30 games" in said.out
    e = load_evaluator(file, Othello())
    assert e.tables.tobytes() == trainer(30).fit(games=30).evaluator.tables.tobytes()


def test_command_writes_the_file_of_a_checkpoint_that_has_all_games(tmp_path, capsys):
    file = tmp_path / "o.safetensors"
    training = trainer(10).fit(games=10, checkpoint=tmp_path / "o.safetensors.resume")
    assert run(["patterns", "othello", "--set", "straight-3", "--games", "10", "--out", str(file)]) == 0
    assert "10 games" in capsys.readouterr().out
    assert load_evaluator(file, Othello()).tables.tobytes() == training.evaluator.tables.tobytes()


def test_command_keeps_what_was_learned_before_it_diverged(tmp_path, capsys):
    file = tmp_path / "o.safetensors"
    arguments = [
        "patterns",
        "othello",
        "--set",
        "straight-3",
        "--games",
        "400",
        "--out",
        str(file),
        "--step-size",
        "3e5",
    ]
    assert run(arguments) == 2
    assert "lower it" in capsys.readouterr().err
    assert not file.exists() or load_evaluator(file, Othello()).made["games"] > 0


@pytest.mark.parametrize(
    ("options", "shape", "length"),
    [
        ((None, None, None, None), "constant", 0),
        ((300, None, None, None), "linear", 300),
        ((300, None, None, 400), "linear", 400),
        ((300, None, "constant", None), "constant", 0),
        ((300, 2.0, "cosine", None), "cosine", 300),
    ],
)
def test_step_falls_to_the_end_of_the_games_if_that_is_known(options, shape, length):
    games, initial, chosen, end = options
    assert schedule_of(games, initial, chosen, end, 0.0, 0) == Schedule(initial=initial, shape=shape, games=length)
