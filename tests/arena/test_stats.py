from __future__ import annotations

import itertools
import json
import math
from dataclasses import asdict

import numpy as np
import pytest

from evallearn.arena.stats import (
    ELO_LIMIT,
    PAIR_SCORES,
    EloEstimate,
    elo_from_pairs,
    elo_of_score,
    score_interval,
    score_of_elo,
)
from evallearn.errors import SpecError

X = np.array(PAIR_SCORES)


# --- pairs with a known truth ----------------------------------------------------------------------------------------
def one_game(elo: float, draws: float) -> np.ndarray:
    """Probabilities of loss, draw, win (Davidson's model)."""
    p = np.array([10 ** (-elo / 800), draws, 10 ** (elo / 800)])
    return np.asarray(p / p.sum())


def two_games(elo: float, draws: float, bias: float) -> np.ndarray:
    """Pair scores where each opening favours one seat by `bias` Elo: the two games are negatively correlated."""
    return np.convolve(one_game(elo + bias, draws), one_game(elo - bias, draws))


def alike(p: float, rho: float) -> np.ndarray:
    """Pair scores without draws where the second game repeats the first with probability rho."""
    same, free = np.array([1 - p, 0, 0, 0, p]), np.array([(1 - p) ** 2, 0, 2 * p * (1 - p), 0, p * p])
    return rho * same + (1 - rho) * free


TRUTHS = {
    f"elo {elo}, draws {draws}, bias {bias}": two_games(elo, draws, bias)
    for elo in (0, 20, 100, 300, 600)
    for draws, bias in ((0, 0), (1, 0), (10, 0), (0.5, 400), (0.5, 1200))
}
TRUTHS |= {f"p {p}, alike {rho}": alike(p, rho) for p in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95) for rho in (0.3, 0.8, 1.0)}
TRUTHS |= {
    "uniform": np.full(5, 0.2),
    "win and draw": np.array([0, 0, 0.1, 0.8, 0.1]),
    "skew": X[[1, 1, 1, 1, 2]] / 1.5,
}


def every_sample(n: int) -> np.ndarray:
    """int[k, 5]: all ways in which n pairs can come out."""
    bars = np.array(list(itertools.combinations(range(n + 4), 4)))
    return np.diff(bars, axis=1, prepend=-1, append=n + 4) - 1


