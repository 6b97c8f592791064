# mypy: ignore-errors
"""Template: games between two Evals that look one ply ahead. See `meeting.py`; the names below are injected.

State, actions, result, is_terminal, to_play             the game's `Rules`
utility_player(s, player)                                of any game
evaluate_a, evaluate_b                                   (s, player, params) -> the value to that player
rolled, uniform, begin_game                              of dice_kernel.py and draws.py
N_WORDS, HAS_CHANCE, CACHE                               of the game; whether the disk cache is on
"""

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

CHANCE = -1


@njit
def best(s, io, is_a, a, b):
    """The action with the best value one ply later, the first of equal ones."""
    player = np.int64(to_play(s))
    n = actions(s, io.actions)
    chosen, highest = 0, -np.inf
    for i in range(n):
        after = result(s, np.int64(io.actions[i]))
        if is_terminal(after):
            value = np.float64(utility_player(after, player))
        elif is_a:
            value = evaluate_a(after, player, a)
        else:
            value = evaluate_b(after, player, b)
        if value > highest:
            chosen, highest = i, value
    return np.int64(io.actions[chosen])


@njit
def one_game(s, io, seat, a, b):
    """What the game from `s` is worth to the first Eval, which plays `seat`."""
    opening = io.opening
    for _ in range(io.longest):
        if is_terminal(s):
            return np.float64(utility_player(s, seat))
        if HAS_CHANCE and to_play(s) == CHANCE:
            s = rolled(s, io)
        elif opening > 0:
            n = actions(s, io.actions)
            s = result(s, np.int64(io.actions[np.int64(uniform(io) * n)]))
            opening -= 1
        else:
            s = result(s, best(s, io, to_play(s) == seat, a, b))
    return 0.0


@njit(cache=CACHE, nogil=True)
def meet(box, a_box, b_box, points):
    """points[i]: the mean of the two games of pair i, which have the same dice and opening, seats swapped."""
    io, a, b = box[0], a_box[0], b_box[0]
    start = State(*to_fixed_tuple(io.words, N_WORDS))
    for i in range(len(points)):
        for seat in range(2):
            begin_game(i, io)
            points[i] += 0.5 * one_game(start, io, np.int64(seat), a, b)
