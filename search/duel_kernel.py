# mypy: ignore-errors
"""Template: a whole game between two alpha-beta searches. See `specialise`; the names below are injected.

State, result, is_terminal, to_play, utility_mover           the game's `Rules`
choose_a, choose_b, remember                                 of move_kernel.py and repetition_kernel.py
N_WORDS, HAS_CLOCK                                           of the game
CACHE                                                        whether the disk cache is on
"""

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

from evallearn.compiled.cycles import cycles


@njit(cache=CACHE, nogil=True)
def play(table, a, eval_a, words_a, b, eval_b, words_b, past):
    """Plays the position in io.words to its end; returns the number of plies.

    table: the record of duel.py; a, b: those of the searches; words: the memory of their tables; past: uint64[clock
    limit + 2, N_WORDS], of which the first io.n_past are the positions since the last move that cannot be taken back.
    """
    io = table[0]
    s = State(*to_fixed_tuple(io.words, N_WORDS))
    n_past = io.n_past
    n = 0
    while True:
        player = to_play(s)
        side = io.seats[player]
        begun = cycles()
        ctx = a[0] if side == 0 else b[0]
        for i, word in enumerate(s):
            ctx.words[i] = word
        if side == 0:
            action = choose_a(a, eval_a, words_a, past[:n_past], io.depth[0], io.free[0] != 0, io.win, io.margin)
        else:
            action = choose_b(b, eval_b, words_b, past[:n_past], io.depth[1], io.free[1] != 0, io.win, io.margin)
        if action < 0:
            break
        io.cycles[side] += cycles() - begun
        io.moves[side] += 1
        io.nodes[side] += ctx.nodes
        io.actions[n] = action
        n += 1
        after = result(s, action)
        if HAS_CLOCK:
            n_past = remember(s, after, past, n_past)
        s = after
    value = utility_mover(s) if is_terminal(s) else np.float32(0)
    io.utility = value if to_play(s) == 0 else -value
    return np.int64(n)
