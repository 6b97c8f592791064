"""benchmarks/learn_backgammon.py: one run after the other, each from the net of the one before."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import benchmark

from evallearn import get_game
from evallearn.evaluators import load_evaluator


def test_stages_follow_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = benchmark("learn_backgammon")
    script.GAME, script.ROUNDS = "tic_tac_toe", {"games_per_round": 50}  # a game that is quickly played
    script.STAGES = ((20, {"hidden": (8,), "seed": 1}), (10, {"seed": 2}))
    words = ["--out", str(tmp_path / "net.safetensors"), "--run", str(tmp_path / "run")]
    assert script.main(words) == 0
    assert "loss" in capsys.readouterr().out
    game = get_game("tic_tac_toe")
    first, net = (load_evaluator(tmp_path / path, game) for path in ("run/stage-1/net.safetensors", "net.safetensors"))
    assert net.tensors()["w1"].shape == first.tensors()["w1"].shape == (1, len(game.feature_names), 8)
    assert (net.tensors()["w1"] != first.tensors()["w1"]).any()
    (tmp_path / "run/stage-1/curve.json").write_text("{")
    assert script.main(words) == 2
    assert "curve.json is damaged: delete the folder to begin anew" in capsys.readouterr().err
