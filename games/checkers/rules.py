"""Checkers for the compiled backend; `game.py` and `moves.py` say what everything means.

All pieces that can step or jump in one direction are found at once by shifting the whole board by 4 or 5.
"""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evallearn.compiled.bits import jitable, lowest_bit, popcount, u64
from evallearn.compiled.rng import mix64
from evallearn.core.rules import Rules
from evallearn.games.checkers import moves as plain
from evallearn.games.checkers.features_rules import features_mover
from evallearn.games.checkers.moves import CLOCK_LIMIT, MAX_ACTIONS, MAX_PLIES, N_ACTIONS

ZERO, ONE = u64(0), u64(1)
FOUR, FIVE, EIGHT, TEN = u64(4), u64(5), u64(8), u64(10)
BOARD = u64(plain.BOARD)
CROWN_BLACK, CROWN_WHITE = (u64(row) for row in plain.CROWN_ROW)
TREE = np.array(plain.JUMP_GRAPH.tree, np.uint64)
CYCLES = np.array(plain.JUMP_GRAPH.cycles, np.uint64)
MARKS = np.array(plain.JUMP_GRAPH.marks, np.uint64)


class State(NamedTuple):
    """The plain State without its history."""

    black: int
    white: int
    kings: int
    meta: int
    """The player to move, and twice the clock."""


@jitable
def square_of(index):
    """Return the square of a bit: every ninth bit is a gap."""
    return index - ((index * 57) >> 9)


@jitable
def bit_of(square):
    return ONE << u64(square + (square >> 3))


@jitable
def own_opp(s):
    if s.meta & ONE == ZERO:
        return s.black, s.white
    return s.white, s.black


@jitable
def up_down(pieces, kings, black):
    """Return (the pieces that move towards 32, those that move towards 1)."""
    if black:
        return pieces, pieces & kings
    return pieces & kings, pieces


@jitable
def jumpers(up, down, opp, empty):
    """Return the pieces that can take something."""
    forth = up & (((opp >> FOUR) & (empty >> EIGHT)) | ((opp >> FIVE) & (empty >> TEN)))
    back = down & (((opp << FOUR) & (empty << EIGHT)) | ((opp << FIVE) & (empty << TEN)))
    return forth | back


@jitable
def put_steps(movers, shift, out, n):
    """Write the steps of `movers`, each by `shift` bits; return the new `n`."""
    while movers != ZERO:
        index = lowest_bit(movers)
        out[n] = square_of(index) + (square_of(index + shift) << 5)
        n += 1
        movers &= movers - ONE
    return n


@jitable
def step(here, direction):
    """Return the next square that way."""
    if direction == 0:
        return here << FOUR
    if direction == 1:
        return here << FIVE
    if direction == 2:
        return here >> FOUR
    return here >> FIVE


@jitable
def put_chains(start, first, last, opp, empty, out, n):
    """Write all chains of jumps from `start` with the directions first .. last - 1: depth first, without a stack.

    `path` holds the directions so far, two bits each, so that a jump can be taken back.
    """
    begin = n
    origin = square_of(lowest_bit(start))
    empty |= start
    here, taken, path = start, ZERO, ZERO
    depth, direction, new = 0, first, True
    while True:
        left = opp & ~taken
        to = ZERO
        while direction < last:
            to = step(step(here, direction) & left, direction) & empty
            if to != ZERO:
                break
            direction += 1
        if to != ZERO:
            taken |= step(here, direction)
            here = to
            path = (path << u64(2)) | u64(direction)
            depth += 1
            direction, new = first, True
            continue
        if new:
            a = origin + (square_of(lowest_bit(here)) << 5)
            if taken & MARKS[origin, 0] != ZERO:
                a += 1024
            if taken & MARKS[origin, 1] != ZERO:
                a += 2048
            if depth < 4 or not is_among(a, out, begin, n):  # a second route needs a cycle, and a cycle four jumps
                out[n] = a
                n += 1
        if depth == 0:
            return n
        direction = np.int64(path & u64(3))
        path >>= u64(2)
        over = step(here, direction ^ 2)
        here = step(over, direction ^ 2)
        taken ^= over
        depth -= 1
        direction += 1
        new = False


@jitable
def is_among(a, out, begin, end):
    for i in range(begin, end):  # noqa: SIM110  # Numba does not know any()
        if out[i] == a:
            return True
    return False


