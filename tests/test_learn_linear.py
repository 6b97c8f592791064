"""benchmarks/learn_linear.py: generations, each taught by the one before; the same command makes the same weights."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from scripts import benchmark

from evallearn import get_game
from evallearn.core.search import Limits
from evallearn.evaluators import load_evaluator


@pytest.fixture
def script() -> ModuleType:
    """With a plan for a game that is quickly played."""
    module = benchmark("learn_linear")
    module.PLANS = {"tic_tac_toe": module.Plan("handwritten:lines", (30, 20), Limits(nodes=20), 3, (0.5, 0.2), 2, True)}
    return module


def words(folder: Path) -> list[str]:
    return ["tic_tac_toe", "--out", str(folder / "out.safetensors"), "--run", str(folder / "run"), "--seed", "3"]


def test_the_same_command_makes_the_same_weights_and_goes_on_where_it_stopped(script, tmp_path, capsys):
    assert script.main(words(tmp_path / "a")) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in told] == ["tic_tac_toe-linear-0: 30 games", "tic_tac_toe-linear: 20 games"]
    made = load_evaluator(tmp_path / "a/out.safetensors", get_game("tic_tac_toe")).made
    assert made["command"] == "python benchmarks/learn_linear.py tic_tac_toe --seed 3"
    script.generation = stop_before_the_second(script.generation)
    with pytest.raises(KeyboardInterrupt):
        script.main(words(tmp_path / "b"))
    script.generation = script.generation.__wrapped__
    assert script.main(words(tmp_path / "b")) == 0
    first, second = (load_evaluator(tmp_path / name / "out.safetensors", get_game("tic_tac_toe")) for name in "ab")
    assert first.weights.tobytes() + first.bias.tobytes() == second.weights.tobytes() + second.bias.tobytes()


def stop_before_the_second(generation):
    def stopping(game, plan, number, evaluator, given):
        if number == 1:
            raise KeyboardInterrupt
        return generation(game, plan, number, evaluator, given)

    stopping.__wrapped__ = generation
    return stopping


def test_an_unknown_teacher_ends_with_2(script, tmp_path, capsys):
    script.PLANS = {"tic_tac_toe": script.Plan("handwritten:liens", (2,), Limits(nodes=20), 3, (0.5,), 1, True)}
    assert script.main(words(tmp_path)) == 2
    assert "did you mean" in capsys.readouterr().err
