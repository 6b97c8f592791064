# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: what the evaluator likes best one ply ahead."""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import actions, evaluate_player, is_terminal, result, to_play, utility_player


@njit(nogil=True)
def value_of(s, player, params):
    """Return the utility of `s` to `player`, or what the evaluator says where the game goes on."""
    return np.float64(utility_player(s, player)) if is_terminal(s) else np.float64(evaluate_player(s, player, params))


@njit(nogil=True)
def best_action(s, row, params):
    """Return the action with the best value one ply later, the first of equal ones, its value, and how many there are.

    row: int32, room for all actions.
    """
    player = np.int64(to_play(s))
    n = np.int64(actions(s, row))
    chosen, highest = np.int64(0), -np.inf
    for i in range(n):
        after = result(s, np.int64(row[i]))
        if is_terminal(after):  # not `value_of`: that it is inlined here makes it a third faster
            value = np.float64(utility_player(after, player))
        else:
            value = np.float64(evaluate_player(after, player, params))
        if value > highest:
            chosen, highest = np.int64(i), value
    return np.int64(row[chosen]), highest, n


@njit(nogil=True)
def choose(s, history, side):
    """Return the best action and how many there are, as a chooser of match_kernel.py.

    side: the evaluator's record, and `row`.
    """
    eval_box, row = side
    action, _, n = best_action(s, row, eval_box[0])
    return action, n