@jitable
def put_jumps(pieces, kings, black, opp, empty, out):
    n = 0
    while pieces != ZERO:
        start = pieces & (~pieces + ONE)
        king = start & kings != ZERO
        first = 0 if king or black else 2
        last = 4 if king or not black else 2
        n = put_chains(start, first, last, opp, empty, out, n)
        pieces ^= start
    return n


@jitable
def actions(s, out):
    black = s.meta & ONE == ZERO
    own, opp = own_opp(s)
    empty = BOARD & ~(own | opp)
    up, down = up_down(own, s.kings, black)
    pieces = jumpers(up, down, opp, empty)
    if pieces != ZERO:
        return put_jumps(pieces, s.kings, black, opp, empty, out)
    n = put_steps(up & (empty >> FOUR), 4, out, 0)
    n = put_steps(up & (empty >> FIVE), 5, out, n)
    n = put_steps(down & (empty << FOUR), -4, out, n)
    return put_steps(down & (empty << FIVE), -5, out, n)


@jitable
def forcing(s):
    black = s.meta & ONE == ZERO
    own, opp = own_opp(s)
    up, down = up_down(own, s.kings, black)
    return jumpers(up, down, opp, BOARD & ~(own | opp)) != ZERO


@jitable
def noisy_actions(s, out):
    """Write the captures, which are forced: either all actions are captures or none is."""
    black = s.meta & ONE == ZERO
    own, opp = own_opp(s)
    empty = BOARD & ~(own | opp)
    up, down = up_down(own, s.kings, black)
    return put_jumps(jumpers(up, down, opp, empty), s.kings, black, opp, empty, out)


@jitable
def taken_by(a):
    """Return what a capture takes, nothing if it is a step: only a jump keeps to rows of the same parity."""
    start, end = a & 31, (a >> 5) & 31
    if (start ^ end) & 4 != 0:
        return ZERO
    taken = TREE[start] ^ TREE[end]
    if a & 1024 != 0:
        taken ^= CYCLES[start, 0]
    if a & 2048 != 0:
        taken ^= CYCLES[start, 1]
    return taken


@jitable
def result(s, a):
    start, end, taken = bit_of(a & 31), bit_of((a >> 5) & 31), taken_by(a)
    was_king = s.kings & start != ZERO
    kings = s.kings & ~(start | taken)
    if was_king:
        kings |= end
    meta = (s.meta & ONE) ^ ONE
    if was_king and taken == ZERO:
        meta = (s.meta ^ ONE) + u64(2)
    if s.meta & ONE == ZERO:
        return State((s.black & ~start) | end, s.white & ~taken, kings | (end & CROWN_BLACK), meta)
    return State(s.black & ~taken, (s.white & ~start) | end, kings | (end & CROWN_WHITE), meta)


@jitable
def can_move(s):
    own, opp = own_opp(s)
    empty = BOARD & ~(own | opp)
    up, down = up_down(own, s.kings, s.meta & ONE == ZERO)
    forth, back = up & ((empty >> FOUR) | (empty >> FIVE)), down & ((empty << FOUR) | (empty << FIVE))
    return (forth | back) != ZERO or jumpers(up, down, opp, empty) != ZERO


@jitable
def clock(s):
    return np.int64(s.meta >> ONE)


@jitable
def is_terminal(s):
    return clock(s) >= CLOCK_LIMIT or not can_move(s)


@jitable
def to_play(s):
    return np.int64(s.meta & ONE)


@jitable
def utility_mover(s):
    return np.float32(0.0) if can_move(s) else np.float32(-1.0)


@jitable
def key(s):
    # injective on two words: white's upper bits, the player and the kings fill the second one
    first = s.black | (s.white << u64(35))
    second = (s.white >> u64(29)) | ((s.meta & ONE) << u64(6)) | (s.kings << u64(7))
    return mix64(mix64(first) ^ second)


@jitable
def phase(s):
    return np.int64(min(5, (24 - popcount(s.black | s.white)) >> 2))


RULES = Rules.of(
    __name__,
    features_mover=features_mover,
    n_actions=N_ACTIONS,
    max_actions=MAX_ACTIONS,
    max_plies=MAX_PLIES,
    clock_limit=CLOCK_LIMIT,
)
