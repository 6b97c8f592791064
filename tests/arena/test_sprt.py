from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from evallearn.arena.sprt import UNSEEN, Sprt, SprtState
from evallearn.arena.stats import (
    GAME_SCORES,
    NELO,
    PAIR_SCORES,
    elo_from_pairs,
    elo_of_score,
    rising_root,
    score_of_elo,
)
from evallearn.errors import SpecError

RUNS = 2000
Truth = Callable[[float], np.ndarray]

MONTYTEST = ((13, 37, 50, 25, 3), 0.0, 4.0, "normalized", -0.54912)
"""Raw statistics of https://montytest.muzhen.org/tests/stats/69d3c8dc7c5b3724e29d2712 (a fishtest server)."""
MONTYTEST_LOGISTIC = ((13, 37, 50, 25, 3), 0.0, 2.716, "logistic", -0.53772)
"""The same page; the logistic bounds are its translation of the normalised ones, given to four digits."""
STOCKFISH = [
    # https://github.com/official-stockfish/Stockfish/pull/6036
    ((1, 1098, 3954, 1346, 1), 0.5, 2.5, "normalized", 2.94),
    ((0, 1236, 4490, 1474, 1), 0.0, 2.0, "normalized", 2.94),
    ((4, 2290, 7932, 2562, 4), 0.5, 2.5, "normalized", 2.95),
    # https://github.com/official-stockfish/Stockfish/pull/3514
    ((264, 5737, 31270, 5964, 269), -0.5, 2.5, "normalized", 2.97),
    ((29, 2205, 35000, 2392, 34), 0.5, 3.5, "normalized", 2.94),
    # https://github.com/official-stockfish/Stockfish/pull/3232
    ((85, 1800, 8241, 1930, 100), -0.25, 1.25, "logistic", 2.94),
    ((56, 2977, 37849, 3255, 51), 0.25, 1.25, "logistic", 2.95),
    # https://github.com/official-stockfish/Stockfish/pull/2493
    ((424, 2948, 5832, 3045, 460), -1.0, 3.0, "logistic", 2.94),
]
PUBLISHED = [MONTYTEST, MONTYTEST_LOGISTIC, *STOCKFISH]


# --- published and independent values --------------------------------------------------------------------------------
def test_llr_is_that_of_the_raw_statistics_page() -> None:
    for counts, elo0, elo1, model, llr in (MONTYTEST, MONTYTEST_LOGISTIC):
        found = Sprt(elo0, elo1, model=model).test(counts)
        # 2.716 is rounded: by 0.0005 of 2.7 Elo, so the LLR by 0.0001
        assert found.llr == pytest.approx(llr, abs=1e-5 if model == "normalized" else 1e-4)
        assert (found.lower, found.upper) == pytest.approx((-2.9444, 2.9444), abs=5e-5)
        assert found.decision is None


def test_elo_is_that_of_the_raw_statistics_page() -> None:
    found = elo_from_pairs(MONTYTEST[0])
    assert found.elo == pytest.approx(-43.6578, abs=5e-5)
    assert found.nelo == pytest.approx(-63.97, abs=0.01)
    assert ((found.score - 0.5) * NELO / found.nelo) ** 2 == pytest.approx(0.11523, abs=1e-5)  # variance per game


@pytest.mark.parametrize(("counts", "elo0", "elo1", "model", "llr"), STOCKFISH)
def test_llr_is_what_fishtest_printed(
    counts: tuple[int, ...], elo0: float, elo1: float, model: str, llr: float
) -> None:
    """It prints two digits, and corrects a little for what the last pairs overshot."""
    assert Sprt(elo0, elo1, model=model).test(counts).llr == pytest.approx(llr, abs=0.01)


def best_likelihood(counts: tuple[int, ...], constraint: Callable[[np.ndarray], float]) -> float:
    """By sequential quadratic programming, over the logarithms of all probabilities at once."""
    c = np.where(np.array(counts) == 0, UNSEEN, counts).astype(float)
    share = c / c.sum()
    found = minimize(
        lambda v: -share @ v,
        np.log(share),
        jac=lambda v: -share,
        constraints=[
            {"type": "eq", "fun": lambda v: constraint(np.exp(v)) * 100},
            {"type": "eq", "fun": lambda v: np.exp(v).sum() - 1, "jac": np.exp},
        ],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-15},
    )
    return -float(found.fun) * float(c.sum())


def likelihood_at(counts: tuple[int, ...], elo: float, model: str) -> float:
    x = np.array(PAIR_SCORES if len(counts) == 5 else GAME_SCORES)
    if model == "logistic":
        return best_likelihood(counts, lambda p: float(p @ x) - score_of_elo(elo))
    per_sample = math.sqrt(2 if len(counts) == 5 else 1) / NELO
    return best_likelihood(
        counts, lambda p: float(p @ x - 0.5 - elo * per_sample * math.sqrt(max(p @ x**2 - (p @ x) ** 2, 1e-12)))
    )


