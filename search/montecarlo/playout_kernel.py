# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: random playouts of one game, and the flat search made of them.

The Python backend is playouts.py; both draw the same random numbers in the same order. `ctx` is a
`PlayoutContext`, or what goes on from one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

from evallearn.compiled.rng import GOLDEN, drawn, mix64, scaled

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        CACHE,
        CLOCK_LIMIT,
        HAS_CHANCE,
        HAS_CLOCK,
        N_PLAYERS,
        N_WORDS,
        TWO_SIDED,
        State,
        actions,
        chances,
        clock,
        evaluate_player,
        is_terminal,
        key,
        result,
        to_play,
        utility_player,
    )
    from evallearn.compiled.records import PlayoutContext
    from evallearn.search.common.repetition_kernel import occurred

CHANCE = -1


@njit(nogil=True)
def load(ctx: PlayoutContext):
    return State(*to_fixed_tuple(ctx.words, N_WORDS))


@njit(nogil=True)
def place_on_path(s, here, ctx: PlayoutContext):
    """Where on the path the position after number `here` goes: nothing before an irreversible move is looked at."""
    return ctx.n_history + 1 if clock(s) == 0 else here + 1


@njit(nogil=True)
def over(s, here, ctx: PlayoutContext):
    """Whether the game ended in `s`, number `here` of the path: by its rules or by repetition (2), which is a draw."""
    if is_terminal(s):
        return 1
    if HAS_CLOCK and occurred(key(s), clock(s), here, ctx) >= 2:
        return 2
    return 0


@njit(nogil=True)
def note_end(s, how, ctx: PlayoutContext):
    """Write what the finished game is worth to each player into ctx.outcome; how: as `over` answers."""
    if TWO_SIDED:
        value = np.float64(utility_player(s, np.int64(0))) if how == 1 else 0.0
        ctx.outcome[0] = value
        ctx.outcome[1] = -value
    else:
        for p in range(N_PLAYERS):
            ctx.outcome[p] = np.float64(utility_player(s, np.int64(p))) if how == 1 else 0.0


@njit(nogil=True)
def note_guess(s, ctx: PlayoutContext, params):
    """Write what the evaluator thinks that `s` is worth to each player into ctx.outcome."""
    if TWO_SIDED:
        value = evaluate_player(s, np.int64(0), params)
        ctx.outcome[0] = value
        ctx.outcome[1] = -value
    else:
        for p in range(N_PLAYERS):
            ctx.outcome[p] = evaluate_player(s, np.int64(p), params)


@njit(nogil=True)
def playout(s, here, ctx: PlayoutContext, params):
    """Random plies from the unfinished `s`, number `here` of the path, to the end or the cut; into ctx.outcome."""
    row = ctx.row
    rng = ctx.rng
    left = ctx.playout_plies
    while left > 0:
        left -= 1
        rng += GOLDEN
        number = mix64(rng)
        if HAS_CHANCE and to_play(s) == CHANCE:
            n = chances(s, row, ctx.probabilities)
            s = result(s, np.int64(row[drawn(number, ctx.probabilities, n)]))
        else:
            n = actions(s, row)
            s = result(s, np.int64(row[scaled(number, n)]))
        if HAS_CLOCK:
            here = place_on_path(s, here, ctx)
        how = over(s, here, ctx)
        if how != 0:
            ctx.rng = rng
            note_end(s, how, ctx)
            return
    ctx.rng = rng
    note_guess(s, ctx, params)


@njit(nogil=True)
def begin(ctx: PlayoutContext, history):
    """Set the path up to the root and write the root's actions; return who is to play, or -2 if the game is over.

    history: uint64[n, N_WORDS], the positions before it since the last move that cannot be taken back.
    """
    s = load(ctx)
    if HAS_CLOCK:
        ctx.n_history = min(len(history), CLOCK_LIMIT)
        for i in range(ctx.n_history):
            words = history[len(history) - ctx.n_history + i]
            ctx.path[i] = key(State(*to_fixed_tuple(words, N_WORDS)))
    ctx.n_root = 0
    if over(s, ctx.n_history, ctx) != 0:
        return np.int64(-2)
    player = np.int64(to_play(s))
    if player != CHANCE:
        ctx.n_root = actions(s, ctx.root_actions)
    return player


@njit(cache=CACHE, nogil=True)
def prepare(box, history):
    return begin(box[0], history)


@njit(cache=CACHE, nogil=True)
def play_flat(box, eval_box, limit):
    """Playouts of the root's actions in turn until `limit` are done; sums into ctx.totals and ctx.squares."""
    ctx: PlayoutContext = box[0]
    params = eval_box[0]
    root = load(ctx)
    player = to_play(root)
    while ctx.done < limit and ctx.stop == 0:
        i = ctx.done % ctx.n_root
        s = result(root, np.int64(ctx.root_actions[i]))
        here = ctx.n_history
        if HAS_CLOCK:
            here = place_on_path(s, here, ctx)
        how = over(s, here, ctx)
        if how != 0:
            note_end(s, how, ctx)
        else:
            playout(s, here, ctx, params)
        value = ctx.outcome[player]
        ctx.visits[i] += 1
        ctx.totals[i] += value
        ctx.squares[i] += value * value
        ctx.done += 1
