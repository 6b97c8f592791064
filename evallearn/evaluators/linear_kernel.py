# mypy: ignore-errors
"""Template: the linear Eval. Injected: features_mover, phase (the game's), squash, N_FEATURES, SCALE."""

import numpy as np
from numba import njit


@njit
def evaluate_mover(s, params):
    features_mover(s, params.x)
    k = phase(s)
    total = np.float64(params.bias[k])
    for i in range(N_FEATURES):
        total += np.float64(params.weights[k, i]) * np.float64(params.x[i])
    return np.float32(SCALE * squash(total))
