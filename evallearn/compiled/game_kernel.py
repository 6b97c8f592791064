# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: a game's rules as kernels that Python can call.

Utility and features are those the mover sees, where BY_MOVER, and elsewhere those that any player sees.

`box` holds the one record through which Python and the kernels talk (`Mailbox`): an array of one record is dispatched
five times faster than the record itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        BY_MOVER,
        CACHE,
        HAS_CHANCE,
        HAS_CLOCK,
        N_PLAYERS,
        N_WORDS,
        THROUGH_DRAWS,
        State,
        actions,
        bounds_mover,
        chances,
        clock,
        features_mover,
        features_player,
        forcing,
        is_terminal,
        key,
        may_pass,
        noisy_actions,
        phase,
        result,
        to_play,
        utility_mover,
        utility_player,
        won_player,
    )
    from evallearn.compiled.records import GameRecord

CHANCE = -1


@njit
def load(io: GameRecord):
    return State(*to_fixed_tuple(io.words, N_WORDS))


@njit
def store(io: GameRecord, s):
    for i, word in enumerate(s):
        io.words[i] = word


@njit
def occurs_again(io: GameRecord, k):
    """Return True if the position with key `k` stood on the board twice before."""
    seen = 0
    for i in range(io.n_history):
        if io.history[i] == k:
            seen += 1
    return seen >= 2


@njit
def note_utility(io: GameRecord, s):
    if BY_MOVER:
        value = utility_mover(s)
        for p in range(N_PLAYERS):
            io.utility[p] = value if p == io.player else -value
    else:
        for p in range(N_PLAYERS):
            io.utility[p] = utility_player(s, p)


@njit(cache=CACHE, nogil=True)
def look(box):
    """Write who is to play, whether it is over, what it is worth, the actions or outcomes; return their number."""
    io: GameRecord = box[0]
    s = load(io)
    io.player = to_play(s)
    if is_terminal(s):
        io.terminal = 1
        note_utility(io, s)
        return np.int64(0)
    if HAS_CLOCK and io.n_history >= 8 and occurs_again(io, key(s)):
        io.terminal = 1
        io.utility[:] = 0
        return np.int64(0)
    io.terminal = 0
    if HAS_CHANCE and io.player == CHANCE:
        return np.int64(chances(s, io.actions, io.probabilities))
    return np.int64(actions(s, io.actions))


@njit(cache=CACHE, nogil=True)
def advance(box, a):
    io: GameRecord = box[0]
    before = load(io)
    s = result(before, a)
    if HAS_CLOCK:
        io.clock = clock(s)
        if io.clock == 0:
            io.n_history = 0
        elif io.n_history < len(io.history):
            io.history[io.n_history] = key(before)
            io.n_history += 1
    store(io, s)


@njit(cache=CACHE, nogil=True)
def step(box, a, n):
    """Do `advance` by one of the n choices that the last look wrote, and look again; -1 if `a` is none of them."""
    io: GameRecord = box[0]
    for i in range(n):
        if io.actions[i] == a:
            advance(box, a)
            return look(box)
    return np.int64(-1)


@njit(cache=CACHE, nogil=True)
def recall(box, positions):
    """Put into the record what stood on the board before its position: uint64[n, N_WORDS]."""
    io: GameRecord = box[0]
    n = min(len(positions), len(io.history))
    for i in range(n):
        io.history[i] = key(State(*to_fixed_tuple(positions[len(positions) - n + i], N_WORDS)))
    io.n_history = n


@njit(cache=CACHE, nogil=True)
def measure(box):
    """Write the features seen by io.player (where BY_MOVER: by the mover) and the key; return the phase."""
    io: GameRecord = box[0]
    s = load(io)
    io.key = key(s)
    if BY_MOVER:
        features_mover(s, io.features)
    else:
        features_player(s, np.int64(io.player), io.features)
    return np.int64(phase(s))


@njit(cache=CACHE, nogil=True)
def noisy(box):
    """Write the actions for a quiescence search; return their number."""
    io: GameRecord = box[0]
    return np.int64(noisy_actions(load(io), io.actions))


@njit(cache=CACHE, nogil=True)
def is_forcing(box):
    return forcing(load(box[0]))


@njit(cache=CACHE, nogil=True)
def can_pass(box):
    return may_pass(load(box[0]))


@njit(cache=CACHE, nogil=True)
def bound(box):
    """Write the bounds of the utility to the player to move; return that player."""
    io: GameRecord = box[0]
    s = load(io)
    io.bounds[0], io.bounds[1] = bounds_mover(s)
    return np.int64(to_play(s))


@njit(cache=CACHE, nogil=True)
def won(box, player):
    """Return what `player` has won for certain."""
    return np.float64(won_player(load(box[0]), player))


@njit(nogil=True)
def choices(s, row, probabilities):
    """Write actions or outcomes as perft counts them; return their number."""
    if not THROUGH_DRAWS and is_terminal(s):
        return np.int64(0)
    if HAS_CHANCE and to_play(s) == CHANCE:
        return np.int64(chances(s, row, probabilities))
    return np.int64(actions(s, row))


@njit(nogil=True)
def count(s, depth, rows, probabilities):
    if depth == 0:
        return np.int64(1)
    row = rows[depth]
    n = choices(s, row, probabilities)
    if depth == 1:
        return n
    total = np.int64(0)
    for i in range(n):
        total += count(result(s, np.int64(row[i])), depth - 1, rows, probabilities)
    return total


@njit(cache=CACHE, nogil=True)
def perft(box, depth, rows):
    """Return the number of positions at exactly `depth`; rows is int32[depth + 1, width of io.actions]."""
    return count(load(box[0]), np.int64(depth), rows, box[0].probabilities)


@njit(cache=CACHE, nogil=True)
def branch(box):
    """Write the choices with which perft goes on; return their number."""
    io: GameRecord = box[0]
    return choices(load(io), io.actions, io.probabilities)
