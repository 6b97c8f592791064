# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: alpha-beta inside the tree, specialised to one game and one evaluator; root_kernel.py begins it.

Everything a search carries is one record, `ctx` (`compiled.context`): every array argument more would cost the
recursion about seven words and, in all, half of the speed. The algorithm is that of plain.py.

Several threads search the same tree and help each other through the table. Which actions are being looked at is noted
in a small table of its own: others put such an action off to the end of their row (Kerrigan's simplified ABDADA).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from evallearn.compiled.rng import mix64
from evallearn.compiled.table import (
    EXACT,
    LOWER,
    LOWEST_DEPTH,
    NOTHING,
    UPPER,
    action_of,
    bound_of,
    depth_of,
    entry_at,
    find,
    is_proven,
    pack,
    store,
    value_of,
)

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        ALTERNATES,
        BY_EVAL,
        HAS_BOUNDS,
        HAS_CLOCK,
        HAS_NOISE,
        MAX_PLIES,
        NOTES,
        SELECTIVE,
        SHARED,
        actions,
        clock,
        eval_bounds_mover,
        evaluate_mover,
        forcing,
        is_cutoff,
        is_terminal,
        key,
        may_pass,
        noisy_actions,
        on_node,
        passed,
        quiet_value,
        result,
        to_play,
        utility_mover,
    )
    from evallearn.compiled.records import SearchContext
    from evallearn.search.alphabeta.margins import (
        EVAL_ORDER_DEPTH,
        FUTILITY,
        FUTILITY_DEPTH,
        LATE_DEPTH,
        LATE_FROM,
        NULL_DEPTH,
        eval_score,
        late_reduction,
        null_reduction,
        shifted,
    )
    from evallearn.search.common.principal_variation import note_line
    from evallearn.search.common.repetition_kernel import is_third_occurrence, table_key

TABLE_FIRST, NOISY, KILLER_1, KILLER_2, HISTORY_CAP = 1 << 30, 1 << 29, (1 << 28) + 1, 1 << 28, 1 << 27
INF = np.float32(np.inf)
ZERO = np.float32(0)
DEFER_DEPTH = 4
"""Below it an action is searched sooner than other threads are asked."""


