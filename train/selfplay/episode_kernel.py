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
        HAS_CHANCE,
        HAS_CLOCK,
        N_WORDS,
        OUTPUTS,
        SCALE,
        State,
        actions,
        chances,
        is_terminal,
        result,
        to_play,
        utility_mover,
        utility_player,
    )
    from evallearn.compiled.learning_hooks import (
        ADVERSARY,
        AT_ONCE,
        DEEP,
        EVERY_NODE,
        EXPECTS,
        LEAVES,
        N_ROW,
        NEXT,
        SEARCHES,
        begin,
        begin_episode,
        choose,
        choose_deep,
        observer,
        predict,
        prefetch,
        read,
        read_leaf,
        take,
        update,
        visit,
    )
    from evallearn.compiled.learning_records import EpisodeRecord
    from evallearn.core.game import CHANCE
    from evallearn.search.common.repetition_kernel import push_history
    from evallearn.train.draws import uniform
    from evallearn.train.selfplay.dice_kernel import rolled
    from evallearn.train.selfplay.one_ply_kernel import adversarial, backup, keep_outputs, worth
    from evallearn.train.selfplay.settings import ADVERSARY_WEIGHT, RESIGN_PLAYTHROUGH
    from evallearn.train.targets import lambda_errors


@njit
def opened(s, plies, io: EpisodeRecord, box, history):
    """Return (the position after so many random decisions, how many there were, its past): a game may end sooner."""
    ply = n_history = np.int64(0)
    while ply < plies:
        n = begin(s, n_history, io, box, history)
        if n < 0:
            break
        if HAS_CHANCE and n == 0:
            s, n = after_roll(s, io)
        if n > 0:
            s, n_history = moved(s, np.int64(uniform(io) * n), n_history, io, history)
        ply += 1
    return s, ply, n_history


@njit
def after_roll(s, io: EpisodeRecord):
    """Return the position after a roll, and how many actions it has: none where nobody chooses."""
    s = rolled(s, io)
    if is_terminal(s) or to_play(s) == CHANCE:
        return s, np.int64(0)
    return s, np.int64(actions(s, io.actions))


@njit
def moved(s, chosen, n_history, io: EpisodeRecord, history):
    """Return the position after that action, and how many positions it may look back to."""
    after = result(s, np.int64(io.actions[chosen]))
    if HAS_CLOCK:
        n_history = push_history(s, after, history, n_history)
    return after, n_history


# --- what the model says, and what looking ahead says ----------------------------------------------------------------
@njit
def read_position(s, ply, chosen, io: EpisodeRecord, weights, sums, record, trail, rows):
    """Write what the model reads of `s`, which the action `chosen` led to, if any; return its value to the mover."""
    if SEARCHES or chosen < 0 or (DEEP and io.depth > 1):
        io.group[ply] = read(s, trail[ply], weights, sums, record)
        visit(trail[ply], io, record)
        value = predict(trail[ply], io.group[ply], weights, sums, record)
        if OUTPUTS > 1:
            keep_outputs(True, io.value[ply], record)
    else:
        for p in range(N_ROW):  # it was read when it was chosen
            trail[ply, p] = rows[chosen, p]
        io.group[ply] = io.child_group[chosen]
        value = io.values[chosen] if io.is_same[chosen] else -io.values[chosen]
        if OUTPUTS > 1:
            see_outputs(io.outputs[chosen], io.is_same[chosen], io.value[ply])
    if OUTPUTS == 1:
        io.value[ply, 0] = value
    return value


@njit
def see_outputs(seen, is_same, out):
    """Copy outputs, or write what the other player sees."""
    for j in range(OUTPUTS):
        out[j] = seen[j] if is_same else -seen[OUTPUTS - 1 - j]


@njit
def decide(s, n, io: EpisodeRecord, box, weights, sums, record, rows):
    """Return the number of the best action; io.values are those of all actions, to the mover."""
    if DEEP and io.depth > 1:
        return choose_deep(s, n, io, box, weights, sums, record, rows)
    return choose(s, n, io, box, weights, sums, record, rows)


