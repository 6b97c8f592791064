# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: alpha-beta at the root: iterative deepening, aspiration windows, ties; tree_kernel.py goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

from evallearn.compiled.table import EXACT, NOTHING, action_of, bound_of, depth_of, find

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        CACHE,
        CLOCK_LIMIT,
        HAS_CLOCK,
        N_WORDS,
        SHARED,
        State,
        actions,
        clock,
        evaluate_mover,
        is_terminal,
        key,
        result,
        to_play,
    )
    from evallearn.compiled.hooks import quiet_value as quiet_value
    from evallearn.compiled.records import SearchContext
    from evallearn.search.alphabeta.tree_kernel import is_looked_at, look_at, value_mover
    from evallearn.search.alphabeta.tree_kernel import report_node as report_node
    from evallearn.search.common.principal_variation import begin, keep_iteration, note_line
    from evallearn.search.common.repetition_kernel import RETURN, is_third_occurrence

INF = np.float32(np.inf)


@njit(nogil=True)
def search_root(s, depth, floor, ceiling, ctx: SearchContext, params):
    """One look at the root actions in the order of the last iterations; False if it was stopped.

    A value up to `floor` is an upper bound, one from `ceiling` on a lower bound. Ties go to the lower rank: such an
    action is searched with a window that includes the tie.
    """
    ctx.new_index = -1
    if ctx.nodes >= ctx.node_limit:
        ctx.stop = 1
        return False
    ctx.nodes += 1
    player = to_play(s)
    k = key(s)
    best = -INF
    best_index = np.int64(-1)
    n = ctx.n_root
    deferred = 0
    turn = 0
    while turn < n + deferred:
        i = np.int64(ctx.order[turn]) if turn < n else np.int64(ctx.deferred[0, turn - n])
        a = np.int64(ctx.root_actions[i])
        if SHARED and 0 < turn < n and is_looked_at(k, a, depth, ctx):
            ctx.deferred[0, deferred] = i
            deferred += 1
            turn += 1
            continue
        turn += 1
        low = max(best, floor)
        if ctx.all_values:
            low = -INF
        elif best > floor and ctx.ranks[i] < ctx.ranks[best_index]:
            low = np.nextafter(best, -INF)
        high = ceiling
        if ctx.use_pvs and best_index >= 0 and low > -INF:
            high = min(ceiling, np.nextafter(low, INF))
        child = result(s, a)
        if SHARED:
            look_at(k, a, depth, ctx, True)
        one = np.int64(1)  # not the literal: a second signature of a recursive function breaks Numba's cache (#6061)
        while True:
            if to_play(child) != player:
                v = -value_mover(child, depth - 1, one, -high, -low, ctx, params)
            else:
                v = value_mover(child, depth - 1, one, low, high, ctx, params)
            if ctx.stop != 0 or v <= low or v >= ceiling or high == ceiling:
                break
            high = ceiling
        if SHARED:
            look_at(k, a, depth, ctx, False)
        if ctx.stop != 0:
            return False
        ctx.new_values[i] = v
        if v > best or (v == best and ctx.ranks[i] < ctx.ranks[best_index]):
            best = v
            best_index = i
            note_line(a, 0, ctx)
            if v > floor:  # no mere upper bound: it counts even if the others are never looked at
                ctx.new_value = best
                ctx.new_index = best_index
            if v >= ceiling:
                break
    ctx.new_value = best
    ctx.new_index = best_index
    come_forward(best_index, ctx)
    return True


@njit(nogil=True)
def come_forward(index, ctx: SearchContext):
    """Put the best action first for the next search; those that were best before come next."""
    j = 0
    while ctx.order[j] != index:
        j += 1
    while j > 0:
        ctx.order[j] = ctx.order[j - 1]
        j -= 1
    ctx.order[0] = index


