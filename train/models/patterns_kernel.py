# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: pattern tables as a model. See `patterns.py`.

A row holds the table index of every place; a group is where the tables of a phase and a player begin. All are inlined:
as calls, with three arrays each, they cost 6 to 8 % of the speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import ENTRIES, N_PLACES, to_play
    from evallearn.compiled.learning_hooks import TEMPORAL_COHERENCE
    from evallearn.compiled.learning_records import EpisodeRecord, PatternModelRecord
    from evallearn.compiled.memory import fetch
    from evallearn.evaluators.patterns_kernel import group, look
    from evallearn.evaluators.squash import squash


@njit(inline="always")
def observer(s):
    return to_play(s)


@njit(inline="always")
def read(s, row, weights, sums, record: PatternModelRecord):
    side = to_play(s)
    look(s, record, side)
    start = group(s) * ENTRIES
    for p in range(N_PLACES):
        row[p] = record.index[side, p]
        fetch(weights, start + row[p])
    return start


@njit(inline="always")
def predict(row, start, weights, sums, record: PatternModelRecord):
    """Return the prediction, by four sums side by side: twice as fast as one, and the order is fixed."""
    a = b = c = d = 0.0
    n = N_PLACES - N_PLACES % 4
    for p in range(0, n, 4):
        a += np.float64(weights[start + row[p]])
        b += np.float64(weights[start + row[p + 1]])
        c += np.float64(weights[start + row[p + 2]])
        d += np.float64(weights[start + row[p + 3]])
    for p in range(n, N_PLACES):
        a += np.float64(weights[start + row[p]])
    return squash((a + b) + (c + d))


@njit(inline="always")
def prefetch(row, start, weights, sums, record: PatternModelRecord):
    if TEMPORAL_COHERENCE:
        for p in range(N_PLACES):
            fetch(sums, 2 * (start + row[p]))


@njit(inline="always")
def update(t, row, start, io: EpisodeRecord, weights, sums, record: PatternModelRecord):
    error, step = io.td_error[t, 0], io.step
    least = record.min_step_ratio  # read once: for all that is known, weights might stand there
    for p in range(N_PLACES):
        i = start + row[p]
        own = step
        if TEMPORAL_COHERENCE:
            if sums[i, 1] > 0:
                own *= max(least, abs(np.float64(sums[i, 0])) / np.float64(sums[i, 1]))
            sums[i, 0] += np.float32(error)
            sums[i, 1] += np.float32(abs(error))
        weights[i] += np.float32(own * error)


@njit(inline="always")
def cell(i, record: PatternModelRecord):
    return record.fresh[i]
