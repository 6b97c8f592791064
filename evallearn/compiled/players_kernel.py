# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: the utility to any player, from rules by mover (two players)."""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import to_play, utility_mover


@njit
def utility_player(s, player):
    value = utility_mover(s)
    return value if to_play(s) == player else np.float32(-value)
