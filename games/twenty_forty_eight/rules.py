"""2048 for the compiled backend; `game.py` says what everything means.

A cell is a byte and two rows are a word. No exponent reaches 128, so the top bit of each byte is free for tests on
eight cells at once. Moves up and down turn the board over its diagonal, moves right and down the order in a row.
"""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evallearn.compiled.bits import jitable, lowest_bit, popcount, u64
from evallearn.compiled.rng import mix64
from evallearn.core.game import CHANCE
from evallearn.core.rules import Rules
from evallearn.games.twenty_forty_eight.game import TILE_CHANCES
from evallearn.games.twenty_forty_eight.tiles import LOG_STEPS, SNAKES

ZERO, ONE, TWO, FOUR, EIGHT, SIXTEEN, ROW_BITS = (u64(n) for n in (0, 1, 2, 4, 8, 16, 32))
BYTE, ROW = u64(0xFF), u64(0xFFFFFFFF)
TOP_BITS, LOW_BITS = u64(0x8080808080808080), u64(0x7F7F7F7F7F7F7F7F)
BUT_LAST_COLUMN = u64(0x0080808000808080)
"""The top bits of columns a, b and c: cells with a neighbour to the right."""
UPPER_ROW = u64(0x80808080)
P_TWO, P_FOUR = TILE_CHANCES
STEPS, STEP = u64(LOG_STEPS), 1.0 / LOG_STEPS
N_SNAKES = len(SNAKES)
MAX_PLIES = 2**18
"""The tiles sum up to at most 2**18 - 4, each tile adds 2 or more, and each but two follows a move."""
SNAKE_WEIGHTS = np.array(SNAKES, np.int64)
EVEN_BYTES, LOW_HALVES = u64(0x00FF00FF00FF00FF), u64(0x0000FFFF0000FFFF)
DIAGONAL, THREE_BYTES = u64(0xFF00FF00), u64(24)


class State(NamedTuple):
    """Exponents of rows 1 and 2, of rows 3 and 4, the score, and the tiles that chance must put."""

    top: int
    bottom: int
    score: int
    pending: int


# --- eight cells at once ---------------------------------------------------------------------------------------------
@jitable
def occupied(word):
    """Return the top bit of every byte that is not 0."""
    return (word + LOW_BITS) & TOP_BITS


@jitable
def beneath(top, bottom):
    """Return the two words of the cells one row below; beneath row 4 there is nothing."""
    return (top >> ROW_BITS) | (bottom << ROW_BITS), bottom >> ROW_BITS


@jitable
def transposed(top, bottom):
    """Turn rows into columns: first inside blocks of two by two, then the blocks of the other diagonal swap."""
    swap = (top ^ (top >> THREE_BYTES)) & DIAGONAL
    top ^= swap ^ (swap << THREE_BYTES)
    swap = (bottom ^ (bottom >> THREE_BYTES)) & DIAGONAL
    bottom ^= swap ^ (swap << THREE_BYTES)
    swap = ((top >> SIXTEEN) ^ bottom) & LOW_HALVES
    return top ^ (swap << SIXTEEN), bottom ^ swap


@jitable
def mirrored(word):
    """Return both rows from right to left."""
    word = ((word & EVEN_BYTES) << EIGHT) | ((word >> EIGHT) & EVEN_BYTES)
    return ((word & LOW_HALVES) << SIXTEEN) | ((word >> SIXTEEN) & LOW_HALVES)


@jitable
def slide_row(row):
    """Return (row, points) after the tiles slid to the low end."""
    after, points, last, place = ZERO, ZERO, ZERO, ZERO
    while row != ZERO:
        e = row & BYTE
        row >>= EIGHT
        if e == ZERO:
            continue
        if e == last:
            after += ONE << (place - EIGHT)
            points += TWO << e
            last = ZERO
        else:
            after |= e << place
            place += EIGHT
            last = e
    return after, points


@jitable
def slide_rows(word):
    low, points = slide_row(word & ROW)
    high, more = slide_row(word >> ROW_BITS)
    return low | (high << ROW_BITS), points + more


@jitable
def moved(top, bottom, a):
    """Return (top, bottom, points) after the move."""
    vertical, backwards = a == 0 or a == 2, a == 1 or a == 2
    if vertical:
        top, bottom = transposed(top, bottom)
    if backwards:
        top, bottom = mirrored(top), mirrored(bottom)
    top, points = slide_rows(top)
    bottom, more = slide_rows(bottom)
    if backwards:
        top, bottom = mirrored(top), mirrored(bottom)
    if vertical:
        top, bottom = transposed(top, bottom)
    return top, bottom, points + more


@jitable
def legal_moves(top, bottom):
    """Return (up, right, down, left): not 0 if something moves that way."""
    full_top, full_bottom = occupied(top), occupied(bottom)
    right_top, right_bottom = full_top >> EIGHT, full_bottom >> EIGHT
    equal_top = full_top & ~occupied(top ^ (top >> EIGHT))
    equal_bottom = full_bottom & ~occupied(bottom ^ (bottom >> EIGHT))
    merge = equal_top | equal_bottom
    left = (merge | (~full_top & right_top) | (~full_bottom & right_bottom)) & BUT_LAST_COLUMN
    right = (merge | (full_top & ~right_top) | (full_bottom & ~right_bottom)) & BUT_LAST_COLUMN
    under_top, under_bottom = beneath(top, bottom)
    below_top, below_bottom = beneath(full_top, full_bottom)
    equal_top = full_top & ~occupied(top ^ under_top)
    equal_bottom = full_bottom & ~occupied(bottom ^ under_bottom)  # beneath row 4 is 0: equal to no tile
    up = equal_top | equal_bottom | (~full_top & below_top) | (~full_bottom & below_bottom)
    down = equal_top | equal_bottom | (full_top & ~below_top) | (full_bottom & ~below_bottom & UPPER_ROW)
    return up, right, down, left