@njit(nogil=True)
def value_mover(s, depth, ply, alpha, beta, ctx: SearchContext, params):
    """Fail-soft: exact if alpha < v < beta, an upper bound if v <= alpha, a lower bound if v >= beta."""
    ctx.pv_length[ply] = 0
    if ctx.nodes >= ctx.node_limit or ctx.stop != 0:
        ctx.stop = 1
        return ZERO
    ctx.nodes += 1
    if is_terminal(s):
        ctx.leaf_calls += 1
        return utility_mover(s)
    if HAS_CLOCK and is_third_occurrence(key(s), clock(s), ctx.n_history + ply, ctx):
        ctx.leaf_calls += 1
        return ZERO
    high = INF
    if HAS_BOUNDS:
        low, high = eval_bounds_mover(s, params)
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
    if SELECTIVE:
        ctx.extended[ply] = ctx.extended[ply - 1]
        if ctx.extended[ply] < ctx.extensions and forcing(s):
            ctx.extended[ply] += 1
            depth += 1
    if is_cutoff(s, depth) or ply >= MAX_PLIES:
        if SELECTIVE:
            return quiet_value(s, ctx.quiescence, ply, alpha, beta, ctx, params)
        ctx.eval_calls += 1
        ctx.leaf_calls += 1
        return evaluate_mover(s, params)
    table_action = np.int64(-1)
    k = np.uint64(0)
    if ctx.use_table:
        if ctx.path_independent_table:
            k = ctx.path[ctx.n_history + ply] if HAS_CLOCK else key(s)
        else:
            k = table_key(s, depth, ctx.n_history + ply, ctx) if HAS_CLOCK else key(s)
            if SELECTIVE:
                k ^= mix64(np.uint64(ctx.extended[ply]))  # how far a line may still be lengthened
        found = find(ctx.table_address, ctx.table_mask, k, ctx.readable_age)
        if found != NOTHING:
            table_action = action_of(found)
            proven = is_proven(found)
            deeper = ctx.path_independent_table and depth_of(found) > depth
            if depth_of(found) == depth or (proven and depth_of(found) < depth) or deeper:
                v = value_of(found)
                bound = bound_of(found)
                if bound == EXACT or (bound == LOWER and v >= beta) or (bound == UPPER and v <= alpha):
                    if not proven or ctx.path_independent_table:
                        ctx.eval_calls += 1
                    ctx.unsound += ctx.path_independent_table
                    if HAS_CLOCK and abs(v) >= ctx.win:
                        ctx.unproven += ctx.path_independent_table
                    if bound == EXACT:
                        ctx.pv[ply, 0] = table_action
                        ctx.pv_length[ply] = 1
                    return v
    forced = SELECTIVE and (ctx.futility or ctx.late_move_reductions) and forcing(s)
    static = INF
    judged = SELECTIVE and ctx.futility and not forced
    if judged:
        static = evaluate_mover(s, params) / ctx.win
        if 0 < depth <= FUTILITY_DEPTH and ctx.win * shifted(static, -FUTILITY[depth]) >= beta:
            ctx.unsound += 1
            ctx.eval_calls += 1
            return ctx.win * static
    if SELECTIVE and ctx.null_move:
        ctx.passed[ply] = 0
        wished = depth >= NULL_DEPTH and beta < INF and ctx.win * static >= beta
        if wished and ctx.passed[ply - 1] == 0 and may_pass(s):
            ctx.passed[ply] = 1
            below = -np.nextafter(beta, -INF)
            v = -value_mover(passed(s), depth - 1 - null_reduction(depth), ply + 1, -beta, below, ctx, params)
            ctx.passed[ply] = 0
            if ctx.stop != 0:
                return ZERO
            if v >= beta:
                ctx.unsound += 1
                ctx.eval_calls += 1  # a move was not made, so nothing is proven
                ctx.unproven += beta >= ctx.win
                return beta
    row = ctx.actions[ply]
    score = ctx.scores[ply]
    n = actions(s, row)
    player = ply & 1 if ALTERNATES else to_play(s)
    by_eval = BY_EVAL and depth >= EVAL_ORDER_DEPTH and table_action < 0
    ordered = ctx.use_killers or ctx.use_history or (HAS_NOISE and ctx.noisy_first) or by_eval or table_action >= 0
    if ordered:
        score_actions(s, n, table_action, player, ply, ctx)
    if by_eval:
        score_by_eval(s, n, player, ply, ctx, params)
        if ctx.stop != 0:
            return ZERO
    eval_calls = ctx.eval_calls
    alpha0 = alpha
    best = -INF
    best_action = np.int64(-1)
    reducible = SELECTIVE and ctx.late_move_reductions and depth >= LATE_DEPTH and not forced
    futility_value = INF
    if judged and 0 < depth <= FUTILITY_DEPTH:
        futility_value = ctx.win * shifted(static, FUTILITY[depth])
    searched = 0
    deferred = 0
    turn = 0
    while turn < n + deferred:
        late = False
        if turn < n:
            if ordered:
                # The best-scored of row[turn:] comes forward, the others keep their order; a function costs 9 % of all.
                j = turn
                for q in range(turn + 1, n):
                    if score[q] > score[j]:
                        j = q
                forward = row[j]
                late = score[j] <= HISTORY_CAP
                while j > turn:
                    row[j] = row[j - 1]
                    score[j] = score[j - 1]
                    j -= 1
                row[turn] = forward
            a = np.int64(row[turn])
            if SHARED and turn > 0 and depth >= DEFER_DEPTH and is_looked_at(k, a, depth, ctx):
                ctx.deferred[ply, deferred] = a
                deferred += 1
                turn += 1
                continue
        else:
            a = np.int64(ctx.deferred[ply, turn - n])
        turn += 1
        child = result(s, a)
        turned = ALTERNATES or to_play(child) != player
        if SELECTIVE and futility_value <= alpha and late and searched > 0 and not forcing(child):
            ctx.unsound += 1
            ctx.eval_calls += 1
            best = max(best, futility_value)
            continue
        if SHARED and depth >= DEFER_DEPTH:
            look_at(k, a, depth, ctx, True)
        narrow = beta
        if ctx.use_pvs and searched > 0:
            narrow = min(beta, np.nextafter(alpha, INF))
        reduction = 0
        if SELECTIVE and reducible and late and searched >= LATE_FROM and not forcing(child):
            reduction = late_reduction(depth, searched)
        while True:  # once, or again if a late or a narrow look was not enough
            if turned:
                v = -value_mover(child, depth - 1 - reduction, ply + 1, -narrow, -alpha, ctx, params)
            else:
                v = value_mover(child, depth - 1 - reduction, ply + 1, alpha, narrow, ctx, params)
            if v <= alpha or ctx.stop != 0:
                ctx.unsound += reduction > 0
                break
            if reduction > 0:
                reduction = 0
            elif narrow < beta and v < beta:
                narrow = beta
            else:
                break
        if SHARED and depth >= DEFER_DEPTH:
            look_at(k, a, depth, ctx, False)
        if ctx.stop != 0:
            return ZERO
        searched += 1
        if v > best:
            best = v
            best_action = a
            if v > alpha:
                alpha = v
                if v >= beta:
                    reward(a, player, depth, ply, ctx)
                    break
                note_line(a, ply, ctx)
                if HAS_BOUNDS and v >= high:
                    break
    if NOTES:
        report_node(s, best, ply, alpha0, beta, ctx, params)
    if ctx.use_table and depth >= LOWEST_DEPTH:
        bound = EXACT if alpha0 < best < beta else (LOWER if best >= beta else UPPER)
        store(
            ctx.table_address,
            ctx.table_mask,
            k,
            pack(best, best_action, depth, bound, ctx.eval_calls == eval_calls, ctx.age),
        )
    return best


