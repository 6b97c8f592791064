"""How checkers move, for the compiled backend; `moves.py` says what everything means.

A side is four bit planes of 26 bits: bit 25 - p of plane k is binary digit k of the number of checkers on point p. So
bit 0 is the bar, bits 1 to 24 are the points 24 to 1, bit 25 is off, a die shifts a checker up by its pips, and the
lowest bit of a set of points is the rearmost one. Planes 0 and 1 are the halves of one word, planes 2 and 3 of another.
"""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evallearn.compiled.bits import jitable, lowest_bit, u64
from evallearn.games.backgammon import moves as plain
from evallearn.games.backgammon.moves import PASS, SMALLER_FIRST, SOURCE_BITS

ZERO, ONE, TWO, THREE, EIGHT, HALF = u64(0), u64(1), u64(2), u64(3), u64(8), u64(32)
BAR = u64(1)
POINTS = u64(0x1FFFFFE)
ON_BOARD = BAR | POINTS
OFF = u64(25)
OUTSIDE = u64(0x7FFFF)
"""The bar and the points 24 to 7: no checker may be there when one is borne off."""
PLAYER, OPENING, SEVEN = u64(1), u64(2), u64(7)
HIGH_DIE, LOW_DIE = u64(plain.HIGH_DIE), u64(plain.LOW_DIE)
SOURCE = 31
"""The bits of one source in an action."""


class State(NamedTuple):
    """`moves.State` in five words."""

    own_low: int
    own_high: int
    opp_low: int
    opp_high: int
    turn: int


# --- sets of points --------------------------------------------------------------------------------------------------
@jitable
def occupied(low, high):
    """Return the points with a checker, the bar included."""
    planes = low | high
    return (planes | (planes >> HALF)) & ON_BOARD


@jitable
def made(low, high):
    """Return the points with two checkers or more."""
    return ((low >> HALF) | high | (high >> HALF)) & POINTS


@jitable
def blots(low, high):
    """Return the points with one checker."""
    return low & POINTS & ~made(low, high)


@jitable
def count_at(low, high, i):
    """Count the checkers at bit `i`, as a signed number."""
    low, high = low >> i, high >> i
    return np.int64((low & ONE) | (low >> (HALF - ONE)) & TWO | (high & ONE) << TWO | (high >> (HALF - THREE)) & EIGHT)


M1, M2, M4 = u64(0x5555555555555555), u64(0x3333333333333333), u64(0x0F0F0F0F0F0F0F0F)
M8, M16 = u64(0x00FF00FF00FF00FF), u64(0x0000FFFF0000FFFF)
S1, S2, S4, S8, S16 = u64(1), u64(2), u64(4), u64(8), u64(16)
TO_LOW, TO_HIGH, LOW_HALF = u64(38), u64(6), u64(0xFFFFFFFF)


@jitable
def mirrored(first, second):
    """Return two sets of points as the other player numbers them: both at once, at the cost of one 64-bit reversal."""
    x = first | (second << HALF)
    x = ((x >> S1) & M1) | ((x & M1) << S1)
    x = ((x >> S2) & M2) | ((x & M2) << S2)
    x = ((x >> S4) & M4) | ((x & M4) << S4)
    x = ((x >> S8) & M8) | ((x & M8) << S8)
    x = ((x >> S16) & M16) | ((x & M16) << S16)
    x = (x >> HALF) | (x << HALF)
    return x >> TO_LOW, (x & LOW_HALF) >> TO_HIGH


@jitable
def movable(points, blocked, die):
    """Return those of the occupied `points` from which a checker may move `die`; the opponent holds `blocked`."""
    if points & BAR != ZERO:
        return BAR & ~(blocked >> die)
    exact = ONE << (OFF - die)
    found = points & (exact - ONE) & ~(blocked >> die)
    if points & OUTSIDE == ZERO:
        rear = points & ~(points - ONE)
        found |= points & exact if rear < exact else rear
    return found


# --- one checker -----------------------------------------------------------------------------------------------------
@jitable
def added(low, high, checker):
    """Add one checker at the bit `checker`: a carry runs through the planes."""
    low ^= checker
    checker = (checker & ~low) << HALF
    low ^= checker
    checker = (checker & ~low) >> HALF
    high ^= checker
    return low, high ^ ((checker & ~high) << HALF)


@jitable
def removed(low, high, checker):
    """Remove one checker: a borrow runs through the planes."""
    low ^= checker
    checker = (checker & low) << HALF
    low ^= checker
    checker = (checker & low) >> HALF
    high ^= checker
    return low, high ^ ((checker & high) << HALF)


@jitable
def moved(low, high, i, die):
    """Move a checker from bit `i` to bit i + die, or off."""
    low, high = removed(low, high, ONE << i)
    return added(low, high, ONE << min(i + die, OFF))


# --- whole turns -----------------------------------------------------------------------------------------------------
@jitable
def emit(points, code, shift, out, n):
    """Write one action for each of the `points`, the rearmost first: `code` with that source added."""
    while points != ZERO:
        out[n] = code | (25 - lowest_bit(points)) << shift
        n += 1
        points &= points - ONE
    return n


