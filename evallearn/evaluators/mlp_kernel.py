# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: the small neural evaluator's arithmetic.

Each layer adds whole rows of weights, so the loop over units vectorises without reordering any sum: no fastmath, and
the python backend can repeat it to the last bit. A feature of 0 or a silent unit costs nothing.
"""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import H1, H2, N_FEATURES

ZERO = np.float32(0)


@njit
def raw(params, k):
    h1 = params.hidden1
    for j in range(H1):
        h1[j] = params.b1[k, j]
    for i in range(N_FEATURES):
        f = params.x[i]
        if f != ZERO:
            row = params.w1[i]
            for j in range(H1):
                h1[j] += f * row[j]
    h2 = params.hidden2
    for j in range(H2):
        h2[j] = params.b2[j]
    for i in range(H1):
        f = h1[i]
        if f > ZERO:
            row = params.w2[i]
            for j in range(H2):
                h2[j] += f * row[j]
    total = np.float64(params.b3[0])
    for j in range(H2):
        if h2[j] > ZERO:
            total += np.float64(h2[j]) * np.float64(params.w3[j])
    if total != total:  # huge weights of both signs: inf - inf says nothing
        total = np.float64(0.0)
    return total
