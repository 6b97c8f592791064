# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: one game of a model against itself, and what it learns from it.

See `settings.py`, which says what that is, and `plain.py`, the same in plain Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        CACHE,
        HAS_CLOCK,
        N_WORDS,
        SCALE,
        State,
        is_terminal,
        result,
        to_play,
        utility_mover,
    )
    from evallearn.compiled.learning_hooks import (
        ADVERSARY,
        AT_ONCE,
        DEEP,
        EVERY_NODE,
        LEAVES,
        N_ROW,
        NEXT,
        SEARCHES,
        begin,
        choose,
        choose_deep,
        predict,
        prefetch,
        read,
        read_leaf,
        take,
        update,
        visit,
    )
    from evallearn.compiled.learning_records import EpisodeRecord
    from evallearn.search.common.repetition_kernel import remember
    from evallearn.train.draws import uniform
    from evallearn.train.selfplay.one_ply_kernel import adversarial, backup
    from evallearn.train.selfplay.settings import ADVERSARY_WEIGHT, RESIGN_PLAYTHROUGH
    from evallearn.train.targets import lambda_errors


@njit
def opened(s, plies, io: EpisodeRecord, box, past):
    """Return (the position after so many random moves, how many there were, its past): a game may be over sooner."""
    ply = n_past = np.int64(0)
    while ply < plies:
        n = begin(s, n_past, io, box, past)
        if n < 0:
            break
        s, n_past = moved(s, np.int64(uniform(io) * n), n_past, io, past)
        ply += 1
    return s, ply, n_past


@njit
def moved(s, chosen, n_past, io: EpisodeRecord, past):
    """Return the position after that action, and how many positions it may look back to."""
    after = result(s, np.int64(io.actions[chosen]))
    if HAS_CLOCK:
        n_past = remember(s, after, past, n_past)
    return after, n_past


@njit
def read_position(s, ply, chosen, io: EpisodeRecord, weights, sums, record, trail, rows):
    """Write what the model reads of `s`, which the action `chosen` led to, if any; return its value to the mover."""
    if SEARCHES or chosen < 0 or (DEEP and io.depth > 1):
        io.group[ply] = read(s, trail[ply], weights, sums, record)
        visit(trail[ply], record)
        return predict(trail[ply], io.group[ply], weights, sums, record)
    for p in range(N_ROW):  # it was read when it was chosen
        trail[ply, p] = rows[chosen, p]
    io.group[ply] = io.child_group[chosen]
    return io.values[chosen] if io.is_same[chosen] else -io.values[chosen]


@njit
def decide(s, n, io: EpisodeRecord, box, weights, sums, record, rows):
    """Return the number of the best action; io.values are those of all actions, to the mover."""
    if DEEP and io.depth > 1:
        return choose_deep(s, n, io, box, weights, sums, record, rows)
    return choose(s, n, io, box, weights, sums, record, rows)


@njit
def weigh(s, ply, value, found, io: EpisodeRecord, box, weights, sums, record, trail):
    """Compare the value of `s` with what look-ahead found, or keep both until the next position is known."""
    if NEXT:
        io.value[ply], io.found[ply], io.sign[ply] = value, found, 1
        if LEAVES:
            io.value[ply] = found
            io.group[ply], io.sign[ply] = read_leaf(s, trail[ply], io, box, weights, sums, record)
        return
    io.td_error[ply, 0] = found - value
    io.errors += abs(io.td_error[ply, 0])
    if EVERY_NODE:
        take(io.step, record)
    elif AT_ONCE:
        update(trail[ply], io.group[ply], io.td_error[ply, 0], io.step, weights, sums, record)


@njit
def compare_with_next(s, first, end, io: EpisodeRecord):
    """Compare every position with the next one, the last with the end `s`; with the search where that was not best."""
    following = np.float64(utility_mover(s)) / SCALE if is_terminal(s) else 0.0
    io.mover[end] = to_play(s)
    for t in range(end - 1, first - 1, -1):
        following = following if io.mover[t] == io.mover[t + 1] else -following
        io.td_error[t, 0] = (following if io.traces[t] > 0.0 else io.found[t]) - io.value[t]
        following = io.value[t]


