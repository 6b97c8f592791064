"""Pig for the compiled backend; `game.py` says what everything means."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, u64
from evallearn.compiled.rng import mix64
from evallearn.core.rules import Rules
from evallearn.games.pig.game import GOOD_TURN, HOLD, ROLL, State

ZERO, ONE, THREE, FOUR = u64(0), u64(1), u64(3), u64(4)
FIELD = u64(11)
"""Bits that hold any number of points: at most 1005."""


@jitable
def actions(s, out):
    out[0] = ROLL
    if s.turn == ZERO:
        return 1
    out[1] = HOLD
    return 2


@jitable
def chances(s, out, probabilities):
    for i in range(6):
        out[i] = i + 1
        probabilities[i] = 1.0 / 6.0
    return 6


@jitable
def bank(s, points, player):
    if s.player == ZERO:
        return State(s.first + points, s.second, ZERO, player, ZERO, s.target)
    return State(s.first, s.second + points, ZERO, player, ZERO, s.target)


@jitable
def result(s, a):
    if s.rolling == ZERO:
        if a == HOLD:
            return bank(s, s.turn, s.player ^ ONE)
        return State(s.first, s.second, s.turn, s.player, ONE, s.target)
    if a == 1:
        return bank(s, ZERO, s.player ^ ONE)
    turn = s.turn + u64(a)
    own = s.first if s.player == ZERO else s.second
    if own + turn >= s.target:
        return bank(s, turn, s.player)
    return State(s.first, s.second, turn, s.player, ZERO, s.target)


@jitable
def is_terminal(s):
    return s.first >= s.target or s.second >= s.target


@jitable
def to_play(s):
    return np.int64(-1) if s.rolling != ZERO else np.int64(s.player)


@jitable
def observer(s):
    return np.int64(s.player)


@jitable
def utility_player(s, player):
    points = s.first if player == 0 else s.second
    return np.float32(1.0) if points >= s.target else np.float32(-1.0)


@jitable
def features_player(s, player, out):
    first, second, turn = np.int64(s.first), np.int64(s.second), np.int64(s.turn)
    target, rolling = np.int64(s.target), np.int64(s.rolling)
    own, other = (first, second) if s.player == ZERO else (second, first)
    sign = 1 if np.int64(s.player) == player else -1
    in_reach = (1 if own + GOOD_TURN >= target else 0) - (1 if other + GOOD_TURN >= target else 0)
    out[0] = sign * (own - other)
    out[1] = sign * (own - other) * (own + other) / 1024
    out[2] = sign * in_reach
    out[3] = sign
    out[4] = sign * turn
    out[5] = sign * turn * (2 * own + turn) / 1024
    out[6] = sign if turn >= GOOD_TURN else 0
    out[7] = sign if own + turn + 6 >= target else 0
    out[8] = sign * rolling
    out[9] = sign * rolling * turn


@jitable
def phase(s):
    most = max(s.first, s.second)
    return np.int64(min(THREE, FOUR * most // s.target))


@jitable
def key(s):
    points = ((((s.first << FIELD) | s.second) << FIELD | s.turn) << FIELD) | s.target
    return mix64((((points << ONE) | s.player) << ONE) | s.rolling)


RULES = Rules.of(
    __name__,
    n_actions=8,
    max_actions=2,
    max_outcomes=6,
    # Room, not a bound: random games to 1000 points take up to 2,000 plies; players who never hold need 1,200 on
    # average to reach 100, so that of their games one in ten million is longer than this.
    max_plies=20_000,
    alternates=False,
)
