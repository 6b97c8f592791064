# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: expectiminimax specialised to one game and one evaluator.

Everything a search carries is one record, `ctx` (`compiled.context`). The algorithm is that of star.py, node for node;
all values are those to `ctx.player`, who is to move at the root.
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
        evaluate_player,
        is_cutoff,
        is_terminal,
        key,
        observer,
        result,
        to_play,
        utility_player,
    )
    from evallearn.compiled.records import ExpectiminimaxContext
    from evallearn.search.common.principal_variation import begin, keep_iteration, note_line
    from evallearn.search.expectiminimax.roll_kernel import (
        UNSETTLED,
        average,
        highest_needed,
        lowest_needed,
        note_high,
        note_low,
        roll,
    )
    from evallearn.search.expectiminimax.table import table_entry

CHANCE = -1
NO_PRUNING, STAR1, STAR2 = 0, 1, 2
EXACT, LOWER, UPPER, BOUND_BITS, PROVEN = 1, 2, 3, 3, 4
INF = np.inf


@njit(nogil=True)
def value(s, depth, ply, alpha, beta, ctx: ExpectiminimaxContext, params):
    """Fail-soft: exact if alpha < v < beta, an upper bound if v <= alpha, a lower bound if v >= beta.

    One function for choices and rolls: Numba knows no recursion through two.
    """
    ctx.pv_length[ply] = 0
    ctx.variance[ply] = 0.0
    if not spend(ctx):
        return 0.0
    if is_terminal(s):
        ctx.ended += 1
        return np.float64(utility_player(s, ctx.player))
    if is_cutoff(s, depth) or ply >= MAX_PLIES:
        ctx.eval_calls += 1
        return np.float64(evaluate_player(s, ctx.player, params))
    mover = to_play(s)
    k = np.uint64(0)
    table_action = np.int64(-1)
    if ctx.use_table != 0:
        k = table_key(s, mover, ctx)
        entry = table_entry(ctx.table_address, ctx.table_mask, k)
        if entry.key == k and entry.flag != 0:
            table_action = np.int64(entry.action)
            proven = (entry.flag & PROVEN) != 0
            if entry.depth == depth or (proven and entry.depth < depth):
                v = entry.value
                bound = entry.flag & BOUND_BITS
                if bound == EXACT or (bound == LOWER and v >= beta) or (bound == UPPER and v <= alpha):
                    if not proven:
                        ctx.recalled += 1
                    ctx.variance[ply] = entry.variance
                    if bound == EXACT and table_action >= 0:
                        ctx.pv[ply, 0] = table_action
                        ctx.pv_length[ply] = 1
                    return v
    before = ctx.eval_calls + ctx.recalled
    best_action = np.int64(-1)
    bound = np.int64(EXACT)
    if HAS_CHANCE and mover == CHANCE:
        n = roll(s, ply, ctx)
        slack = ctx.slack[ply]
        probes = n if ctx.pruning == STAR2 and (alpha > -INF or beta < INF) else 0
        for turn in range(probes + n):
            i = turn if turn < probes else turn - probes
            if ctx.spread[ply, i] != UNSETTLED:
                continue
            low = lowest_needed(i, alpha, ply, ctx)
            high = highest_needed(i, beta, ply, ctx)
            child = result(s, np.int64(ctx.outcomes[ply, i]))
            down = np.int64(0)
            chooser = np.int64(ctx.player)
            if turn < probes and not (is_terminal(child) or is_cutoff(child, depth)):
                chooser = np.int64(to_play(child))
                if chooser == CHANCE or (beta == INF if chooser == ctx.player else alpha == -INF):
                    continue  # no bound can be had, or it would be of no use
                if not spend(ctx):
                    return 0.0
                slot = np.int64(ctx.slots[ply, i])
                child = result(child, probe_action(child, chooser, depth, ply + 1, slot, ctx, params))
                if ctx.stop != 0:
                    return 0.0
                down = np.int64(1)
                if chooser == ctx.player:
                    low = -INF
                else:
                    high = INF
            ctx.slot[ply + 1] = ctx.slots[ply, i]
            ctx.slot[ply + 2] = 0
            v = value(child, depth - down, ply + 1 + down, low, high, ctx, params)
            if ctx.stop != 0:
                return 0.0
            if down == 1:
                if chooser == ctx.player:
                    note_low(i, max(v, ctx.low[ply, i]), ply, ctx)
                else:
                    note_high(i, min(v, ctx.high[ply, i]), ply, ctx)
            else:
                note_low(i, v, ply, ctx)
                note_high(i, v, ply, ctx)
                ctx.spread[ply, i] = ctx.variance[ply + 1]
            if ctx.most[ply] + slack <= alpha:
                bound = np.int64(UPPER)
                break
            if ctx.least[ply] - slack >= beta:
                bound = np.int64(LOWER)
                break
        if bound == UPPER:
            v = ctx.most[ply] + slack
        elif bound == LOWER:
            v = ctx.least[ply] - slack
        else:
            v = average(n, ply, ctx)
    else:
        own = mover == ctx.player
        slot = np.int64(ctx.slot[ply])
        ctx.slot[ply + 1] = 0
        low_mover = alpha if own else -beta
        high_mover = beta if own else -alpha
        best_mover = -INF
        n = ordered_actions(s, depth, ply, slot, table_action, ctx, params)
        if ctx.stop != 0:
            return 0.0
        for i in range(n):
            a = np.int64(ctx.actions[ply, i])
            low = low_mover if own else -high_mover
            high = high_mover if own else -low_mover
            v = value(result(s, a), depth - 1, ply + 1, low, high, ctx, params)
            if ctx.stop != 0:
                return 0.0
            v_mover = v if own else -v
            if v_mover > best_mover:
                best_mover = v_mover
                best_action = a
                ctx.variance[ply] = ctx.variance[ply + 1]
                note_line(a, ply, ctx)
                if ctx.pruning != NO_PRUNING:
                    low_mover = max(low_mover, v_mover)
                    if v_mover >= high_mover:
                        break
        ctx.killers[ply, slot] = best_action
        v = best_mover if own else -best_mover
        bound = np.int64(EXACT if alpha < v < beta else (UPPER if v <= alpha else LOWER))
    if ctx.use_table != 0:
        entry = table_entry(ctx.table_address, ctx.table_mask, k)
        entry.key = k
        entry.value = v
        entry.variance = ctx.variance[ply]
        entry.depth = depth
        entry.action = best_action
        entry.flag = bound if ctx.eval_calls + ctx.recalled != before else bound | PROVEN
    return v


