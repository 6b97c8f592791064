# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: the linear evaluator's arithmetic."""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import N_FEATURES


@njit
def raw(params, k):
    total = np.float64(params.bias[k])
    for i in range(N_FEATURES):
        total += np.float64(params.weights[k, i]) * np.float64(params.x[i])
    return total
