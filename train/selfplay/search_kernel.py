# mypy: ignore-errors
"""Template: the search of a model that learns from it. See `searches.py`; the names below are injected.

result, to_play                          the game's `Rules`
value_mover, tell, note_line, prepare    of the alpha-beta kernels
uniform                                  of draws.py
EVERY_NODE                               whether somebody learns from every node

`io` is the record of who plays: counter, depth, nodes. `searches_plain.py` is the same in plain Python.
"""

import numpy as np
from numba import njit

INF = np.float32(np.inf)


@njit
def begin(s, past, box):
    """Write the root and its actions; False where the game is over."""
    for i, word in enumerate(s):
        box[0].words[i] = word
    return prepare(box, past) >= 0


@njit
def shuffle(io, ctx):
    """Shuffle the root's actions: of equal actions any may be the first, and so be played."""
    for i in range(ctx.n_root - 1, 0, -1):
        j = np.int64(uniform(io) * (i + 1))
        a = ctx.root_actions[i]
        ctx.root_actions[i] = ctx.root_actions[j]
        ctx.root_actions[j] = a


@njit
def search(s, io, ctx, params):
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
        tell(s, best, np.int64(0), -INF, INF, ctx, params)
    return chosen, best
