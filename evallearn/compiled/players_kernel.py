# mypy: ignore-errors
"""Template: the utility to any player, from rules by mover (two players). Injected: to_play, utility_mover."""

import numpy as np
from numba import njit


@njit
def utility_player(s, player):
    value = utility_mover(s)
    return value if to_play(s) == player else np.float32(-value)
