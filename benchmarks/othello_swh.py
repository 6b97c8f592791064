"""How good are the hand-written Othello heuristics? A 1-ply match against the standard weighted-piece counter (SWH).

    python benchmarks/othello_swh.py [--games N] [--heuristic NAME] [--seed S]

Both sides look one ply ahead, take the best move (the earliest of equal ones), and make 10 % of their moves at random;
they change colours after every game. SWH is the fixed opponent of the Othello learning literature (Yoshioka 1999,
Lucas & Runarsson 2006): a weight per square, own minus opposing discs. A finished game counts as what it is for both.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numba import njit

from evallearn.core.game import Heuristic
from evallearn.core.shares import Share, share_of
from evallearn.errors import unknown
from evallearn.games.othello import Othello
from evallearn.games.othello.rules import RULES, State

SWH = Path(__file__).resolve().parents[2] / "shared/reference/othello/othello_players/SWH.wpc"
RANDOM_RATE = 0.1
FINISHED = 1e6
"""Weighs the result of a finished game above any evaluator."""
GAME = Othello()
N_FEATURES = len(GAME.feature_names)
START = tuple(np.uint64(word) for word in GAME.initial())

actions, result, is_terminal = RULES.actions, RULES.result, RULES.is_terminal
features_mover, phase, utility_mover = RULES.features_mover, RULES.phase, RULES.utility_mover


@njit
def linear_value(after, weights, scratch):
    """The heuristic's value of the position after a move, to the player who made it."""
    features_mover(after, scratch)
    value = 0.0
    for i in range(N_FEATURES):
        value -= weights[phase(after), i] * scratch[i]
    return value


@njit
def counter_value(after, squares):
    """The same for the weighted-piece counter: `after.opp` are the discs of the player who moved."""
    value = 0.0
    for i in range(64):
        square = np.uint64(1) << np.uint64(i)
        if after.opp & square:
            value += squares[i]
        elif after.own & square:
            value -= squares[i]
    return value


@njit
def choose(s, linear, weights, squares, moves, scratch):
    """The greedy action of the linear heuristic, or else of the counter."""
    best, chosen = -np.inf, moves[0]
    for i in range(actions(s, moves)):
        after = result(s, moves[i])
        if is_terminal(after):
            value = -FINISHED * utility_mover(after)
        else:
            value = linear_value(after, weights, scratch) if linear else counter_value(after, squares)
        if value > best:
            best, chosen = value, moves[i]
    return chosen


@njit
def play(start, games, weights, squares, random_rate, seed):
    """float64[games]: 1 for each win of the heuristic, 0.5 for a draw; it is Black in the even games."""
    np.random.seed(seed)
    moves, scratch = np.zeros(64, np.int32), np.zeros(N_FEATURES, np.float32)
    scores = np.zeros(games)
    for game in range(games):
        s = State(start[0], start[1], start[2])
        side = np.uint64(game & 1)
        while not is_terminal(s):
            if np.random.random() < random_rate:
                n = actions(s, moves)
                a = moves[np.random.randint(n)]
            else:
                a = choose(s, s.player == side, weights, squares, moves, scratch)
            s = result(s, a)
        utility = utility_mover(s) if s.player == side else -utility_mover(s)
        scores[game] = 0.5 + 0.5 * utility
    return scores


def weight_table(heuristic: Heuristic) -> np.ndarray:
    """float64[n_phases, n_features]."""
    given = heuristic.weights
    phases = [given] * GAME.n_phases if isinstance(given, Mapping) else given
    return np.array([[phase.get(name, 0.0) for name in GAME.feature_names] for phase in phases])


def match(heuristic: Heuristic, games: int, seed: int) -> Share:
    """The score against SWH, which must be there."""
    squares = np.array(SWH.read_text().split(), dtype=np.float64)
    scores = play(START, games, weight_table(heuristic), squares, RANDOM_RATE, seed)
    found = share_of(scores)
    assert found is not None  # `complaint` wants games
    return found


def main() -> int:
    """Prints a line per heuristic."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--heuristic", help=f"one of {', '.join(GAME.heuristics)}; all by default")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    names = [options.heuristic] if options.heuristic else list(GAME.heuristics)
    if problem := complaint(names, options.games):
        print(problem, file=sys.stderr)
        return 2
    for name in names:
        score = match(GAME.heuristics[name], options.games, options.seed)
        print(f"{name:<12} {score} against SWH, 1-ply, 10 % random moves, {options.games} games")
    return 0


def complaint(names: list[str], games: int) -> str:
    """What is wrong with the request, or an empty text."""
    if not SWH.exists():
        return f"{SWH} is absent: this benchmark needs the reference data in ../shared/reference"
    if games < 2:
        return f"--games {games} is too few for an interval: give 2 or more"
    return next((str(unknown("heuristic", n, GAME.heuristics)) for n in names if n not in GAME.heuristics), "")


if __name__ == "__main__":
    sys.exit(main())
