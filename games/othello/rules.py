"""Othello for the compiled backend; `game.py` says what everything means.

A step along a row, a column or a diagonal shifts the whole board by 1, 8, 9 or 7 bits. Runs along a row or diagonal
would wrap around the edge, so they are kept to the six middle files: no enclosed disc stands on file a or h there.
"""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, lowest_bit, popcount, u64
from evallearn.compiled.rng import mix64
from evallearn.core.rules import Rules
from evallearn.games.othello import cells as plain_cells
from evallearn.games.othello import discs as plain
from evallearn.games.othello.game import DISCS_PER_PHASE, PASS, State

ZERO, ONE, TWO = u64(0), u64(1), u64(2)
SEVEN, EIGHT, NINE = u64(7), u64(8), u64(9)
MIDDLE_FILES = u64(0x7E7E7E7E7E7E7E7E)
NOT_FILE_A, NOT_FILE_H = u64(0xFEFEFEFEFEFEFEFE), u64(0x7F7F7F7F7F7F7F7F)
FILES_AH, RANKS_18 = u64(0x8181818181818181), u64(0xFF000000000000FF)
BORDER = FILES_AH | RANKS_18
WEST_CORNERS, EAST_CORNERS = u64(0x0100000000000001), u64(0x8000000000000080)
A1, H1, A8, H8 = u64(1), u64(1 << 7), u64(1 << 56), u64(1 << 63)
CORNERS, EDGES, RING = u64(plain.CORNERS), u64(plain.EDGES), u64(plain.RING)
X_SQUARES, C_SQUARES = u64(plain.X_SQUARES), u64(plain.C_SQUARES)
DISC_CLASSES, FEW_CLASSES = np.array(plain_cells.DISC_CLASSES, np.int32), np.array(plain_cells.FEW_CLASSES, np.int32)
INNER_VALUE = dict(plain.SQUARE_VALUES)[plain.INNER]
CORNER_VALUE, C_VALUE, X_VALUE, EDGE_VALUE, RING_VALUE = (
    dict(plain.SQUARE_VALUES)[area] - INNER_VALUE
    for area in (plain.CORNERS, plain.C_SQUARES, plain.X_SQUARES, plain.EDGES, plain.RING)
)


@jitable
def moves_along(own, run, step):
    """Return squares at the far ends of the runs that touch `own`, both ways at once; a run has at most six discs."""
    f = run & ((own << step) | (own >> step))
    f |= run & ((f << step) | (f >> step))
    f |= run & ((f << step) | (f >> step))
    f |= run & ((f << step) | (f >> step))
    f |= run & ((f << step) | (f >> step))
    f |= run & ((f << step) | (f >> step))
    return (f << step) | (f >> step)


@jitable
def moves(own, opp):
    middle = opp & MIDDLE_FILES
    straight = moves_along(own, middle, ONE) | moves_along(own, opp, EIGHT)
    diagonal = moves_along(own, middle, SEVEN) | moves_along(own, middle, NINE)
    return (straight | diagonal) & ~(own | opp)


@jitable
def flips_up(disc, own, run, step):
    """Return the run that follows `disc` towards higher bits, if a disc of `own` closes it."""
    f = run & (disc << step)
    f |= run & (f << step)
    f |= run & (f << step)
    f |= run & (f << step)
    f |= run & (f << step)
    f |= run & (f << step)
    return f if (f << step) & own != ZERO else ZERO


@jitable
def flips_down(disc, own, run, step):
    """Return the run that follows `disc` towards lower bits, if a disc of `own` closes it."""
    f = run & (disc >> step)
    f |= run & (f >> step)
    f |= run & (f >> step)
    f |= run & (f >> step)
    f |= run & (f >> step)
    f |= run & (f >> step)
    return f if (f >> step) & own != ZERO else ZERO


@jitable
def flips_along(disc, own, run, step):
    return flips_up(disc, own, run, step) | flips_down(disc, own, run, step)


@jitable
def flips(own, opp, disc):
    middle = opp & MIDDLE_FILES
    straight = flips_along(disc, own, middle, ONE) | flips_along(disc, own, opp, EIGHT)
    return straight | flips_along(disc, own, middle, SEVEN) | flips_along(disc, own, middle, NINE)


@jitable
def actions(s, out):
    todo = moves(s.own, s.opp)
    if todo == ZERO:
        out[0] = PASS
        return 1
    n = 0
    while todo != ZERO:
        out[n] = lowest_bit(todo)
        n += 1
        todo &= todo - ONE
    return n


@jitable
def result(s, a):
    if a == PASS:
        return State(s.opp, s.own, s.player ^ ONE)
    disc = ONE << u64(a)
    flipped = flips(s.own, s.opp, disc)
    return State(s.opp ^ flipped, s.own | flipped | disc, s.player ^ ONE)


@jitable
def can_move(own, opp):
    """Return True if there is a move, one direction after the other: mostly the first is enough."""
    middle, empty = opp & MIDDLE_FILES, ~(own | opp)
    return (
        moves_along(own, opp, EIGHT) & empty != ZERO
        or moves_along(own, middle, ONE) & empty != ZERO
        or moves_along(own, middle, NINE) & empty != ZERO
        or moves_along(own, middle, SEVEN) & empty != ZERO
    )


@jitable
def is_terminal(s):
    return not can_move(s.own, s.opp) and not can_move(s.opp, s.own)


