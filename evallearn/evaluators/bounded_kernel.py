# mypy: ignore-errors
"""Template: another Eval, clipped into the bounds of the game.

game_bounds(s) -> (low, high), to_play              the game's `Rules`
below(s, params) -> float32                         the other Eval, to the player to move
MOST                                                see `BoundedEval`
"""

import numpy as np
from numba import njit


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
