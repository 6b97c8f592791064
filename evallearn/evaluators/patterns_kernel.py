# mypy: ignore-errors
"""Template: pattern tables. See `layout.py` for the record; the names below are injected.

cells, phase, to_play                                     the game's `Rules`
short_at, squash                                          of the toolkit
N_CELLS, N_PLACES, N_PLAYERS, ENTRIES, BY_PHASE, BY_PLAYER    see `Layout`
SCALE                                                     what a win is worth

Positions that are looked at one after the other differ in few cells, as brothers in a search do; so `look` keeps the
indices of the last position and mends what differs. They are whole numbers: the way there leaves no trace.
"""

import numpy as np
from numba import njit


@njit
def look(s, params):
    """Brings params.index to the position `s`, seen by the mover."""
    cells(s, params.fresh)
    for c in range(N_CELLS):
        change = params.fresh[c] - params.seen[c]
        if change != 0:
            params.seen[c] = params.fresh[c]
            for i in range(params.first[c], params.first[c + 1]):
                params.index[params.place[i]] += change * params.power[i]


@njit
def group(s):
    """Which tables count in `s`."""
    g = np.int64(0)
    if BY_PHASE:
        g = np.int64(phase(s))
    if BY_PLAYER:
        g = g * N_PLAYERS + np.int64(to_play(s))
    return g


@njit
def evaluate_mover(s, params):
    look(s, params)
    start = group(s) * ENTRIES
    total = np.int64(0)
    for p in range(N_PLACES):
        total += short_at(params.tables, start + params.index[p])
    return np.float32(SCALE * squash(params.unit * np.float64(total)))


@njit
def evaluate_player(s, player, params):
    value = np.float64(evaluate_mover(s, params))
    return value if to_play(s) == player else -value
