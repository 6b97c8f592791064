# mypy: ignore-errors
"""Template: dice. Injected: chances and result of the game's `Rules`, uniform of draws.py."""

import numpy as np
from numba import njit


@njit
def rolled(s, io):
    """Return the state after a random roll."""
    n = chances(s, io.outcomes, io.odds)
    u = uniform(io)
    for i in range(n - 1):
        u -= io.odds[i]
        if u < 0.0:
            return result(s, np.int64(io.outcomes[i]))
    return result(s, np.int64(io.outcomes[n - 1]))
