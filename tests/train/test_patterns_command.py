"""evallearn patterns: the file, its checkpoint, and where settings come from."""

from __future__ import annotations

import json

from evallearn.cli import run
from evallearn.core.patterns import PatternSet
from evallearn.evaluators import load_evaluator
from evallearn.games.othello import Othello
from evallearn.registry import get_game
from evallearn.train.patterns import PatternTrainer


def test_command_writes_an_eval_and_leaves_no_checkpoint(tmp_path, capsys):
    file = tmp_path / "o.safetensors"
    arguments = ["patterns", "othello", "--set", "straight-3", "--games", "30", "--out", str(file), "--json"]
    assert run(arguments) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["games"] == 30
    assert figures["bytes"] == file.stat().st_size
    assert [p.name for p in tmp_path.iterdir()] == ["o.safetensors"]
    e = load_evaluator(file, get_game("othello"))
    trainer = PatternTrainer("straight-3", horizon=30).fit(Othello(), games=30)
    s = Othello().from_text("f5d6")
    assert e.evaluate(s, 0) == trainer.evaluator().evaluate(s, 0)


def test_file_tells_the_command_without_a_folder(tmp_path, monkeypatch):
    file = tmp_path / "o.safetensors"
    arguments = ["patterns", "othello", "--set", "straight-3", "--games", "3", f"--out={file}"]
    monkeypatch.setattr("sys.argv", ["evallearn", *arguments])
    assert run(arguments) == 0
    made = load_evaluator(file, Othello()).made
    assert made["command"] == "evallearn patterns othello --set straight-3 --games 3 --out=o.safetensors"


def test_settings_come_from_the_caller_then_the_set_then_what_is_usual():
    suited = PatternSet(patterns=[(0, 1)], note="", learning={"alpha": 0.5, "lambda_": 0.25, "opening_plies": 3})
    settings = PatternTrainer(suited, lambda_=0.0).settings(Othello(), suited)
    assert (settings.alpha, settings.lambda_, settings.epsilon, settings.opening_plies) == (0.5, 0.0, 0.1, 3)
    assert PatternTrainer().settings(Othello(), PatternSet(patterns=[(0, 1)], note="")).opening_plies == 40


def test_command_goes_on_from_its_checkpoint(tmp_path, capsys):
    file = tmp_path / "o.safetensors"
    whole = PatternTrainer("straight-3", horizon=30)
    whole.fit(Othello(), games=10, checkpoint=tmp_path / "o.safetensors.resume")
    assert run(["patterns", "othello", "--set", "straight-3", "--games", "30", "--out", str(file)]) == 0
    said = capsys.readouterr()
    assert "going on from" in said.err
    assert "30 games" in said.out
    e = load_evaluator(file, Othello())
    assert e.tables.tobytes() == whole.fit(Othello(), games=30).evaluator().tables.tobytes()


def test_command_writes_the_file_of_a_checkpoint_that_has_all_games(tmp_path, capsys):
    file = tmp_path / "o.safetensors"
    trainer = PatternTrainer("straight-3", horizon=10)
    trainer.fit(Othello(), games=10, checkpoint=tmp_path / "o.safetensors.resume")
    assert run(["patterns", "othello", "--set", "straight-3", "--games", "10", "--out", str(file)]) == 0
    assert "10 games" in capsys.readouterr().out
    assert load_evaluator(file, Othello()).tables.tobytes() == trainer.evaluator().tables.tobytes()


def test_command_keeps_what_was_learned_before_it_diverged(tmp_path, capsys):
    file = tmp_path / "o.safetensors"
    arguments = ["patterns", "othello", "--set", "straight-3", "--games", "400", "--out", str(file), "--alpha", "3e5"]
    assert run(arguments) == 2
    assert "lower alpha" in capsys.readouterr().err
    assert not file.exists() or load_evaluator(file, Othello()).made["games"] > 0
