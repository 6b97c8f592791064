# mypy: ignore-errors
"""Template: one game of a model against itself, and what it learns from it. See `settings.py`, which says what that is,
and `plain.py`, the same in plain Python. The names below are injected.

State, actions, result, is_terminal, to_play    the game's `Rules`
read, predict, prefetch, update                 the model's hooks
choose, backup, adversarial                     of one_ply_kernel.py
choose_deep                                     of fixed_depth_kernel.py
lambda_errors, uniform                          of train/targets.py and draws.py
N_WORDS, N_ROW                                  of the game; numbers in a row of the model
ADVERSARY, DEEP                                 whether somebody minds a cell; whether any game looks further ahead
ADVERSARY_WEIGHT, RESIGN_PLAYTHROUGH            of settings.py
CACHE                                           whether the disk cache is on
"""

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple


@njit
def opened(s, plies, io):
    """Return (the position after so many random moves, how many there were): a game may be over sooner."""
    ply = np.int64(0)
    while ply < plies and not is_terminal(s):
        n = actions(s, io.actions)
        s = result(s, np.int64(io.actions[np.int64(uniform(io) * n)]))
        ply += 1
    return s, ply


@njit
def decide(s, n, io, weights, sums, record, rows):
    """Return the number of the best action; io.values are those of all actions, to the mover."""
    if DEEP and io.depth > 1:
        return choose_deep(s, n, io, weights, sums, record, rows)
    return choose(s, n, io, weights, sums, record, rows)


@njit
def read_next(s, ply, chosen, io, weights, sums, record, trail, rows):
    """Write what the model reads of `s`, which the action `chosen` led to; return its value to the mover."""
    if DEEP and io.depth > 1:
        io.group[ply] = read(s, trail[ply], weights, sums, record)
        return predict(trail[ply], io.group[ply], weights, sums, record)
    for p in range(N_ROW):  # it was read when it was chosen
        trail[ply, p] = rows[chosen, p]
    io.group[ply] = io.child_group[chosen]
    return io.values[chosen] if io.is_same[chosen] else -io.values[chosen]


@njit
def learn_from(first, end, io, weights, sums, record, trail):
    """Update the model by the decisions of a game, the last one first."""
    lambda_errors(io.td_error, io.trace, io.mover, io.lambda_, first, end)
    for t in range(end - 1, first - 1, -1):
        if t > first:  # on their way while this position learns
            prefetch(trail[t - 1], io.group[t - 1], weights, sums, record)
        update(trail[t], io.group[t], io.td_error[t, 0], io.step, weights, sums, record)


@njit
def play(s, io, weights, sums, record, trail, rows):
    """Play one game from `s`, and learn from it."""
    opening = np.int64(uniform(io) * (io.max_opening_plies + 1))
    adversary, weight = -1, 0.0
    if ADVERSARY and uniform(io) < io.adversary_share:
        adversary = np.int64(uniform(io) * 2)
        weight = uniform(io) * ADVERSARY_WEIGHT
    threshold = np.inf
    if io.resign_threshold < 1.0 and uniform(io) >= RESIGN_PLAYTHROUGH:
        threshold = io.resign_threshold
    first = np.int64(0)
    if io.skips_openings:
        s, first = opened(s, opening, io)
    ply = first
    value = 0.0
    if not is_terminal(s):
        io.group[ply] = read(s, trail[ply], weights, sums, record)
        value = predict(trail[ply], io.group[ply], weights, sums, record)
    while not is_terminal(s):
        n = actions(s, io.actions)
        io.mover[ply] = to_play(s)
        best = decide(s, n, io, weights, sums, record, rows)
        io.td_error[ply, 0] = backup(best, n, io) - value
        io.errors += abs(io.td_error[ply, 0])
        chosen = best
        if ADVERSARY and io.mover[ply] == adversary:
            chosen = adversarial(best, n, weight, io)
        if ply < opening or uniform(io) < io.epsilon:
            chosen = np.int64(uniform(io) * n)
        io.trace[ply] = (1.0 - io.target_epsilon) * (chosen == best) + io.target_epsilon / n
        resigned = ply >= opening and abs(value) > threshold and abs(io.values[best]) > threshold
        s = result(s, np.int64(io.actions[chosen]))
        ply += 1
        if resigned:
            break
        if not is_terminal(s):
            value = read_next(s, ply, chosen, io, weights, sums, record, trail, rows)
    learn_from(first, ply, io, weights, sums, record, trail)
    io.games += 1
    io.moves += ply - first


@njit(cache=CACHE, nogil=True)
def learn(box, weights, sums, model_box, trail, rows, steps, depths):
    """Play a game for each of the steps, from io.words on."""
    io, record = box[0], model_box[0]
    start = State(*to_fixed_tuple(io.words, N_WORDS))
    for i in range(len(steps)):
        io.step, io.depth = steps[i], depths[i]
        play(start, io, weights, sums, record, trail, rows)
