# mypy: ignore-errors
"""Template: alpha-beta specialised to one game and one Eval. See `specialise`; the names below are injected.

State, actions, result, is_terminal, to_play, utility_mover, key   the game's `Rules`
clock, HAS_CLOCK, CLOCK_LIMIT                                      of a game whose rules look back
noisy_actions, HAS_NOISE, forcing, may_pass, passed                what some games have
evaluate_mover(s, params) -> float32                               the Eval
is_cutoff(s, depth_left) -> bool                                   the cutoff test
third_time, table_key, RETURN, quiet_value                         looking_back_kernel.py, quiescence_kernel.py
SELECTIVE                                                          whether any of quiescence, extensions, null moves and
                                                                   late moves is on; which ones, ctx says
SHARED                                                             whether several threads share the table
N_WORDS, MAX_PLIES, ALTERNATES                                     of the game
CACHE                                                              whether the disk cache is on

Everything a search carries is one record, `ctx` (`CompiledAlphaBeta.context`): every array argument more would cost
the recursion about seven words and, in all, half of the speed. The algorithm is that of alphabeta_plain.py.

Several threads search the same tree and help each other through the table. Which actions are being looked at is noted
in a small table of its own: others put such an action off to the end of their row (Kerrigan's simplified ABDADA).
"""

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

from evallearn.compiled.bits import mix64
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

TABLE_FIRST, NOISY, KILLER_1, KILLER_2, HISTORY_CAP = 1 << 30, 1 << 29, (1 << 28) + 1, 1 << 28, 1 << 27
INF = np.float32(np.inf)
ZERO = np.float32(0)
NULL_DEPTH, NULL_REDUCTION = 3, 2
"""Null moves: tried from this depth on, and searched so much less deep."""
LATE_DEPTH, LATE_FROM = 3, 3
"""Late moves: a ply less from this depth on, after so many actions."""
DEFER_DEPTH = 3
"""Below it an action is searched sooner than other threads are asked."""


