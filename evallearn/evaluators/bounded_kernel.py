# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: another evaluator, `below`, clipped into the bounds of the game: see `BoundedEval`."""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import MOST, to_play
    from evallearn.compiled.hooks import bounds_mover as game_bounds
    from evallearn.compiled.hooks import evaluate_mover as below


@njit
def bounds_mover(s, params):
    low, high = game_bounds(s)
    return min(low, np.float32(MOST)), max(high, np.float32(-MOST))


@njit
def evaluate_mover(s, params):
    low, high = bounds_mover(s, params)
    return min(max(below(s, params), low), high)


@njit
def evaluate_player(s, player, params):
    value = np.float64(evaluate_mover(s, params))
    return value if to_play(s) == player else -value