OTHERS = [
    ((3, 9, 20, 14, 6), 0.0, 60.0, "normalized", None),
    ((3, 9, 20, 14, 6), -30.0, 60.0, "logistic", None),
    ((20, 30, 41), 0.0, 40.0, "normalized", None),
    ((20, 30, 41), 0.0, 40.0, "logistic", None),
]


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "model", "llr"),
    [*PUBLISHED[:3], *OTHERS, *(pytest.param(*case, marks=pytest.mark.long) for case in PUBLISHED[3:])],
)
def test_llr_equals_that_of_another_optimiser(
    counts: tuple[int, ...], elo0: float, elo1: float, model: str, llr: float | None
) -> None:
    expected = likelihood_at(counts, elo1, model) - likelihood_at(counts, elo0, model)
    assert Sprt(elo0, elo1, model=model).test(counts).llr == pytest.approx(expected, rel=1e-3, abs=1e-3)


# --- error rates -----------------------------------------------------------------------------------------------------
def one_game(elo: float, draws: float) -> np.ndarray:
    """Probabilities of loss, draw, win (Davidson's model)."""
    p = np.array([10 ** (-elo / 800), draws, 10 ** (elo / 800)])
    return np.asarray(p / p.sum())


TRUTHS: dict[str, Truth] = {
    "pairs, biased openings": lambda elo: np.convolve(one_game(elo + 150, 1), one_game(elo - 150, 1)),
    "pairs, many draws": lambda elo: np.convolve(one_game(elo, 6), one_game(elo, 6)),
    "games": lambda elo: one_game(elo, 1),
}


def measured(p: np.ndarray, model: str) -> float:
    """The truth in the units of the model."""
    x = np.array(PAIR_SCORES if len(p) == 5 else GAME_SCORES)
    mean = float(p @ x)
    if model == "logistic":
        return elo_of_score(mean)
    return (mean - 0.5) / math.sqrt(float(p @ x**2 - mean**2) * (2 if len(p) == 5 else 1)) * NELO


def truth_at(truth: Truth, model: str, elo: float) -> np.ndarray:
    return truth(rising_root(lambda e: measured(truth(e), model) - elo, -600, 600))


