"""benchmarks/learn_backgammon.py: one run after the other, each from the net of the one before, or taught by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import benchmark

from evallearn import get_game
from evallearn.evaluators import load_evaluator


def test_stages_follow_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = benchmark("learn_backgammon")
    script.GAME, script.ROUNDS = "tic_tac_toe", {"games_per_round": 50}  # a game that is quickly played
    script.STAGES = (
        script.Stage(20, {"hidden": (8,), "seed": 1}),
        script.Stage(10, {"hidden": (16, 8), "activation": "sigmoid", "seed": 2}, begins_anew=True),
        script.Stage(10, {"seed": 3}),
    )
    words = ["--out", str(tmp_path / "net.safetensors"), "--run", str(tmp_path / "run")]
    assert script.main(words) == 0
    assert "loss" in capsys.readouterr().out
    game = get_game("tic_tac_toe")
    first, second, net = (
        load_evaluator(tmp_path / path, game)
        for path in ("run/stage-1/net.safetensors", "run/stage-2/net.safetensors", "net.safetensors")
    )
    assert ((first.h1, first.h2), (second.h1, second.h2), (net.h1, net.h2)) == ((8, 0), (16, 8), (16, 8))
    assert (net.tensors()["w1"] != second.tensors()["w1"]).any()
    assert net.made["games"] == sum(e.made["games"] for e in (first, second)) + 50  # the last stage played a round
    (tmp_path / "run/stage-1/curve.json").write_text("{")
    assert script.main(words) == 2
    assert "curve.json is damaged (it is not JSON): delete it: the learning goes on" in capsys.readouterr().err
