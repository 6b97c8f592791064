"""Tic-tac-toe for the compiled backend; `game.py` says what everything means."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, popcount, u64
from evallearn.compiled.rng import mix64
from evallearn.core.rules import Rules
from evallearn.games.tic_tac_toe import game as plain
from evallearn.games.tic_tac_toe.game import State

ZERO, ONE, NINE = u64(0), u64(1), u64(9)
FULL = u64(plain.FULL)
CENTRE = u64(plain.CENTRE)
CORNERS = u64(plain.CORNERS)
LINES = tuple(u64(line) for line in plain.LINES)


@jitable
def has_line(marks):
    for line in LINES:  # noqa: SIM110  # Numba has no any() over a generator
        if marks & line == line:
            return True
    return False


@jitable
def actions(s, out):
    free = FULL & ~(s.own | s.opp)
    n = 0
    for square in range(9):
        if (free >> u64(square)) & ONE != ZERO:
            out[n] = square
            n += 1
    return n


@jitable
def result(s, a):
    return State(s.opp, s.own | (ONE << u64(a)))


@jitable
def is_terminal(s):
    return has_line(s.opp) or (s.own | s.opp) == FULL


@jitable
def to_play(s):
    return np.int64(popcount(s.own | s.opp) & 1)


@jitable
def utility_mover(s):
    return np.float32(-1.0) if has_line(s.opp) else np.float32(0.0)


@jitable
def features_mover(s, out):
    ones = twos = own_twos = 0
    for line in LINES:
        own, opp = popcount(s.own & line), popcount(s.opp & line)
        if opp == 0:
            ones += own == 1
            twos += own == 2
            own_twos += own == 2
        elif own == 0:
            ones -= opp == 1
            twos -= opp == 2
    out[0] = popcount(s.own & CENTRE) - popcount(s.opp & CENTRE)
    out[1] = popcount(s.own & CORNERS) - popcount(s.opp & CORNERS)
    out[2] = ones
    out[3] = twos
    out[4] = own_twos > 0


@jitable
def phase(s):
    return np.int64(0)


@jitable
def key(s):
    return mix64((s.own << NINE) | s.opp)


RULES = Rules.of(__name__, n_actions=9, max_actions=9, max_plies=9)
