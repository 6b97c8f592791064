"""Ghosts apart and ghosts at random for the compiled backend; `seats.py` says what everything means."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evallearn.compiled.bits import jitable
from evallearn.core.game import CHANCE
from evallearn.games.pacman.rules import RULES, actions, features_to, grown
from evallearn.games.pacman.seats import NEAR
from evallearn.games.pacman.state import CAUGHT_POINTS
from evallearn.games.pacman.words import (
    CAUGHT,
    CELL,
    ZERO,
    bit,
    ghost,
    has,
    is_terminal,
    n_ghosts,
    pacman,
    scared,
    score,
    turn,
    width,
)

N_SHARED = 15
"""The features that the ghosts have whoever plays them."""


# --- each ghost for itself -------------------------------------------------------------------------------------------
@jitable
def catcher(s):
    moved_last = turn(s) - 1 if turn(s) > 0 else n_ghosts(s)
    found = 0
    for i in range(n_ghosts(s), 0, -1):
        bits = ghost(s, i - 1)
        if (bits & CELL) == pacman(s) and scared(bits) == ZERO:
            if i == moved_last:
                return i
            found = i
    return found


@jitable
def utility_apart(s, player):
    if player == 0:
        return np.float32(score(s))
    points = 0 - score(s)
    if (s.clock & CAUGHT) != ZERO and catcher(s) != player:
        points += CAUGHT_POINTS
    return np.float32(points)


@jitable
def nearness(s, player):
    low, high = bit(pacman(s))
    own = rival = 0
    for steps in range(NEAR):
        for i in range(n_ghosts(s)):
            if scared(ghost(s, i)) == ZERO and has(low, high, ghost(s, i) & CELL):
                if i == player - 1:
                    own = max(own, NEAR - steps)
                else:
                    rival = max(rival, NEAR - steps)
        low, high = grown(low, high, ~s.walls_low, ~s.walls_high, width(s))
    return own, rival


@jitable
def features_apart(s, player, out):
    features_to(s, 1 if player == 0 else -1, out)
    out[N_SHARED] = out[N_SHARED + 1] = 0
    if player != 0:
        own, rival = nearness(s, player)
        out[N_SHARED] = own
        out[N_SHARED + 1] = rival


# --- ghosts at random ------------------------------------------------------------------------------------------------
@jitable
def to_play_random(s):
    return np.int64(0) if turn(s) == 0 or is_terminal(s) else np.int64(CHANCE)


@jitable
def chances(s, out, probabilities):
    n = actions(s, out)
    for i in range(n):
        probabilities[i] = 1.0 / n
    return n


@jitable
def utility_random(s, player):
    return np.float32(score(s))


@jitable
def features_random(s, player, out):
    features_to(s, 1, out)


BY_PLAYER = replace(RULES, utility_mover=None, features_mover=None, bounds_mover=None)
APART_RULES = replace(BY_PLAYER, to_play=turn, utility_player=utility_apart, features_player=features_apart)
RANDOM_RULES = replace(
    BY_PLAYER,
    to_play=to_play_random,
    utility_player=utility_random,
    features_player=features_random,
    chances=chances,
    max_outcomes=4,  # north, east, south, west
)
