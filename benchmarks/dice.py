"""How much do the same dice for both seatings, and taking off luck, save in a game with dice?

Every pair is played with the same dice in both games, and again with dice of their own. What counts is the variance
of a pair's mean margin: half of it means half the games for the same certainty.

    python benchmarks/dice.py --pairs 2000
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from evallearn import get_game
from evallearn.agents import parse_agent, parse_evaluator
from evallearn.arena import bootstrap_mean
from evallearn.arena.bootstrap import control_variate
from evallearn.arena.openings import Opening
from evallearn.arena.seating import score_set, seatings
from evallearn.arena.table import Table
from evallearn.core.trust import FULL_TRUST
from evallearn.core.workers import imap
from evallearn.errors import EvallearnError

PAIRS_PER_JOB = 20
RESAMPLES = 2000
"""For the interval of a ratio of variances."""


@dataclass
class Both:
    """The same pairs with the same dice and with dice of their own: (margin, luck, margin with own dice) of each."""

    table: Table
    pairs: int

    def __call__(self, numbers: range) -> list[tuple[float, float, float]]:
        return [self.pair(number) for number in numbers]

    def pair(self, number: int) -> tuple[float, float, float]:
        table, opening = self.table, Opening(self.table.game.initial(), ())
        first, second = seatings(2)
        games = [table.play(opening, number, seats) for seats in (first, second)]
        other = table.play(opening, self.pairs + number, second)  # of a set that nobody else plays
        same, own = score_set(table.game, games), score_set(table.game, [games[0], other])
        assert same.luck is not None
        return same.margin, same.luck, own.margin


def ratio(values: np.ndarray, plain: np.ndarray) -> tuple[float, float, float]:
    """Variance of `values` over that of `plain`, with its 95 % interval by resampling pairs."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(RESAMPLES):
        rows = rng.integers(0, len(values), len(values))
        found.append(values[rows].var() / plain[rows].var())
    low, high = np.quantile(found, [0.025, 0.975])
    return float(values.var() / plain.var()), float(low), float(high)


def measure(game_name: str, a: str, b: str, judge: str, pairs: int, workers: int, seed: int) -> dict[str, Any]:
    game = get_game(game_name)
    table = Table(
        game,
        (parse_agent(a, game, trust=FULL_TRUST), parse_agent(b, game, trust=FULL_TRUST)),
        seed,
        judge=parse_evaluator(judge, game, trust=FULL_TRUST),
    )
    jobs = [range(i, min(i + PAIRS_PER_JOB, pairs)) for i in range(0, pairs, PAIRS_PER_JOB)]
    found = dict(imap(Both(table, pairs), jobs, workers))
    margins, lucks, own = np.array([row for i in sorted(found) for row in found[i]]).T
    fair = control_variate(margins.tolist(), lucks.tolist())
    mean, adjusted = bootstrap_mean(margins.tolist()), fair.mean()
    return {
        "a": a, "b": b, "pairs": pairs,
        "points per game": [mean.value, mean.standard_error],
        "luck adjusted": [adjusted.value, adjusted.standard_error],
        "own dice": [float(own.mean()), float(own.std() / np.sqrt(pairs))],
        "variance, same dice / own dice": ratio(margins, own),
        "variance, same dice and luck off / own dice": ratio(np.array(fair.values), own),
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="backgammon")
    parser.add_argument("--judge", default="handwritten:positional", help="whose opinion says how lucky the dice were")
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("match", nargs="*", metavar="A B", help="two agents; by default three matches")
    options = parser.parse_args()
    best = "handwritten:positional"
    matches = (
        [options.match] if options.match else [[best, "handwritten:race"], [best, "random"], [best, "mcts@nodes=50"]]
    )
    rows = []
    try:
        for a, b in matches:
            rows.append(measure(options.game, a, b, options.judge, options.pairs, options.workers, options.seed))
    except (EvallearnError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(rows, indent=2))
        return 0
    for row in rows:
        print(f"{row['a']} - {row['b']}, {row['pairs']} pairs")
        for key in ("points per game", "luck adjusted", "own dice"):
            print(f"  {key:<45} {row[key][0]:+.3f} +- {row[key][1]:.3f}")
        for key in ("variance, same dice / own dice", "variance, same dice and luck off / own dice"):
            print(f"  {key:<45} {row[key][0]:.3f} (95 %: {row[key][1]:.3f} to {row[key][2]:.3f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
