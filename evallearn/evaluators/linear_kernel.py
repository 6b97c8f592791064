# mypy: ignore-errors
"""Template: the linear Eval's arithmetic. Injected: N_FEATURES."""

import numpy as np
from numba import njit


@njit
def raw(params, k):
    total = np.float64(params.bias[k])
    for i in range(N_FEATURES):
        total += np.float64(params.weights[k, i]) * np.float64(params.x[i])
    return total
