# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: the bear-off tables.

A side is int64[1 + POINTS]: its checkers on the points 1 to 6, [0] is not used. `bearoff.py` says how sides are
numbered and what the tables hold: every move leads to a lower number, so that one pass upwards is enough.
"""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import CACHE
    from evallearn.games.backgammon.bearoff import CHOOSE, LONGEST, POINTS
    from evallearn.games.backgammon.moves import ROLLS

MOST_PLAYS = 200
"""Of one roll: a double has at most C(9, 4) = 126, two dice at most 2 * 36."""


@njit(nogil=True)
def number_of(side):
    """Return the number of the side."""
    n, checkers = 0, 0
    for k in range(1, POINTS + 1):
        checkers += side[POINTS + 1 - k]
        n += CHOOSE[checkers + k - 1, k]
    return n


@njit(nogil=True)
def place(n, side):
    """Set `side` to the one with number `n`, the inverse of `number_of`."""
    above = -1
    for k in range(POINTS, 0, -1):
        a = k - 1
        while CHOOSE[a + 1, k] <= n:
            a += 1
        n -= CHOOSE[a, k]
        checkers = a - k + 1
        if above >= 0:
            side[POINTS - k] = above - checkers
        above = checkers
    side[POINTS] = above


@njit(nogil=True)
def may_move(side, p, die):
    """Return True if a checker may move: nothing blocks it, but only the rearmost is borne off by a larger die."""
    if side[p] == 0:
        return False
    if p < die:
        for q in range(p + 1, POINTS + 1):
            if side[q] > 0:
                return False
    return True


@njit(nogil=True)
def move(side, p, die):
    """Move a checker from point p, or bear it off."""
    side[p] -= 1
    if p > die:
        side[p - die] += 1


@njit(nogil=True)
def take_back(side, p, die):
    """Undo `move`."""
    side[p] += 1
    if p > die:
        side[p - die] -= 1


@njit(nogil=True)
def doubles(side, die, left, highest, out, n):
    """Write the numbers of all sides after `left` moves of one die, the higher points first; return the count."""
    moved = False
    if left > 0:
        for p in range(highest, 0, -1):
            if may_move(side, p, die):
                move(side, p, die)
                n = doubles(side, die, left - np.int64(1), p, out, n)
                take_back(side, p, die)
                moved = True
    if not moved and (left == 0 or not any_left(side)):
        out[n] = number_of(side)
        n += 1
    return n


@njit(nogil=True)
def any_left(side):
    return side.sum() > 0


@njit(nogil=True)
def mixed(side, first, second, out, n):
    """Write the numbers of all sides after two dice in this order; return the count."""
    for p in range(POINTS, 0, -1):
        if may_move(side, p, first):
            move(side, p, first)
            if any_left(side):
                for q in range(POINTS, 0, -1):
                    if may_move(side, q, second):
                        move(side, q, second)
                        out[n] = number_of(side)
                        n += 1
                        take_back(side, q, second)
            else:
                out[n] = number_of(side)
                n += 1
            take_back(side, p, first)
    return n


@njit(nogil=True)
def plays(side, high, low, out):
    """Write the numbers of the sides that a roll leads to, some more than once; return the count."""
    if high == low:
        return doubles(side, high, np.int64(4), np.int64(POINTS), out, np.int64(0))
    return mixed(side, low, high, out, mixed(side, high, low, out, np.int64(0)))


@njit(cache=CACHE, nogil=True)
def one_sided(begin, chances):
    """Fill in chances[n, k]: that side n is home after exactly k rolls; return the expected rolls of each side.

    The rows below `begin` are there already. Each roll is played so that the expected number of rolls is least, the
    earliest of equal plays.
    """
    side, out = np.zeros(1 + POINTS, np.int64), np.zeros(MOST_PLAYS, np.int64)
    rolls = np.zeros(len(chances))
    for n in range(begin):
        for k in range(LONGEST):
            rolls[n] += k * chances[n, k]
    for n in range(begin, len(chances)):
        place(n, side)
        for high, low in ROLLS:
            p = 1 / 36 if high == low else 1 / 18
            found = plays(side, np.int64(high), np.int64(low), out)
            best = out[0]
            for i in range(1, found):
                if rolls[out[i]] < rolls[best]:
                    best = out[i]
            rolls[n] += p * (1.0 + rolls[best])
            for k in range(1, LONGEST):
                chances[n, k] += p * chances[best, k - 1]
    return rolls


@njit(cache=CACHE, nogil=True)
def two_sided(values):
    """Fill in values[i, j]: the value to side i, who is on roll, against side j; 1 if i wins.

    Both play their best.
    """
    size = len(values)
    side, out = np.zeros(1 + POINTS, np.int64), np.zeros(MOST_PLAYS, np.int64)
    n_rolls = len(ROLLS)
    starts = np.zeros(size * n_rolls + 1, np.int64)
    after = np.zeros(size * n_rolls * MOST_PLAYS, np.int32)
    n = 0
    for i in range(1, size):
        place(i, side)
        for r, (high, low) in enumerate(ROLLS):
            found = plays(side, np.int64(high), np.int64(low), out)
            out[:found].sort()
            starts[i * n_rolls + r] = n
            for m in range(found):
                if m == 0 or out[m] != out[m - 1]:
                    after[n] = out[m]
                    n += 1
    starts[size * n_rolls] = n
    for j in range(size):
        values[0, j] = -1.0
    for total in range(2, 2 * size - 1):
        for i in range(max(1, total - size + 1), min(total, size)):
            j = total - i
            mean = 0.0
            for r, (high, low) in enumerate(ROLLS):
                best = -1.0
                for m in range(starts[i * n_rolls + r], starts[i * n_rolls + r + 1]):
                    best = max(best, 1.0 if after[m] == 0 else -values[j, after[m]])
                mean += best / 36 if high == low else best / 18
            values[i, j] = mean
