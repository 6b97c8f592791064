"""The bear-off tables as an evaluator reads them, in both backends; `bearoff.py` says what is exact in them."""

# Numba infers the types of the compiled half, hence:
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from functools import lru_cache

import numpy as np

from evallearn.compiled.bits import jitable, u64
from evallearn.compiled.memory import float_at
from evallearn.core.rules import KnownValues
from evallearn.games.backgammon import bearoff
from evallearn.games.backgammon.bearoff import Bearoff
from evallearn.games.backgammon.moves import NO_DICE, State
from evallearn.games.backgammon.planes import OUTSIDE, ZERO, count_at, dice, occupied


@lru_cache(maxsize=1)
def known_values_of(table: Bearoff) -> KnownValues:
    """Wrap the tables, joined to one array, as known values."""
    memory = np.concatenate([part.reshape(-1) for part in (table.two, table.home, table.first)])

    def value(s: State) -> float | None:
        return table.value(s.own, s.opp) if s.dice == NO_DICE else None

    return KnownValues(value=value, probe=probe, memory=memory)


# --- for kernels -----------------------------------------------------------------------------------------------------
CHOOSE, POINTS, LONGEST = bearoff.CHOOSE, bearoff.POINTS, bearoff.LONGEST
N_FEW, FIRST_FULL = bearoff.N_FEW, bearoff.FIRST_FULL
HOME_AT = N_FEW * N_FEW
FIRST_AT = HOME_AT + bearoff.N_SIDES * LONGEST
POINT_7 = 18
"""The bit below that of the highest point at home: bit 25 - p is point p."""


@jitable
def number_of(low, high):
    """Return `bearoff.number` of a side; all checkers are home."""
    n, checkers = 0, 0
    for k in range(1, POINTS + 1):
        checkers += count_at(low, high, u64(POINT_7 + k))
        n += CHOOSE[checkers + k - 1, k]
    return n


@jitable
def probe(s, address):
    """Return the equity to the player on roll, or NaN (see `KnownValues`)."""
    if dice(s)[0] != ZERO:
        return np.nan
    if (occupied(s.own_low, s.own_high) | occupied(s.opp_low, s.opp_high)) & OUTSIDE != ZERO:
        return np.nan
    i, j = number_of(s.own_low, s.own_high), number_of(s.opp_low, s.opp_high)
    if i < N_FEW and j < N_FEW:
        return float_at(address, i * N_FEW + j)
    mine, theirs = HOME_AT + i * LONGEST, HOME_AT + j * LONGEST
    my_first, their_first = FIRST_AT + (i - FIRST_FULL) * LONGEST, FIRST_AT + (j - FIRST_FULL) * LONGEST
    value, not_home, none_off, mine_on = -1.0, 1.0, 1.0, 1.0
    for k in range(1, LONGEST):
        chance, chance_theirs = float_at(address, mine + k), float_at(address, theirs + k)
        value += 2.0 * chance * not_home
        not_home -= chance_theirs
        if j >= FIRST_FULL:
            value += chance * none_off
            none_off -= float_at(address, their_first + k)
        if i >= FIRST_FULL:
            mine_on -= float_at(address, my_first + k)
            value -= chance_theirs * mine_on
    return value
