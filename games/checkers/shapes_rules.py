"""Squares and shapes of checkers for the compiled backend; `shapes.py` says what everything means."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, lowest_bit, popcount, u64
from evallearn.games.checkers import shapes as plain
from evallearn.games.checkers.moves import BITS

ZERO, ONE, FOUR, FIVE = u64(0), u64(1), u64(4), u64(5)
N_MEN, N_KINGS, N_SHAPES = len(plain.MAN_NAMES), len(plain.KING_NAMES), len(plain.NAMES)
SQUARE = np.array([sum(b < 1 << i for b in BITS) for i in range(36)])
"""The square of each bit."""
LAST = 31


@jitable
def put_squares(sign, pieces, turned, first, out):
    """Add the sign for each piece, from out[first] on; turned: as White numbers the squares."""
    while pieces != ZERO:
        square = SQUARE[lowest_bit(pieces)]
        out[first + (LAST - square if turned else square)] += sign
        pieces &= pieces - ONE


@jitable
def between(area, sides):
    count = popcount(area & (sides << FOUR) & (sides >> FOUR))
    return count + popcount(area & (sides << FIVE) & (sides >> FIVE))


@jitable
def beside_three(own, empty):
    """Return empty squares with three or four own pieces next to them."""
    a, b, c, d = own << FOUR, own >> FOUR, own << FIVE, own >> FIVE
    return popcount(empty & ((a & b & (c | d)) | (c & d & (a | b))))


@jitable
def put_shapes(own, opp, kings, empty, first, out):
    """Write NAMES from out[first] on, own minus opposing, over what was there; `own` is Black."""
    for i in range(first, first + N_SHAPES):
        out[i] = 0
    men, opp_men = own & ~kings, opp & ~kings
    put_squares(1, men, False, first, out)
    put_squares(-1, opp_men, True, first, out)
    put_squares(1, own & kings, False, first + N_MEN, out)
    put_squares(-1, opp & kings, True, first + N_MEN, out)
    shape = first + N_MEN + N_KINGS
    both = own | opp
    lonely = ~((both << FOUR) | (both >> FOUR) | (both << FIVE) | (both >> FIVE))
    out[shape] = between(own, empty) - between(opp, empty)
    out[shape + 1] = between(empty, own) - between(empty, opp)
    out[shape + 2] = between(own, own) - between(opp, opp)
    out[shape + 3] = beside_three(own, empty) - beside_three(opp, empty)
    out[shape + 4] = popcount(men & lonely) - popcount(opp_men & lonely)
