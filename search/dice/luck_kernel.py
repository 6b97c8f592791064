# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: what each roll is worth, specialised to one game and one Eval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        CACHE,
        N_WORDS,
        State,
        actions,
        chances,
        evaluate_player,
        is_terminal,
        result,
        to_play,
        utility_player,
    )
    from evallearn.compiled.records import LuckContext

CHANCE = -1


@njit(nogil=True)
def worth(s, player, params):
    return np.float64(utility_player(s, player)) if is_terminal(s) else evaluate_player(s, player, params)


@njit(nogil=True)
def best_move(s, ctx: LuckContext, params):
    """Return what `s` is worth to player 0 if the mover takes the action that looks best."""
    mover = to_play(s)
    if is_terminal(s) or mover == CHANCE:
        return worth(s, np.int64(0), params)
    n = np.int64(actions(s, ctx.actions))
    best = -np.inf
    for i in range(n):
        best = max(best, worth(result(s, np.int64(ctx.actions[i])), np.int64(mover), params))
    return best if mover == 0 else -best


@njit(cache=CACHE, nogil=True)
def judge(box, eval_box):
    """Write the outcomes, their probabilities and their values to player 0; return their number."""
    ctx: LuckContext = box[0]
    s = State(*to_fixed_tuple(ctx.words, N_WORDS))
    n = np.int64(chances(s, ctx.outcomes, ctx.odds))
    for i in range(n):
        ctx.values[i] = best_move(result(s, np.int64(ctx.outcomes[i])), ctx, eval_box[0])
    return n