@jitable
def double_turns(low, high, blocked, die, out):
    """Write the turns of a double; return their number.

    Depth first, and never back to a higher source, so that each board is met only once. That leaves nothing out: equal
    steps that are legal in some order are legal with the higher sources first. And the sources alone determine the
    board.
    """
    n, most, depth, code = 0, 0, 0, 0
    todo = movable(occupied(low, high), blocked, die)
    while True:
        if todo != ZERO and depth < 3:
            i = u64(lowest_bit(todo))
            low, high = moved(low, high, i, die)
            code |= (25 - np.int64(i)) << SOURCE_BITS * depth
            depth += 1
            todo = movable(occupied(low, high), blocked, die) & ~((ONE << i) - ONE)
            continue
        if todo != ZERO:  # after three checker moves, every fourth makes a turn
            n = emit(todo, code, SOURCE_BITS * 3, out, n if most == 4 else 0)
            most = 4
        elif depth >= most:  # no move is left; above a node that had one, `most` is larger than its depth
            n = n if depth == most else 0
            most = depth
            out[n] = code
            n += 1
        if depth == 0:
            return n
        depth -= 1
        source = (code >> SOURCE_BITS * depth) & SOURCE
        code ^= source << SOURCE_BITS * depth
        i = u64(25 - source)
        low, high = removed(low, high, ONE << min(i + die, OFF))
        low, high = added(low, high, ONE << i)
        todo = movable(occupied(low, high), blocked, die) & ~((ONE << (i + ONE)) - ONE)


@jitable
def mixed_turns(low, high, blocked, single, high_die, low_die, out):
    """Write the turns of two different dice, in both orders; return their number. `single` are the opponent's blots.

    Two plays lead to the same board in three cases only; each board is written where it comes first:
    - two checkers move, in either order;
    - one checker moves by both dice over either of two points, and hits on neither (or another checker stands on one
      of them and makes the second move instead);
    - two checkers are borne off, by either die each.
    """
    points, free = occupied(low, high), POINTS & ~(blocked | single)
    large, small = movable(points, blocked, high_die), movable(points, blocked, low_die)
    n = 0
    todo = large
    while todo != ZERO:
        i = u64(lowest_bit(todo))
        todo &= todo - ONE
        low_1, high_1 = moved(low, high, i, high_die)
        second = movable(occupied(low_1, high_1), blocked, low_die)
        behind = (ONE << i) >> low_die  # from there the smaller die leads to i, as if one checker moved by both
        if second & behind != ZERO and (behind << high_die) & free != ZERO:
            second ^= behind
        n = emit(second, 25 - np.int64(i), SOURCE_BITS, out, n)
    todo = small & ((ONE << (OFF - low_die)) - ONE)  # whoever bears off by the smaller die can do so second
    while todo != ZERO:
        i = u64(lowest_bit(todo))
        todo &= todo - ONE
        low_1, high_1 = moved(low, high, i, low_die)
        second = movable(occupied(low_1, high_1), blocked, high_die) & ~large  # those can move first
        ahead, other = ONE << (i + low_die), ONE << (i + high_die)
        if second & ahead & free != ZERO and other & free != ZERO:
            low_2, high_2 = moved(low, high, i, high_die)
            if movable(occupied(low_2, high_2), blocked, low_die) & other != ZERO:
                second ^= ahead
        n = emit(second, SMALLER_FIRST | (25 - np.int64(i)), SOURCE_BITS, out, n)
    if n > 0:
        return n
    if large != ZERO:
        return emit(large, 0, 0, out, 0)
    if small != ZERO:
        return emit(small, SMALLER_FIRST, 0, out, 0)
    out[0] = PASS
    return 1


@jitable
def dice(s):
    """Return the larger and the smaller die; zeros before the roll."""
    return (s.turn >> HIGH_DIE) & SEVEN, (s.turn >> LOW_DIE) & SEVEN


@jitable
def actions(s, out):
    high_die, low_die = dice(s)
    if high_die == ZERO:
        return 0
    blocked, single = mirrored(made(s.opp_low, s.opp_high), blots(s.opp_low, s.opp_high))
    if high_die == low_die:
        return double_turns(s.own_low, s.own_high, blocked, high_die, out)
    return mixed_turns(s.own_low, s.own_high, blocked, single, high_die, low_die, out)


@jitable
def result(s, a):
    high_die, low_die = dice(s)
    if high_die == ZERO:
        roll = (u64(a // 10) << HIGH_DIE) | (u64(a % 10) << LOW_DIE)
        return State(s.own_low, s.own_high, s.opp_low, s.opp_high, (s.turn & PLAYER) | roll)
    die, next_die = (low_die, high_die) if a & SMALLER_FIRST != 0 else (high_die, low_die)
    low, high, opp_low, opp_high = s.own_low, s.own_high, s.opp_low, s.opp_high
    rest = np.int64(a) & (SMALLER_FIRST - 1)
    while rest != 0:
        i = u64(25 - (rest & SOURCE))
        low, high = moved(low, high, i, die)
        opposite = ONE << (OFF - min(i + die, OFF))
        if opp_low & opposite & POINTS != ZERO:
            opp_low, opp_high = removed(opp_low, opp_high, opposite)
            opp_low, opp_high = added(opp_low, opp_high, BAR)
        die = next_die
        rest >>= SOURCE_BITS
    return State(opp_low, opp_high, low, high, (s.turn & PLAYER) ^ PLAYER)
