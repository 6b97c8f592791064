"""benchmarks/neural_speed.py runs, and what it compares judges alike."""

from __future__ import annotations

import json

import pytest
from scripts import benchmark

TINY = ["--hidden", "8", "--warm", "20", "--seconds", "0.01", "--batch", "64"]


@pytest.mark.long
def test_every_way_is_measured(capsys):
    script = benchmark("neural_speed")
    assert script.main([*TINY, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["net"] == "198-8-5"
    assert set(found["learning"]) == {"evallearn", "torch loop"}
    assert all(row["games_per_second"] > 0 and row["moves_per_game"] > 10 for row in found["learning"].values())
    assert len(found["evaluations_per_second"]) >= 4
    assert all(value > 0 for value in found["evaluations_per_second"].values())
    script.show(found)
    shown = capsys.readouterr().out
    assert "times as fast" in shown
    assert "torch, 64 positions at a time" in shown


def test_sizes_that_cannot_be_end_with_2(capsys):
    assert benchmark("neural_speed").main(["--hidden", "9"]) == 2
    assert "hidden=(9,): give one or two multiples of 8" in capsys.readouterr().err


def test_without_gnubg_the_rest_is_measured(monkeypatch):
    script = benchmark("neural_speed")
    monkeypatch.setitem(script.sys.modules, "gnubg_nn", None)
    assert script.gnubg_rate(None, None) is None


@pytest.mark.parametrize("seconds", [0.0, 0.001])
def test_rates_are_units_over_cpu_time(seconds):
    per_second, spent = benchmark("neural_speed").rate(lambda: sum(range(10_000)) and 2, seconds)
    assert spent >= seconds
    assert (per_second > 0) == (seconds > 0)
