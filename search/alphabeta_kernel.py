# mypy: ignore-errors
"""Template: alpha-beta specialised to one game and one Eval. See `specialise`; the names below are injected.

State, actions, result, is_terminal, to_play, utility_mover, key   the game's `Rules`
clock, HAS_CLOCK, CLOCK_LIMIT                                      of a game whose rules look back
evaluate_mover(s, params) -> float32                               the Eval
is_cutoff(s, depth_left) -> bool                                   the cutoff test
CUTS_AT_DEPTH                                                      whether that is the default one
N_WORDS, MAX_PLIES, ALTERNATES                                     of the game
CACHE                                                              whether the disk cache is on

Everything a search carries is one record, `ctx` (`CompiledAlphaBeta.context`): every array argument more would cost
the recursion about seven words and, in all, half of the speed. The algorithm is that of alphabeta_plain.py.
"""

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

from evallearn.compiled.bits import mix64
from evallearn.compiled.table import table_entry

EXACT, LOWER, UPPER, BOUND_BITS, PROVEN = 1, 2, 3, 3, 4
KILLER_1, KILLER_2, TABLE_FIRST, HISTORY_CAP = 1 << 29, 1 << 28, 1 << 30, 1 << 27
INF = np.float32(np.inf)
ZERO = np.float32(0)
RETURN = 4
"""Plies in which a position can come back at the earliest; so its third occurrence is at least twice as far."""


@njit(nogil=True)
def value_mover(s, depth, ply, alpha, beta, ctx, params):
    """Fail-soft: exact if alpha < v < beta, an upper bound if v <= alpha, a lower bound if v >= beta."""
    ctx.pv_length[ply] = 0
    if ctx.nodes >= ctx.node_limit or ctx.stop != 0:
        ctx.stop = 1
        return ZERO
    ctx.nodes += 1
    if is_terminal(s):
        return utility_mover(s)
    if HAS_CLOCK and third_time(key(s), clock(s), ctx.n_past + ply, ctx):
        return ZERO
    if is_cutoff(s, depth) or ply >= MAX_PLIES:
        ctx.asked += 1
        return evaluate_mover(s, params)
    table_action = -1
    k = np.uint64(0)
    if ctx.use_table:
        k = (table_key(s, depth, ctx.n_past + ply, ctx) if HAS_CLOCK else key(s)) ^ ctx.salt
        entry = table_entry(ctx.table_address, ctx.table_mask, k)
        if entry.key == k and entry.flag != 0:
            table_action = np.int64(entry.action)
            proven = (entry.flag & PROVEN) != 0
            if entry.depth == depth or (proven and entry.depth < depth):
                v = entry.value
                bound = entry.flag & BOUND_BITS
                if bound == EXACT or (bound == LOWER and v >= beta) or (bound == UPPER and v <= alpha):
                    if not proven:
                        ctx.asked += 1
                    if bound == EXACT:
                        ctx.pv[ply, 0] = table_action
                        ctx.pv_length[ply] = 1
                    return v
    row = ctx.actions[ply]
    score = ctx.scores[ply]
    n = actions(s, row)
    player = ply & 1 if ALTERNATES else to_play(s)
    ordered = ctx.use_killers or ctx.use_history or table_action >= 0
    if ordered:
        first = ctx.killers[ply, 0]
        second = ctx.killers[ply, 1]
        for i in range(n):
            a = row[i]
            if a == table_action:
                score[i] = TABLE_FIRST
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
    for i in range(n):
        if ordered:
            # The best-scored of row[i:] comes forward, the others keep their order; a function here costs 9 % of all.
            j = i
            for q in range(i + 1, n):
                if score[q] > score[j]:
                    j = q
            forward = row[j]
            while j > i:
                row[j] = row[j - 1]
                score[j] = score[j - 1]
                j -= 1
            row[i] = forward
        a = np.int64(row[i])
        child = result(s, a)
        if ALTERNATES or to_play(child) != player:
            v = -value_mover(child, depth - 1, ply + 1, -beta, -alpha, ctx, params)
        else:
            v = value_mover(child, depth - 1, ply + 1, alpha, beta, ctx, params)
        if ctx.stop != 0:
            return ZERO
        if v > best:
            best = v
            best_action = a
            if v > alpha:
                alpha = v
                if v >= beta:
                    reward(a, player, depth, ply, ctx)
                    break
                note_line(a, ply, ctx)
    if ctx.use_table:
        flag = EXACT if alpha0 < best < beta else (LOWER if best >= beta else UPPER)
        entry = table_entry(ctx.table_address, ctx.table_mask, k)
        entry.key = k
        entry.value = best
        entry.depth = depth
        entry.action = best_action
        entry.flag = flag if ctx.asked != asked else flag | PROVEN
    return best


