# mypy: ignore-errors
"""Template: games against itself that teach a linear Eval what its own searches find. See `online.py`, which says what
is learned, and `online_plain.py`, the same in plain Python. The names below are injected.

State, result, is_terminal, to_play, utility_mover, phase
                                                     the game's `Rules`
begin, remember, shuffle, search, leaf_of            of searching.py
evaluate_mover, raw, squash                          of the Eval and the toolkit
note, take, see                                      of notes_kernel.py
uniform                                              of draws.py
N_FEATURES, N_WORDS, SCALE, HAS_CLOCK                of the game
LEAVES, WAITS, EVERY_NODE                            learn at the leaves; when the game is over; from every node
CACHE                                                whether the disk cache is on
"""

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple


@njit
def keep(s, ply, value, io, ctx, params, rows):
    """What the end of the game will be held against: the features of `s`, or of the leaf of its search."""
    io.movers[ply] = to_play(s)
    io.searched[ply] = np.float64(io.best) / SCALE
    io.values[ply] = io.searched[ply] if LEAVES else np.float64(value) / SCALE
    at, over = leaf_of(s, ctx, params) if LEAVES else (s, False)
    io.turned[ply] = 0  # a finished game teaches nothing: its value is what it is
    if not over:
        evaluate_mover(at, params)
        io.turned[ply] = 1 if to_play(at) == to_play(s) else -1
        io.phases[ply] = phase(at)
        for i in range(N_FEATURES):
            rows[ply, i] = params.x[i]


@njit
def teach_game(first, end, outcome, io, params, rows):
    """lambda-returns from the last ply back, then a step for each ply; outcome is to io.movers[end]."""
    back = outcome
    for t in range(end - 1, first - 1, -1):
        if io.movers[t] != io.movers[t + 1]:
            back = -back
        if io.strayed[t] != 0:  # what followed was not the best: the search knows better
            back = io.searched[t]
        io.targets[t] = back
        back = (1.0 - io.lambda_) * io.values[t] + io.lambda_ * back
    for t in range(first, end):
        if io.turned[t] != 0:
            for i in range(N_FEATURES):
                params.x[i] = rows[t, i]
            teach(io.turned[t] * io.targets[t], np.int64(io.phases[t]), io, params)


@njit
def teach(target, k, io, params):
    """A step of the features in params.x towards the target."""
    error = target - squash(raw(params, k))
    io.errors += abs(error)
    note(k, error, params)
    take(io.rate, params)


@njit
def learn_now(s, value, io, params):
    """What the search has just said of `s`, and with EVERY_NODE of all nodes below it, is learned at once."""
    if EVERY_NODE:
        io.errors += abs(np.float64(io.best) - np.float64(value)) / SCALE
        take(io.rate, params)
    else:
        evaluate_mover(s, params)
        teach(np.float64(io.best) / SCALE, np.int64(phase(s)), io, params)


@njit
def play(s, io, box, params, rows, past):
    """One game from `s`."""
    ctx = box[0]
    n_past = ply = 0
    opening = np.int64(uniform(io) * (io.opening + 1))
    while True:
        if not begin(s, past[:n_past], box):
            break
        if ply < opening:
            chosen = np.int64(uniform(io) * ctx.n_root)
        else:
            shuffle(io, ctx)
            value = see(s, params)
            chosen, io.best = search(s, io, ctx, params)
            if WAITS:
                keep(s, ply, value, io, ctx, params, rows)
            else:
                learn_now(s, value, io, params)
            best = chosen
            if uniform(io) < io.epsilon:
                chosen = np.int64(uniform(io) * ctx.n_root)
            io.strayed[ply] = chosen != best
            io.moves += 1
        after = result(s, np.int64(ctx.root_actions[chosen]))
        if HAS_CLOCK:
            n_past = remember(s, after, past, n_past)
        s = after
        ply += 1
    if WAITS:
        outcome = np.float64(utility_mover(s)) / SCALE if is_terminal(s) else 0.0
        io.movers[ply] = to_play(s)
        teach_game(min(opening, ply), ply, outcome, io, params, rows)
    io.games += 1


@njit(cache=CACHE, nogil=True)
def learn(io_box, box, eval_box, rows, past, games):
    """So many games from io.words on."""
    io, params = io_box[0], eval_box[0]
    start = State(*to_fixed_tuple(io.words, N_WORDS))
    for _ in range(games):
        io.rate = max(0.0, 1.0 - io.games * io.cooling) * io.alpha / (1.0 + io.games * io.decay)
        play(start, io, box, params, rows, past)
