from __future__ import annotations

import math

import numpy as np
import pytest

from evallearn.arena.bootstrap import FEWEST_FOR_A_SLOPE, Adjusted, Mean, bootstrap_mean, control_variate
from evallearn.errors import SpecError

POINTS = np.array([-3, -2, -1, 1, 2, 3])
CHANCES = np.array([0.01, 0.11, 0.33, 0.36, 0.17, 0.02])
"""Of backgammon: plain games, gammons, backgammons, for a player who is somewhat stronger."""
ONE_SIDED = np.array([0.002, 0.018, 0.13, 0.5, 0.25, 0.1])
"""Against a weak one."""


def coverage(draw: np.ndarray, truth: float) -> float:
    """Of one interval for each row."""
    found = [bootstrap_mean(row, seed=i, resamples=1000) for i, row in enumerate(draw)]
    return float(np.mean([m.low <= truth <= m.high for m in found]))


@pytest.mark.parametrize("n", [10, 30, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("chances", [CHANCES, ONE_SIDED])
def test_interval_covers_the_mean_of_points(n: int, chances: np.ndarray) -> None:
    """1000 samples: 0.7 % standard deviation."""
    draw = np.random.default_rng(n).choice(POINTS, (1000, n), p=chances)
    assert 0.93 <= coverage(draw, float(POINTS @ chances)) <= 0.98


@pytest.mark.long
def test_interval_covers_the_mean_of_very_skewed_data_better_than_the_normal_one() -> None:
    draw = np.random.default_rng(2).exponential(size=(1000, 20))
    errors = draw.std(axis=1, ddof=1) / math.sqrt(20)
    normal = float(np.mean(np.abs(draw.mean(axis=1) - 1) <= 1.96 * errors))
    found = coverage(draw, 1.0)
    assert normal < 0.915
    assert 0.93 <= found <= 0.97


@pytest.mark.long
def test_many_values_give_the_normal_interval() -> None:
    values = np.random.default_rng(3).normal(2, 5, 3000)
    found = bootstrap_mean(values, seed=1)
    error = float(values.std(ddof=1)) / math.sqrt(3000)
    assert (found.value, found.standard_error, found.n) == pytest.approx((float(values.mean()), error, 3000))
    assert (found.low, found.high) == pytest.approx(
        (found.value - 1.96 * error, found.value + 1.96 * error), abs=0.1 * error
    )


def test_interval_turns_with_the_sign_and_moves_with_the_values() -> None:
    values = np.random.default_rng(3).exponential(size=40)
    plain, moved = bootstrap_mean(values), bootstrap_mean(10 + 2 * values)
    assert (moved.low, moved.high) == pytest.approx((10 + 2 * plain.low, 10 + 2 * plain.high))
    assert plain.high - plain.value > 1.1 * (plain.value - plain.low)


def test_same_seed_same_interval() -> None:
    values = [1.0, 2.0, -1.0, 3.0, 1.0, -2.0]
    assert bootstrap_mean(values, seed=4) == bootstrap_mean(values, seed=4)
    assert bootstrap_mean(values, seed=4) != bootstrap_mean(values, seed=5)


@pytest.mark.parametrize("values", [[2.5], [2.5] * 9, [0.1] * 3])
def test_values_that_do_not_vary_have_an_interval_without_width(values: list[float]) -> None:
    v = values[0]
    assert bootstrap_mean(values) == Mean(pytest.approx(v), pytest.approx(v), pytest.approx(v), 0.0, len(values))


def test_two_values_have_a_finite_interval() -> None:
    found = bootstrap_mean([0.0, 1.0])
    assert found.low < 0.5 < found.high
    assert math.isfinite(found.low)
    assert math.isfinite(found.high)


def test_small_samples_are_no_narrower_than_students() -> None:
    """Student's t with 4 degrees of freedom: 2.776."""
    found = bootstrap_mean([1.0, 1.0, 1.0, 1.0, 2.0])
    assert min(found.high - found.value, found.value - found.low) >= 2.76 * found.standard_error


# --- luck ------------------------------------------------------------------------------------------------------------
def test_luck_is_taken_off_by_its_slope() -> None:
    rng = np.random.default_rng(6)
    luck, skill = rng.normal(0, 2, 500), rng.normal(0.3, 0.5, 500)
    found = control_variate(skill + 0.7 * luck, luck)
    assert found.slope == pytest.approx(0.7, abs=0.05)
    assert found.variance_ratio == pytest.approx(0.25 / (0.25 + 0.49 * 4), rel=0.2)
    assert found.values == pytest.approx(skill + 0.7 * luck - found.slope * luck)


def test_adjusting_does_not_bias_even_with_skewed_luck() -> None:
    """20 values, 4000 times: the mean of the adjusted means is off by less than a tenth of one standard error."""
    rng = np.random.default_rng(7)
    luck = rng.exponential(1, (4000, 20)) - 1
    values = 0.2 + luck + rng.normal(0, 0.5, (4000, 20))
    means = [np.mean(control_variate(x, y).values) for x, y in zip(values, luck, strict=True)]
    assert np.mean(means) == pytest.approx(0.2, abs=0.1 * np.std(means))
    assert np.std(means) < 0.6 * np.std(values.mean(axis=1))


@pytest.mark.parametrize("n", [FEWEST_FOR_A_SLOPE, 50])
def test_interval_without_luck_holds_the_truth(n: int) -> None:
    """400 samples of skewed noise and luck, 1.1 % standard deviation; see `benchmarks/intervals.py margins`."""
    rng, held = np.random.default_rng(n), 0
    for i in range(400):
        luck = rng.normal(size=n)
        found = control_variate(0.9 * luck + 0.6 * rng.exponential(size=n), luck).mean(seed=i, resamples=400)
        held += found.low <= 0.6 <= found.high
    assert 0.93 <= held / 400 <= 0.98


def test_error_of_the_slope_is_that_of_least_squares() -> None:
    rng = np.random.default_rng(9)
    luck = rng.normal(0.5, 1, 20)
    values = 0.3 + 0.8 * luck + rng.normal(0, 0.5, 20)
    design = np.column_stack([np.ones(20), luck])
    (intercept, slope), squares, *_ = np.linalg.lstsq(design, values)
    error = math.sqrt(squares[0] / 18 * np.linalg.inv(design.T @ design)[0, 0])
    found = control_variate(values.tolist(), luck.tolist())
    mean = found.mean()
    assert (mean.value, found.slope, mean.standard_error) == pytest.approx((intercept, slope, error))
    assert min(mean.high - mean.value, mean.value - mean.low) >= 2.1 * error  # Student's t with 18 degrees of freedom


def test_useless_luck_does_no_harm() -> None:
    rng = np.random.default_rng(8)
    found = control_variate(rng.normal(size=300), rng.normal(size=300))
    assert found.slope == pytest.approx(0, abs=0.15)
    assert found.variance_ratio == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(
    ("values", "luck"),
    [
        ([1.0, 2.0], [0.5, 1.0]),
        (list(range(FEWEST_FOR_A_SLOPE - 1)), list(range(FEWEST_FOR_A_SLOPE - 1))),
        (list(range(20)), [0.1] * 20),
        (list(range(20)), [0.0] * 20),
        ([3.0] * 20, list(range(20))),
    ],
)
def test_luck_that_cannot_be_judged_is_left_alone(values: list[float], luck: list[float]) -> None:
    assert control_variate(values, luck) == Adjusted(tuple(values), 0.0, 1.0)


# --- refusals --------------------------------------------------------------------------------------------------------
def test_senseless_values_are_refused() -> None:
    with pytest.raises(SpecError, match="values of shape .0,.: give one value or more"):
        bootstrap_mean([])
    with pytest.raises(SpecError, match=r"values\[1\] is nan: leave out what is not a number"):
        bootstrap_mean([1.0, math.nan])
    with pytest.raises(SpecError, match="bootstrap with 5 resamples"):
        bootstrap_mean([1.0, 2.0], resamples=5)
    with pytest.raises(SpecError, match="2 values and 1 figures of luck"):
        control_variate([1.0, 2.0], [1.0])
    with pytest.raises(SpecError, match=r"luck\[0\] is inf"):
        control_variate([1.0, 2.0], [math.inf, 1.0])
