# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: an evaluator on features, whatever `raw` computes from them: see `FeatureEval`."""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        ACCUMULATES,
        BEST,
        BY_MOVER,
        MIDDLE,
        SCALE,
        TWO_SIDED,
        features_mover,
        features_player,
        observer,
        phase,
        raw,
        to_play,
        won_player,
    )
    from evallearn.evaluators.squash import squash


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
        seen_by = observer(s) if TWO_SIDED else player
        features_player(s, seen_by, params.x)
        value = MIDDLE + np.float64(np.float32(SCALE * squash(raw(params, phase(s)))))
    return value if seen_by == player else -value
