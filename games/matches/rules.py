"""Matches for the compiled backend; `game.py` says what everything means."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, u64
from evallearn.compiled.rng import mix64
from evallearn.core.rules import Rules
from evallearn.games.matches.game import MAX_MATCHES, MAX_PILES, State

ZERO, ONE, EIGHT, BYTE = u64(0), u64(1), u64(8), u64(255)


@jitable
def actions(s, out):
    n = 0
    rest = s.piles
    first = 0
    while rest != ZERO:
        pile = rest & BYTE
        for i in range(np.int64(pile if pile < s.k else s.k)):
            out[n] = first + i
            n += 1
        rest >>= EIGHT
        first += MAX_MATCHES
    return n


@jitable
def result(s, a):
    pile = a // MAX_MATCHES
    count = u64(a - pile * MAX_MATCHES + 1)
    return State(s.piles - (count << u64(8 * pile)), s.k, s.player ^ ONE)


@jitable
def is_terminal(s):
    return s.piles == ZERO


@jitable
def to_play(s):
    return np.int64(s.player)


@jitable
def utility_mover(s):
    return np.float32(1.0)


@jitable
def features_mover(s, out):
    matches = piles = ones = big = 0
    nim = ZERO
    rest = s.piles
    while rest != ZERO:
        pile = rest & BYTE
        residue = pile % (s.k + ONE)
        matches += np.int64(pile)
        piles += 1 if pile != ZERO else 0
        ones += 1 if residue == ONE else 0
        big += 1 if residue > ONE else 0
        nim ^= residue
        rest >>= EIGHT
    out[0] = 1
    out[1] = 1 if matches & 1 == 1 else -1
    out[2] = 1 if piles & 1 == 1 else -1
    out[3] = 1 if ones & 1 == 1 else -1
    out[4] = 1 if nim != ZERO else -1
    out[5] = piles
    out[6] = big
    out[7] = matches / 16


@jitable
def phase(s):
    rest = s.piles
    while rest != ZERO:
        if (rest & BYTE) % (s.k + ONE) > ONE:
            return np.int64(0)
        rest >>= EIGHT
    return np.int64(1)


@jitable
def key(s):
    # without `player`: the game is impartial, so both players share an entry
    return mix64(mix64(s.piles) ^ s.k)


RULES = Rules.of(
    __name__,
    n_actions=MAX_PILES * MAX_MATCHES,
    max_actions=MAX_PILES * MAX_MATCHES,  # eight full piles and no limit
    max_plies=MAX_PILES * MAX_MATCHES,  # eight full piles, one match at a time
)