def probabilities(samples: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Multinomial, exact."""
    factorials = np.array([math.lgamma(i + 1) for i in range(int(samples[0].sum()) + 1)])
    ways = factorials[-1] - factorials[samples].sum(axis=1)
    logs = np.where(truth > 0, np.log(np.where(truth > 0, truth, 1)), -1e9)
    return np.asarray(np.exp(ways + samples @ logs))


def coverage(samples: np.ndarray, weights: np.ndarray, ends: np.ndarray, truth: np.ndarray) -> float:
    mean = float(truth @ X)
    hits = (ends[:, 0] <= mean + 1e-12) & (mean - 1e-12 <= ends[:, 1])
    return float(weights @ hits)


def spread(truth: np.ndarray) -> float:
    return float(np.sqrt(truth @ X**2 - (truth @ X) ** 2))


@pytest.mark.parametrize(("n", "least", "most"), [(10, 0.91, 0.985), (20, 0.92, 0.98)])
def test_interval_covers_the_truth_in_tiny_samples_exactly_counted(n: int, least: float, most: float) -> None:
    """Where pairs hardly vary (draws, biased openings) a handful of them cannot show it: there it may be wide.

    The bounds are those of Wilson's own interval for n coins (pairs whose games are alike), which jumps with p.
    """
    samples = every_sample(n)
    ends = np.array([score_interval(sample) for sample in samples.tolist()])
    found = {k: coverage(samples, probabilities(samples, p), ends, p) for k, p in TRUTHS.items()}
    assert min(found.values()) >= least, min(found, key=found.__getitem__)
    varied = {k: v for k, v in found.items() if spread(TRUTHS[k]) > 0.25}
    assert len(varied) > 20
    assert max(varied.values()) <= most, max(varied, key=varied.__getitem__)
    assert 0.94 <= np.median(list(varied.values())) <= 0.965


@pytest.mark.parametrize(("n", "least_spread"), [(100, 0.1), (1000, 0.0)])
def test_interval_covers_93_to_97_percent_in_larger_samples(n: int, least_spread: float) -> None:
    rng = np.random.default_rng(n)
    found = {}
    for name, truth in TRUTHS.items():
        if spread(truth) < least_spread:
            continue
        samples, times = np.unique(rng.multinomial(n, truth, 4000), axis=0, return_counts=True)
        ends = np.array([score_interval(sample) for sample in samples.tolist()])
        found[name] = coverage(samples, times / 4000, ends, truth)
    noise = 3 * math.sqrt(0.95 * 0.05 / 4000)
    assert min(found.values()) >= 0.94 - noise, min(found, key=found.__getitem__)
    assert max(found.values()) <= 0.97 + noise, max(found, key=found.__getitem__)


# --- known values ----------------------------------------------------------------------------------------------------
def test_elo_of_known_scores() -> None:
    assert elo_of_score(0.5) == 0
    assert elo_of_score(0.75) == pytest.approx(190.85, abs=0.005)
    assert elo_of_score(10 / 11) == pytest.approx(400)
    assert score_of_elo(200) == pytest.approx(0.7597, abs=5e-5)


def test_pairs_that_are_coins_give_wilsons_interval() -> None:
    """Both games alike, 7 of 10 won: Wilson's 95 % interval is (0.3968, 0.8922)."""
    assert score_interval([3, 0, 0, 0, 7]) == pytest.approx((0.3968, 0.8922), abs=5e-5)


def test_many_pairs_give_the_normal_interval() -> None:
    counts = [1000, 2000, 4000, 3000, 1500]
    n = sum(counts)
    mean = counts @ X / n
    half = 1.96 * math.sqrt((counts @ X**2 / n - mean**2) / n)
    assert score_interval(counts) == pytest.approx((mean - half, mean + half), abs=2e-5)


def test_even_match_is_zero_in_the_middle() -> None:
    found = elo_from_pairs([3, 5, 9, 5, 3])
    assert found.elo == 0
    assert found.score == 0.5
    assert found.pairs == 25
    assert found.low == pytest.approx(-found.high)


@pytest.mark.parametrize("n", [1, 10, 1000, 10**7])
def test_all_games_won_is_half_a_point_less_and_open_above(n: int) -> None:
    found = elo_from_pairs([0, 0, 0, 0, n])
    assert found.score == 1.0
    assert found.elo == pytest.approx(min(ELO_LIMIT, elo_of_score(1 - 1 / (4 * n))))
    assert found.low <= found.elo <= found.high == ELO_LIMIT


def test_all_games_lost_mirrors_all_won() -> None:
    won, lost = elo_from_pairs([0, 0, 0, 0, 12]), elo_from_pairs([12, 0, 0, 0, 0])
    assert (lost.elo, lost.low, lost.high) == pytest.approx((-won.elo, -won.high, -won.low))


def test_all_draws_is_zero_and_narrows_with_the_pairs() -> None:
    few, many = elo_from_pairs([0, 0, 10, 0, 0]), elo_from_pairs([0, 0, 1000, 0, 0])
    assert few.elo == many.elo == 0
    assert 40 < few.high < 80
    assert 0 < many.high < 1


def test_every_small_sample_is_ordered_finite_and_mirrored() -> None:
    for n in range(1, 7):
        for counts in every_sample(n).tolist():
            found, mirror = elo_from_pairs(counts), elo_from_pairs(counts[::-1])
            assert -ELO_LIMIT <= found.low < found.elo < found.high <= ELO_LIMIT
            assert (found.elo, found.low) == pytest.approx((-mirror.elo, -mirror.high), abs=1e-6)
            json.dumps(asdict(found), allow_nan=False)


def test_elo_and_interval_rise_with_the_score() -> None:
    chain = [elo_from_pairs([20 - i, 0, 0, 0, i]) for i in range(21)]
    for worse, better in itertools.pairwise(chain):
        assert worse.elo < better.elo
        assert worse.low < better.low
        assert worse.high <= better.high


def test_interval_narrows_with_the_pairs() -> None:
    widths = [e.high - e.low for e in (elo_from_pairs([k, 2 * k, 4 * k, 3 * k, k]) for k in (1, 4, 16, 64))]
    assert widths == sorted(widths, reverse=True)
    assert widths[2] / widths[3] == pytest.approx(2, rel=0.02)


def test_estimate_reads_well() -> None:
    assert str(EloEstimate(35.2, -3.7, 74.4, 0.55, 100)) == "+35 Elo [-4, +74]"


@pytest.mark.parametrize("counts", [[0, 0, 0, 0, 0], [1, 2, 3], [1, -1, 3, 0, 0]])
def test_senseless_counts_are_refused(counts: list[int]) -> None:
    with pytest.raises(SpecError, match="give five, for 0, 1/2, 1, 3/2 and 2 points"):
        elo_from_pairs(counts)
