# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: UCT specialised to one game and one evaluator; playout_kernel.py plays on from its leaves.

The Python backend is mcts_plain.py, which explains the algorithm; both agree simulation by simulation.

The tree is one array of records (`mcts_compiled.NODE`); the children of a node stand side by side. States are not
kept: going down makes the moves again, which costs less than fetching them from memory.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from evallearn.compiled.rng import GOLDEN, drawn, mix64, scaled

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        CACHE,
        HAS_CHANCE,
        HAS_CLOCK,
        IMPLICIT,
        N_PLAYERS,
        WIN,
        actions,
        chances,
        clock,
        is_terminal,
        key,
        result,
        to_play,
    )
    from evallearn.compiled.records import MctsContext
    from evallearn.search.montecarlo.playout_kernel import (
        begin,
        load,
        note_end,
        note_guess,
        over,
        place_on_path,
        playout,
    )

CHANCE = -1
PROVEN = 4
"""Bit in the status of a node whose value is proven. The others are what `over` answered: the game ended there."""


@njit(nogil=True)
def add_children(s, node, here, tree, implicit, ctx: MctsContext, params):
    """Room for every action or outcome of the unfinished `s`; False, and nothing done, if the tree is full."""
    row = ctx.row
    chance = HAS_CHANCE and to_play(s) == CHANCE
    if chance:
        n = np.int64(chances(s, row, ctx.probabilities))
    else:
        n = np.int64(actions(s, row))
    first = ctx.used
    if first + n > ctx.room:
        return False
    ctx.used = first + n
    for i in range(n):
        child = tree[first + i]
        child.total = 0.0
        child.visits = 0
        child.first = 0
        child.action = row[i]
        child.n_children = 0
        child.tried = 0
        child.exact = 0.0
        child.mover = 0
        child.status = 0
    tree[node].first = first
    tree[node].n_children = n
    if IMPLICIT:
        mover = np.int64(to_play(s))
        for i in range(n):
            t = result(s, np.int64(tree[first + i].action))
            ctx.leaf_calls += 1
            how = np.int64(is_terminal(t))
            if HAS_CLOCK and clock(t) > 0:  # only then it may be a repetition
                how = np.int64(over(t, here + 1, ctx))
            if how != 0:
                note_end(t, how, ctx)
            else:
                note_guess(t, ctx, params)
            implicit[first + i] = ctx.outcome[mover]
    return True


@njit(nogil=True)
def choose_child(node, depth, tree, implicit, ctx: MctsContext):
    """Return the next child of a player's node at `depth`.

    It is an untried one at random, else the best by UCB1 of the unproven. If a proven one is better still, its value is
    what the node is worth this time: see back_up.
    """
    parent = tree[node]
    first, size, tried = np.int64(parent.first), np.int64(parent.n_children), np.int64(parent.tried)
    ctx.has_better[depth] = 0
    if tried < size:
        ctx.rng += GOLDEN
        other = first + tried + scaled(mix64(ctx.rng), size - tried)
        fresh = first + tried
        action = tree[other].action
        tree[other].action = tree[fresh].action
        tree[fresh].action = action
        if IMPLICIT:
            guess = implicit[other]
            implicit[other] = implicit[fresh]
            implicit[fresh] = guess
        parent.tried = tried + 1
        return fresh
    bonus = ctx.bonus * math.sqrt(math.log(np.float64(parent.visits)))
    best, best_score, proven = first, -np.inf, -np.inf
    for i in range(first, first + size):
        child = tree[i]
        if child.status & PROVEN:
            proven = max(proven, np.float64(child.exact))
            continue
        visits = np.float64(child.visits)
        mean = child.total / visits
        if IMPLICIT:
            mean = (1.0 - ctx.alpha) * mean + ctx.alpha * implicit[i]
        score = mean + bonus / math.sqrt(visits)
        if score > best_score:
            best, best_score = np.int64(i), score
    if proven > best_score:
        ctx.has_better[depth] = 1
        ctx.better[depth] = proven
    return best


@njit(nogil=True)
def roll(s, node, tree, ctx: MctsContext):
    """Return the child of a chance node that the dice say."""
    n = chances(s, ctx.row, ctx.probabilities)
    ctx.rng += GOLDEN
    return np.int64(tree[node].first) + drawn(mix64(ctx.rng), ctx.probabilities, n)