@njit
def learn_from(first, end, io: EpisodeRecord, weights, sums, record, trail):
    """Update the model by the decisions of a game, the last one first."""
    lambda_errors(io.td_error, io.traces, io.mover, io.lambda_, first, end)
    for t in range(end - 1, first - 1, -1):
        if t > first:  # on their way while this position learns
            prefetch(trail[t - 1], io.group[t - 1], weights, sums, record)
        update(trail[t], io.group[t], io.td_error[t, 0], io.step, weights, sums, record)


@njit
def learn_in_order(first, end, io: EpisodeRecord, weights, sums, record, trail):
    """Update the model by the decisions of a game, the first one first, each by what the model says of it by now.

    Few features make the positions of a game alike: together, errors from before would take it too far. A leaf where
    the game is over teaches nothing.
    """
    lambda_errors(io.td_error, io.traces, io.mover, io.lambda_, first, end)
    for t in range(first, end):
        if io.sign[t] != 0:
            error = io.sign[t] * (io.value[t] + io.td_error[t, 0])
            error -= predict(trail[t], io.group[t], weights, sums, record)
            io.errors += abs(error)
            update(trail[t], io.group[t], error, io.step, weights, sums, record)


@njit
def play(s, io: EpisodeRecord, box, weights, sums, record, trail, rows, past):
    """Play one game from `s`, and learn from it."""
    opening = np.int64(uniform(io) * (io.max_opening_plies + 1))
    adversary, weight = np.int64(-1), 0.0
    if ADVERSARY and uniform(io) < io.adversary_share:
        adversary = np.int64(uniform(io) * 2)
        weight = uniform(io) * ADVERSARY_WEIGHT
    threshold = np.inf
    if io.resign_threshold < 1.0 and uniform(io) >= RESIGN_PLAYTHROUGH:
        threshold = io.resign_threshold
    first = n_past = np.int64(0)
    if io.skips_openings:
        s, first, n_past = opened(s, opening, io, box, past)
    ply = first
    chosen = np.int64(-1)
    while True:
        n = begin(s, n_past, io, box, past)
        if n < 0:
            break
        value = read_position(s, ply, chosen, io, weights, sums, record, trail, rows)
        io.mover[ply] = to_play(s)
        best = decide(s, n, io, box, weights, sums, record, rows)
        weigh(s, ply, value, backup(best, n, io), io, box, weights, sums, record, trail)
        chosen = np.int64(best)
        if ADVERSARY and io.mover[ply] == adversary:
            chosen = np.int64(adversarial(best, n, weight, io))
        if ply < opening or uniform(io) < io.epsilon:
            chosen = np.int64(uniform(io) * n)
        io.traces[ply] = (1.0 - io.target_epsilon) * (chosen == best) + io.target_epsilon / n
        resigned = ply >= opening and abs(value) > threshold and abs(io.values[best]) > threshold
        s, n_past = moved(s, chosen, n_past, io, past)
        ply += 1
        if resigned:
            io.traces[ply - 1] = 0.0  # what followed is not known
            break
    if NEXT:
        compare_with_next(s, first, ply, io)
        learn_in_order(first, ply, io, weights, sums, record, trail)
    elif not AT_ONCE:
        learn_from(first, ply, io, weights, sums, record, trail)
    io.games += 1
    io.moves += ply - first


@njit(cache=CACHE, nogil=True)
def learn(io_box, box, weights, sums, model_box, trail, rows, past, steps, depths):
    """Play a game for each of the steps, from io.words on."""
    io, record = io_box[0], model_box[0]
    start = State(*to_fixed_tuple(io.words, N_WORDS))
    for i in range(len(steps)):
        io.step, io.depth = steps[i], depths[i]
        play(start, io, box, weights, sums, record, trail, rows, past)
