# mypy: ignore-errors
"""Template: an Eval on features, whatever is computed from them.

raw(params, phase) -> float64                        the Eval's own arithmetic on params.x, from a template of its own
features_mover | features_player, viewer, to_play    the game's `Rules`
won_player                                           of games whose utility accumulates, where ACCUMULATES
phase, squash, SCALE, MIDDLE, BEST, TWO_SIDED, BY_MOVER, ACCUMULATES    see `FeatureEval`
"""

import numpy as np
from numba import njit


@njit
def evaluate_mover(s, params):
    features_mover(s, params.x)
    return np.float32(SCALE * squash(raw(params, phase(s))))


@njit
def evaluate_player(s, player, params):
    if ACCUMULATES:
        features_player(s, player, params.x)
        won = np.float64(won_player(s, player))
        return won + (BEST - won) * (0.5 + 0.5 * squash(raw(params, phase(s))))
    if BY_MOVER:
        seen_by = to_play(s)
        value = np.float64(evaluate_mover(s, params))
    else:
        seen_by = viewer(s) if TWO_SIDED else player
        features_player(s, seen_by, params.x)
        value = MIDDLE + np.float64(np.float32(SCALE * squash(raw(params, phase(s)))))
    return value if seen_by == player else -value
