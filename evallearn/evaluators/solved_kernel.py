# mypy: ignore-errors
"""Template: an Eval over another one, which is asked where the game's endgames know nothing.

probe(s, address) -> steps                          the game's `Endgames`
below(s, params) -> float32                         the other Eval, to the player to move
to_play, NOT_KNOWN, SCALE, STEP, MOST_STEPS         see `SolvedEval`; params.solved is the address
"""

import numpy as np
from numba import njit


@njit
def evaluate_mover(s, params):
    steps = probe(s, params.solved)
    if steps == NOT_KNOWN:
        return below(s, params)
    if steps == 0:
        return np.float32(0)
    value = np.float32(SCALE * (1.0 - STEP * min(abs(steps), MOST_STEPS)))
    return value if steps > 0 else np.float32(-value)


@njit
def evaluate_player(s, player, params):
    value = np.float64(evaluate_mover(s, params))
    return value if to_play(s) == player else -value