@njit(nogil=True)
def spend(ctx: ExpectiminimaxContext):
    """Count a node; False where a limit is reached."""
    if ctx.nodes >= ctx.node_limit or ctx.stop != 0:
        ctx.stop = 1
        return False
    ctx.nodes += 1
    return True


# --- the order of actions --------------------------------------------------------------------------------------------
@njit(nogil=True)
def table_key(s, mover, ctx: ExpectiminimaxContext):
    """Return a key made of the position's key, this search's salt, and whose turn it is.

    The position's keys may be the same for both sides.
    """
    if N_PLAYERS == 2:
        side = observer(s) if HAS_CHANCE and mover == CHANCE else mover
        return key(s) ^ (ctx.salt if side == 0 else ~ctx.salt)
    return key(s) ^ ctx.salt


@njit(nogil=True)
def passing(s, depth, row, ctx: ExpectiminimaxContext, params):
    """Write the actions; where the filter leaves some out, those of the best prospects first. How many there are."""
    n = np.int64(actions(s, row))
    if depth < 2 or n <= ctx.width:
        return n
    mover = np.int64(to_play(s))
    for i in range(n):
        if not spend(ctx):
            return n
        a = row[i]
        after = result(s, np.int64(a))
        if is_terminal(after):
            ctx.ended += 1
            prospect = np.float64(utility_player(after, mover))
        else:
            ctx.eval_calls += 1
            prospect = np.float64(evaluate_player(after, mover, params))
        j = i
        while j > 0 and ctx.prospects[j - 1] < prospect:  # equal ones keep the game's order
            ctx.prospects[j] = ctx.prospects[j - 1]
            row[j] = row[j - 1]
            j -= 1
        ctx.prospects[j] = prospect
        row[j] = a
    return np.int64(ctx.width)


@njit(nogil=True)
def ordered_actions(s, depth, ply, slot, table_action, ctx: ExpectiminimaxContext, params):
    """Write the actions: the table's, the last best answer to the same roll at this ply, then in their own order."""
    row = ctx.actions[ply]
    n = passing(s, depth, row, ctx, params)
    if ctx.pruning != NO_PRUNING:
        bring_forward(np.int64(ctx.killers[ply, slot]), n, row)
        bring_forward(table_action, n, row)
    return n


