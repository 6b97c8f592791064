# mypy: ignore-errors
"""Template: games of a net against itself in which every move is searched.

See `neural_search.py`, which says what is learned, and `neural_search_plain.py`, the same in plain Python. The names
below are injected.

State, result, to_play, is_terminal                       the game's `Rules`
begin, remember, shuffle, search, leaf_of                 of searches.py
judge, ended, teach                                       of neural_play_kernel.py
uniform, begin_game, NODES                                of draws.py and neural_search.py
N_WORDS, OUTPUTS, HAS_CLOCK                               of the game and the net
LEAVES, EVERY_NODE                                        whether leaves learn, or all nodes; else the roots
CACHE                                                     whether the disk cache is on
"""

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple


@njit
def foresee(s, row, io, ctx, params, words, sides, leaves, targets):
    """Write a row: `s`, or the leaf of the search just made of it, and the leaf's chances to the mover of `s`."""
    player = np.int64(to_play(s))
    at, over = leaf_of(s, ctx, params)
    if over and not is_terminal(at):  # it stood there for the third time
        ended(0.0, io, params)
    else:
        judge(at, player, io, params)
    for j in range(OUTPUTS):
        targets[row, j] = np.float32(io.now[j])
    sides[row] = player
    leaves[row] = -1 if over else to_play(at)
    for w, word in enumerate(at if LEAVES else s):
        words[row, w] = word


@njit
def lean(first, end, words, sides, followed, leaves, targets):
    """Let leaves learn what was expected one decision later; return the first row that is free.

    The rows of others go.
    """
    free = first
    for t in range(first, end - 1):
        if followed[t] != 0 and leaves[t] >= 0:
            same = leaves[t] == sides[t + 1]
            for j in range(OUTPUTS):
                later = targets[t + 1, j if same else OUTPUTS - 1 - j]
                targets[free, j] = later if same else np.float32(1.0 - np.float64(later))
            for w in range(N_WORDS):
                words[free, w] = words[t, w]
            free += 1
    return free


@njit
def gather(row, params, words, targets):
    """Turn the nodes that were noted into rows; return the first row that is free."""
    for i in range(min(params.notes, len(params.lessons))):
        for w in range(N_WORDS):
            words[row, w] = params.noted[i, w]
        for j in range(OUTPUTS):
            targets[row, j] = params.lessons[i, j]
        row += 1
    return row


@njit
def play(s, row, io, box, params, past, words, sides, followed, leaves, targets):
    """Play one game from `s`, whose lessons fill the rows from `row` on. Return the first row that is free."""
    ctx = box[0]
    first = row
    n_past = 0
    opening = np.int64(uniform(io) * (io.opening + 1))
    for ply in range(io.longest):
        if not begin(s, past[:n_past], box):
            break
        if ply < opening:
            chosen = np.int64(uniform(io) * ctx.n_root)
        else:
            shuffle(io, ctx)
            if EVERY_NODE:
                params.notes = 0
                params.counter = io.counter ^ NODES
            best, _ = search(s, io, ctx, params)
            if EVERY_NODE:
                row = gather(row, params, words, targets)
            else:
                foresee(s, row, io, ctx, params, words, sides, leaves, targets)
            chosen = best
            if io.epsilon > 0.0 and uniform(io) < io.epsilon:
                chosen = np.int64(uniform(io) * ctx.n_root)
            if not EVERY_NODE:
                followed[row] = chosen == best
                row += 1
        after = result(s, np.int64(ctx.root_actions[chosen]))
        if HAS_CLOCK:
            n_past = remember(s, after, past, n_past)
        s = after
    if not EVERY_NODE:
        teach(first, row, io, sides, followed, targets)
    return lean(first, row, words, sides, followed, leaves, targets) if LEAVES else row


@njit(cache=CACHE, nogil=True)
def play_games(io_box, box, eval_box, past, first, games, most, words, sides, followed, leaves, targets):
    """Play games number `first` and on; return how many games and rows were filled.

    It goes on while there is room for `most` rows.
    """
    io, params = io_box[0], eval_box[0]
    start = State(*to_fixed_tuple(io.words, N_WORDS))
    row = 0
    played = 0
    while played < games and row + most <= len(words):
        begin_game(first + played, io)
        row = play(start, row, io, box, params, past, words, sides, followed, leaves, targets)
        played += 1
    return played, row
