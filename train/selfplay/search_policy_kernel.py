# mypy: ignore-errors
"""Template: the policy that searches, by alpha-beta to io.depth and quiescence.

See `episodes.py`; the names below are injected.

to_play                                  the game's `Rules`
begin_search, shuffle, search, leaf_of   of search_kernel.py and leaves_kernel.py
read                                     the model's hook
SCALE                                    a win's worth
CACHE                                    whether the disk cache is on
"""

import numpy as np
from numba import njit


@njit
def begin(s, n_past, io, box, past):
    """Write the actions of `s`; return how many there are, or -1 where the game is over, by repetition too."""
    if not begin_search(s, past[:n_past], box):
        return np.int64(-1)
    return write_actions(io, box[0])


@njit
def write_actions(io, ctx):
    """Copy the root's actions; return how many there are."""
    for i in range(ctx.n_root):
        io.actions[i] = ctx.root_actions[i]
    return np.int64(ctx.n_root)


@njit
def choose(s, n, io, box, weights, sums, record, rows):
    """Return the number of the best action; io.values has its value alone. Of equal actions any may be the best."""
    ctx = box[0]
    shuffle(io, ctx)
    write_actions(io, ctx)
    chosen, value = search(s, io, ctx, record)
    io.values[chosen] = np.float64(value) / SCALE
    return chosen


@njit
def read_leaf(s, row, io, box, weights, sums, record):
    """Read the leaf of the search that was just made of `s`.

    Returns (its group, 1 if the same player is to move there, -1 if the other is, 0 if the game is over).
    """
    leaf, over = leaf_of(s, box[0], record)
    if over:
        return np.int64(0), 0
    return np.int64(read(leaf, row, weights, sums, record)), 1 if to_play(leaf) == to_play(s) else -1
