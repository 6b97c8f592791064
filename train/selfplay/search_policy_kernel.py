# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: the policy that searches, by alpha-beta to io.depth and quiescence. See `episodes.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import SCALE, to_play
    from evallearn.compiled.learning_hooks import read
    from evallearn.compiled.learning_records import EpisodeRecord
    from evallearn.compiled.records import SearchContext
    from evallearn.train.leaves_kernel import leaf_of
    from evallearn.train.selfplay.search_kernel import begin as begin_search
    from evallearn.train.selfplay.search_kernel import search, shuffle


@njit
def begin(s, n_history, io: EpisodeRecord, box, history):
    """Write the actions of `s`; return how many there are, or -1 where the game is over, by repetition too."""
    if not begin_search(s, history[:n_history], box):
        return np.int64(-1)
    return write_actions(io, box[0])


@njit
def write_actions(io: EpisodeRecord, ctx: SearchContext):
    """Copy the root's actions; return how many there are."""
    for i in range(ctx.n_root):
        io.actions[i] = ctx.root_actions[i]
    return np.int64(ctx.n_root)


@njit
def choose(s, n, io: EpisodeRecord, box, weights, sums, record, rows):
    """Return the number of the best action; io.values has its value alone. Of equal actions any may be the best."""
    ctx = box[0]
    shuffle(io, ctx)
    write_actions(io, ctx)
    chosen, value = search(s, io, ctx, record)
    io.values[chosen] = np.float64(value) / SCALE
    return chosen


@njit
def read_leaf(s, row, io: EpisodeRecord, box, weights, sums, record):
    """Read the leaf of the search that was just made of `s`.

    Returns (its group, 1 if the same player is to move there, -1 if the other is, 0 if the game is over).
    """
    leaf, over = leaf_of(s, box[0], record)
    if over:
        return np.int64(0), 0
    return np.int64(read(leaf, row, weights, sums, record)), 1 if to_play(leaf) == to_play(s) else -1
