# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: quiescence search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        ALTERNATES,
        HAS_CLOCK,
        MAX_PLIES,
        actions,
        clock,
        evaluate_mover,
        forcing,
        is_terminal,
        key,
        noisy_actions,
        result,
        to_play,
        utility_mover,
    )
    from evallearn.compiled.records import SearchContext
    from evallearn.search.common.repetition_kernel import is_third_occurrence

INF = np.float32(np.inf)
ZERO = np.float32(0)


@njit(nogil=True)
def quiet_value(s, left, ply, alpha, beta, ctx: SearchContext, params):
    """Fail-soft value of `s`, which is not over, to its mover; `left` plies at most.

    EVAL, or better by a noisy action; where something must be answered, the best of all actions.
    """
    must_answer = left > 0 and ply < MAX_PLIES and forcing(s)
    best = -INF
    if not must_answer:
        ctx.eval_calls += 1
        ctx.leaf_calls += 1
        best = evaluate_mover(s, params)
        if left <= 0 or ply >= MAX_PLIES or best >= beta:
            return best
        alpha = max(alpha, best)
    row = ctx.actions[ply]
    n = actions(s, row) if must_answer else noisy_actions(s, row)
    player = to_play(s)
    for i in range(n):
        child = result(s, np.int64(row[i]))
        if ctx.nodes >= ctx.node_limit or ctx.stop != 0:
            ctx.stop = 1
            return ZERO
        ctx.nodes += 1
        turned = ALTERNATES or to_play(child) != player
        if is_terminal(child):
            ctx.leaf_calls += 1
            v = utility_mover(child)
        elif HAS_CLOCK and is_third_occurrence(key(child), clock(child), ctx.n_history + ply + 1, ctx):
            ctx.leaf_calls += 1
            v = ZERO
        elif turned:
            v = quiet_value(child, left - 1, ply + 1, -beta, -alpha, ctx, params)
        else:
            v = quiet_value(child, left - 1, ply + 1, alpha, beta, ctx, params)
        if ctx.stop != 0:
            return ZERO
        if turned:
            v = -v
        if v > best:
            best = v
            alpha = max(alpha, v)
            if v >= beta:
                break
    return best
