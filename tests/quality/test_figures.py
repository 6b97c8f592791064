"""The arithmetic of quality: figures of tiny cases, computed by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from evallearn.core.shares import jeffreys
from evallearn.quality.figures import (
    Figure,
    agreement,
    bounded_mean,
    correlation,
    kendall,
    kept,
    loss,
    mean,
    ranks,
    share,
    spearman,
)

SAME = 1e-7


def a(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float64)


def test_the_best_looking_action_counts() -> None:
    looks, truth = a(0.1, 0.9, 0.3), a(1.0, 0.5, -1.0)
    assert agreement(looks, truth, SAME) == 0.0
    assert loss(looks, truth, SAME) == 0.5
    assert kept(looks, truth, SAME, 0.0) == 1.0  # half a win is still better than a draw


def test_ties_count_in_equal_parts() -> None:
    looks, truth = a(0.5, 0.5, 0.5, 0.1), a(1.0, 0.0, -1.0, 1.0)
    assert agreement(looks, truth, SAME) == pytest.approx(1 / 3)
    assert loss(looks, truth, SAME) == pytest.approx((0 + 1 + 2) / 3)
    assert kept(looks, truth, SAME, 0.0) == pytest.approx(1 / 3)


def test_two_best_actions_are_both_right() -> None:
    assert agreement(a(0.2, 0.3), a(0.7, 0.7), SAME) == 1.0


def test_a_lost_position_is_kept_by_any_action() -> None:
    assert kept(a(0.9, 0.0), a(-1.0, -1.0), SAME, 0.0) == 1.0


def test_outcomes_are_counted_from_the_middle() -> None:
    assert kept(a(1.0, 0.0), a(0.2, 0.3), SAME, 0.25) == 0.0  # on other sides of 0.25
    assert kept(a(1.0, 0.0), a(0.2, 0.3), SAME, 0.0) == 1.0


def test_kendall_by_hand() -> None:
    assert kendall(a(1, 2, 3), a(1, 2, 3), SAME) == 1.0
    assert kendall(a(3, 2, 1), a(1, 2, 3), SAME) == -1.0
    # three pairs: (1,2) and (1,3) agree, (2,3) does not: (2 - 1) / 3
    assert kendall(a(1, 3, 2), a(1, 2, 3), SAME) == pytest.approx(1 / 3)
    # truth ties one pair: 2 agree of sqrt(3 * 2) possible
    assert kendall(a(1, 2, 3), a(1, 2, 2), SAME) == pytest.approx(2 / math.sqrt(6))


def test_kendall_where_somebody_sees_no_order() -> None:
    assert math.isnan(kendall(a(1, 2, 3), a(5, 5, 5), SAME))
    assert kendall(a(5, 5, 5), a(1, 2, 3), SAME) == 0.0


def test_ranks_share_ties() -> None:
    assert ranks(a(10, 30, 10, 20)).tolist() == [1.5, 4.0, 1.5, 3.0]


def test_spearman_by_hand() -> None:
    assert spearman(a(1, 2, 3, 4), a(10, 100, 1000, 10000)) == pytest.approx(1.0)
    # 1 - 6 * sum(d^2) / (n (n^2 - 1)), d = (0, 1, 1, 0)
    assert spearman(a(1, 2, 3, 4), a(1, 3, 2, 4)) == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert math.isnan(spearman(a(1, 2, 3), a(4, 4, 4)))
    assert spearman(a(4, 4, 4), a(1, 2, 3)) == 0.0


def test_mean_has_the_error_of_theory() -> None:
    x = np.random.default_rng(3).normal(2.0, 1.0, 400)
    found = mean(x)
    assert found is not None
    assert found.value == pytest.approx(x.mean())
    assert found.error == pytest.approx(x.std() / math.sqrt(400), rel=0.01)
    assert found.high - found.low == pytest.approx(2 * 1.96 * found.error, rel=0.15)
    assert found == mean(x)
    assert found != mean(x, seed=1)


@pytest.mark.parametrize("figure", [share, mean, lambda x: bounded_mean(x, 0.0, 3.0)])
def test_what_says_nothing_is_left_out(figure: Callable[[list[float]], Figure | None]) -> None:
    found = figure([1.0, math.nan, 0.5])
    assert found is not None
    assert (found.value, found.n) == (0.75, 2)
    assert figure([]) is None
    assert figure([math.nan]) is None


def test_equal_values_between_bounds_have_a_width() -> None:
    found = bounded_mean([0.0] * 20, -2.0, 2.0)
    assert found is not None
    assert -0.5 < found.low < found.value == 0.0 < found.high < 0.5
    none_lost = bounded_mean([0.0] * 20, 0.0, 2.0)
    assert none_lost is not None
    assert (none_lost.low, none_lost.value) == (0.0, 0.0)
    assert none_lost.high == pytest.approx(2 * jeffreys(0, 20)[1])


@pytest.mark.parametrize("n", [50, 200])
def test_coverage_of_what_is_given_away(n: int) -> None:
    """Most choices lose nothing, a few a draw or a win: 2,000 samples, 0.5 % standard deviation."""
    chances = [0.93, 0.05, 0.02]
    samples = np.random.default_rng(n).choice([0.0, 1.0, 2.0], (2000, n), p=chances)
    found = [bounded_mean(x, 0.0, 2.0) for x in samples]
    assert 0.92 <= np.mean([f is not None and f.low <= 0.09 <= f.high for f in found]) <= 0.98


def test_correlation_needs_three_positions_and_a_spread() -> None:
    assert correlation(spearman, a(1, 2), a(1, 2)) is None
    assert correlation(spearman, a(1, 2, 3), a(1, 1, 1)) is None
    found = correlation(spearman, a(1, 2, 3, 4, 5), a(1, 2, 3, 4, 5))
    assert found is not None
    assert (found.value, found.n) == (pytest.approx(1.0), 5)
