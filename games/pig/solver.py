"""Pig solved exactly, after Neller & Presser, "Optimal Play of the Dice Game Pig" (2004).

P[i, j, k] is the probability with which the player to move wins, with i points banked against j and a turn total of k.
Points are never lost once banked, so pairs (i, j) are solved by falling sum: within one, only the two players'
P[i, j, 0] and P[j, i, 0] depend on each other (by rolled ones), and repeated sweeps make them converge.
"""

# Numba infers the types when it compiles, hence:
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numba import njit

from evallearn.errors import GameError
from evallearn.games.pig.game import HOLD, ROLL, State

MOST_POINTS = 200
"""The table has target ** 3 entries: 64 MB at 200."""
PRECISION = 1e-15
"""Sweeps over a pair end when they change its values by no more."""
MOST_SWEEPS = 300
"""Room: no pair needed more than 89 at targets of 20, 100 and 200."""


@njit
def hold_value(P, i, j, k):
    """Return the value of banking k points, i + k being short of the target: then the opponent is to move."""
    return 1.0 - P[j, i + k, 0]


@njit
def roll_value(P, i, j, k):
    """Return the value of rolling once and playing on: a 1 passes the turn, a total that reaches the target wins."""
    total = 1.0 - P[j, i, 0]
    for face in range(2, 7):
        total += 1.0 if i + k + face >= P.shape[0] else P[i, j, k + face]
    return total / 6.0


@njit
def sweep(P, i, j):
    """Improve P[i, j, :] once; return how much P[i, j, 0] changed."""
    before = P[i, j, 0]
    for k in range(P.shape[0] - i - 1, 0, -1):
        P[i, j, k] = max(roll_value(P, i, j, k), hold_value(P, i, j, k))
    P[i, j, 0] = roll_value(P, i, j, 0)  # a turn begins with a roll
    return abs(P[i, j, 0] - before)


@njit
def fill(P):
    target = P.shape[0]
    for points in range(2 * target - 2, -1, -1):
        for i in range(max(0, points - target + 1), points // 2 + 1):
            j = points - i
            for _ in range(MOST_SWEEPS):
                if max(sweep(P, i, j), sweep(P, j, i)) <= PRECISION:
                    break


def solve_pig(target: int = 100) -> np.ndarray:
    """Return float64[target, target, target]: P as above, exact to about 1e-12; entries with i + k >= target are 0."""
    if not 2 <= target <= MOST_POINTS:
        raise GameError(f"solve_pig({target}): the table serves targets of 2 to {MOST_POINTS}")
    table = np.zeros((target, target, target))
    fill(table)
    return table


@lru_cache(maxsize=2)
def table_of(target: int) -> np.ndarray:
    """Return `solve_pig`'s table, kept for the next call. Do not write to it."""
    return solve_pig(target)


def win_probability(table: np.ndarray, s: State, player: int) -> float:
    """Return the probability with which `player` wins from any state of Pig under optimal play.

    table: the one of `solve_pig`.
    """
    own, other = (s.first, s.second) if s.player == 0 else (s.second, s.first)
    if max(own, other) >= s.target:
        chance = float(own >= s.target)
    elif s.rolling:
        chance = float(roll_value(table, own, other, s.turn))
    else:
        chance = float(table[own, other, s.turn])
    return chance if player == s.player else 1.0 - chance


def best_action(table: np.ndarray, s: State) -> int:
    """Return the optimal action of a player's decision: HOLD where it is as good as ROLL."""
    own, other = (s.first, s.second) if s.player == 0 else (s.second, s.first)
    if s.turn == 0:
        return ROLL
    return HOLD if hold_value(table, own, other, s.turn) >= roll_value(table, own, other, s.turn) else ROLL
