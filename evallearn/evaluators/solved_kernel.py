# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: an evaluator over another one, `below`, which is asked where the game's endgames know nothing.

See `SolvedEval`; params.solved is the address.
"""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import SCALE, probe, to_play
    from evallearn.compiled.hooks import evaluate_mover as below
    from evallearn.core.rules import NOT_KNOWN
    from evallearn.evaluators.solved import MOST_STEPS, STEP


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
