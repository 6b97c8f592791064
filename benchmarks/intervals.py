"""Do 95 % intervals of Elo hold the truth 95 % of the time? Measured over many kinds of truth and sizes of sample.

    python benchmarks/elo_coverage.py [--truths N] [--runs N] [--quick] [--json]

A truth is a distribution of results: Elo and draws at random, for pairs also openings that favour a seat and pairs
whose games end alike. Where all samples can be listed the coverage of each truth is exact; else it is that of --runs
random samples, and "least" and "most" contain their noise (1500 runs: 0.6 % standard deviation). "mean" is what to
look at in tiny samples: no interval can hold 95 % for each truth there.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from evallearn.arena.stats import GAME_SCORES, PAIR_SCORES, score_interval

SIZES = (5, 10, 20, 100, 1000)
FEW_ENOUGH = 11_000
"""Samples that are listed one by one: 20 pairs come out in 10,626 ways."""
SIMULATED_TRUTHS = 10
"""Of each kind where samples are drawn: their intervals take 0.5 ms each."""
KINDS = ("even", "lopsided", "drawish", "decisive", "any")


@dataclass(frozen=True)
class Row:
    """One line of the table; coverages are shares of 1."""

    model: str
    n: int
    truth: str
    exact: bool
    mean: float
    least: float
    most: float


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


def table(truths: int, runs: int, sizes: tuple[int, ...]) -> Iterator[Row]:
    """The rows, as they are ready."""
    for model, n in itertools.product(("games", "pairs"), sizes):
        results = 3 if model == "games" else 5
        exact = math.comb(n + results - 1, results - 1) <= FEW_ENOUGH
        samples = every_sample(n, results) if exact else np.empty((0, results), np.int64)
        ends = ends_of(samples)
        for number, kind in enumerate(KINDS):
            rng = np.random.default_rng([n, results, number])
            many = [truth_of(model, kind, rng) for _ in range(truths if exact else SIMULATED_TRUTHS)]
            found = [
                float(probabilities(samples, p) @ holds(ends, p)) if exact else simulated(n, p, runs, rng) for p in many
            ]
            yield Row(model, n, kind, exact, float(np.mean(found)), min(found), max(found))


def main() -> None:
    parser = argparse.ArgumentParser(description="coverage of the 95 % intervals of Elo")
    parser.add_argument("--truths", type=int, default=100, help="truths of each kind where all samples are listed")
    parser.add_argument("--runs", type=int, default=1500, help="samples of each truth elsewhere")
    parser.add_argument("--quick", action="store_true", help="samples of 5 and 10 only: a few seconds")
    parser.add_argument("--json", action="store_true", help="a list of rows instead of the table")
    args = parser.parse_args()
    rows = table(args.truths, args.runs, SIZES[:2] if args.quick else SIZES)
    if args.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
        return
    print(f"{'model':6} {'n':>5}  {'truth':9} {'mean':>6} {'least':>6} {'most':>6}   in %")
    for r in rows:
        how = "exact" if r.exact else "simulated"
        print(
            f"{r.model:6} {r.n:5}  {r.truth:9} {100 * r.mean:6.1f} {100 * r.least:6.1f} {100 * r.most:6.1f}   {how}",
            flush=True,
        )


if __name__ == "__main__":
    main()
