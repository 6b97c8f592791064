# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: pattern tables. See `layout.py` for the record and the sizes.

Positions that are looked at one after the other differ in few stacks, as brothers in a search do; so `look` keeps the
indices of the last position that each player saw and mends what differs. They are whole numbers: the way there leaves
no trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        ENTRIES,
        HEIGHT,
        N_PLACES,
        N_PLAYERS,
        N_STACKS,
        NUMBERED,
        PER_PHASE,
        PER_PLAYER,
        SCALE,
        VALUES,
        cells,
        contents,
        phase,
        to_play,
    )
    from evallearn.compiled.learning_records import CellLayout, LayoutRecord, PatternRecord, StackLayout
    from evallearn.compiled.memory import short_at
    from evallearn.evaluators.squash import squash


@njit
def look_at_cells(params: CellLayout, side):
    """Bring params.index[side] to params.fresh, cell by cell: few places have a part in each."""
    for c in range(N_STACKS):
        change = params.fresh[c] - params.seen[side, c]
        if change != 0:
            params.seen[side, c] = params.fresh[c]
            for i in range(params.first[c], params.first[c + 1]):
                params.index[side, params.place[i]] += change * params.step[i]


@njit
def number(params: StackLayout, n):
    """Return which of its contents the stack holds."""
    key = 0
    for row in range(params.shape[n, 0] - 1, -1, -1):
        key = key * VALUES + params.fresh[params.stack[n, row]]
    return params.number[params.shape[n, 1], key]


@njit
def look_at_stacks(params: StackLayout, side):
    """Bring params.index[side] to params.fresh, stack by stack.

    Many places have a part in each, so whole rows are added, eight in an instruction.
    """
    for n in range(N_STACKS):
        now, before = params.fresh[n] if NUMBERED else number(params, n), params.seen[side, n]
        if now != before:
            params.seen[side, n] = now
            for p in range(params.span[n, 0], params.span[n, 1]):
                params.index[side, p] += params.codes[n, now, p] - params.codes[n, before, p]


@njit
def look(s, params: LayoutRecord, side):
    """Bring params.index[side] to the position `s`, in which that player is to move."""
    if NUMBERED:
        contents(s, params.fresh)
    else:
        cells(s, params.fresh)
    if HEIGHT > 1:
        look_at_stacks(params, side)
    else:
        look_at_cells(params, side)


@njit
def group(s):
    """Return which tables count in `s`."""
    g = np.int64(0)
    if PER_PHASE:
        g = np.int64(phase(s))
    if PER_PLAYER:
        g = g * N_PLAYERS + np.int64(to_play(s))
    return g


@njit
def evaluate_mover(s, params: PatternRecord):
    side = to_play(s)
    look(s, params, side)
    start = group(s) * ENTRIES
    total = np.int64(0)
    for p in range(N_PLACES):
        total += short_at(params.tables, start + params.index[side, p])
    return np.float32(SCALE * squash(params.unit * np.float64(total)))


@njit
def evaluate_player(s, player, params: PatternRecord):
    value = np.float64(evaluate_mover(s, params))
    return value if to_play(s) == player else -value
