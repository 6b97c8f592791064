# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: the policy that looks io.depth plies ahead, by alpha-beta with the model's own values and no quiescence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import SCALE, actions, is_terminal, result, to_play, utility_mover
    from evallearn.compiled.learning_hooks import predict, read
    from evallearn.compiled.learning_records import EpisodeRecord


@njit
def value_ahead(s, depth, alpha, beta, io: EpisodeRecord, weights, sums, record, rows):
    """Return the value of `s` to its mover by so many plies; fail-soft, see `alphabeta`."""
    if is_terminal(s):
        return np.float64(utility_mover(s)) / SCALE
    if depth == 0:
        return predict(rows[0], read(s, rows[0], weights, sums, record), weights, sums, record)
    side = to_play(s)
    row = io.below[depth]  # a row of its own for every ply
    n = actions(s, row)
    best = -np.inf
    for i in range(n):
        after = result(s, np.int64(row[i]))
        if to_play(after) == side:
            value = value_ahead(after, depth - 1, alpha, beta, io, weights, sums, record, rows)
        else:
            value = -value_ahead(after, depth - 1, -beta, -alpha, io, weights, sums, record, rows)
        if value > best:
            best = value
            alpha = max(alpha, value)
            if value >= beta:
                break
    return best


@njit
def choose_deep(s, n, io: EpisodeRecord, box, weights, sums, record, rows):
    """Return the number of the best action, the first of equal ones; io.values of all others are bounds."""
    chosen = 0
    best = -np.inf
    for i in range(n):
        after = result(s, np.int64(io.actions[i]))
        if to_play(after) == to_play(s):
            value = value_ahead(after, io.depth - 1, best, np.inf, io, weights, sums, record, rows)
        else:
            value = -value_ahead(after, io.depth - 1, -np.inf, -best, io, weights, sums, record, rows)
        io.values[i] = value
        if value > best:
            best = value
            chosen = i
    return chosen