# --- the formalism ---------------------------------------------------------------------------------------------------
@jitable
def actions(s, out):
    n = 0
    for a, possible in enumerate(legal_moves(s.top, s.bottom)):
        if possible != ZERO:
            out[n] = a
            n += 1
    return n


@jitable
def chances(s, out, probabilities):
    cells = popcount(~occupied(s.top) & TOP_BITS) + popcount(~occupied(s.bottom) & TOP_BITS)
    n = 0
    for half in range(2):
        empty = ~occupied(s.bottom if half == 1 else s.top) & TOP_BITS
        while empty != ZERO:
            cell = 8 * half + lowest_bit(empty) // 8
            out[n] = 2 * cell
            out[n + 1] = 2 * cell + 1
            probabilities[n] = P_TWO / cells
            probabilities[n + 1] = P_FOUR / cells
            n += 2
            empty &= empty - ONE
    return n


@jitable
def result(s, a):
    if s.pending != ZERO:
        cell = a >> 1
        tile = u64(1 + (a & 1)) << u64(8 * (cell & 7))
        if cell < 8:
            return State(s.top | tile, s.bottom, s.score, s.pending - ONE)
        return State(s.top, s.bottom | tile, s.score, s.pending - ONE)
    top, bottom, points = moved(s.top, s.bottom, a)
    return State(top, bottom, s.score + points, ONE)


@jitable
def is_terminal(s):
    if s.pending != ZERO:
        return False
    up, right, down, left = legal_moves(s.top, s.bottom)
    return (up | right | down | left) == ZERO


@jitable
def to_play(s):
    return np.int64(0) if s.pending == ZERO else np.int64(CHANCE)


@jitable
def utility_player(s, player):
    return np.float32(s.score)


@jitable
def won_player(s, player):
    return np.float64(s.score)


# --- what an evaluator reads -----------------------------------------------------------------------------------------
@jitable
def floor_log2(n):
    below = n >> ONE
    below |= below >> ONE
    below |= below >> TWO
    below |= below >> FOUR
    below |= below >> EIGHT
    below |= below >> SIXTEEN
    return popcount(below)


@jitable
def log2_steps(n):
    e = floor_log2(n)
    return (e - 1) * LOG_STEPS + np.int64((n * STEPS) >> u64(e))


@jitable
def exponent(s, cell):
    return np.int64(((s.bottom if cell >= 8 else s.top) >> u64(8 * (cell & 7))) & BYTE)


@jitable
def tile_sum(s):
    total = ZERO
    for half in range(2):
        word = s.bottom if half == 1 else s.top
        while word != ZERO:
            e = word & BYTE
            word >>= EIGHT
            if e != ZERO:
                total += ONE << e
    return total


@jitable
def unmerged(s):
    total, points = np.int64(tile_sum(s)), np.int64(0)
    for e in range(1, 19):
        if (total >> e) & 1 == 1:
            points += (e - 1) << e
    for cell in range(16):
        e = exponent(s, cell)
        if e > 1:
            points -= (e - 1) << e
    return points


@jitable
def line_sums(s, first, step):
    """Return (merges, roughness, disorder) of the line of four cells that begins at `first`."""
    merges = roughness = rises = falls = 0
    a = exponent(s, first)
    for i in range(1, 4):
        b = exponent(s, first + i * step)
        d = b - a
        if d > 0:
            rises += d
        else:
            falls -= d
        if a != 0 and b != 0:
            roughness += abs(d)
            merges += 1 if d == 0 else 0
        a = b
    return merges, roughness, min(rises, falls)


@jitable
def largest_exponent(s):
    largest = 0
    for cell in range(16):
        largest = max(largest, exponent(s, cell))
    return largest


@jitable
def best_snake(s):
    best = np.int64(0)
    for k in range(N_SNAKES):
        total = np.int64(0)
        for cell in range(16):
            total += SNAKE_WEIGHTS[k, cell] * exponent(s, cell)
        best = max(best, total)
    return best


@jitable
def features_player(s, player, out):
    merges = roughness = disorder = 0
    for i in range(4):
        m, r, d = line_sums(s, 4 * i, 1)
        merges, roughness, disorder = merges + m, roughness + r, disorder + d
        m, r, d = line_sums(s, i, 4)
        merges, roughness, disorder = merges + m, roughness + r, disorder + d
    largest = largest_exponent(s)
    in_corner = False
    for corner in (0, 3, 12, 15):
        in_corner |= exponent(s, corner) == largest
    out[0] = 1
    out[1] = log2_steps(tile_sum(s) + ONE) * STEP
    out[2] = unmerged(s) * STEP
    out[3] = 16 - popcount(occupied(s.top)) - popcount(occupied(s.bottom))
    out[4] = merges
    out[5] = roughness
    out[6] = disorder
    out[7] = largest
    out[8] = 1 if in_corner else 0
    out[9] = best_snake(s)


@jitable
def phase(s):
    return np.int64(min(3, max(0, (floor_log2(tile_sum(s)) - 6) // 2)))


@jitable
def key(s):
    return mix64(mix64(mix64(s.top) ^ s.bottom) ^ (s.score << TWO) ^ s.pending)


RULES = Rules.of(__name__, n_actions=4, max_actions=4, max_outcomes=32, max_plies=MAX_PLIES, alternates=False)
