# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: what each roll is worth, specialised to one game and one evaluator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

if TYPE_CHECKING:
    from evallearn.compiled.hooks import CACHE, N_WORDS, State, chances, is_terminal, result, to_play
    from evallearn.compiled.one_ply_kernel import best_action, value_of
    from evallearn.compiled.records import LuckContext

CHANCE = -1


@njit(nogil=True)
def after_best_move(s, ctx: LuckContext, params):
    """Return what `s` is worth to player 0 if the mover takes the action that looks best."""
    mover = to_play(s)
    if is_terminal(s) or mover == CHANCE:
        return value_of(s, np.int64(0), params)
    _, value, _ = best_action(s, ctx.actions, params)
    return value if mover == 0 else -value


@njit(cache=CACHE, nogil=True)
def judge(box, eval_box):
    """Write the outcomes, their probabilities and their values to player 0; return their number."""
    ctx: LuckContext = box[0]
    s = State(*to_fixed_tuple(ctx.words, N_WORDS))
    n = np.int64(chances(s, ctx.outcomes, ctx.odds))
    for i in range(n):
        ctx.values[i] = after_best_move(result(s, np.int64(ctx.outcomes[i])), ctx, eval_box[0])
    return n
