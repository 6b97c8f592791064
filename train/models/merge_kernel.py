# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: learners of the same tables merge what they have learned. See `merge.py`."""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import CACHE
    from evallearn.compiled.learning_hooks import N_LEARNERS


@njit
def agree(weights, sums, known, i):
    """Return whether nobody has learned anything of that weight."""
    same = True
    for n in range(N_LEARNERS):
        same &= (weights[n, i] == weights[0, i]) & (sums[n, i, 0] == known[i, 0]) & (sums[n, i, 1] == known[i, 1])
    return same


@njit(cache=CACHE, nogil=True)
def merge(weights, sums, known, first, end):
    """Make the weights [n, i] from first to before end, and their error sums, the same for all n."""
    for i in range(first, min(end, len(known))):
        if agree(weights, sums, known, i):  # most, so this saves most of the time
            continue
        learned = total = plain = 0.0
        for n in range(N_LEARNERS):
            share = np.float64(sums[n, i, 1]) - np.float64(known[i, 1])
            learned += share
            total += share * np.float64(weights[n, i])
            plain += np.float64(weights[n, i])
        weight = np.float32(total / learned if learned > 0 else plain / N_LEARNERS)
        for part in range(2):
            now = np.float64(known[i, part])
            for n in range(N_LEARNERS):
                now += np.float64(sums[n, i, part]) - np.float64(known[i, part])
            for n in range(N_LEARNERS):
                sums[n, i, part] = np.float32(now)
            known[i, part] = np.float32(now)
        for n in range(N_LEARNERS):
            weights[n, i] = weight