@njit(nogil=True)
def simulate(root, tree, implicit, ctx: MctsContext, params):
    """One descent to a leaf, whose outcome it leaves in ctx; returns the depth of the line."""
    s = root
    node = np.int64(0)
    depth = np.int64(0)
    here = ctx.n_history
    while True:
        record = tree[node]
        if record.first == 0:
            if record.visits == 0:
                record.mover = to_play(s)
                record.status = over(s, here, ctx)
            if record.status != 0:
                ctx.leaf_calls += 1
                note_end(s, record.status, ctx)
                return depth
            full = depth >= ctx.max_depth or record.visits == 0
            if full or not add_children(s, node, here, tree, implicit, ctx, params):
                ctx.leaf_calls += 1
                playout(s, here, ctx, params)
                return depth
        if HAS_CHANCE and record.mover == CHANCE:
            ctx.has_better[depth] = 0
            ctx.chooser[depth + 1] = ctx.chooser[depth]  # the dice choose for who threw them
            node = roll(s, node, tree, ctx)
        else:
            ctx.chooser[depth + 1] = record.mover
            node = choose_child(node, depth, tree, implicit, ctx)
        s = result(s, np.int64(tree[node].action))
        depth += 1
        ctx.line[depth] = node
        if HAS_CLOCK:
            here = place_on_path(s, here, ctx)
            if tree[node].visits != 0:
                ctx.path[here] = key(s)


@njit(nogil=True)
def back_up(depth, tree, ctx: MctsContext):
    """Each node on the line adds what the outcome is worth to who chose it.

    Where a better child is proven, its value goes up from there; the simulation only helps to prove the others.
    """
    for d in range(depth, -1, -1):
        record = tree[ctx.line[d]]
        if d < depth and ctx.has_better[d] != 0:
            ctx.outcome[record.mover] = ctx.better[d]
            ctx.outcome[1 - record.mover] = -ctx.better[d]
        value = ctx.outcome[ctx.chooser[d]]
        record.visits += 1
        record.total += value
        if d == 1:
            ctx.squares[ctx.line[1] - tree[0].first] += value * value


@njit(nogil=True)
def prove(depth, tree, ctx: MctsContext):
    """MCTS-Solver: if the end of the line is over, proven it is, and perhaps its ancestors are."""
    leaf = tree[ctx.line[depth]]
    if leaf.status == 0 or leaf.status & PROVEN:
        return
    leaf.exact = ctx.outcome[ctx.chooser[depth]]
    leaf.status |= PROVEN
    for d in range(depth - 1, -1, -1):
        parent = tree[ctx.line[d]]
        best = -np.inf
        whole = True
        for i in range(parent.first, parent.first + parent.n_children):
            if tree[i].status & PROVEN:
                best = max(best, np.float64(tree[i].exact))
            else:
                whole = False
        if not whole and best < WIN:
            return
        parent.exact = best if parent.mover == ctx.chooser[d] else -best
        parent.status |= PROVEN


@njit(nogil=True)
def update_implicit(depth, tree, implicit, ctx: MctsContext):
    """Minimax of the evaluators along the line, from the leaf up."""
    for d in range(depth, -1, -1):
        node = np.int64(ctx.line[d])
        record = tree[node]
        if record.status & PROVEN:
            implicit[node] = record.exact
        elif record.status != 0:
            implicit[node] = ctx.outcome[ctx.chooser[d]]
        elif record.first != 0:
            best = -np.inf
            for i in range(record.first, record.first + record.n_children):
                best = max(best, implicit[i])
            implicit[node] = best if record.mover == ctx.chooser[d] else -best


@njit(nogil=True)
def widen_range(ctx: MctsContext):
    """Exploration is in proportion to the range of the outcomes."""
    for p in range(N_PLAYERS):
        value = ctx.outcome[p]
        if value < ctx.low or value > ctx.high:
            ctx.low = min(ctx.low, value)
            ctx.high = max(ctx.high, value)
            ctx.bonus = ctx.exploration * (ctx.high - ctx.low)


@njit(cache=CACHE, nogil=True)
def plant(box, eval_box, history, tree, implicit):
    """Write the root and its children; return who is to play, or -2 if the game is over."""
    ctx: MctsContext = box[0]
    player = begin(ctx, history)
    if player < 0:
        return player
    root = tree[0]
    root.total = 0.0
    root.visits = 0
    root.first = 0
    root.action = 0
    root.tried = 0
    root.exact = 0.0
    root.mover = player
    root.status = 0
    ctx.used = 1
    ctx.room = max(ctx.room, 1 + ctx.n_root)
    ctx.line[0] = 0
    ctx.chooser[0] = player
    ctx.deepest = 0
    ctx.leaf_calls = 0
    add_children(load(ctx), np.int64(0), ctx.n_history, tree, implicit, ctx, eval_box[0])
    return player


@njit(cache=CACHE, nogil=True)
def grow(box, eval_box, tree, implicit, limit):
    """Run simulations until `limit` are done, the root is proven or the stop flag is set.

    ctx.squares is the root's.
    """
    ctx: MctsContext = box[0]
    params = eval_box[0]
    root = load(ctx)
    while ctx.done < limit and ctx.stop == 0 and tree[0].status == 0:
        depth = simulate(root, tree, implicit, ctx, params)
        widen_range(ctx)
        if ctx.solver != 0:
            prove(depth, tree, ctx)
        if IMPLICIT:
            update_implicit(depth, tree, implicit, ctx)
        back_up(depth, tree, ctx)
        ctx.deepest = max(ctx.deepest, depth)
        ctx.done += 1
