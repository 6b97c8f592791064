"""Shares and their intervals: equal to scipy's, and as often right as they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binom

from evallearn.core.shares import GroupSums, jeffreys, share_of

SHARES = np.linspace(0.9, 0.9995, 1000)


@pytest.mark.parametrize(("hits", "trials"), [(1, 2), (19, 20), (49, 50), (700, 1499), (1497, 1499)])
def test_interval_is_the_middle_of_the_beta_distribution(hits: int, trials: int) -> None:
    expected = beta(hits + 0.5, trials - hits + 0.5).ppf([0.025, 0.975])
    assert jeffreys(hits, trials) == pytest.approx(tuple(expected))
    found = share_of([1.0] * hits + [0.0] * (trials - hits))
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((hits / trials, *expected))
    assert found.error == pytest.approx(beta(hits + 0.5, trials - hits + 0.5).std())


def test_all_and_none_have_a_width_and_the_end_itself() -> None:
    every, none = share_of([1.0] * 20), share_of([0.0] * 20)
    assert every is not None
    assert none is not None
    assert (every.value, every.high, none.value, none.low) == (1.0, 1.0, 0.0, 0.0)
    assert every.low == pytest.approx(float(beta(20.5, 0.5).ppf(0.025)))
    assert none.high == pytest.approx(1 - every.low)
    assert every.error == pytest.approx(none.error)
    assert none.error > 0.02
    assert share_of([]) is None


@pytest.mark.parametrize("n", [50, 200, 1499])
def test_coverage_near_one(n: int) -> None:
    """Exact: the probability of each count of hits, and whether its interval holds the truth."""
    hits = np.arange(n + 1)
    low, high = np.array([jeffreys(k, n) for k in hits.tolist()]).T
    found = [binom.pmf(hits, n, p)[(low <= p) & (p <= high)].sum() for p in SHARES]
    assert 0.94 <= np.mean(found) <= 0.97
    assert min(found) >= 0.87


@pytest.mark.parametrize(("games", "records"), [(30, 20), (300, 7)])
@pytest.mark.parametrize(("p", "alike"), [(0.3, 0.2), (0.7, 0.9), (0.95, 0.5)])
def test_coverage_of_games_whose_records_are_alike(games: int, records: int, p: float, alike: float) -> None:
    """1,000 samples: 0.7 % standard deviation. Few games, and records that are nearly independent, get more."""
    rng = np.random.default_rng(3)
    odds = rng.beta(p * (1 / alike - 1), (1 - p) * (1 / alike - 1), (1000, games))
    trials = rng.integers(1, 2 * records, (1000, games))
    found = [share_of(*two) for two in zip(rng.binomial(trials, odds), trials, strict=True)]
    assert 0.93 <= np.mean([s is not None and s.low <= p <= s.high for s in found]) <= 0.99


def test_values_between_hit_and_miss_have_less_spread() -> None:
    halves, coins = share_of([0.5] * 40), share_of([0.0, 1.0] * 20)
    assert halves is not None
    assert coins is not None
    assert halves.value == coins.value == 0.5
    assert halves.high - halves.low < 0.25 * (coins.high - coins.low)


def test_groups_can_come_in_pieces() -> None:
    rng = np.random.default_rng(1)
    trials = rng.integers(0, 9, (50, 3)).astype(float)
    hits = np.floor(trials * rng.random((50, 3)))
    trials[:, 2] = hits[:, 2] = 0
    whole, pieces = GroupSums(3), GroupSums(3)
    whole.add(hits, trials)
    for i in range(0, 50, 7):
        pieces.add(hits[i : i + 7], trials[i : i + 7])
    assert whole.shares()[2] is None
    for a, b, one in zip(whole.shares()[:2], pieces.shares()[:2], (0, 1), strict=True):
        alone = share_of(hits[:, one], trials[:, one])
        assert a is not None
        assert b is not None
        assert alone is not None
        assert (b.low, b.high) == pytest.approx((a.low, a.high))
        assert (alone.low, alone.high) == pytest.approx((a.low, a.high))
