"""The bounds of the score for the compiled backend; `bounds.py` says what everything means."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, lowest_bit, popcount, u64
from evallearn.games.pacman import state as world
from evallearn.games.pacman.bounds import beyond
from evallearn.games.pacman.words import (
    ONE,
    ZERO,
    ghost,
    is_terminal,
    moves,
    n_ghosts,
    pacman,
    scared,
    score,
    turn,
    width,
)

CAUGHT_POINTS, FOOD_POINTS, GHOST_POINTS = world.CAUGHT_POINTS, world.FOOD_POINTS, world.GHOST_POINTS
MOVE_POINTS, WIN_POINTS = world.MOVE_POINTS, world.WIN_POINTS
WORD_BITS = u64(64)
jitable(beyond)


@jitable
def highest_bit(x):
    """Return the index of the highest set bit; x must not be 0."""
    i = 0
    for half in (32, 16, 8, 4, 2, 1):
        if (x >> u64(half)) != ZERO:
            x >>= u64(half)
            i += half
    return i


@jitable
def fold(low, high, across):
    """Return the columns of a set's cells: all its rows laid on each other."""
    columns = ZERO
    row = (ONE << across) - ONE
    while (low | high) != ZERO:
        columns |= low & row
        low = (low >> across) | (high << (WORD_BITS - across))
        high >>= across
    return columns


@jitable
def walk(s):
    across = np.int64(width(s))
    here = np.int64(pacman(s))
    first = lowest_bit(s.food_low) if s.food_low != ZERO else 64 + lowest_bit(s.food_high)
    last = 64 + highest_bit(s.food_high) if s.food_high != ZERO else highest_bit(s.food_low)
    columns = fold(s.food_low, s.food_high, width(s))
    upright = beyond(here // across, first // across, last // across)
    sideways = beyond(here % across, lowest_bit(columns), highest_bit(columns))
    return max(popcount(s.food_low) + popcount(s.food_high), upright + sideways)


@jitable
def bounds_mover(s):
    least = most = score(s)
    if not is_terminal(s):
        dots, needed, left = popcount(s.food_low) + popcount(s.food_high), walk(s), moves(s)
        ghosts = n_ghosts(s) * (popcount(s.capsules_low) + popcount(s.capsules_high))
        for i in range(n_ghosts(s)):
            if scared(ghost(s, i)) != ZERO:
                ghosts += 1
        least += MOVE_POINTS * left + CAUGHT_POINTS
        most += GHOST_POINTS * ghosts
        if needed <= left:
            most += FOOD_POINTS * dots + WIN_POINTS + MOVE_POINTS * needed
        else:
            most += (FOOD_POINTS + MOVE_POINTS) * min(dots, left)
    if turn(s) == 0:
        return np.float32(least), np.float32(most)
    return np.float32(-most), np.float32(-least)
