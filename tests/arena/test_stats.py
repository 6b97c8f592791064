from __future__ import annotations

import itertools
import json
import math
from dataclasses import asdict

import numpy as np
import pytest

from evallearn.arena.stats import (
    ELO_LIMIT,
    GAME_SCORES,
    NELO,
    PAIR_SCORES,
    EloEstimate,
    believed,
    elo_from_games,
    elo_from_pairs,
    elo_of_score,
    rising_root,
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


def random_truths(results: int, how_many: int) -> list[np.ndarray]:
    """Elo and draw rate at random; of pairs also the bias of openings, and how often both games end alike."""
    rng = np.random.default_rng(results)
    found = []
    for _ in range(how_many):
        elo, rate = rng.normal(0, 250), rng.uniform(0, 0.95)
        draws = 2 * rate / (1 - rate)
        bias, rho = rng.uniform(0, 500), max(0.0, rng.uniform(-0.5, 0.8))
        same = np.zeros(5)
        same[::2] = (one_game(elo + bias, draws) + one_game(elo - bias, draws)) / 2
        pairs = (1 - rho) * two_games(elo, draws, bias) + rho * same
        found.append(one_game(elo, draws) if results == 3 else pairs)
    return found


def every_sample(n: int, results: int = 5) -> np.ndarray:
    """int[k, results]: all ways in which n pairs or games can come out."""
    bars = np.array(list(itertools.combinations(range(n + results - 1), results - 1)))
    return np.diff(bars, axis=1, prepend=-1, append=n + results - 1) - 1


def probabilities(samples: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Multinomial, exact."""
    factorials = np.array([math.lgamma(i + 1) for i in range(int(samples[0].sum()) + 1)])
    ways = factorials[-1] - factorials[samples].sum(axis=1)
    logs = np.where(truth > 0, np.log(np.where(truth > 0, truth, 1)), -1e9)
    return np.asarray(np.exp(ways + samples @ logs))


def coverage(samples: np.ndarray, weights: np.ndarray, ends: np.ndarray, truth: np.ndarray) -> float:
    mean = float(truth @ (X if len(truth) == 5 else np.array(GAME_SCORES)))
    hits = (ends[:, 0] <= mean + 1e-12) & (mean - 1e-12 <= ends[:, 1])
    return float(weights @ hits)


def spread(truth: np.ndarray) -> float:
    return float(np.sqrt(truth @ X**2 - (truth @ X) ** 2))


SMALL = [(3, 5), (3, 10), (3, 20), (3, 50), (5, 5), (5, 10), (5, 12)]


def small_coverages(results: int, n: int, narrower: float = 1.0) -> list[float]:
    """Exact, of 200 random truths; intervals may be narrowed about the score, to see that it shows."""
    samples = every_sample(n, results)
    ends = np.array([score_interval(sample) for sample in samples.tolist()])
    scores = samples @ np.linspace(0, 1, results)[:, None] / n
    ends = scores + (ends - scores) * narrower
    return [coverage(samples, probabilities(samples, p), ends, p) for p in random_truths(results, 200)]


@pytest.mark.parametrize(("results", "n"), SMALL)
def test_interval_covers_93_to_97_percent_of_random_truths_exactly_counted(results: int, n: int) -> None:
    """No interval can do it for each single truth, since counts are whole: 82 % was the least seen."""
    found = small_coverages(results, n)
    assert 0.93 <= np.mean(found) <= 0.97
    assert min(found) >= 0.82


def test_coverage_would_show_an_interval_that_is_ten_percent_too_narrow() -> None:
    assert np.mean(small_coverages(3, 50, narrower=0.9)) < 0.93


@pytest.mark.parametrize(("n", "least", "most"), [(10, 0.86, 0.99)])
def test_interval_covers_each_known_truth_in_tiny_samples_as_far_as_it_can(n: int, least: float, most: float) -> None:
    """Where pairs hardly vary (draws, biased openings) a handful of them cannot show it: there it may be wide."""
    samples = every_sample(n)
    ends = np.array([score_interval(sample) for sample in samples.tolist()])
    found = {k: coverage(samples, probabilities(samples, p), ends, p) for k, p in TRUTHS.items()}
    assert min(found.values()) >= least, min(found, key=found.__getitem__)
    varied = {k: v for k, v in found.items() if spread(TRUTHS[k]) > 0.25}
    assert len(varied) > 20
    assert max(varied.values()) <= most, max(varied, key=varied.__getitem__)
    assert 0.94 <= np.median(list(varied.values())) <= 0.965


@pytest.mark.long
@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("results", [3, 5])
def test_interval_covers_95_percent_in_larger_samples(results: int, n: int) -> None:
    """200 random truths of 20 samples each: the mean is known to 0.35 %, and an interval 10 % too narrow has 92.2 %."""
    rng = np.random.default_rng(n)
    hits = []
    for truth in random_truths(results, 200):
        samples = rng.multinomial(n, truth, 20)
        ends = np.array([score_interval(sample) for sample in samples.tolist()])
        hits.append(coverage(samples, np.full(20, 1 / 20), ends, truth))
    assert 0.94 <= np.mean(hits) <= 0.96


# --- known values ----------------------------------------------------------------------------------------------------
def test_elo_of_known_scores() -> None:
    assert elo_of_score(0.5) == 0
    assert elo_of_score(0.75) == pytest.approx(190.85, abs=0.005)
    assert elo_of_score(10 / 11) == pytest.approx(400)
    assert score_of_elo(200) == pytest.approx(0.7597, abs=5e-5)


def test_pairs_that_are_coins_give_jeffreys_interval() -> None:
    """Both games alike, 7 of 10 won: the middle 95 % of a beta distribution with 7.5 and 3.5 is (0.3942, 0.9073)."""
    assert score_interval([3, 0, 0, 0, 7]) == pytest.approx((0.3942, 0.9073), abs=5e-4)


@pytest.mark.parametrize(
    "counts",
    [
        [1, 3, 5, 4, 2],
        *(pytest.param(c, marks=pytest.mark.long) for c in ([0, 0, 9, 1, 0], [0, 0, 1, 2, 12], [4, 3, 9])),
    ],
)
def test_interval_is_that_of_a_million_draws_from_what_is_believed(counts: list[int]) -> None:
    """The saddle point approximation against plain simulation of the Dirichlet distribution."""
    weights = np.random.default_rng(3).standard_gamma(believed(counts), (1_000_000, len(counts)))
    means = weights @ np.linspace(0, 1, len(counts)) / weights.sum(axis=1)
    assert score_interval(counts) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=4e-3)
    estimate = elo_from_pairs(counts) if len(counts) == 5 else elo_from_games(counts[2], counts[1], counts[0])
    assert estimate.los == pytest.approx(float((means > 0.5).mean()), abs=0.02)


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
    assert (found.los, found.nelo) == (0.5, 0)


@pytest.mark.parametrize(
    "counts", [[0, 0, 7, 0, 0], [1, 0, 1, 2, 0], [4, 0, 0, 0, 4], [0, 1, 0, 1, 0], [1, 2, 0, 0, 2]]
)
def test_even_score_is_likelihood_one_half_exactly(counts: list[int]) -> None:
    assert elo_from_pairs(counts).los == 0.5


def test_games_are_counted_one_by_one() -> None:
    found = elo_from_games(wins=40, draws=30, losses=30)
    assert (found.score, found.samples, found.pairs) == (0.55, 100, 0)
    variance = 0.4 + 0.3 / 4 - 0.55**2
    assert found.nelo == pytest.approx(0.05 / math.sqrt(variance) * NELO)
    assert 0.8 < found.los < 0.9
    mirror = elo_from_games(wins=30, draws=30, losses=40)
    assert (mirror.elo, mirror.low, mirror.los) == pytest.approx((-found.elo, -found.high, 1 - found.los))


def test_normalised_elo_is_elo_for_coins_and_more_for_draws() -> None:
    coins, draws = elo_from_games(510, 0, 490), elo_from_games(60, 900, 40)
    assert coins.elo == pytest.approx(draws.elo)
    assert coins.nelo == pytest.approx(coins.elo, rel=1e-3)
    assert draws.nelo == pytest.approx(coins.nelo / math.sqrt(0.1), rel=0.01)


def test_pairs_that_are_independent_games_have_the_games_normalised_elo() -> None:
    """Losses, draws, wins 2 : 3 : 5, convolved with themselves."""
    pairs, games = elo_from_pairs([40, 120, 290, 300, 250]), elo_from_games(1000, 600, 400)
    assert (pairs.nelo, pairs.score) == pytest.approx((games.nelo, games.score))
    assert (pairs.nelo_low, pairs.nelo_high) == pytest.approx((games.nelo_low, games.nelo_high), rel=0.02)


def test_normalised_interval_covers_the_truth() -> None:
    """Two truths, 1000 samples each; three standard deviations of that are 2.1 %."""
    rng = np.random.default_rng(4)
    for truth in (two_games(100, 1, 200), two_games(20, 6, 0)):
        mean = float(truth @ X)
        nelo = (mean - 0.5) / (spread(truth) * math.sqrt(2)) * NELO
        found = [elo_from_pairs(c) for c in rng.multinomial(60, truth, 1000).tolist()]
        assert 0.93 <= np.mean([e.nelo_low <= nelo <= e.nelo_high for e in found]) <= 0.97


def test_superiority_passes_975_where_the_interval_leaves_zero() -> None:
    for counts in every_sample(8).tolist():
        found = elo_from_pairs(counts)
        if found.score != 0.5 and counts[0] < 8 and counts[-1] < 8 and abs(found.los - 0.975) > 1e-4:
            assert (found.los > 0.975) == (found.low > 0)


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
            assert (found.elo, found.low) == pytest.approx((-mirror.elo, -mirror.high), abs=1e-5)
            assert (found.nelo, found.nelo_low) == pytest.approx((-mirror.nelo, -mirror.nelo_high), abs=1e-5)
            assert found.los == pytest.approx(1 - mirror.los, abs=1e-9)
            assert found.nelo_low <= found.nelo <= found.nelo_high
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
    assert str(EloEstimate(35.2, -3.7, 74.4, 0.55, 100, 100, 0.96, 40.0, -4.0, 80.0)) == "+35 Elo [-4, +74]"


@pytest.mark.parametrize("counts", [[0, 0, 0, 0, 0], [1, 2, 3], [1, -1, 3, 0, 0]])
def test_senseless_counts_are_refused(counts: list[int]) -> None:
    with pytest.raises(SpecError, match="give five, for 0, 1/2, 1, 3/2 and 2 points"):
        elo_from_pairs(counts)


@pytest.mark.parametrize("counts", [(0, 0, 0), (1, -1, 3)])
def test_senseless_games_are_refused(counts: tuple[int, int, int]) -> None:
    with pytest.raises(SpecError, match="give none below 0, and one game or more"):
        elo_from_games(*counts)


@pytest.mark.parametrize("counts", [[1, 2, 3, 4], [0, 0, 0], [1, -1, 3, 0, 0]])
def test_interval_of_senseless_counts_is_refused(counts: list[int]) -> None:
    with pytest.raises(SpecError, match="or three .losses, draws, wins., none below 0"):
        score_interval(counts)


def test_root_is_found_or_the_nearer_end() -> None:
    assert rising_root(lambda v: v**3 - 2, 0, 4) == pytest.approx(2 ** (1 / 3))
    assert rising_root(lambda v: v, 1, 2) == 1
    assert rising_root(lambda v: v, -2, -1) == -1
