"""Do 95 % intervals hold the truth 95 % of the time? Measured over many kinds of truth and sizes of sample.

    python benchmarks/intervals.py [elo] [sprt] [shares] [margins] [--runs N] [--quick] [--json]

elo      Elo from a fixed number of games or pairs. A truth is a distribution of results: Elo and draws at random, for
         pairs also openings that favour a seat and pairs whose games end alike. Where all samples can be listed the
         coverage of each truth is exact. No interval can hold 95 % for each truth in tiny samples: look at the mean.
sprt     Elo of matches that an SPRT watched after every pair, as counted and corrected (`evallearn.arena.stopped`);
         bias in Elo, and the same over those alone that accepted H1.
shares   Jeffreys' intervals, exact, over shares p from 0.9 to 0.9995.
margins  Points per game by the bootstrap, and the same with luck taken off by a fitted slope.

What is simulated has noise: --runs of 1,500 have a standard deviation of 0.6 %.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from evallearn.arena.bootstrap import bootstrap_mean, control_variate
from evallearn.arena.sprt import Sprt
from evallearn.arena.stats import (
    GAME_SCORES,
    NELO,
    PAIR_SCORES,
    elo_from_pairs,
    rising_root,
    score_interval,
    score_of_elo,
)
from evallearn.arena.stopped import elo_after_sprt
from evallearn.core.shares import jeffreys

Row = dict[str, Any]
"""One line of a table; coverages are shares of 1."""

SIZES = (5, 10, 20, 100, 1000)
FEW_ENOUGH = 11_000
"""Samples that are listed one by one: 20 pairs come out in 10,626 ways."""
TRUTHS, SIMULATED_TRUTHS = 100, 10
"""Of each kind, where samples are listed and where they are drawn: an interval takes 0.5 ms."""
KINDS = ("even", "lopsided", "drawish", "decisive", "any")
PAIRS = np.array(PAIR_SCORES)


# --- Elo from a fixed number of samples ------------------------------------------------------------------------------
def one_game(elo: float, draws: float) -> np.ndarray:
    """Probabilities of loss, draw, win (Davidson's model)."""
    p = np.array([10 ** (-elo / 800), draws, 10 ** (elo / 800)])
    return np.asarray(p / p.sum())


def strength(kind: str, rng: np.random.Generator) -> tuple[float, float]:
    """Elo, and draws over the geometric mean of wins and losses."""
    if kind == "even":
        return rng.uniform(-100, 100), 10 ** rng.uniform(-1, 0.5)
    if kind == "lopsided":
        return rng.choice([-1, 1]) * rng.uniform(350, 800), 10 ** rng.uniform(-1, 0.5)
    if kind == "drawish":
        return rng.uniform(-400, 400), 10 ** rng.uniform(0.7, 1.7)
    if kind == "decisive":
        return rng.normal(0, 200), 0.0
    rate = rng.uniform(0, 0.95)
    return rng.normal(0, 250), 2 * rate / (1 - rate)


def truth_of(model: str, kind: str, rng: np.random.Generator) -> np.ndarray:
    """float64[3] of games, or float64[5] of pairs."""
    elo, draws = strength(kind, rng)
    if model == "games":
        return one_game(elo, draws)
    bias, alike = rng.uniform(0, 500), max(0.0, rng.uniform(-0.5, 0.8))
    first, second = one_game(elo + bias, draws), one_game(elo - bias, draws)
    same = np.zeros(5)
    same[::2] = (first + second) / 2
    return (1 - alike) * np.convolve(first, second) + alike * same


def every_sample(n: int, results: int) -> np.ndarray:
    """int[k, results]: all ways in which n games or pairs can come out."""
    bars = np.array(list(itertools.combinations(range(n + results - 1), results - 1)))
    return np.diff(bars, axis=1, prepend=-1, append=n + results - 1) - 1


def probabilities(samples: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Multinomial, exact."""
    factorials = np.array([math.lgamma(i + 1) for i in range(int(samples[0].sum()) + 1)])
    ways = factorials[-1] - factorials[samples].sum(axis=1)
    return np.asarray(np.exp(ways + samples @ np.log(np.maximum(truth, 1e-300))))


def ends_of(samples: np.ndarray) -> np.ndarray:
    """float64[k, 2]"""
    return np.array([score_interval(sample) for sample in samples.tolist()])


def holds(ends: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """bool[k]: does each interval hold the truth's mean?"""
    mean = float(truth @ (PAIR_SCORES if len(truth) == len(PAIR_SCORES) else GAME_SCORES))
    return np.asarray((ends[:, 0] <= mean + 1e-12) & (mean - 1e-12 <= ends[:, 1]))


def simulated(n: int, truth: np.ndarray, runs: int, rng: np.random.Generator) -> float:
    """Coverage in random samples."""
    samples, times = np.unique(rng.multinomial(n, truth, runs), axis=0, return_counts=True)
    return float(times @ holds(ends_of(samples), truth)) / runs


def elo_rows(runs: int, quick: bool) -> Iterator[Row]:
    """A row for each model, size and kind of truth."""
    for model, n in itertools.product(("games", "pairs"), SIZES[:2] if quick else SIZES):
        results = 3 if model == "games" else 5
        exact = math.comb(n + results - 1, results - 1) <= FEW_ENOUGH
        samples = every_sample(n, results) if exact else np.empty((0, results), np.int64)
        ends = ends_of(samples)
        for number, kind in enumerate(KINDS):
            rng = np.random.default_rng([n, results, number])
            many = [truth_of(model, kind, rng) for _ in range(TRUTHS if exact else SIMULATED_TRUTHS)]
            found = [
                float(probabilities(samples, p) @ holds(ends, p)) if exact else simulated(n, p, runs, rng) for p in many
            ]
            shown = {"mean": float(np.mean(found)), "least": min(found), "most": max(found)}
            yield {"model": model, "n": n, "truth": kind, "exact": exact, **shown}


# --- Elo of matches with a sequential test ---------------------------------------------------------------------------
TERMS = ("0,20", "0,5", "-5,5", "0,20,model=logistic")
TRUE_ELO = (-20, -10, 0, 10, 20, 40)
DRAWS = {"few": (0.3, 50.0), "many": (8.0, 0.0)}
"""Draws over the geometric mean of wins and losses, and by how much an opening favours a seat, in Elo."""
MOST_PAIRS = {"0,20": (200, 20_000), "0,5": (20_000,), "-5,5": (1000, 20_000), "0,20,model=logistic": (20_000,)}
NEAR, FIRST = 0.85, 20
"""The LLR is taken exactly from this share of a bound on, and for the first pairs; else by its expansion."""


def pairs_of(elo: float, draws: float, bias: float) -> np.ndarray:
    """float64[5]: pairs whose expected score is that of this Elo."""

    def pairs(e: float) -> np.ndarray:
        return np.convolve(one_game(e + bias, draws), one_game(e - bias, draws))

    return pairs(rising_root(lambda e: float(pairs(e) @ PAIRS) - score_of_elo(elo), -900, 900))


def rough_llrs(sprt: Sprt, counts: np.ndarray, n: int) -> np.ndarray:
    """float64[k]: the LLR to first order in the bounds."""
    mean = counts @ PAIRS / n
    deviation = np.sqrt(np.maximum(counts @ PAIRS**2 / n - mean**2, 1e-9))
    if sprt.model == "logistic":
        low, high = ((score_of_elo(e) - 0.5) / deviation for e in (sprt.elo0, sprt.elo1))
    else:
        low, high = (np.full(len(counts), e * math.sqrt(2) / NELO) for e in (sprt.elo0, sprt.elo1))
    return np.asarray(n * (high - low) * ((mean - 0.5) / deviation - (low + high) / 2))


def matches(sprt: Sprt, truth: np.ndarray, most: int, runs: int, rng: np.random.Generator) -> Counter[tuple[int, ...]]:
    """The counts with which matches end, and how many do."""
    counts, ended = np.zeros((runs, 5)), Counter[tuple[int, ...]]()
    for n in range(1, most + 1):
        counts += rng.multinomial(1, truth, len(counts))
        rough = rough_llrs(sprt, counts, n)
        near = np.flatnonzero((rough > NEAR * sprt.upper) | (rough < NEAR * sprt.lower) | (n < FIRST))
        exact = sprt.llrs(counts[near]) if len(near) else np.empty(0)
        done = near[(exact >= sprt.upper) | (exact <= sprt.lower)]
        ended.update(tuple(row) for row in counts[done].astype(int).tolist())
        counts = np.delete(counts, done, axis=0)
        if not len(counts):
            break
    ended.update(tuple(row) for row in counts.astype(int).tolist())
    return ended


def sprt_row(terms: str, elo: float, draws: str, most: int, runs: int) -> Row:
    """Bias and coverage of one truth, as counted and corrected, over all matches and over those that accepted H1."""
    sprt, rng = Sprt.from_text(terms), np.random.default_rng([runs, most, round(elo) + 1000])
    found = []
    for counts, times in matches(sprt, pairs_of(elo, *DRAWS[draws]), most, runs, rng).items():
        plain, state = elo_from_pairs(counts), sprt.test(counts)
        better = elo_after_sprt(counts, sprt) or plain
        inside = [e.low <= elo <= e.high for e in (plain, better)]
        found.append((times, state.decision == "H1", plain.elo - elo, better.elo - elo, *inside, sum(counts)))
    table = np.array(found, float)
    weight, h1 = table[:, 0] / runs, table[:, 0] * table[:, 1] / max(float(table[:, 0] @ table[:, 1]), 1.0)
    accepted = float(weight @ table[:, 1])
    names = ("bias_counted", "bias", "coverage_counted", "coverage")
    shown = {k: float(weight @ table[:, i]) for i, k in enumerate(names, 2)}
    given = {f"{k}_h1": float(h1 @ table[:, i]) if accepted else None for i, k in enumerate(names, 2)}
    mean_pairs = float(weight @ table[:, 6])
    return {
        "sprt": terms,
        "draws": draws,
        "most": most,
        "elo": elo,
        "pairs": mean_pairs,
        "h1": accepted,
        **shown,
        **given,
    }


def sprt_rows(runs: int, quick: bool) -> Iterator[Row]:
    """A row for each test, number of pairs, share of draws and truth."""
    for terms, (draws, elo) in itertools.product(TERMS[:1] if quick else TERMS, itertools.product(DRAWS, TRUE_ELO)):
        for most in MOST_PAIRS[terms][: 1 if quick else None]:
            yield sprt_row(terms, elo, draws, most, runs)


# --- shares ----------------------------------------------------------------------------------------------------------
SHARES = np.linspace(0.9, 0.9995, 1000)


def share_rows(runs: int, quick: bool) -> Iterator[Row]:
    """A row for each number of trials."""
    for n in (50, 200) if quick else (50, 200, 1499):
        hits = np.arange(n + 1)
        samples, ends = np.column_stack([n - hits, hits]), np.array([jeffreys(k, n) for k in hits.tolist()])
        inside = (ends[:, :1] <= SHARES) & (ends[:, 1:] >= SHARES)
        found = [probabilities(samples, np.array([1 - p, p])) @ inside[:, i] for i, p in enumerate(SHARES)]
        yield {"n": n, "mean": float(np.mean(found)), "least": float(min(found)), "most": float(max(found))}


# --- points per game, and luck ---------------------------------------------------------------------------------------
Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
"""(values whose expectation is 0, luck) of n sets."""
POINTS, CHANCES = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]), np.array([0.01, 0.1, 0.34, 0.39, 0.14, 0.02])