@njit(nogil=True)
def probe_action(s, mover, depth, ply, slot, ctx: ExpectiminimaxContext, params):
    """Return the action of the best prospects, with which Star2 bounds a position."""
    table_action = np.int64(-1)
    if ctx.use_table != 0:
        k = table_key(s, mover, ctx)
        entry = table_entry(ctx.table_address, ctx.table_mask, k)
        if entry.key == k and entry.flag != 0:
            table_action = np.int64(entry.action)
    ordered_actions(s, depth, ply, slot, table_action, ctx, params)
    return np.int64(ctx.actions[ply, 0])


@njit(nogil=True)
def bring_forward(a, n, row):
    """If `a` is one of the n actions it becomes the first; the others keep their order."""
    for i in range(n):
        if row[i] == a:
            while i > 0:
                row[i] = row[i - 1]
                i -= 1
            row[0] = a
            return


@njit(nogil=True)
def search_root(s, depth, ctx: ExpectiminimaxContext, params):
    """One iteration over the root actions, the best of the last one first; False if it was stopped.

    Ties go to the lower rank: such an action is searched with a window that includes the tie.
    """
    if ctx.nodes >= ctx.node_limit:
        ctx.stop = 1
        return False
    ctx.nodes += 1
    best = -INF
    best_index = np.int64(-1)
    followed = ctx.n_root if depth < 2 or ctx.all_values != 0 else min(ctx.n_root, ctx.width)
    for turn in range(followed):
        i = np.int64(ctx.order[turn])
        low = best
        if ctx.all_values != 0 or ctx.pruning == NO_PRUNING:
            low = -INF
        elif best_index >= 0 and ctx.ranks[i] < ctx.ranks[best_index]:
            low = np.nextafter(best, -INF)
        a = np.int64(ctx.actions[0, i])
        one = np.int64(1)  # not the literal: a second signature of a recursive function breaks Numba's cache (#6061)
        ctx.slot[1] = 0
        v = value(result(s, a), depth - 1, one, low, INF, ctx, params)
        if ctx.stop != 0:
            return False
        ctx.new_values[i] = v
        if v > best or (v == best and ctx.ranks[i] < ctx.ranks[best_index]):
            best = v
            best_index = i
            ctx.variance[0] = ctx.variance[1]
            note_line(a, np.int64(0), ctx)
    ctx.value = best
    ctx.best_index = best_index
    return True


@njit(cache=CACHE, nogil=True)
def prepare(box):
    """Write the root's actions; returns who is to play, or -2 if the game is over."""
    ctx: ExpectiminimaxContext = box[0]
    s = State(*to_fixed_tuple(ctx.words, N_WORDS))
    player = np.int64(-2) if is_terminal(s) else np.int64(to_play(s))
    ctx.n_root = actions(s, ctx.actions[0]) if player >= 0 else 0
    return player


@njit(cache=CACHE, nogil=True)
def deepen(box, eval_box, max_depth):
    """Search by iterative deepening; the last finished iteration stands in ctx."""
    ctx: ExpectiminimaxContext = box[0]
    params = eval_box[0]
    s = State(*to_fixed_tuple(ctx.words, N_WORDS))
    begin(ctx.actions[0, ctx.best_index], ctx)
    ctx.recalled = 0
    ctx.ended = 0
    ctx.drawn = 0
    for ply in range(MAX_PLIES):
        for slot in range(ctx.killers.shape[1]):
            ctx.killers[ply, slot] = -1
    ctx.found_variance = -1.0
    for i in range(ctx.n_root):
        ctx.order[i] = i
    for depth in range(1, max_depth + 1):
        eval_calls = ctx.eval_calls + ctx.recalled
        if not search_root(s, np.int64(depth), ctx, params):
            break
        keep_iteration(depth, ctx)
        done = ctx.eval_calls + ctx.recalled == eval_calls
        ctx.exact = done and ctx.drawn == 0
        if ctx.drawn != 0:
            ctx.found_variance = ctx.variance[0]
        if done:
            break
        sort_root(ctx.n_root if depth == 1 or ctx.all_values != 0 else min(ctx.n_root, ctx.width), ctx)


@njit(nogil=True)
def sort_root(n, ctx: ExpectiminimaxContext):
    """Of the n actions that were followed the highest value first, equals as before."""
    for turn in range(1, n):
        i = ctx.order[turn]
        j = turn
        while j > 0 and ctx.values[ctx.order[j - 1]] < ctx.values[i]:
            ctx.order[j] = ctx.order[j - 1]
            j -= 1
        ctx.order[j] = i
