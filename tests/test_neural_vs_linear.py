"""benchmarks/neural_vs_linear.py: short runs, the best goes on, a match by the clock; a rerun repeats nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import benchmark


@pytest.mark.long
def test_the_best_of_short_runs_plays_the_linear_eval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = benchmark("neural_vs_linear")
    script.HOW = (("td", 1), ("treestrap", 2))
    script.PLAN = {"tic_tac_toe": ((20, 10), 8)}  # a game that is quickly played
    script.TRIAL_PAIRS, script.TRIAL_NODES, script.SPEED_NODES, script.PLIES, script.LONG = 4, 50, 100, (2,), 2
    words = ["tic_tac_toe", "--time-ms", "1", "--pairs", "2", "--run", str(tmp_path)]
    assert script.main(words) == 0
    first = capsys.readouterr().out
    for told in ("features td 1 - linear: +", "features treestrap 2: 10 games", "M nodes/s", "nodes per move"):
        assert told in first
    assert len(list(tmp_path.glob("*.safetensors"))) == 3
    assert script.main(words) == 0
    assert "core seconds" not in capsys.readouterr().out
    (tmp_path / "tic_tac_toe-features-td-1-20.json").unlink()
    (tmp_path / "tic_tac_toe-features-td-1-20.safetensors").write_bytes(b"damaged")
    assert script.main(words) == 2
    assert "tic_tac_toe-features-td-1-20.safetensors" in capsys.readouterr().err
