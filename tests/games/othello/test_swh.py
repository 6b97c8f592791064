"""The best hand-written Othello heuristic is an honest opponent: it holds its own against the published counter SWH."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import FOLDER, benchmark


@pytest.mark.long
def test_best_heuristic_scores_half_against_the_counter():
    swh = benchmark("othello_swh")
    if not swh.SWH.exists():
        pytest.skip("../shared/reference is absent")
    found = swh.match(swh.GAME.heuristics["mobility"], games=800, seed=1)
    assert found.value >= 0.5, str(found)


def test_benchmark_names_what_is_missing(monkeypatch, capsys):
    swh = benchmark("othello_swh")
    monkeypatch.setattr(swh, "SWH", Path("nowhere.wpc"))
    monkeypatch.setattr("sys.argv", ["othello_swh.py"])
    assert swh.main() == 2
    assert "nowhere.wpc is absent" in capsys.readouterr().err


def test_benchmark_refuses_bad_options():
    swh = benchmark("othello_swh")
    swh.SWH = FOLDER / "othello_swh.py"  # any file that exists
    assert swh.complaint(["mobility"], 1) == "--games 1 is too few for an interval: give 2 or more"
    assert "did you mean 'mobility'?" in swh.complaint(["mobilty"], 10)
    assert swh.complaint(["mobility"], 10) == ""
