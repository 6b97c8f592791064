"""The words of a compiled Pacman position and their fields; `notation.encode` packs them.

A set of up to 128 cells is two words, a ghost is 16 bits: cell, heading, moves that it is scared.
"""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evallearn.compiled.bits import jitable, u64
from evallearn.games.pacman.state import MOST_POINTS, STOP

ZERO, ONE, THREE_BITS, SIX_BITS, CELL, EIGHT_BITS = (u64(n) for n in (0, 1, 7, 63, 127, 255))
GHOST = u64(0xFFFF)
HEADING_AT, SCARED_AT = u64(7), u64(10)
COUNT_AT, WIDTH_AT = u64(28), u64(31)
TURN_AT, MOVES_AT, CAUGHT_AT, SCORE_AT = u64(7), u64(10), u64(18), u64(19)
CAUGHT = ONE << CAUGHT_AT


class State(NamedTuple):
    """Sets of cells, two words each; the ghosts, 16 bits each; what stays the same; and what else changes."""

    walls_low: int
    walls_high: int
    food_low: int
    food_high: int
    capsules_low: int
    capsules_high: int
    ghosts: int
    setup: int
    clock: int


@jitable
def width(s):
    return s.setup >> WIDTH_AT


@jitable
def n_ghosts(s):
    return np.int64((s.setup >> COUNT_AT) & THREE_BITS)


@jitable
def pacman(s):
    return s.clock & CELL


@jitable
def turn(s):
    return np.int64((s.clock >> TURN_AT) & THREE_BITS)


@jitable
def moves(s):
    return np.int64((s.clock >> MOVES_AT) & EIGHT_BITS)


@jitable
def score(s):
    return np.int64(s.clock >> SCORE_AT) - MOST_POINTS


@jitable
def is_terminal(s):
    if (s.clock & CAUGHT) != ZERO or (s.food_low | s.food_high) == ZERO:
        return True
    return turn(s) == 0 and moves(s) == 0


@jitable
def make_clock(cell, whose, left, caught, points):
    rest = (u64(whose) << TURN_AT) | (u64(left) << MOVES_AT) | (u64(caught) << CAUGHT_AT)
    return cell | rest | (u64(points + MOST_POINTS) << SCORE_AT)


@jitable
def ghost(s, i):
    return (s.ghosts >> u64(16 * i)) & GHOST


@jitable
def with_ghost(ghosts, i, new):
    at = u64(16 * i)
    return (ghosts & ~(GHOST << at)) | (new << at)


@jitable
def at_start(s, i):
    """Return the ghost as it comes back: at its start, not heading anywhere, not scared."""
    return ((s.setup >> u64(7 * i)) & CELL) | (u64(STOP) << HEADING_AT)


@jitable
def scared(ghost_bits):
    return ghost_bits >> SCARED_AT


@jitable
def has(low, high, cell):
    """Return True if the set holds the cell."""
    return (((high if cell > SIX_BITS else low) >> (cell & SIX_BITS)) & ONE) != ZERO


@jitable
def bit(cell):
    """Return the set of one cell."""
    one = ONE << (cell & SIX_BITS)
    return (ZERO, one) if cell > SIX_BITS else (one, ZERO)


@jitable
def step(s, cell, a):
    if a == 0:
        return cell - width(s)
    if a == 1:
        return cell + ONE
    if a == 2:
        return cell + width(s)
    if a == 3:
        return cell - ONE
    return cell
