"""Random numbers inside kernels that learn: a counter, well mixed, so that a checkpoint is one number."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, mix64
from evallearn.mixing import MASK64, scramble

STEP = 0x9E3779B97F4A7C15
STEP_WORD = np.uint64(STEP)
ELEVEN = np.uint64(11)
TO_UNIT = 2.0**-53


@jitable
def uniform(io):
    """The next random number, 0 <= u < 1; io.counter moves on."""
    io.counter += STEP_WORD
    return np.float64(mix64(io.counter) >> ELEVEN) * TO_UNIT


class Draws:
    """The same numbers upstairs."""

    def __init__(self, seed: int) -> None:
        self.counter = scramble(seed)

    def uniform(self) -> float:
        self.counter = (self.counter + STEP) & MASK64
        return (scramble(self.counter) >> 11) * TO_UNIT