def judged(values: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Values, and luck that explains four fifths of them."""
    return values, 0.8 * values + rng.normal(0, 0.4 * values.std(), len(values))


MARGINS: dict[str, Draw] = {
    "normal": lambda rng, n: judged(rng.normal(size=n), rng),
    "skewed luck": lambda rng, n: judged(rng.exponential(size=n) - 1, rng),
    "skewed rest": lambda rng, n: (y := rng.normal(size=n), (0.9 * y + 0.6 * (rng.exponential(size=n) - 1), y))[1],
    "points": lambda rng, n: judged(rng.choice(POINTS, n, p=CHANCES) - POINTS @ CHANCES, rng),
    "long tails": lambda rng, n: (y := rng.standard_t(4, n), (y + 0.5 * rng.standard_t(4, n), y))[1],
    "luck says nothing": lambda rng, n: (rng.normal(size=n), rng.normal(size=n)),
}


def margin_rows(runs: int, quick: bool) -> Iterator[Row]:
    """A row for each kind of values and number of sets: as played, and with luck taken off."""
    for (kind, draw), n in itertools.product(MARGINS.items(), (20,) if quick else (10, 20, 50, 200)):
        rng, held = np.random.default_rng(n), np.zeros(2)
        for i in range(runs):
            values, luck = draw(rng, n)
            means = (
                bootstrap_mean(values, seed=i, resamples=1000),
                control_variate(values, luck).mean(seed=i, resamples=1000),
            )
            held += [m.low <= 0 <= m.high for m in means]
        played, without = (held / runs).tolist()
        yield {"values": kind, "n": n, "played": played, "without_luck": without}


PARTS = {"elo": elo_rows, "sprt": sprt_rows, "shares": share_rows, "margins": margin_rows}


def cell(key: str, value: Any) -> str:
    """A figure as the table shows it: coverages in %."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    if key.startswith("bias"):
        return f"{value:+.1f}"
    return f"{value:.0f}" if key == "pairs" else f"{100 * value:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="coverage of the 95 % intervals")
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)}; all by default")
    parser.add_argument("--runs", type=int, default=1500, help="samples of each truth where they are drawn")
    parser.add_argument("--quick", action="store_true", help="the small sizes only")
    parser.add_argument("--json", action="store_true", help="a list of rows instead of the tables")
    args = parser.parse_args()
    if unknown := [part for part in args.parts if part not in PARTS]:
        parser.error(f"unknown part {unknown[0]!r}: give some of {', '.join(PARTS)}")
    everything: list[Row] = []
    for part in args.parts or PARTS:
        for number, row in enumerate(PARTS[part](args.runs, args.quick)):
            everything.append({"part": part, **row})
            if not args.json:
                widths = {k: max(len(k), 9) for k in row}
                if not number:
                    print(f"\n{part}, coverages in %\n" + "  ".join(f"{k:>{w}}" for k, w in widths.items()))
                print("  ".join(f"{cell(k, v):>{widths[k]}}" for k, v in row.items()), flush=True)
    if args.json:
        print(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
