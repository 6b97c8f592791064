"""Elo after a sequential test: the walk against its own sums, bias and coverage by simulation, what is marked."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scripts import benchmark

from evallearn import get_game
from evallearn.agents import parse_agent
from evallearn.arena import MatchSettings, Sprt, play_match
from evallearn.arena.stats import elo_from_pairs
from evallearn.arena.stopped import elo_after_sprt
from evallearn.arena.walk import SHORT, Walk

WALKS = [Walk(0.0, 1.0, 3.0, 3.0), Walk(0.4, 1.0, 2.0, 5.0), Walk(-0.3, 0.25, 1.0, 1.5), Walk(0.02, 1e-4, 0.1, 0.3)]


# --- the walk --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("walk", WALKS)
def test_every_walk_ends_somewhere(walk: Walk) -> None:
    unit = (walk.down + walk.up) ** 2 / walk.variance
    for time in (0.01, 0.2, 0.999, 1.001, 3.0):
        up, down = walk.arrives_up(time * unit), walk.mirrored.arrives_up(time * unit)
        assert up + down + walk.stays_above(-walk.down, time * unit) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("walk", WALKS)
def test_images_and_waves_agree_where_one_takes_over(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    time, place = SHORT * (walk.down + walk.up) ** 2 / walk.variance, 0.3 * walk.up

    def figures() -> list[float]:
        return [
            walk.arrives_up(time), walk.stays_above(place, time),
            walk.drift_of_up(time), walk.drift_of_stay(place, time),
        ]  # fmt: skip

    images = figures()
    monkeypatch.setitem(Walk.arrives_up.__globals__, "SHORT", 0.0)
    assert figures() == pytest.approx(images, rel=1e-9)


def test_chances_are_those_of_steps() -> None:
    """2,000 walks of many small steps, 1.1 % standard deviation; barriers nearer by the overshoot of a step."""
    rng, step, time = np.random.default_rng(1), 0.05, 6.0
    walk = Walk(0.3, 1.0, 2.0, 2.5)
    steps = rng.normal(walk.drift * step, math.sqrt(step), (2000, round(time / step)))
    path, less = steps.cumsum(axis=1), 0.5826 * math.sqrt(step)
    up, down = (
        np.where(hit.any(axis=1), hit.argmax(axis=1), 10**6) for hit in (path >= 2.5 - less, path <= less - 2.0)
    )
    assert walk.arrives_up(time) == pytest.approx(np.mean(up < down), abs=0.035)
    stay = (up == down) & (path[:, -1] > 0.5)
    assert walk.stays_above(0.5, time) == pytest.approx(np.mean(stay), abs=0.035)


@pytest.mark.parametrize("walk", WALKS[:3])
def test_estimated_drift_is_right_on_average(walk: Walk) -> None:
    """Summed over all ends, each with its probability."""
    end = 0.7 * (walk.down + walk.up) ** 2 / walk.variance
    times = np.linspace(0, end, 4001)[1:]
    middles = times - times[0] / 2
    total = 0.0
    for one, sign in ((walk, 1), (walk.mirrored, -1)):
        arrived = np.diff([0.0, *map(one.arrives_up, times)])
        total += sign * float(
            arrived @ [one.drift_of_up(t) if p > 0 else 0.0 for t, p in zip(middles, arrived, strict=True)]
        )
    places = np.linspace(-walk.down, walk.up, 2001)
    above = -np.diff([walk.stays_above(x, end) for x in places])
    total += float(above @ [walk.drift_of_stay(x, end) for x in (places[1:] + places[:-1]) / 2])
    assert total == pytest.approx(walk.drift, abs=0.002)


# --- the Elo ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("elo", "draws", "pulled"), [(0, "few", -10.0), (70, "few", 8.0)])
def test_bias_and_coverage_of_stopped_matches(elo: float, draws: str, pulled: float) -> None:
    """250 matches, 1.5 % standard deviation: the counted Elo is pulled outwards, the corrected one is not."""
    found = benchmark("intervals").sprt_row("0,60", elo, draws, 2000, 250)
    assert found["bias_counted"] / pulled > 1
    assert abs(found["bias"]) < 0.6 * abs(found["bias_counted"])
    assert 0.9 <= found["coverage"] <= 0.98
    assert found["coverage_counted"] < found["coverage"] + 0.02


def test_swapping_sides_and_bounds_negates_everything() -> None:
    for counts, lower in (((11, 11, 34, 11, 41), 0), ((10, 26, 60, 30, 20), -20)):
        there = elo_after_sprt(counts, Sprt(lower, 20))
        back = elo_after_sprt(counts[::-1], Sprt(-20, -lower))
        assert there is not None
        assert back is not None
        assert (there.elo, there.low, there.high) == pytest.approx((-back.elo, -back.high, -back.low), abs=1e-3)
        assert (there.nelo, there.los) == pytest.approx((-back.nelo, 1 - back.los), abs=1e-3)


def test_an_undecided_match_far_from_its_bounds_has_the_usual_figures() -> None:
    counts = (3, 9, 20, 14, 6)
    found, plain = elo_after_sprt(counts, Sprt(-5, 5)), elo_from_pairs(counts)
    assert found is not None
    assert (found.elo, found.low, found.high, found.los, found.nelo) == pytest.approx(
        (plain.elo, plain.low, plain.high, plain.los, plain.nelo), abs=0.05
    )


@pytest.mark.parametrize(
    "counts", [(0, 0, 0, 0, 40), (0, 0, 900, 0, 0), (0, 0, 1, 4, 35), (0, 0, 9, 60, 0), (7, 0, 0, 0, 0)]
)
def test_what_is_no_even_walk_is_not_corrected(counts: tuple[int, ...]) -> None:
    assert elo_after_sprt(counts, Sprt(0, 20)) is None


# --- where it is said ------------------------------------------------------------------------------------------------
def test_result_says_what_is_corrected_and_what_is_not() -> None:
    game = get_game("connect_four")
    a, b = (parse_agent(text, game) for text in ("handwritten:threats@depth=2", "handwritten:lines@depth=2"))
    found = play_match(game, a, b, MatchSettings(pairs=300, seed=2, sprt=Sprt(0, 50)))
    counted = elo_from_pairs(found.pair_counts)
    assert found.sprt is not None
    assert found.sprt.decision == "H1"
    assert found.stop is not None
    assert found.stop.elo_corrected
    assert (found.stop.elo_as_counted, found.stop.low_as_counted) == (counted.elo, counted.low)
    assert found.elo.elo < counted.elo
    assert found.stop.uncorrected == ("score", "margin", "luck", "curve")
    assert found.to_json()["stop"]["elo_as_counted"] == counted.elo
    assert found.to_json()["elo"] == found.elo.elo
    assert play_match(game, a, b, MatchSettings(pairs=3, seed=2)).stop is None


def test_lopsided_match_is_marked() -> None:
    game = get_game("connect_four")
    a, b = (parse_agent(text, game) for text in ("handwritten:threats@depth=2", "random"))
    found = play_match(game, a, b, MatchSettings(pairs=300, seed=2, sprt=Sprt(0, 50)))
    assert found.stop is not None
    assert not found.stop.elo_corrected
    assert found.stop.uncorrected[:3] == ("elo", "nelo", "los")
    assert found.elo == elo_from_pairs(found.pair_counts)
