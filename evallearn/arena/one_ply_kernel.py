# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: the chooser that looks one ply ahead, for match_kernel.py."""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import actions, evaluate_player, is_terminal, result, to_play, utility_player


@njit(nogil=True)
def choose(s, past, side):
    """Return the action with the best value one ply later, the first of equal ones, and how many there are.

    side: the Eval's record, and int32 room for all actions.
    """
    eval_box, row = side
    player = np.int64(to_play(s))
    n = np.int64(actions(s, row))
    chosen, highest = 0, -np.inf
    for i in range(n):
        after = result(s, np.int64(row[i]))
        if is_terminal(after):
            value = np.float64(utility_player(after, player))
        else:
            value = np.float64(evaluate_player(after, player, eval_box[0]))
        if value > highest:
            chosen, highest = i, value
    return np.int64(row[chosen]), n