def rates(sprt: Sprt, p: np.ndarray, seed: int, every: int) -> tuple[float, float, float]:
    """Shares of RUNS tests that accept H1 and H0, looking at every so many samples; and the mean number of these."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((RUNS, len(p)))
    accepted, refused, samples = 0, 0, 0
    while len(counts):
        counts += rng.multinomial(every, p, len(counts))
        samples += every * len(counts)
        llr = sprt.llrs(counts)
        accepted += int((llr >= sprt.upper).sum())
        refused += int((llr <= sprt.lower).sum())
        counts = counts[(llr > sprt.lower) & (llr < sprt.upper)]
    return accepted / RUNS, refused / RUNS, samples / RUNS


TERMS = [(-20, 40, "normalized"), (-10, 30, "logistic")]
QUICK = ("pairs, many draws", -10, 30, "logistic")


@pytest.mark.parametrize(
    ("kind", "elo0", "elo1", "model"),
    [
        pytest.param(kind, *terms, marks=() if (kind, *terms) == QUICK else pytest.mark.long)
        for kind in TRUTHS
        for terms in TERMS
    ],
)
def test_error_rates_are_as_promised(kind: str, elo0: float, elo1: float, model: str) -> None:
    """At elo0, 0, the middle and elo1, looking after every sample, as a match does.

    Three standard deviations of 2,000 runs are allowed; 0.02 is not absurd.
    """
    sprt = Sprt(elo0, elo1, model=model)
    noise = 3 * math.sqrt(0.05 * 0.95 / RUNS)
    found = {}
    for elo in sorted({elo0, 0, (elo0 + elo1) / 2, elo1}):
        found[elo] = rates(sprt, truth_at(TRUTHS[kind], model, elo), 1, 1)
    assert 0.02 < found[elo0][0] <= 0.05 + noise
    assert 0.02 < found[elo1][1] <= 0.05 + noise
    assert 0.4 < found[(elo0 + elo1) / 2][0] < 0.6
    assert max(found.values(), key=lambda r: r[2]) == found[(elo0 + elo1) / 2]
    for (_, before), (_, after) in itertools.pairwise(sorted(found.items())):
        assert before[0] < after[0]


def test_error_rates_follow_alpha_and_beta() -> None:
    sprt = Sprt(0, 60, alpha=0.02, beta=0.2)
    null, other = (rates(sprt, truth_at(TRUTHS["pairs, biased openings"], sprt.model, elo), 2, 6) for elo in (0, 60))
    assert 0.005 < null[0] <= 0.02 + 3 * math.sqrt(0.02 * 0.98 / RUNS)
    assert 0.12 < other[1] <= 0.2 + 3 * math.sqrt(0.2 * 0.8 / RUNS)


# --- properties ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("model", ["normalized", "logistic"])
def test_llr_is_negated_by_swapping_sides_and_bounds(model: str) -> None:
    rng = np.random.default_rng(5)
    for counts in [*rng.multinomial(40, np.full(5, 0.2), 20).tolist(), [0, 0, 0, 0, 1], [7, 0, 0], [0, 0, 9, 0, 0]]:
        there = Sprt(-5, 30, model=model).test(counts).llr
        back = Sprt(-30, 5, model=model).test(counts[::-1]).llr
        assert there == pytest.approx(-back, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("model", ["normalized", "logistic"])
def test_llr_rises_with_every_better_result(model: str) -> None:
    sprt = Sprt(0, 20, model=model)
    chain = [sprt.test([30 - i, 10, 20, 10, i]).llr for i in range(0, 31, 3)]
    assert chain == sorted(chain)
    assert chain[0] < sprt.lower
    assert chain[-1] > sprt.upper


@pytest.mark.parametrize("model", ["normalized", "logistic"])
@pytest.mark.parametrize("elo1", [1, 50, 400])
def test_llr_of_the_smallest_and_the_oddest_samples_is_finite(model: str, elo1: float) -> None:
    sprt = Sprt(0, elo1, model=model)
    odd = [[500, 0, 0, 0, 500], [0, 0, 10**6, 0, 0], [0, 0, 0, 0, 10**4], [1, 0, 10**7, 0, 0]]
    for counts in [*np.eye(5, dtype=int).tolist(), *np.eye(3, dtype=int).tolist(), *odd]:
        assert math.isfinite(sprt.test(counts).llr)
        assert abs(sprt.test(np.eye(5, dtype=int)[0].tolist()).llr) < sprt.upper


def test_no_pairs_yet_is_undecided() -> None:
    sprt = Sprt(0, 10)
    assert sprt.test([0, 0, 0, 0, 0]) == SprtState(0.0, sprt.lower, sprt.upper, None)


def test_decision_names_the_accepted_hypothesis() -> None:
    assert Sprt(0, 20).test([0, 0, 0, 0, 200]).decision == "H1"
    assert Sprt(0, 20).test([200, 0, 0, 0, 0]).decision == "H0"
    assert Sprt(0, 20).test([5, 0, 0, 0, 5]).decision is None


# --- text and refusals -----------------------------------------------------------------------------------------------
def test_text_is_read_and_written() -> None:
    assert Sprt.from_text("0,10") == Sprt(0, 10)
    full = Sprt.from_text(" -2.5, 10 , alpha=0.05,beta = 0.1,model=logistic")
    assert full == Sprt(-2.5, 10, beta=0.1, model="logistic")
    assert Sprt.from_text(str(full)) == full


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10", "'10': give elo0,elo1"),
        ("a,10", "'a' is not a number; write elo0,elo1 as in 0,10"),
        ("0,10,alpha=x", "'x' is not a number"),
        ("0,10,gamma=1", "'gamma=1' is not alpha=, beta= or model="),
        ("0,10,alpha", "'alpha' is not alpha="),
        ("0,10,alpha=0.1,alpha=0.1", "each once"),
        ("10,0", "elo0 10 and elo1 0: the first must be the smaller one"),
        ("0,nan", "the first must be the smaller one"),
        ("0,5000", "between -2000 and 2000"),
        ("0,10,alpha=0", "alpha 0: give a rate of errors between 0 and 0.5"),
        ("0,10,beta=0.7", "beta 0.7: give a rate"),
        ("0,10,model=logistik", "unknown SPRT model 'logistik': did you mean 'logistic'"),
    ],
)
def test_senseless_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Sprt.from_text(text)


@pytest.mark.parametrize("counts", [[1, 2], [1, -1, 3], [1, 2, 3, 4]])
def test_senseless_counts_are_refused(counts: list[int]) -> None:
    with pytest.raises(SpecError, match="give five, of pairs with 0, 1/2, 1, 3/2 and 2 points, or three"):
        Sprt(0, 10).test(counts)


def test_terms_are_checked_when_replaced() -> None:
    with pytest.raises(SpecError, match="SPRT with alpha 0.6"):
        replace(Sprt(0, 10), alpha=0.6)
