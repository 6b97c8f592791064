"""Backgammon for the compiled backend; `game.py` says what everything means, `planes.py` moves."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evallearn.compiled.bits import jitable, lowest_bit
from evallearn.compiled.rng import mix64
from evallearn.core.game import CHANCE
from evallearn.core.rules import Rules
from evallearn.games.backgammon.features_rules import OPPOSING_HOME, rich_player, tesauro_active, tesauro_player
from evallearn.games.backgammon.game import BEAR_OFF, CONTACT, RACE
from evallearn.games.backgammon.moves import ROLLS, SMALLER_FIRST
from evallearn.games.backgammon.planes import (
    BAR,
    HALF,
    OFF,
    ONE,
    OPENING,
    PLAYER,
    ZERO,
    State,
    actions,
    count_at,
    dice,
    occupied,
    result,
)

ALL_OFF = (ONE << OFF) | (ONE << (OFF + HALF))
"""Fifteen checkers off: this bit in all four planes."""


@jitable
def is_terminal(s):
    return s.own_low & s.own_high & ALL_OFF == ALL_OFF or s.opp_low & s.opp_high & ALL_OFF == ALL_OFF


@jitable
def to_play(s):
    return np.int64(CHANCE) if dice(s)[0] == ZERO and not is_terminal(s) else np.int64(s.turn & PLAYER)


@jitable
def observer(s):
    return np.int64(s.turn & PLAYER)


@jitable
def utility_player(s, player):
    own_won = s.own_low & s.own_high & ALL_OFF == ALL_OFF
    low, high = (s.opp_low, s.opp_high) if own_won else (s.own_low, s.own_high)
    points = 1.0
    if count_at(low, high, OFF) == 0:
        points = 3.0 if occupied(low, high) & (BAR | OPPOSING_HOME) != ZERO else 2.0
    wins = (player == np.int64(s.turn & PLAYER)) == own_won
    return np.float32(points) if wins else np.float32(-points)


@jitable
def chances(s, out, probabilities):
    opening = s.turn & OPENING != ZERO
    n = 0
    for high, low in ROLLS:
        if high != low or not opening:
            out[n] = 10 * high + low
            probabilities[n] = 1 / 15 if opening else 1 / 36 if high == low else 1 / 18
            n += 1
    return n


@jitable
def phase(s):
    rear, opp_rear = 25 - lowest_bit(occupied(s.own_low, s.own_high)), 25 - lowest_bit(occupied(s.opp_low, s.opp_high))
    if rear + opp_rear >= 25:
        return np.int64(CONTACT)
    return np.int64(RACE) if max(rear, opp_rear) > 6 else np.int64(BEAR_OFF)


@jitable
def key(s):
    return mix64(mix64(mix64(s.own_low) ^ s.own_high) ^ mix64(mix64(s.opp_low + ONE) ^ s.opp_high) ^ s.turn)


RICH = Rules.of(
    __name__,
    State=State,
    actions=actions,
    result=result,
    features_player=rich_player,
    max_outcomes=len(ROLLS),
    n_actions=2 * SMALLER_FIRST,
    # a double moves 15 checkers by 4 steps in all: at most C(15 + 4 - 1, 4) ways (the worst position known has 2,226)
    max_actions=3060,
    # No rule ends a long game, so this is a bound for buffers only. Of 400,000 random games 66 took more than 700 plies
    # and none 900; every 100 plies more are five times less likely.
    max_plies=5000,
)
TESAURO = replace(RICH, features_player=tesauro_player, active_features=tesauro_active)
