# mypy: ignore-errors
"""Template: games against itself that teach pattern tables, by temporal differences. See `patterns.py`, which says what
is learned, and `td_plain.py`, the same in plain Python. The names below are injected.

State, actions, result, is_terminal, to_play, utility_mover    the game's `Rules`
look, group                                                    of patterns_kernel.py
mix64, squash                                                  of the toolkit
N_WORDS, N_PLACES, ENTRIES                                     of the game and its patterns
SCALE, COHERENCE, TRACES                                       a win's worth; per-weight steps; lambda is above 0
CACHE                                                          whether the disk cache is on
"""

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

STEP = np.uint64(0x9E3779B97F4A7C15)
TO_UNIT = 2.0**-53
ELEVEN = np.uint64(11)


@njit
def uniform(io):
    """The next random number, 0 <= u < 1."""
    io.counter += STEP
    return np.float64(mix64(io.counter) >> ELEVEN) * TO_UNIT


@njit
def add_up(weights, start, row):
    """The sum of the weights at start + row; four sums side by side are twice as fast, and the order is fixed."""
    a = b = c = d = 0.0
    n = N_PLACES - N_PLACES % 4
    for p in range(0, n, 4):
        a += np.float64(weights[start + row[p]])
        b += np.float64(weights[start + row[p + 1]])
        c += np.float64(weights[start + row[p + 2]])
        d += np.float64(weights[start + row[p + 3]])
    for p in range(n, N_PLACES):
        a += np.float64(weights[start + row[p]])
    return (a + b) + (c + d)


@njit
def judge(s, weights, params, row):
    """What the unfinished `s` is worth to its mover, as a share of a win; its indices go into row."""
    look(s, params)
    for p in range(N_PLACES):
        row[p] = params.index[p]
    return squash(add_up(weights, group(s) * ENTRIES, row))


@njit
def best_child(s, n, io, weights, params, rows):
    """The number of the best action by one ply, the first of equal ones; io.best is its worth to the mover."""
    chosen = 0
    for i in range(n):
        after = result(s, np.int64(io.actions[i]))
        if is_terminal(after):
            value = -np.float64(utility_mover(after)) / SCALE
        else:
            value = -judge(after, weights, params, rows[i])
        if i == 0 or value > io.best:
            io.best = value
            chosen = i
    return chosen


@njit
def change(weights, memory, start, row, error, io):
    """Move what the position at `row` is worth by a part of the error."""
    for p in range(N_PLACES):
        i = start + row[p]
        rate = io.rate
        if COHERENCE:
            if memory[i, 1] > 0:
                rate *= abs(np.float64(memory[i, 0])) / np.float64(memory[i, 1])
            memory[i, 0] += np.float32(error)
            memory[i, 1] += np.float32(abs(error))
        weights[i] += np.float32(rate * error)


@njit
def teach(ply, first, error, io, weights, memory, trail):
    """The error of ply `ply`, to its mover, for the positions from ply `first` on: lambda**n of it, n plies before."""
    part = error
    k = ply
    while True:
        signed = part if io.movers[k] == io.movers[ply] else -part
        change(weights, memory, io.starts[k], trail[k], signed, io)
        part *= io.lambda_
        k -= 1
        if not TRACES or k < first or abs(part) < io.least:
            return


@njit
def play(s, io, weights, memory, params, trail, rows):
    """One game from `s`."""
    first = ply = 0
    opening = np.int64(uniform(io) * (io.opening + 1))
    judge(s, weights, params, trail[0])
    while not is_terminal(s):
        n = actions(s, io.actions)
        io.movers[ply] = to_play(s)
        io.starts[ply] = group(s) * ENTRIES
        chosen = best_child(s, n, io, weights, params, rows)
        error = io.best - squash(add_up(weights, io.starts[ply], trail[ply]))
        teach(ply, first, error, io, weights, memory, trail)
        io.errors += abs(error)
        if ply < opening or uniform(io) < io.epsilon:
            random = np.int64(uniform(io) * n)
            if random != chosen:
                first = ply + 1  # what follows is not what the positions so far lead to
            chosen = random
        s = result(s, np.int64(io.actions[chosen]))
        ply += 1
        for p in range(N_PLACES):
            trail[ply, p] = rows[chosen, p]
    io.games += 1
    io.moves += ply


@njit(cache=CACHE, nogil=True)
def learn(box, weights, memory, eval_box, trail, rows, games):
    """So many games from io.words on."""
    io, params = box[0], eval_box[0]
    start = State(*to_fixed_tuple(io.words, N_WORDS))
    for _ in range(games):
        io.rate = io.alpha / (N_PLACES * (1.0 + io.games * io.decay))
        play(start, io, weights, memory, params, trail, rows)