@njit
def back_up(s, best, n, player, out, io: EpisodeRecord):
    """Write what the best of n actions leads to, as `player` sees it."""
    is_same = to_play(s) == player
    if OUTPUTS > 1:
        see_outputs(io.outputs[best], is_same, out)
    else:
        value = backup(best, n, io)
        out[0] = value if is_same else -value


@njit
def say(s, player, out, io: EpisodeRecord, weights, sums, record, rows):
    """Write what the model says of `s` to `player`, or how the game ended."""
    if is_terminal(s):
        value = worth(utility_player(s, player), out, record)
        if OUTPUTS == 1:
            out[0] = value
        return
    value = predict(rows[0], read(s, rows[0], weights, sums, record), weights, sums, record)
    is_same = observer(s) == player
    out[0] = value if is_same else -value
    if OUTPUTS > 1:
        keep_outputs(is_same, out, record)


@njit
def expect(s, player, out, io: EpisodeRecord, box, weights, sums, record, rows):
    """Write what `player` should expect of `s`, where somebody chooses, the dice are to roll, or all is over."""
    if is_terminal(s) or to_play(s) == CHANCE:
        say(s, player, out, io, weights, sums, record, rows)
    else:
        n = np.int64(actions(s, io.actions))
        back_up(s, choose(s, n, io, box, weights, sums, record, rows), n, player, out, io)


@njit
def expect_all_rolls(s, player, out, io: EpisodeRecord, box, weights, sums, record, rows):
    """Write what the best play of every roll leads to, on average: one ply of expectiminimax."""
    if not (HAS_CHANCE and to_play(s) == CHANCE):
        expect(s, player, out, io, box, weights, sums, record, rows)
        return
    for j in range(OUTPUTS):
        out[j] = 0.0
    for r in range(chances(s, io.outcomes, io.odds)):
        expect(result(s, np.int64(io.outcomes[r])), player, io.expected, io, box, weights, sums, record, rows)
        for j in range(OUTPUTS):
            out[j] += io.odds[r] * io.expected[j]


# --- learning --------------------------------------------------------------------------------------------------------
@njit
def compare(s, ply, io: EpisodeRecord, box, weights, sums, record, trail):
    """Compare the value of decision `ply` with what looking ahead said, and learn at once where the target does."""
    if NEXT:
        io.sign[ply] = 1
        if LEAVES:
            io.value[ply, 0] = io.found[ply, 0]
            io.group[ply], io.sign[ply] = read_leaf(s, trail[ply], io, box, weights, sums, record)
        return
    for j in range(OUTPUTS):
        io.td_error[ply, j] = io.found[ply, j] - io.value[ply, j]
    io.errors += abs(io.td_error[ply, 0])
    if EVERY_NODE:
        take(io.step, weights, sums, record)
    elif AT_ONCE:
        update(ply, trail[ply], io.group[ply], io, weights, sums, record)


@njit
def compare_with_next(s, first, end, io: EpisodeRecord):
    """Compare every position with the next one, the last with the end `s`; with the search where that was not best."""
    following = np.float64(utility_mover(s)) / SCALE if is_terminal(s) else 0.0
    io.mover[end] = to_play(s)
    for t in range(end - 1, first - 1, -1):
        following = following if io.mover[t] == io.mover[t + 1] else -following
        io.td_error[t, 0] = (following if io.traces[t] > 0.0 else io.found[t, 0]) - io.value[t, 0]
        following = io.value[t, 0]


@njit
def learn_from(first, end, io: EpisodeRecord, weights, sums, record, trail):
    """Update the model by the decisions of a game, the last one first."""
    lambda_errors(io.td_error, io.traces, io.mover, io.lambda_, first, end)
    for t in range(end - 1, first - 1, -1):
        if t > first:  # on their way while this position learns
            prefetch(trail[t - 1], io.group[t - 1], weights, sums, record)
        update(t, trail[t], io.group[t], io, weights, sums, record)


