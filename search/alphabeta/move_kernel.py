# mypy: ignore-errors
"""Template: a move by alpha-beta without Python around it. Injected: prepare, deepen (root_kernel.py), CACHE.

What CompiledAlphaBeta.search does for one thread and no seed, to the last bit.
"""

import numpy as np
from numba import njit

from evallearn.compiled.table import AGES, NOTHING


@njit(nogil=True)
def choose(s, past, side):
    """Return the action for `s`, or -1 if the game is over there, and the nodes searched.

    past: see `prepare`; side: see `CompiledAlphaBeta.chooser`.
    """
    box, eval_box, words, max_depth, node_limit, free, win, margin = side
    ctx = box[0]
    for i, word in enumerate(s):
        ctx.words[i] = word
    ctx.node_limit = node_limit
    if prepare(box, past) < 0:
        return np.int64(-1), np.int64(0)
    for i in range(ctx.n_root):
        ctx.ranks[i] = i
    ctx.best_index = 0
    ctx.all_values = 0
    grow_older(words, ctx)
    ctx.stop = 0
    ctx.depth = 0
    ctx.nodes = 0
    ctx.leaves = 0
    ctx.unsound = 0
    deepen(box, eval_box, max_depth, free, win, margin)
    return np.int64(ctx.root_actions[ctx.best_index]), np.int64(ctx.nodes)


@njit(nogil=True)
def grow_older(words, ctx):
    """What Table.new_age does."""
    ctx.age += 1
    if ctx.age > AGES:
        ctx.age = 1
        words[:] = NOTHING
    if ctx.readable_age != 0:
        ctx.readable_age = ctx.age
