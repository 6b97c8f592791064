# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: the search of a model that learns from it. See `searches.py`.

`searches_plain.py` is the same in plain Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import result, to_play
    from evallearn.compiled.learning_hooks import EVERY_NODE
    from evallearn.compiled.learning_records import EpisodeRecord
    from evallearn.compiled.records import SearchContext
    from evallearn.search.alphabeta.root_kernel import prepare, report_node
    from evallearn.search.alphabeta.tree_kernel import value_mover
    from evallearn.search.common.principal_variation import note_line
    from evallearn.train.draws import uniform

INF = np.float32(np.inf)


@njit
def begin(s, history, box):
    """Write the root and its actions; False where the game is over."""
    for i, word in enumerate(s):
        box[0].words[i] = word
    return prepare(box, history) >= 0


@njit
def shuffle(io: EpisodeRecord, ctx: SearchContext):
    """Shuffle the root's actions: of equal actions any may be the first, and so be played."""
    for i in range(ctx.n_root - 1, 0, -1):
        j = np.int64(uniform(io) * (i + 1))
        a = ctx.root_actions[i]
        ctx.root_actions[i] = ctx.root_actions[j]
        ctx.root_actions[j] = a


@njit
def search(s, io: EpisodeRecord, ctx: SearchContext, params):
    """Search by alpha-beta to io.depth; return the number of the best root action and its value.

    ctx.pv[0] is the line.
    """
    ctx.nodes = 0
    ctx.killers[:] = -1
    player = to_play(s)
    best = -INF
    chosen = 0
    one = np.int64(1)  # not the literal: see root_kernel.py
    for i in range(ctx.n_root):
        a = np.int64(ctx.root_actions[i])
        child = result(s, a)
        if to_play(child) != player:
            v = -value_mover(child, io.depth - 1, one, -INF, -best, ctx, params)
        else:
            v = value_mover(child, io.depth - 1, one, best, INF, ctx, params)
        if v > best:
            best = v
            chosen = i
            note_line(a, 0, ctx)
    io.nodes += ctx.nodes
    if EVERY_NODE:
        report_node(s, best, np.int64(0), -INF, INF, ctx, params)
    return chosen, best