@njit(nogil=True)
def report_node(s, value, ply, alpha, beta, ctx: SearchContext, params):
    """on_node, where EVAL could be asked: in the midst of an exchange it would learn that pieces are worth little."""
    if SELECTIVE and ctx.quiescence > 0:
        static = evaluate_mover(s, params)
        above = np.nextafter(static, INF)
        if forcing(s) or quiet_value(s, ctx.quiescence, ply, static, above, ctx, params) > static:
            return
    on_node(s, value, alpha, beta, params)


@njit(nogil=True)
def score_actions(s, n, table_action, player, ply, ctx: SearchContext):
    """In which order the n actions of `s` are tried: the table's, noisy ones, killers of this ply, then by history."""
    row = ctx.actions[ply]
    score = ctx.scores[ply]
    noisy = ctx.noisy
    n_noisy = np.int64(0)
    if HAS_NOISE and ctx.noisy_first:
        n_noisy = np.int64(noisy_actions(s, noisy))
        if n_noisy == n:  # that tells them apart no better
            n_noisy = np.int64(0)
    j = np.int64(0)
    first = ctx.killers[ply, 0]
    second = ctx.killers[ply, 1]
    for i in range(n):
        a = row[i]
        is_noisy = HAS_NOISE and j < n_noisy and a == noisy[j]
        j += is_noisy
        if a == table_action:
            score[i] = TABLE_FIRST
        elif is_noisy:
            score[i] = NOISY
        elif a == first:
            score[i] = KILLER_1
        elif a == second:
            score[i] = KILLER_2
        else:
            score[i] = ctx.history[player, a]


@njit(nogil=True)
def score_by_eval(s, n, player, ply, ctx: SearchContext, params):
    """Score the quiet ones of the n actions of `s` by EVAL of the positions after them, which count as nodes."""
    row = ctx.actions[ply]
    score = ctx.scores[ply]
    for i in range(n):
        if score[i] > HISTORY_CAP:
            continue
        if ctx.nodes >= ctx.node_limit or ctx.stop != 0:
            ctx.stop = 1
            return
        ctx.nodes += 1
        ctx.leaf_calls += 1
        child = result(s, np.int64(row[i]))
        v = np.float64(utility_mover(child) if is_terminal(child) else evaluate_mover(child, params))
        turned = ALTERNATES or to_play(child) != player
        score[i] = eval_score(-v if turned else v, np.float64(ctx.win))


@njit(nogil=True)
def sign_of(k, a, depth):
    """By which threads know that they mean the same action of the same position at the same depth."""
    return mix64(k ^ mix64(np.uint64(a) * np.uint64(128) + np.uint64(depth)))


@njit(nogil=True)
def is_looked_at(k, a, depth, ctx: SearchContext):
    """Return True if another thread searches this action right now.

    An old note may mislead: that costs time, not correctness.
    """
    sign = sign_of(k, a, depth)
    return entry_at(ctx.looks_address, sign & ctx.looks_mask).check == sign


@njit(nogil=True)
def look_at(k, a, depth, ctx: SearchContext, begins):
    """Note for other threads that the search of this action begins or ends."""
    sign = sign_of(k, a, depth)
    note = entry_at(ctx.looks_address, sign & ctx.looks_mask)
    if begins:
        note.check = sign
    elif note.check == sign:
        note.check = np.uint64(0)


@njit(nogil=True)
def reward(a, player, depth, ply, ctx: SearchContext):
    """Remember the action that refuted this position."""
    if ctx.use_killers and ctx.killers[ply, 0] != a:
        ctx.killers[ply, 1] = ctx.killers[ply, 0]
        ctx.killers[ply, 0] = a
    if ctx.use_history and depth > 0:
        ctx.history[player, a] = min(ctx.history[player, a] + depth * depth, HISTORY_CAP)
