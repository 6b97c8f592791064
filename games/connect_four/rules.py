"""Connect Four for the compiled backend; `game.py` says what everything means.

Lines are found by shifting whole boards: a step along a row, a column or a diagonal is a shift by 7, 1, 8 or 6 bits,
and the empty bit 6 of each column stops lines at the edge (Tromp's bitboards).
"""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, lowest_bit, popcount, u64
from evallearn.compiled.rng import mix64
from evallearn.core.rules import Rules
from evallearn.games.connect_four import game as plain
from evallearn.games.connect_four.cells import ABOVE, COLUMNS, EVEN, OWNER, REACH, ROOM
from evallearn.games.connect_four.game import ORDER, State
from evallearn.games.lines import ROWS

ZERO, ONE, TWO, THREE = u64(0), u64(1), u64(2), u64(3)
SIX, SEVEN, EIGHT = u64(6), u64(7), u64(8)
COLUMN, WHOLE_COLUMN = u64(0b111111), u64(0b1111111)
BOARD, BOTTOM = u64(plain.BOARD), u64(plain.BOTTOM)
CENTRE, INNER = u64(plain.CENTRE), u64(plain.INNER)
STONES_PER_PHASE = plain.STONES_PER_PHASE


@jitable
def four_along(stones, step):
    pairs = stones & (stones >> step)
    return pairs & (pairs >> (step + step))


@jitable
def has_four(stones):
    rows_and_columns = four_along(stones, SEVEN) | four_along(stones, ONE)
    return (rows_and_columns | four_along(stones, SIX) | four_along(stones, EIGHT)) != ZERO


@jitable
def actions(s, out):
    landing = (s.mask + BOTTOM) & BOARD
    n = 0
    for c in ORDER:
        if (landing >> u64(7 * c)) & COLUMN != ZERO:
            out[n] = c
            n += 1
    return n


@jitable
def result(s, a):
    # adding a column's bottom bit carries up to its first empty square
    return State(s.own ^ s.mask, s.mask | (s.mask + (ONE << u64(7 * a))))


@jitable
def is_terminal(s):
    return has_four(s.own ^ s.mask) or s.mask == BOARD


@jitable
def to_play(s):
    return np.int64(popcount(s.mask) & 1)


@jitable
def utility_mover(s):
    return np.float32(-1.0) if has_four(s.own ^ s.mask) else np.float32(0.0)


@jitable
def bounds_mover(s):
    # a side can still make four if some line holds no stone of the other
    low = np.float32(-1.0) if has_four(BOARD ^ s.own) else np.float32(0.0)
    high = np.float32(1.0) if has_four(BOARD ^ (s.own ^ s.mask)) else np.float32(0.0)
    return low, high


@jitable
def open_along(stones, empty, step):
    """Return (twos, threes): the first squares of that direction's lines with so many stones and no opposing one."""
    double = step + step
    stone_next, empty_next = stones >> step, empty >> step
    both, none = stones & stone_next, empty & empty_next
    one = (stones & empty_next) | (empty & stone_next)
    both_next, one_next = both >> double, one >> double
    twos = (both & (none >> double)) | (none & both_next) | (one & one_next)
    threes = (both & one_next) | (one & both_next)
    return twos, threes


@jitable
def open_lines(stones, empty):
    """Return (number of open twos, of open threes, the empty squares of the open threes: the threats)."""
    twos = threes = 0
    squares = ZERO
    for step in (ONE, SIX, SEVEN, EIGHT):
        two, three = open_along(stones, empty, step)
        twos += popcount(two)
        threes += popcount(three)
        pair = three | (three << step)
        squares |= pair | (pair << (step + step))
    return twos, threes, squares & empty


