# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: where the value of a search comes from. EVAL leaves the features in params.x."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        CACHE,
        HAS_CLOCK,
        N_FEATURES,
        N_WORDS,
        SELECTIVE,
        State,
        actions,
        clock,
        evaluate_mover,
        forcing,
        is_terminal,
        key,
        noisy_actions,
        phase,
        result,
        to_play,
        utility_mover,
    )
    from evallearn.compiled.records import SearchContext
    from evallearn.search.alphabeta.root_kernel import quiet_value
    from evallearn.search.common.repetition_kernel import is_third_occurrence

INF = np.float32(np.inf)


@njit
def leaf_of(s, ctx: SearchContext, params):
    """Return where the value of the search comes from, and whether the game is over.

    The value comes from the end of the search's line, beyond exchanges.
    """
    ply = np.int64(0)
    over = False
    for i in range(ctx.pv_length[0]):
        s = result(s, np.int64(ctx.pv[0, i]))
        ply += 1
        over = is_over(s, ply, ctx)
    left = ctx.quiescence
    while SELECTIVE and left > 0 and not over:
        a = next_quiet(s, left, ply, ctx, params)
        if a < 0:
            break
        s = result(s, a)
        ply += 1
        left -= 1
        over = is_over(s, ply, ctx)
    return s, over


@njit
def is_over(s, ply, ctx: SearchContext):
    """Return True if the game ends here, `ply` plies below the root."""
    if HAS_CLOCK and is_third_occurrence(key(s), clock(s), ctx.n_history + ply, ctx):
        return True
    return is_terminal(s)


@njit
def next_quiet(s, left, ply, ctx: SearchContext, params):
    """Return the action by which quiescence gets its value, or -1 where it is the evaluator's own."""
    must_answer = forcing(s)
    value = quiet_value(s, left, ply, -INF, INF, ctx, params)
    if not must_answer and evaluate_mover(s, params) == value:
        return np.int64(-1)
    row = ctx.actions[ply]
    n = actions(s, row) if must_answer else noisy_actions(s, row)
    player = to_play(s)
    for i in range(n):
        a = np.int64(row[i])
        child = result(s, a)
        if is_terminal(child):
            v = utility_mover(child)
        elif HAS_CLOCK and is_third_occurrence(key(child), clock(child), ctx.n_history + ply + 1, ctx):
            v = np.float32(0)
        else:
            v = quiet_value(child, left - 1, ply + 1, -INF, INF, ctx, params)
        if (v if to_play(child) == player else -v) == value:
            return a
    return np.int64(-1)


@njit(cache=CACHE, nogil=True)
def quiet_rows(words, box, eval_box, features, phases, turned):
    """Write of each encoded position the features where it is quiet, seen by whoever moves there, and that phase.

    turned: 1 if the same player is to move there, -1 if the other is, 0 if the exchanges end the game.
    """
    ctx, params = box[0], eval_box[0]
    ctx.n_history = 0
    ctx.pv_length[0] = 0
    for r in range(len(words)):
        s = State(*to_fixed_tuple(words[r], N_WORDS))
        if HAS_CLOCK:
            is_third_occurrence(key(s), 0, 0, ctx)
        at, over = leaf_of(s, ctx, params)
        turned[r] = 0
        if not over:
            evaluate_mover(at, params)
            phases[r] = phase(at)
            turned[r] = 1 if to_play(at) == to_play(s) else -1
            for i in range(N_FEATURES):
                features[r, i] = params.x[i]
