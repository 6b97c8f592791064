"""The speed of games of every kind is measured, in bounded time."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest
from toys import CoinRace, Takeaway

from evallearn.core.game import Game, Heuristic
from evallearn.runs import speed
from evallearn.runs.speed import GameSpeed, measure_speed, measure_together

SLEEP = 0.002


class SlowFeatures(Takeaway):
    """Its features take their time."""

    name = "slow_features"

    def features(self, s: tuple[int, int], player: int) -> Sequence[float]:
        time.sleep(SLEEP)
        return super().features(s, player)


class Wide(Takeaway):
    """Thousands of actions, each of which takes one."""

    name = "wide"

    def actions(self, s: tuple[int, int]) -> Sequence[int]:
        return range(1, 2001) if s[0] else ()

    def result(self, s: tuple[int, int], a: int) -> tuple[int, int]:
        return (s[0] - 1, 1 - s[1])


class Endless(Takeaway):
    """Nothing is ever taken."""

    name = "endless"

    def result(self, s: tuple[int, int], a: int) -> tuple[int, int]:
        return (s[0], 1 - s[1])


class Long(Takeaway):
    """Five hundred moves."""

    name = "long"
    start = 750


class Crowd(Takeaway):
    """Four players."""

    name = "crowd"
    n_players = 4
    zero_sum = False
    antisymmetric = False

    def result(self, s: tuple[int, int], a: int) -> tuple[int, int]:
        return (s[0] - a, (s[1] + 1) % 4)


class Alone(Takeaway):
    """One player."""

    name = "alone"
    n_players = 1
    zero_sum = False

    def result(self, s: tuple[int, int], a: int) -> tuple[int, int]:
        return (s[0] - a, 0)


class JudgedCoins(CoinRace):
    """Its luck is judged in matches, since it has a heuristic."""

    name = "judged_coins"
    heuristics: ClassVar[Mapping[str, Heuristic]] = {"lead": Heuristic({"lead": 0.3}, "By hand: be ahead.")}


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "SECONDS", 0.05)


@pytest.mark.parametrize(
    ("game", "depths", "moves"),
    [
        (Takeaway(), 4, (5.5, 11)),
        (Crowd(), 3, (5.5, 11)),
        (Alone(), 3, (5.5, 11)),
        (CoinRace(), 1, (4, 10)),
        (JudgedCoins(), 1, (4, 10)),
        (Long(), 2, (375, 750)),
        (SlowFeatures(), 2, (5.5, 11)),
        (Wide(), 1, (11, 11)),
    ],
    ids=lambda x: x.name if isinstance(x, Game) else "",
)
def test_every_kind_of_game_is_measured(game: Game, depths: int, moves: tuple[float, float]) -> None:
    found = measure_speed(game, depths, 0)
    assert found.depth == depths
    assert moves[0] <= found.moves <= moves[1]
    assert all(0 < x < math.inf for x in (*found.search_seconds, *found.leaf_calls, found.positions_per_second))
    assert found.neural_seconds >= 0
    assert (found.luck_seconds > 0) == isinstance(game, JudgedCoins)
    assert 0 < found.game_seconds(1) <= found.match_seconds(1) <= found.neural_match_seconds(1) < math.inf


def test_slow_features_are_seen() -> None:
    found = measure_speed(SlowFeatures(), 2, 0)
    for depth in (1, 2):
        assert found.search_seconds[depth - 1] >= SLEEP * (found.leaf_calls[depth - 1] - 2)
    assert found.game_seconds(2) >= found.moves * SLEEP


def test_a_game_that_does_not_end_is_infinitely_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "FIRST_GAME_SECONDS", 0.2)
    found = measure_speed(Endless(), 4, 0)
    assert (math.isinf(found.moves), found.depth) == (True, 1)


def test_a_depth_whose_searches_take_too_long_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "SEARCH_SECONDS", 1e-3)
    assert measure_speed(Wide(), 4, 0).depth == 1


def test_nothing_deeper_is_measured_than_is_of_use() -> None:
    assert measure_speed(Takeaway(), 4, 0, enough=1e-9).depth == 1


def test_what_was_not_measured_is_extrapolated() -> None:
    known = GameSpeed(moves=10, search_seconds=(0.01, 0.05), leaf_calls=(4, 20), positions_per_second=400.0,
                      move_seconds=0.001, neural_seconds=0.002, luck_seconds=0.003)  # fmt: skip
    assert known.game_seconds(2) == pytest.approx(10 * 0.051)
    assert known.game_seconds(4) == pytest.approx(10 * (0.001 + 0.05 * 5 * 5))
    assert known.match_seconds(1) == pytest.approx(10 * 0.014)
    assert known.neural_match_seconds(1) == pytest.approx(10 * 0.014 + 5 * 4 * 0.002)
    assert known.timed_match_seconds(0.1) == pytest.approx(10 * 0.104)
    assert known.timed_match_seconds(1e-6) == pytest.approx(10 * (0.004 + 1 / 400)), "one position at least"


def test_several_processes_give_their_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(number: int) -> GameSpeed:
        deep: dict[str, Any] = {
            "search_seconds": (1.0 + number, 2.0)[: 2 - number],
            "leaf_calls": (3.0, 4.0)[: 2 - number],
        }
        return GameSpeed(moves=2.0, positions_per_second=10.0, move_seconds=0.0, neural_seconds=0.0, luck_seconds=0.0,
                         **deep)  # fmt: skip

    monkeypatch.setattr(speed, "imap", lambda job, jobs, workers: ((i, made(i)) for i in jobs))
    found = measure_together(2, Takeaway(), 4, 0)
    assert (found.depth, found.search_seconds, found.leaf_calls, found.moves) == (1, (1.5,), (3.0,), 2.0)