@njit(nogil=True)
def value_mover(s, depth, ply, alpha, beta, ctx, params):
    """Fail-soft: exact if alpha < v < beta, an upper bound if v <= alpha, a lower bound if v >= beta."""
    ctx.pv_length[ply] = 0
    if ctx.nodes >= ctx.node_limit or ctx.stop != 0:
        ctx.stop = 1
        return ZERO
    ctx.nodes += 1
    if is_terminal(s):
        ctx.leaves += 1
        return utility_mover(s)
    if HAS_CLOCK and third_time(key(s), clock(s), ctx.n_past + ply, ctx):
        ctx.leaves += 1
        return ZERO
    if SELECTIVE:
        ctx.extended[ply] = ctx.extended[ply - 1]
        if ctx.extended[ply] < ctx.extensions and forcing(s):
            ctx.extended[ply] += 1
            depth += 1
    if is_cutoff(s, depth) or ply >= MAX_PLIES:
        if SELECTIVE:
            return quiet_value(s, ctx.quiescence, ply, alpha, beta, ctx, params)
        ctx.asked += 1
        ctx.leaves += 1
        return evaluate_mover(s, params)
    table_action = np.int64(-1)
    k = np.uint64(0)
    if ctx.use_table:
        k = table_key(s, depth, ctx.n_past + ply, ctx) if HAS_CLOCK else key(s)
        if SELECTIVE:
            k ^= mix64(np.uint64(ctx.extended[ply]))  # how far a line may still be lengthened
        found = find(ctx.table_address, ctx.table_mask, k, ctx.readable_age)
        if found != NOTHING:
            table_action = action_of(found)
            proven = is_proven(found)
            if depth_of(found) == depth or (proven and depth_of(found) < depth):
                v = value_of(found)
                bound = bound_of(found)
                if bound == EXACT or (bound == LOWER and v >= beta) or (bound == UPPER and v <= alpha):
                    if not proven:
                        ctx.asked += 1
                    if bound == EXACT:
                        ctx.pv[ply, 0] = table_action
                        ctx.pv_length[ply] = 1
                    return v
    if SELECTIVE and ctx.null_move:
        ctx.passed[ply] = 0
        if depth >= NULL_DEPTH and beta < INF and ctx.passed[ply - 1] == 0 and may_pass(s):
            ctx.passed[ply] = 1
            below = -np.nextafter(beta, -INF)
            v = -value_mover(passed(s), depth - 1 - NULL_REDUCTION, ply + 1, -beta, below, ctx, params)
            ctx.passed[ply] = 0
            if ctx.stop != 0:
                return ZERO
            if v >= beta:
                ctx.unsound += 1
                ctx.asked += 1  # a move was not made, so nothing is proven
                return beta
    row = ctx.actions[ply]
    score = ctx.scores[ply]
    n = actions(s, row)
    player = ply & 1 if ALTERNATES else to_play(s)
    ordered = ctx.use_killers or ctx.use_history or (HAS_NOISE and ctx.noisy_first) or table_action >= 0
    if ordered:
        noisy = ctx.noisy
        n_noisy = np.int64(0)
        if HAS_NOISE and ctx.noisy_first:
            n_noisy = np.int64(noisy_actions(s, noisy))
            if n_noisy == n:  # that tells them apart no better
                n_noisy = 0
        j = 0
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
    asked = ctx.asked
    alpha0 = alpha
    best = -INF
    best_action = np.int64(-1)
    reducible = SELECTIVE and ctx.late_moves and depth >= LATE_DEPTH and not forcing(s)
    searched = 0
    put_off = 0
    turn = 0
    while turn < n + put_off:
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
                ctx.put_off[ply, put_off] = a
                put_off += 1
                turn += 1
                continue
        else:
            a = np.int64(ctx.put_off[ply, turn - n])
        turn += 1
        child = result(s, a)
        turned = ALTERNATES or to_play(child) != player
        if SHARED and depth >= DEFER_DEPTH:
            look_at(k, a, depth, ctx, True)
        narrow = beta
        if ctx.use_pvs and searched > 0:
            narrow = min(beta, np.nextafter(alpha, INF))
        less = 0
        if SELECTIVE:
            less = 1 if reducible and late and searched >= LATE_FROM and not forcing(child) else 0
        while True:  # once, or again if a late or a narrow look was not enough
            if turned:
                v = -value_mover(child, depth - 1 - less, ply + 1, -narrow, -alpha, ctx, params)
            else:
                v = value_mover(child, depth - 1 - less, ply + 1, alpha, narrow, ctx, params)
            if v <= alpha or ctx.stop != 0:
                ctx.unsound += less
                break
            if less > 0:
                less = 0
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
    if ctx.use_table and depth >= LOWEST_DEPTH:
        bound = EXACT if alpha0 < best < beta else (LOWER if best >= beta else UPPER)
        store(ctx.table_address, ctx.table_mask, k, pack(best, best_action, depth, bound, ctx.asked == asked, ctx.age))
    return best


@njit(nogil=True)
def is_looked_at(k, a, depth, ctx):
    """True if another thread searches this action right now. An old note may mislead: that costs time, not truth."""
    sign = mix64(k ^ mix64(np.uint64(a) * np.uint64(128) + np.uint64(depth)))
    return entry_at(ctx.looks_address, sign & ctx.looks_mask).check == sign


@njit(nogil=True)
def look_at(k, a, depth, ctx, begins):
    """Note for other threads that the search of this action begins or ends."""
    sign = mix64(k ^ mix64(np.uint64(a) * np.uint64(128) + np.uint64(depth)))
    note = entry_at(ctx.looks_address, sign & ctx.looks_mask)
    if begins:
        note.check = sign
    elif note.check == sign:
        note.check = np.uint64(0)


@njit(nogil=True)
def reward(a, player, depth, ply, ctx):
    """Remember the action that refuted this position."""
    if ctx.use_killers and ctx.killers[ply, 0] != a:
        ctx.killers[ply, 1] = ctx.killers[ply, 0]
        ctx.killers[ply, 0] = a
    if ctx.use_history and depth > 0:
        ctx.history[player, a] = min(ctx.history[player, a] + depth * depth, HISTORY_CAP)