@njit(cache=CACHE, nogil=True)
def prepare(box, history):
    """Write the root's actions; returns who is to play, or -2 if the game is over.

    history: uint64[n, N_WORDS], the positions before it since the last move that cannot be taken back.
    """
    ctx: SearchContext = box[0]
    s = State(*to_fixed_tuple(ctx.words, N_WORDS))
    over = is_terminal(s)
    if HAS_CLOCK:
        ctx.n_history = min(len(history), CLOCK_LIMIT)
        for i in range(ctx.n_history):
            words = history[len(history) - ctx.n_history + i]
            is_third_occurrence(key(State(*to_fixed_tuple(words, N_WORDS))), i, i, ctx)
        over = is_third_occurrence(key(s), clock(s), ctx.n_history, ctx) or over
    ctx.n_root = 0 if over else actions(s, ctx.root_actions)
    return np.int64(-2) if ctx.n_root == 0 else np.int64(to_play(s))


@njit(cache=CACHE, nogil=True)
def deepen(box, eval_box, max_depth, stop_when_proven, win, margin):
    """Search by iterative deepening; the last finished iteration stands in ctx."""
    ctx: SearchContext = box[0]
    params = eval_box[0]
    s = State(*to_fixed_tuple(ctx.words, N_WORDS))
    begin(ctx.root_actions[ctx.best_index], ctx)
    ctx.leaf_calls = 0
    ctx.unsound = 0
    ctx.unproven = 0
    ctx.value_depth = 0
    ctx.killers[:] = -1
    ctx.history[:] = 0
    for i in range(ctx.n_root):
        ctx.order[i] = i
    come_forward(ctx.best_index, ctx)
    ctx.value = evaluate_mover(s, params)
    older = ctx.value
    for depth in range(1, max_depth + 1):
        eval_calls = ctx.eval_calls
        near = older
        older = ctx.value
        floor = -INF
        ceiling = INF
        if ctx.use_aspiration and depth > 2 and not ctx.all_values:
            floor = np.float32(near - margin)
            ceiling = np.float32(near + margin)
        finished = False
        while not finished and search_root(s, np.int64(depth), floor, ceiling, ctx, params):
            if ctx.new_value <= floor:
                floor = -INF
            elif ctx.new_value >= ceiling:
                ceiling = INF
            else:
                finished = True
        if not finished:
            if (
                ctx.use_partial_iteration
                and not ctx.all_values
                and ctx.new_index >= 0
                and ctx.new_index != ctx.best_index
            ):
                take_unfinished(ctx)
            break
        keep_iteration(depth, ctx)
        ctx.value_depth = depth
        ctx.exact = ctx.eval_calls == eval_calls
        ctx.value = ctx.new_value
        ctx.best_index = ctx.new_index
        # At a fixed depth the answer is minimax's at that depth; otherwise a proven win or loss is enough.
        if ctx.exact or (stop_when_proven and abs(ctx.value) == win):
            break
    extend_line(s, ctx)


@njit(nogil=True)
def take_unfinished(ctx: SearchContext):
    """Take the best action so far of a depth that was begun with the best one of the depth before."""
    ctx.unsound += 1
    ctx.unproven += ctx.new_value <= -ctx.win  # an action that was not looked at may be better
    ctx.value_depth += 1
    ctx.value = ctx.new_value
    ctx.best_index = ctx.new_index
    ctx.line[0] = ctx.root_actions[ctx.new_index]
    ctx.line_length = 1


@njit(nogil=True)
def extend_line(s, ctx: SearchContext):
    """Where the table cut the principal variation short, follow the table's own actions."""
    if not ctx.use_table or ctx.extensions > 0:
        return
    for i in range(ctx.line_length):
        s = result(s, np.int64(ctx.line[i]))
    while ctx.line_length < ctx.depth and not is_terminal(s):
        if HAS_CLOCK and clock(s) + ctx.depth - ctx.line_length + ctx.quiescence >= 2 * RETURN:
            return  # the table's action may be another path's
        found = find(ctx.table_address, ctx.table_mask, key(s), ctx.readable_age)
        if found == NOTHING or bound_of(found) != EXACT or depth_of(found) != ctx.depth - ctx.line_length:
            return
        ctx.line[ctx.line_length] = action_of(found)
        ctx.line_length += 1
        s = result(s, action_of(found))
