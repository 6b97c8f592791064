# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: the policy that looks one ply ahead. See `episodes.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        HAS_CHANCE,
        OUTPUTS,
        SCALE,
        actions,
        is_terminal,
        result,
        to_play,
        utility_player,
    )
    from evallearn.compiled.learning_hooks import ADVERSARY, cell, observer, output, predict, read, write_result
    from evallearn.compiled.learning_records import EpisodeRecord
    from evallearn.core.game import CHANCE


@njit
def begin(s, n_history, io: EpisodeRecord, box, history):
    """Write the actions of `s`; return how many there are: none before a roll, -1 where the game is over."""
    if is_terminal(s):
        return np.int64(-1)
    if HAS_CHANCE and to_play(s) == CHANCE:
        return np.int64(0)
    return np.int64(actions(s, io.actions))


@njit
def read_leaf(s, row, io: EpisodeRecord, box, weights, sums, record):
    """Read the position itself: one ply ahead there is no other; return (its group, 1 for the same mover)."""
    return read(s, row, weights, sums, record), 1


@njit
def choose(s, n, io: EpisodeRecord, box, weights, sums, record, rows):
    """Return the number of the best action, the first of equal ones.

    io.values are the values of all to the mover; rows and io.child_group what the model reads of the states after them,
    which is read of all before any value is asked for: their weights are on the way meanwhile. A model with several
    outputs leaves those in io.outputs.
    """
    side = to_play(s)
    for i in range(n):
        after = result(s, np.int64(io.actions[i]))
        if is_terminal(after):
            io.is_same[i] = True
            io.values[i] = worth(utility_player(after, side), io.outputs[i], record)
            io.child_group[i] = -1
            if ADVERSARY:
                io.cell[i] = 0
        else:
            io.is_same[i] = observer(after) == side
            io.child_group[i] = read(after, rows[i], weights, sums, record)
            if ADVERSARY:
                io.cell[i] = cell(io.adversary_cell, record)
    chosen = 0
    for i in range(n):
        if io.child_group[i] >= 0:
            value = predict(rows[i], io.child_group[i], weights, sums, record)
            io.values[i] = value if io.is_same[i] else -value
            if OUTPUTS > 1:
                keep_outputs(io.is_same[i], io.outputs[i], record)
        if io.values[i] > io.values[chosen]:
            chosen = i
    return chosen


@njit
def worth(u, out, record):
    """Return what a game that brought `u` is worth, as a share of a win; write every output into `out`."""
    if OUTPUTS > 1:
        write_result(np.float64(u), out, record)
    return np.float64(u) / SCALE


@njit
def keep_outputs(is_same, out, record):
    """Write the outputs of the last prediction into `out`, or those that the other player sees."""
    for j in range(OUTPUTS):
        out[j] = output(j, record) if is_same else -output(OUTPUTS - 1 - j, record)


@njit
def backup(best, n, io: EpisodeRecord):
    """Return what the position is worth if the share target_epsilon of its moves is random."""
    if io.target_epsilon == 0.0:
        return io.values[best]
    total = 0.0
    for i in range(n):
        total += io.values[i]
    return (1.0 - io.target_epsilon) * io.values[best] + io.target_epsilon * (total / n)


@njit
def adversarial(chosen, n, weight, io: EpisodeRecord):
    """Return the number of the action of an adversary, to whom its cell counts beside the values."""
    for i in range(n):
        if io.values[i] - weight * io.cell[i] > io.values[chosen] - weight * io.cell[chosen]:
            chosen = i
    return chosen