@jitable
def features_mover(s, out):
    own, opp = s.own, s.own ^ s.mask
    empty = BOARD ^ s.mask
    landing = (s.mask + BOTTOM) & BOARD
    twos, threes, mine = open_lines(own, empty)
    opp_twos, opp_threes, theirs = open_lines(opp, empty)
    first_moves = popcount(s.mask) & 1 == 0
    first, second = (mine, theirs) if first_moves else (theirs, mine)
    sign = 1 if first_moves else -1
    now, opp_now = popcount(mine & landing), popcount(theirs & landing)
    out[0] = popcount(own & CENTRE) - popcount(opp & CENTRE)
    out[1] = popcount(own & INNER) - popcount(opp & INNER)
    out[2] = twos - opp_twos
    out[3] = threes - opp_threes
    for i in range(4, 14):
        out[i] = 0
    while first != ZERO:  # few squares are threats: cheaper than a count for each row
        row = lowest_bit(first) % 7
        if row > 0:
            out[3 + row] += sign
        first &= first - ONE
    while second != ZERO:
        row = lowest_bit(second) % 7
        if row > 0:
            out[8 + row] -= sign
        second &= second - ONE
    out[14] = now - opp_now
    out[15] = popcount(mine & (mine << ONE)) - popcount(theirs & (theirs << ONE))
    out[16] = 1 if now > 0 else 0
    out[17] = -1 if now == 0 and opp_now >= 2 else 0


@jitable
def threats(stones, empty):
    """Return the empty squares that would complete a four."""
    squares = ZERO
    for step in (ONE, SIX, SEVEN, EIGHT):
        double = step + step
        stone_next, empty_next = stones >> step, empty >> step
        both, one = stones & stone_next, (stones & empty_next) | (empty & stone_next)
        three = (both & (one >> double)) | (one & (both >> double))
        pair = three | (three << step)
        squares |= pair | (pair << double)
    return squares & empty


@jitable
def column_threats(mine, theirs, mask, c):
    """Return (owner, reach, even, above) of the column's lowest threat, and the stones that fit below a later one."""
    shift = u64(7 * c)
    mine, theirs = (mine >> shift) & COLUMN, (theirs >> shift) & COLUMN
    below = popcount((mask >> shift) & COLUMN)
    squares = mine | theirs
    if squares == ZERO:
        return 0, (ROWS - below) & 1, 0, 0, ROWS - below
    row = lowest_bit(squares)
    owner = np.int64((mine >> u64(row)) & ONE) + 2 * np.int64((theirs >> u64(row)) & ONE)
    reach = min(row - below, 2)
    rest = squares & (squares - ONE)
    if rest == ZERO:
        return owner, reach, row & 1, 0, row - below - 1 if reach > 0 else ROWS - below
    second = lowest_bit(rest)
    above = np.int64((mine >> u64(second)) & ONE) + 2 * np.int64((theirs >> u64(second)) & ONE)
    if reach > 0 and second == row + 1 and owner & above:
        reach = 3
    return owner, reach, row & 1, above, (row if reach > 0 else second) - below - 1


@jitable
def cells(s, out):
    own, opp, empty = s.own, s.own ^ s.mask, BOARD ^ s.mask
    landing = (s.mask + BOTTOM) & BOARD
    mine, theirs = threats(own, empty), threats(opp, empty)
    room = 0
    for c in range(COLUMNS):
        for r in range(ROWS):
            square = u64(7 * c + r)
            stone = ((own >> square) & ONE) + TWO * ((opp >> square) & ONE) + THREE * ((landing >> square) & ONE)
            out[ROWS * c + r] = np.int32(stone)
        owner, reach, even, above, free = column_threats(mine, theirs, s.mask, c)
        out[OWNER + c] = owner
        out[REACH + c] = reach
        out[EVEN + c] = even
        out[ABOVE + c] = above
        room += free
    out[ROOM] = room & 1


@jitable
def contents(s, out):
    # a column of height h has mask 2**h - 1 and own below 2**h: their sums are 0..126, in the order of column_contents
    columns, empty = s.own + s.mask, BOARD ^ s.mask
    mine, theirs = threats(s.own, empty), threats(s.own ^ s.mask, empty)
    room = 0
    for c in range(COLUMNS):
        out[c] = np.int32((columns >> u64(7 * c)) & WHOLE_COLUMN)
        owner, reach, even, above, free = column_threats(mine, theirs, s.mask, c)
        out[COLUMNS + c] = reach if owner == 0 else 32 * owner + 8 * reach + 4 * even + above - 30
        room += free
    out[2 * COLUMNS] = room & 1


@jitable
def phase(s):
    return np.int64(popcount(s.mask) // STONES_PER_PHASE)


@jitable
def key(s):
    # unique: in a column of height h, mask is 2**h - 1 and own is below 2**h, so their sums never meet
    return mix64(s.own + s.mask)


RULES = Rules.of(__name__, n_actions=7, max_actions=7, max_plies=42)
