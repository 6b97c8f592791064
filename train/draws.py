"""Random numbers inside kernels that learn: a counter, well mixed, so that a checkpoint is one number."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable
from evallearn.compiled.rng import mix64
from evallearn.core.rng import MASK64, scramble

STEP = 0x9E3779B97F4A7C15
STEP_WORD = np.uint64(STEP)
GAME_STEP = 0xD1B54A32D192ED03
"""Between the counters of two games."""
GAME_WORD = np.uint64(GAME_STEP)
ELEVEN = np.uint64(11)
TO_UNIT = 2.0**-53


@jitable
def uniform(io):
    """Return the next random number, 0 <= u < 1; io.counter moves on."""
    io.counter += STEP_WORD
    return np.float64(mix64(io.counter) >> ELEVEN) * TO_UNIT


@jitable
def begin_game(number, io):
    """Let io draw the numbers of that game from here on, whoever plays it and when."""
    io.counter = io.seed ^ (np.uint64(number) * GAME_WORD)


class Draws:
    """The same numbers on the python backend."""

    def __init__(self, seed: int) -> None:
        self.counter = scramble(seed)

    def begin_game(self, number: int, seed: int) -> None:
        self.counter = scramble(seed) ^ (number * GAME_STEP & MASK64)

    def uniform(self) -> float:
        self.counter = (self.counter + STEP) & MASK64
        return (scramble(self.counter) >> 11) * TO_UNIT
