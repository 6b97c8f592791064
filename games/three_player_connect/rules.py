"""Three-player Connect for the compiled backend; `game.py` says what everything means.

The columns are Connect Four's, seven bits each, so its shifted boards find the lines here too.
"""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, popcount, u64
from evallearn.compiled.rng import mix64
from evallearn.core.rules import Rules
from evallearn.games.connect_four.rules import COLUMN, has_four, open_lines
from evallearn.games.three_player_connect import game as plain
from evallearn.games.three_player_connect.game import ORDER, State

ZERO, ONE = u64(0), u64(1)
BOARD, BOTTOM = u64(plain.BOARD), u64(plain.BOTTOM)
CENTRE, INNER = u64(plain.CENTRE), u64(plain.INNER)
STONES_PER_PHASE = plain.STONES_PER_PHASE


@jitable
def stones(s):
    return s.own | s.next | s.last


@jitable
def actions(s, out):
    landing = (stones(s) + BOTTOM) & BOARD
    n = 0
    for c in ORDER:
        if (landing >> u64(7 * c)) & COLUMN != ZERO:
            out[n] = c
            n += 1
    return n


@jitable
def result(s, a):
    # adding a column's bottom bit carries up to its first empty square
    mask = stones(s)
    return State(s.next, s.last, s.own | ((mask + (ONE << u64(7 * a))) & ~mask))


@jitable
def is_terminal(s):
    return has_four(s.last) or stones(s) == BOARD


@jitable
def to_play(s):
    return np.int64(popcount(stones(s)) % 3)


@jitable
def utility_player(s, player):
    if not has_four(s.last):
        return np.float32(0.0)
    return np.float32(1.0) if (player + 1) % 3 == to_play(s) else np.float32(-0.5)


@jitable
def features_player(s, player, out):
    ahead = (player + 3 - to_play(s)) % 3
    own, next_one, last = s.own, s.next, s.last
    if ahead == 1:
        own, next_one, last = s.next, s.last, s.own
    elif ahead == 2:
        own, next_one, last = s.last, s.own, s.next
    mask = stones(s)
    empty, landing = BOARD ^ mask, (mask + BOTTOM) & BOARD
    out[0] = popcount(own & CENTRE)
    out[1] = popcount(own & INNER)
    out[2], out[3], mine = open_lines(own, empty)
    out[4], out[5], after = open_lines(next_one, empty)
    out[6], out[7], before = open_lines(last, empty)
    mine_now, after_now, before_now = popcount(mine & landing), popcount(after & landing), popcount(before & landing)
    out[8] = popcount(mine)
    out[9] = popcount(after)
    out[10] = popcount(before)
    out[11] = mine_now
    out[12] = after_now
    out[13] = before_now
    out[14] = 1 if ahead == 0 else 0
    out[15] = 1 if ahead == 0 and mine_now > 0 else 0
    out[16] = 1 if ahead == 2 and after_now > 0 else 0
    out[17] = 1 if ahead == 1 and before_now > 0 else 0


@jitable
def phase(s):
    return np.int64(popcount(stones(s)) // STONES_PER_PHASE)


@jitable
def key(s):
    return mix64(mix64(mix64(s.own) ^ s.next) ^ s.last)


RULES = Rules.of(__name__, n_actions=9, max_actions=9, max_plies=54)