@njit
def learn_in_order(first, end, io: EpisodeRecord, weights, sums, record, trail):
    """Update the model by the decisions of a game, the first one first, each by what the model says of it by now.

    Few features make the positions of a game alike: together, errors from before would take it too far. A leaf where
    the game is over teaches nothing.
    """
    lambda_errors(io.td_error, io.traces, io.mover, io.lambda_, first, end)
    for t in range(first, end):
        if io.sign[t] != 0:
            target = io.sign[t] * (io.value[t, 0] + io.td_error[t, 0])
            io.value[t, 0] = predict(trail[t], io.group[t], weights, sums, record)
            io.td_error[t, 0] = target - io.value[t, 0]
            io.errors += abs(io.td_error[t, 0])
            update(t, trail[t], io.group[t], io, weights, sums, record)


# --- games -----------------------------------------------------------------------------------------------------------
@njit
def play(s, io: EpisodeRecord, box, weights, sums, record, trail, rows, history):
    """Play one game from `s`, and learn from it."""
    opening = np.int64(uniform(io) * (io.max_opening_plies + 1))
    adversary, weight = np.int64(-1), 0.0
    if ADVERSARY and uniform(io) < io.adversary_share:
        adversary = np.int64(uniform(io) * 2)
        weight = uniform(io) * ADVERSARY_WEIGHT
    threshold = np.inf
    if io.resign_threshold < 1.0 and uniform(io) >= RESIGN_PLAYTHROUGH:
        threshold = io.resign_threshold
    first = n_history = np.int64(0)
    if io.skips_openings:
        s, first, n_history = opened(s, opening, io, box, history)
    ply = first
    chosen = np.int64(-1)
    while ply < io.longest:
        n = begin(s, n_history, io, box, history)
        if n < 0:
            break
        value = read_position(s, ply, chosen, io, weights, sums, record, trail, rows)
        player = np.int64(observer(s))
        io.mover[ply] = player
        if EXPECTS:
            expect_all_rolls(s, player, io.found[ply], io, box, weights, sums, record, rows)
        if HAS_CHANCE and n == 0:
            s, n = after_roll(s, io)
        if HAS_CHANCE and n == 0:  # nobody chooses
            if not EXPECTS:
                say(s, player, io.found[ply], io, weights, sums, record, rows)
            compare(s, ply, io, box, weights, sums, record, trail)
            chosen = np.int64(-1)
            io.traces[ply] = 1.0
            ply += 1
            continue
        best = decide(s, n, io, box, weights, sums, record, rows)
        if not EXPECTS:
            back_up(s, best, n, player, io.found[ply], io)
        compare(s, ply, io, box, weights, sums, record, trail)
        chosen = np.int64(best)
        if ADVERSARY and player == adversary:
            chosen = np.int64(adversarial(best, n, weight, io))
        if ply < opening or uniform(io) < io.epsilon:
            chosen = np.int64(uniform(io) * n)
        io.traces[ply] = (1.0 - io.target_epsilon) * (chosen == best) + io.target_epsilon / n
        resigned = ply >= opening and abs(value) > threshold and abs(io.values[best]) > threshold
        s, n_history = moved(s, chosen, n_history, io, history)
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
def learn(io_box, box, weights, sums, model_box, trail, rows, history, steps, depths):
    """Play a game for each of the steps, from io.words on; return how many were played.

    A model that writes lessons stops where there may be no room for those of another game.
    """
    io, record = io_box[0], model_box[0]
    start = State(*to_fixed_tuple(io.words, N_WORDS))
    played = 0
    while played < len(steps):
        if not begin_episode(io, weights, record):
            break
        io.step, io.depth = steps[played], depths[played]
        play(start, io, box, weights, sums, record, trail, rows, history)
        played += 1
    return played
