# mypy: ignore-errors
"""Template: a game's rules as kernels that Python can call. See `specialise`; the names below are injected.

State, actions, result, is_terminal, to_play, utility_mover, features_mover, phase, key   the game's `Rules`
N_WORDS                                                                                   fields of State
CACHE                                                                                     whether the disk cache is on

`box` holds the one record through which Python and the kernels talk (`Mailbox`): an array of one record is dispatched
five times faster than the record itself.
"""

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple


@njit
def load(io):
    return State(*to_fixed_tuple(io.words, N_WORDS))


@njit
def store(io, s):
    for i, word in enumerate(s):
        io.words[i] = word


@njit(cache=CACHE, nogil=True)
def look(box):
    """Who is to play, whether it is over, what it is worth to the mover, the actions; returns their number."""
    io = box[0]
    s = load(io)
    io.player = to_play(s)
    io.terminal = is_terminal(s)
    if io.terminal:
        io.utility_mover = utility_mover(s)
        return np.int64(0)
    return np.int64(actions(s, io.actions))


@njit(cache=CACHE, nogil=True)
def advance(box, a):
    io = box[0]
    store(io, result(load(io), a))


@njit(cache=CACHE, nogil=True)
def measure(box):
    """The features seen by the mover and the key; returns the phase."""
    io = box[0]
    s = load(io)
    io.key = key(s)
    features_mover(s, io.features)
    return np.int64(phase(s))


@njit(nogil=True)
def count(s, depth, rows):
    if depth == 0:
        return np.int64(1)
    if is_terminal(s):
        return np.int64(0)
    row = rows[depth]
    total = np.int64(0)
    for i in range(actions(s, row)):
        total += count(result(s, row[i]), depth - 1, rows)
    return total


@njit(cache=CACHE, nogil=True)
def perft(box, depth, rows):
    """Positions at exactly `depth`; rows is int32[depth + 1, max_actions]."""
    return count(load(box[0]), np.int64(depth), rows)