@njit(nogil=True)
def note_line(a, ply, ctx):
    """The principal variation from `ply`: this action, then the child's line."""
    n = ctx.pv_length[ply + 1]
    ctx.pv[ply, 0] = a
    for i in range(n):
        ctx.pv[ply, i + 1] = ctx.pv[ply + 1, i]
    ctx.pv_length[ply] = n + 1


@njit(nogil=True)
def search_root(s, depth, floor, ceiling, ctx, params):
    """One look at the root actions in the order of the last iterations; False if it was stopped.

    A value up to `floor` is an upper bound, one from `ceiling` on a lower bound. Ties go to the lower rank: such an
    action is searched with a window that includes the tie.
    """
    if ctx.nodes >= ctx.node_limit:
        ctx.stop = 1
        return False
    ctx.nodes += 1
    player = to_play(s)
    k = key(s)
    best = -INF
    best_index = np.int64(-1)
    n = ctx.n_root
    put_off = 0
    turn = 0
    while turn < n + put_off:
        i = np.int64(ctx.order[turn]) if turn < n else np.int64(ctx.put_off[0, turn - n])
        a = np.int64(ctx.root_actions[i])
        if SHARED and 0 < turn < n and is_looked_at(k, a, depth, ctx):
            ctx.put_off[0, put_off] = i
            put_off += 1
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
            if v >= ceiling:
                break
    ctx.new_value = best
    ctx.new_index = best_index
    come_forward(best_index, ctx)
    return True


@njit(nogil=True)
def come_forward(index, ctx):
    """The best action is searched first next time; those that were best before come next."""
    j = 0
    while ctx.order[j] != index:
        j += 1
    while j > 0:
        ctx.order[j] = ctx.order[j - 1]
        j -= 1
    ctx.order[0] = index


@njit(cache=CACHE, nogil=True)
def prepare(box, past):
    """Write the root's actions; returns who is to play, or -2 if the game is over.

    past: uint64[n, N_WORDS], the positions before it since the last move that cannot be taken back.
    """
    ctx = box[0]
    s = State(*to_fixed_tuple(ctx.words, N_WORDS))
    over = is_terminal(s)
    if HAS_CLOCK:
        ctx.n_past = min(len(past), CLOCK_LIMIT)
        for i in range(ctx.n_past):
            words = past[len(past) - ctx.n_past + i]
            third_time(key(State(*to_fixed_tuple(words, N_WORDS))), i, i, ctx)
        over = third_time(key(s), clock(s), ctx.n_past, ctx) or over
    ctx.n_root = 0 if over else actions(s, ctx.root_actions)
    return np.int64(-2) if ctx.n_root == 0 else np.int64(to_play(s))


@njit(cache=CACHE, nogil=True)
def deepen(box, eval_box, max_depth, stop_when_proven, win, margin):
    """Iterative deepening; the last finished iteration stands in ctx."""
    ctx = box[0]
    params = eval_box[0]
    s = State(*to_fixed_tuple(ctx.words, N_WORDS))
    ctx.nodes = 0
    ctx.asked = 0
    ctx.leaves = 0
    ctx.unsound = 0
    ctx.depth = 0
    ctx.exact = 0
    ctx.killers[:] = -1
    ctx.history[:] = 0
    for i in range(ctx.n_root):
        ctx.order[i] = i
    come_forward(ctx.best_index, ctx)
    ctx.value = evaluate_mover(s, params)
    ctx.line[0] = ctx.root_actions[ctx.best_index]
    ctx.line_length = 1
    older = ctx.value
    for depth in range(1, max_depth + 1):
        asked = ctx.asked
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
            break
        ctx.depth = depth
        ctx.exact = ctx.asked == asked
        ctx.value = ctx.new_value
        ctx.best_index = ctx.new_index
        ctx.values[:] = ctx.new_values
        ctx.line_length = ctx.pv_length[0]
        ctx.line[:] = ctx.pv[0]
        # At a fixed depth the answer is minimax's at that depth; otherwise a proven win or loss is enough.
        if ctx.exact or (stop_when_proven and abs(ctx.value) == win):
            break
    extend_line(s, ctx)


@njit(nogil=True)
def extend_line(s, ctx):
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