@njit(nogil=True)
def third_time(k, since, here, ctx):
    """Notes position `k` as number `here` of the path, played plies included; True if it was there twice before.

    since: plies since the last move that cannot be taken back.
    """
    since = min(since, here)
    seen = 0
    for i in range(here - RETURN, here - since - 1, -2 if ALTERNATES else -1):
        if ctx.path[i] == k:
            seen += 1
    ctx.path[here] = k
    ctx.doubled[here] = seen > 0 or (since > 0 and ctx.doubled[here - 1] != 0)
    return seen >= 2


@njit(nogil=True)
def table_key(s, depth, here, ctx):
    """The position's key where no rule that looks back can strike within `depth`; else one that knows the past too.

    A third occurrence needs eight plies that can be taken back. If no position stood there twice so far, it needs a
    first return and a second one four plies later, five in all.
    """
    since = clock(s)
    beyond_count = since + depth < CLOCK_LIMIT
    since = min(since, here)
    beyond_repetition = since + depth < 2 * RETURN or (depth <= RETURN and ctx.doubled[here] == 0)
    if CUTS_AT_DEPTH and beyond_count and beyond_repetition:
        return ctx.path[here]
    past = mix64(np.uint64(clock(s)))
    for i in range(here - since, here):  # a sum: what counts is which positions were there, not in which order
        past += mix64(ctx.path[i])
    return ctx.path[here] ^ mix64(past)


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
def search_root(s, depth, ctx, params):
    """One iteration over the root actions, the last best first; False if it was stopped.

    Ties go to the lower rank: such an action is searched with a window that includes the tie.
    """
    if ctx.nodes >= ctx.node_limit:
        ctx.stop = 1
        return False
    ctx.nodes += 1
    player = to_play(s)
    best = -INF
    best_index = np.int64(-1)
    for turn in range(ctx.n_root):
        i = ctx.best_index if turn == 0 else (turn - 1 if turn <= ctx.best_index else turn)
        low = best
        if ctx.all_values:
            low = -INF
        elif best_index >= 0 and ctx.ranks[i] < ctx.ranks[best_index]:
            low = np.nextafter(best, -INF)
        a = np.int64(ctx.root_actions[i])
        child = result(s, a)
        one = np.int64(1)  # not the literal: a second signature of a recursive function breaks Numba's cache (#6061)
        if to_play(child) != player:
            v = -value_mover(child, depth - 1, one, -INF, -low, ctx, params)
        else:
            v = value_mover(child, depth - 1, one, low, INF, ctx, params)
        if ctx.stop != 0:
            return False
        ctx.new_values[i] = v
        if v > best or (v == best and ctx.ranks[i] < ctx.ranks[best_index]):
            best = v
            best_index = i
            note_line(a, 0, ctx)
    ctx.value = best
    ctx.best_index = best_index
    return True


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
def deepen(box, eval_box, max_depth, stop_when_proven, win):
    """Iterative deepening; the last finished iteration stands in ctx."""
    ctx = box[0]
    params = eval_box[0]
    s = State(*to_fixed_tuple(ctx.words, N_WORDS))
    ctx.nodes = 0
    ctx.asked = 0
    ctx.depth = 0
    ctx.exact = 0
    ctx.killers[:] = -1
    ctx.history[:] = 0
    ctx.value = evaluate_mover(s, params)
    ctx.line[0] = ctx.root_actions[ctx.best_index]
    ctx.line_length = 1
    for depth in range(1, max_depth + 1):
        asked = ctx.asked
        if not search_root(s, np.int64(depth), ctx, params):
            break
        ctx.depth = depth
        ctx.exact = ctx.asked == asked
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
    if not ctx.use_table:
        return
    for i in range(ctx.line_length):
        s = result(s, np.int64(ctx.line[i]))
    while ctx.line_length < ctx.depth and not is_terminal(s):
        if HAS_CLOCK and clock(s) + ctx.depth - ctx.line_length >= 2 * RETURN:
            return  # the table's action may be another path's
        k = key(s) ^ ctx.salt
        entry = table_entry(ctx.table_address, ctx.table_mask, k)
        if entry.key != k or (entry.flag & BOUND_BITS) != EXACT or entry.depth != ctx.depth - ctx.line_length:
            return
        ctx.line[ctx.line_length] = entry.action
        ctx.line_length += 1
        s = result(s, np.int64(entry.action))
