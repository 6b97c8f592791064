# mypy: ignore-errors
"""Template: where the value of a search comes from. See `specialise`; the names below are injected.

State, actions, result, is_terminal, to_play, utility_mover, key, clock, phase, noisy_actions, forcing
                                           the game's `Rules`
quiet_value, third_time                    of the alpha-beta kernels
evaluate_mover                             the evaluator, which leaves the features in params.x
N_FEATURES, N_WORDS, HAS_CLOCK             of the game
SELECTIVE                                  whether its searches end in quiescence
CACHE                                      whether the disk cache is on
"""

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

INF = np.float32(np.inf)


@njit
def leaf_of(s, ctx, params):
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
def is_over(s, ply, ctx):
    """Return True if the game ends here, `ply` plies below the root."""
    if HAS_CLOCK and third_time(key(s), clock(s), ctx.n_past + ply, ctx):
        return True
    return is_terminal(s)


@njit
def next_quiet(s, left, ply, ctx, params):
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
        elif HAS_CLOCK and third_time(key(child), clock(child), ctx.n_past + ply + 1, ctx):
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
    ctx.n_past = 0
    ctx.pv_length[0] = 0
    for r in range(len(words)):
        s = State(*to_fixed_tuple(words[r], N_WORDS))
        if HAS_CLOCK:
            third_time(key(s), 0, 0, ctx)
        at, over = leaf_of(s, ctx, params)
        turned[r] = 0
        if not over:
            evaluate_mover(at, params)
            phases[r] = phase(at)
            turned[r] = 1 if to_play(at) == to_play(s) else -1
            for i in range(N_FEATURES):
                features[r, i] = params.x[i]
