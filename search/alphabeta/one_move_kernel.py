# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: a move by alpha-beta without Python around it.

What CompiledAlphaBeta.search does for one thread and no seed, to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from evallearn.compiled.table import AGES, NOTHING

if TYPE_CHECKING:
    from evallearn.compiled.records import SearchContext
    from evallearn.search.alphabeta.root_kernel import deepen, prepare


@njit(nogil=True)
def choose(s, history, side):
    """Return the action for `s`, or -1 if the game is over there, and the nodes searched.

    history: see `prepare`; side: see `CompiledAlphaBeta.chooser`.
    """
    box, eval_box, words, max_depth, node_limit, free, win, margin = side
    ctx: SearchContext = box[0]
    for i, word in enumerate(s):
        ctx.words[i] = word
    ctx.node_limit = node_limit
    if prepare(box, history) < 0:
        return np.int64(-1), np.int64(0)
    for i in range(ctx.n_root):
        ctx.ranks[i] = i
    ctx.best_index = 0
    ctx.all_values = 0
    grow_older(words, ctx)
    ctx.stop = 0
    ctx.depth = 0
    ctx.nodes = 0
    ctx.leaf_calls = 0
    ctx.unsound = 0
    deepen(box, eval_box, max_depth, free, win, margin)
    return np.int64(ctx.root_actions[ctx.best_index]), np.int64(ctx.nodes)


@njit(nogil=True)
def grow_older(words, ctx: SearchContext):
    """Start a new age of the table, as Table.new_age does."""
    ctx.age += 1
    if ctx.age > AGES:
        ctx.age = 1
        words[:] = NOTHING
    if ctx.readable_age != 0:
        ctx.readable_age = ctx.age
