# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: dice.

`io` is the record of who plays: counter, and room for outcomes and their odds.
"""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import chances, result
    from evallearn.train.draws import uniform


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
