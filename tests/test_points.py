"""benchmarks/points.py: means with their standard errors, and values below what is won."""

from __future__ import annotations

import pytest
from scripts import benchmark

from evallearn.data import Record

POINTS = benchmark("points")


def test_means_have_standard_errors() -> None:
    assert POINTS.mean_and_error([1.0, 3.0]) == (2.0, 1.0)


def test_bands_are_of_what_is_won() -> None:
    records = [
        Record(0, 0, 0, b"", b"", 0, 0, v, 1, 9000.0, w) for v, w in ((3, 0), (3999, 3999), (4000, 4001), (9, 4.0))
    ]
    assert POINTS.bands(records) == [(0, 3, 0.0), (4000, 1, 1.0)]


def test_games_of_one_player_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert POINTS.main(["2048", "handwritten:corner@depth=1", "--games", "2"]) == 0
    out = capsys.readouterr().out
    assert "handwritten:corner@depth=1: " in out
    assert "in 2 games of 2048, seed 1" in out
    assert "0 to  4,000 won: " in out
    assert {line.rpartition(" ")[2] for line in out.splitlines()[1:]} == {"0.0%"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["connect_four", "random"], "connect_four has 2 players: use `evallearn match`"),
        (["2048", "random", "--games", "1"], "games=1: give 2 or more, or there is no standard error"),
    ],
)
def test_bad_input_is_told(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert POINTS.main(words) == 2
    assert told in capsys.readouterr().err
