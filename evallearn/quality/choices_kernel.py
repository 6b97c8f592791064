# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: what an evaluator says of positions, and which action it would choose there by one ply."""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        CACHE,
        HAS_CHANCE,
        N_WORDS,
        State,
        actions,
        chances,
        evaluate_player,
        is_terminal,
        observer,
        result,
        to_play,
        utility_player,
    )

CHANCE = -1


@njit(cache=CACHE, nogil=True)
def choose(words, rolls, record, buffer, odds, values, best):
    """Choose an action in every position; return how often the evaluator was called. No position may be terminal.

    words: uint64[n, N_WORDS]; rolls: int64[n], which outcome falls where one is rolled; record: an array of one, the
    parameters of the evaluator; buffer, odds: room for actions and outcomes; values: float64[n], to who is about to
    decide; best: int64[n], the number of the action.
    """
    params = record[0]
    eval_calls = 0
    for i in range(len(words)):
        s = State(*to_fixed_tuple(words[i], N_WORDS))
        rolling = HAS_CHANCE and to_play(s) == CHANCE
        values[i] = evaluate_player(s, np.int64(observer(s)) if rolling else np.int64(to_play(s)), params)
        if rolling:
            chances(s, buffer, odds)
            s = result(s, np.int64(buffer[rolls[i]]))
        player = np.int64(to_play(s))
        highest = -np.inf
        best[i] = -1
        n = actions(s, buffer)
        for a in range(n):
            t = result(s, np.int64(buffer[a]))
            if is_terminal(t):
                value = np.float64(utility_player(t, player))
            else:
                value = np.float64(evaluate_player(t, player, params))
                eval_calls += 1
            if value > highest:
                highest = value
                best[i] = a
        eval_calls += 1
    return eval_calls
