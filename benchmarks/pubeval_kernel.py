# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: games of backgammon between an evaluator, which takes the best position after its move, and pubeval."""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

from evallearn.compiled.bits import u64
from evallearn.compiled.rng import GOLDEN, drawn, mix64

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        CACHE,
        N_WORDS,
        State,
        actions,
        chances,
        evaluate_player,
        is_terminal,
        phase,
        result,
        to_play,
        utility_player,
    )
    from evallearn.games.backgammon.game import CONTACT
    from evallearn.games.backgammon.planes import count_at

CHANCE, BAR, OFF, CHECKERS = -1, 0, 25, 15


@njit(nogil=True)
def score(s, weights):
    """What pubeval says of `s` to the player who has just moved. Bit b of a side is its point 25 - b."""
    total = 0.0
    for j in range(1, 25):
        n = count_at(s.opp_low, s.opp_high, u64(j))
        k = 5 * (j - 1)
        if n == 0:
            if count_at(s.own_low, s.own_high, u64(25 - j)) == 1:
                total += weights[k]
        elif n == 1:
            total += weights[k + 1]
        else:
            total += weights[k + 2]
            if n == 3:
                total += weights[k + 3]
            elif n > 3:
                total += weights[k + 4] * ((n - 3) / 2.0)
    total += weights[120] * (count_at(s.own_low, s.own_high, u64(BAR)) / 2.0)
    return total + weights[121] * (count_at(s.opp_low, s.opp_high, u64(OFF)) / 15.0)


@njit(nogil=True)
def pubeval_move(s, row, weights):
    """weights: float64[2, 122]; those of the race are taken if the sides had passed each other before the move."""
    chosen = weights[1] if phase(s) == CONTACT else weights[0]
    n = np.int64(actions(s, row))
    best, value = 0, -np.inf
    for i in range(n):
        t = result(s, np.int64(row[i]))
        found = np.inf if is_terminal(t) else score(t, chosen)
        if found > value:
            best, value = i, found
    return np.int64(row[best])


@njit(nogil=True)
def greedy_move(s, row, params):
    """What expectiminimax of depth 1 plays."""
    player = np.int64(to_play(s))
    n = np.int64(actions(s, row))
    best, value = 0, -np.inf
    for i in range(n):
        t = result(s, np.int64(row[i]))
        found = np.float64(utility_player(t, player)) if is_terminal(t) else evaluate_player(t, player, params)
        if found > value:
            best, value = i, found
    return np.int64(row[best])


@njit(nogil=True)
def rolled(s, number, row, odds):
    """The outcome that the random word `number` falls on."""
    n = np.int64(chances(s, row, odds))
    return np.int64(row[drawn(number, odds, n)])


@njit(cache=CACHE, nogil=True)
def choose(words, row, weights):
    """Pubeval's move."""
    return pubeval_move(State(*to_fixed_tuple(words, N_WORDS)), row, weights)


@njit(cache=CACHE, nogil=True)
def play(words, seat, rng, row, odds, box, weights):
    """A game: the points of the evaluator, which is player `seat`. rng: where the random words of the dice begin."""
    s = State(*to_fixed_tuple(words, N_WORDS))
    while not is_terminal(s):
        player = to_play(s)
        if player == CHANCE:
            rng += GOLDEN
            a = rolled(s, mix64(rng), row, odds)
        elif player == seat:
            a = greedy_move(s, row, box[0])
        else:
            a = pubeval_move(s, row, weights)
        s = result(s, a)
    return np.float64(utility_player(s, np.int64(seat)))
