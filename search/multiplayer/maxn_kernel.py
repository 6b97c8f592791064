# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: max^n specialised to one game and one evaluator.

Everything a search carries is one record, `ctx` (`maxn_compiled.context`): ctx.value[ply] is the vector of the position
that was looked at last at that ply, ctx.vector that of the best root action in the last finished iteration. The
algorithm is that of maxn_plain.py, node for node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        CACHE,
        HAS_CHANCE,
        MAX_PLIES,
        N_PLAYERS,
        N_WORDS,
        State,
        actions,
        chances,
        evaluate_player,
        is_cutoff,
        is_terminal,
        result,
        to_play,
        utility_player,
    )
    from evallearn.compiled.records import MaxNContext
    from evallearn.search.common.principal_variation import begin, keep_iteration, note_line

CHANCE = -1
INF = np.inf


@njit(nogil=True)
def vector(s, depth, ply, ctx: MaxNContext, params):
    """Write what `s` is worth to each player into ctx.value[ply]; return False where a limit struck."""
    ctx.pv_length[ply] = 0
    if ctx.nodes >= ctx.node_limit or ctx.stop != 0:
        ctx.stop = 1
        return False
    ctx.nodes += 1
    if is_terminal(s):
        ctx.ended += 1
        for p in range(N_PLAYERS):
            ctx.value[ply, p] = utility_player(s, p)
        return True
    if is_cutoff(s, depth) or ply >= MAX_PLIES:
        ctx.eval_calls += 1
        for p in range(N_PLAYERS):
            ctx.value[ply, p] = evaluate_player(s, p, params)
        return True
    mover = to_play(s)
    if HAS_CHANCE and mover == CHANCE:
        n = np.int64(chances(s, ctx.outcomes[ply], ctx.odds[ply]))
        ctx.value[ply, :] = 0.0
        for i in range(n):
            if not vector(result(s, np.int64(ctx.outcomes[ply, i])), depth, ply + 1, ctx, params):
                return False
            for p in range(N_PLAYERS):
                ctx.value[ply, p] += ctx.odds[ply, i] * ctx.value[ply + 1, p]
        return True
    n = np.int64(actions(s, ctx.actions[ply]))
    best = -INF
    best_tie = -INF
    for i in range(n):
        a = np.int64(ctx.actions[ply, i])
        if not vector(result(s, a), depth - 1, ply + 1, ctx, params):
            return False
        own = maximised(ply + 1, mover, ctx)
        tie = ctx.tie_sign * maximised(ply + 1, ctx.player, ctx)
        if i == 0 or own > best or (own == best and tie > best_tie):
            best = own
            best_tie = tie
            ctx.value[ply, :] = ctx.value[ply + 1, :]
            note_line(a, ply, ctx)
    return True


@njit(nogil=True)
def maximised(ply, player, ctx: MaxNContext):
    """Return what `player` maximises: the own part, or the sum of the alliance's parts."""
    if ctx.allied[player] == 0:
        return ctx.value[ply, player]
    total = 0.0
    for p in range(N_PLAYERS):
        if ctx.allied[p] != 0:
            total += ctx.value[ply, p]
    return total


@njit(nogil=True)
def search_root(s, depth, ctx: MaxNContext, params):
    """One iteration over the root actions; False if it was stopped. Of equal ones the lower rank wins."""
    if ctx.nodes >= ctx.node_limit:
        return False
    ctx.nodes += 1
    best = -1
    for i in range(ctx.n_root):
        a = np.int64(ctx.actions[0, i])
        one = np.int64(1)  # not the literal: a second signature of a recursive function breaks Numba's cache (#6061)
        if not vector(result(s, a), depth - 1, one, ctx, params):
            return False
        v = maximised(1, ctx.player, ctx)
        ctx.new_values[i] = v
        better = best < 0 or v > ctx.new_values[best]
        if better or (v == ctx.new_values[best] and ctx.ranks[i] < ctx.ranks[best]):
            best = i
            for p in range(N_PLAYERS):
                ctx.new_vector[p] = ctx.value[1, p]
            note_line(a, 0, ctx)
    ctx.best_index = best
    return True


@njit(cache=CACHE, nogil=True)
def prepare(box):
    """Write the root's actions; returns who is to play, or a negative number if nobody has a choice."""
    ctx: MaxNContext = box[0]
    s = State(*to_fixed_tuple(ctx.words, N_WORDS))
    ctx.player = to_play(s)
    if is_terminal(s) or ctx.player == CHANCE:
        return np.int64(-1)
    ctx.n_root = actions(s, ctx.actions[0])
    return np.int64(ctx.player)


@njit(cache=CACHE, nogil=True)
def deepen(box, eval_box, max_depth):
    """Search by iterative deepening; the last finished iteration stands in ctx."""
    ctx: MaxNContext = box[0]
    params = eval_box[0]
    s = State(*to_fixed_tuple(ctx.words, N_WORDS))
    begin(ctx.actions[0, ctx.best_index], ctx)
    ctx.ended = 0
    for depth in range(1, max_depth + 1):
        eval_calls = ctx.eval_calls
        if not search_root(s, np.int64(depth), ctx, params):
            break
        keep_iteration(depth, ctx)
        for p in range(N_PLAYERS):
            ctx.vector[p] = ctx.new_vector[p]
        ctx.exact = ctx.eval_calls == eval_calls
        if ctx.exact:
            break