@jitable
def to_play(s):
    return np.int64(s.player)


@jitable
def utility_mover(s):
    lead = popcount(s.own) - popcount(s.opp)
    return np.float32(1.0) if lead > 0 else np.float32(-1.0) if lead < 0 else np.float32(0.0)


@jitable
def around(discs):
    """Return the discs and their up to eight neighbours each."""
    row = discs | ((discs & NOT_FILE_H) << ONE) | ((discs & NOT_FILE_A) >> ONE)
    return row | (row << EIGHT) | (row >> EIGHT)


@jitable
def stable(discs):
    """Return the discs that can never be flipped, by propagation from the corners.

    A shift that wraps ends on the border, which is safe on that axis anyway.
    """
    found = discs & CORNERS
    before = ZERO
    while found != before:
        before = found
        straight = ((found << ONE) | (found >> ONE) | FILES_AH) & ((found << EIGHT) | (found >> EIGHT) | RANKS_18)
        diagonal = ((found << NINE) | (found >> NINE) | BORDER) & ((found << SEVEN) | (found >> SEVEN) | BORDER)
        found |= discs & straight & diagonal
    return found


@jitable
def difference(own, opp, area):
    return popcount(own & area) - popcount(opp & area)


@jitable
def features_mover(s, out):
    own, opp = s.own, s.opp
    occupied = own | opp
    empty = ~occupied
    free = empty & CORNERS  # the free corners, whose neighbours are dangerous
    x_area = ((free & A1) << NINE) | ((free & H1) << SEVEN) | ((free & A8) >> SEVEN) | ((free & H8) >> NINE)
    c_area = ((free & WEST_CORNERS) << ONE) | ((free & EAST_CORNERS) >> ONE) | (free << EIGHT) | (free >> EIGHT)
    near_empty = around(empty)
    discs, corners, edges = popcount(own) - popcount(opp), difference(own, opp, CORNERS), difference(own, opp, EDGES)
    c_squares, x_squares = difference(own, opp, C_SQUARES), difference(own, opp, X_SQUARES)
    out[0] = discs
    out[1] = popcount(moves(own, opp)) - popcount(moves(opp, own))
    out[2] = corners
    out[3] = difference(own, opp, x_area)
    out[4] = difference(own, opp, c_area)
    out[5] = edges
    out[6] = difference(own, opp, near_empty)
    out[7] = popcount(around(opp) & empty) - popcount(around(own) & empty)
    out[8] = popcount(stable(own)) - popcount(stable(opp))
    # every square counts as an inner one through `discs`; the rest is what the other areas differ by
    straight_part = INNER_VALUE * discs + EDGE_VALUE * edges + RING_VALUE * difference(own, opp, RING)
    out[9] = straight_part + CORNER_VALUE * corners + C_VALUE * c_squares + X_VALUE * x_squares
    out[10] = 1 if popcount(occupied) & 1 == 1 else -1


@jitable
def run_up(start, run, step):
    """Return the discs of `run` that follow `start` towards higher bits, in an unbroken line."""
    f = run & (start << step)
    f |= run & (f << step)
    run &= run << step
    step += step
    f |= run & (f << step)
    return f | (run & (f << step))


@jitable
def run_down(start, run, step):
    """Return the discs of `run` that follow `start` towards lower bits, in an unbroken line."""
    f = run & (start >> step)
    f |= run & (f >> step)
    run &= run >> step
    step += step
    f |= run & (f >> step)
    return f | (run & (f >> step))


@jitable
def flippable_along(own, empty, run, step):
    """Return the runs with an own disc at one end and an empty square at the other."""
    up = run_up(own, run, step) & run_down(empty, run, step)
    return up | (run_down(own, run, step) & run_up(empty, run, step))


@jitable
def flippable(own, opp):
    """Return the discs of `opp` that some move of `own` flips."""
    middle, empty = opp & MIDDLE_FILES, ~(own | opp)
    straight = flippable_along(own, empty, middle, ONE) | flippable_along(own, empty, opp, EIGHT)
    return straight | flippable_along(own, empty, middle, SEVEN) | flippable_along(own, empty, middle, NINE)


@jitable
def cells(s, out):
    for i in range(64):
        square = u64(i)
        out[i] = np.int32(((s.own >> square) & ONE) + TWO * ((s.opp >> square) & ONE))
    out[64] = DISC_CLASSES[popcount(s.own)]
    out[65] = DISC_CLASSES[popcount(s.opp)]
    out[66] = FEW_CLASSES[popcount(moves(s.own, s.opp))]
    out[67] = FEW_CLASSES[popcount(moves(s.opp, s.own))]
    out[68] = FEW_CLASSES[popcount(s.own & ~flippable(s.opp, s.own))]
    out[69] = FEW_CLASSES[popcount(s.opp & ~flippable(s.own, s.opp))]


@jitable
def phase(s):
    return np.int64(popcount(s.own | s.opp) // DISCS_PER_PHASE)


@jitable
def key(s):
    # without `player`: own and opp are the mover's, so Black and White may share an entry
    return mix64(mix64(s.own) ^ s.opp)


RULES = Rules.of(
    __name__,
    n_actions=65,
    max_actions=64,  # reachable positions have at most 33, but from_text reads any board
    max_plies=128,  # at most 64 discs and a pass after each
)
