# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: a game with dice to its end, an evaluator choosing the moves and judging the luck.

`ctx` is the record of rollout.py, where the Python backend is too: both play the same games to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

from evallearn.compiled.rng import GOLDEN, drawn, mix64

if TYPE_CHECKING:
    from evallearn.compiled.hooks import CACHE, N_WORDS, State, chances, is_terminal, result, to_play
    from evallearn.compiled.one_ply_kernel import best_action, value_of
    from evallearn.compiled.records import RolloutContext

CHANCE = -1


@njit(nogil=True)
def best_move(s, ctx: RolloutContext, params):
    """Return the state after the move that is worth most to the mover, the earliest of equal ones."""
    action, _, _ = best_action(s, ctx.actions, params)
    return result(s, action)


@njit(nogil=True)
def is_choice(s):
    return not is_terminal(s) and to_play(s) != CHANCE


@njit(cache=CACHE, nogil=True)
def play(box, eval_box, player, rng):
    """Play the game whose random words begin at `rng`, from ctx.words; into ctx.value, ctx.luck and ctx.cut."""
    ctx, params = box[0], eval_box[0]
    s = State(*to_fixed_tuple(ctx.words, N_WORDS))
    moves, plies = ctx.moves, ctx.plies
    ctx.luck = 0.0
    ctx.cut = 0
    while not is_terminal(s):
        if moves <= 0 or plies <= 0:
            ctx.cut = 1
            break
        plies -= 1
        if to_play(s) != CHANCE:
            s = best_move(s, ctx, params)
            moves -= 1
            continue
        n = np.int64(chances(s, ctx.outcomes, ctx.odds))
        rng += GOLDEN
        chosen = drawn(mix64(rng), ctx.odds, n)
        mean, lucky, after = 0.0, 0.0, s
        for i in range(n):
            t = result(s, np.int64(ctx.outcomes[i]))
            u = best_move(t, ctx, params) if is_choice(t) else t
            value = value_of(u, player, params)
            mean += ctx.odds[i] * value
            if i == chosen:
                lucky = value
                moves -= np.int64(is_choice(t))
                after = u
        ctx.luck += lucky - mean
        s = after
    ctx.value = value_of(s, player, params)
