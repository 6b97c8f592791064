"""The random numbers of `core/rng.py` inside kernels, to the last bit: SplitMix64."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

from typing import SupportsInt

import numpy as np
from numba.extending import overload

from evallearn.compiled.bits import jitable
from evallearn.core import rng
from evallearn.core.rng import UNIT, scramble

GOLDEN, GAME_STEP = np.uint64(rng.GOLDEN), np.uint64(rng.GAME_STEP)
_11, _32 = np.uint64(11), np.uint64(32)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mix64(x: SupportsInt) -> np.uint64:
    """Return `scramble` of a word: a bijection whose output looks random, for hash keys too."""
    return np.uint64(scramble(int(x)))


@overload(mix64, inline="always")
def _mix64(x):
    def impl(x):
        x = np.uint64(x)
        x = (x ^ (x >> _30)) * _M1
        x = (x ^ (x >> _27)) * _M2
        return x ^ (x >> _31)

    return impl


@jitable
def unit(word):
    """Return the random word as 0 <= u < 1."""
    return np.float64(word >> _11) * UNIT


@jitable
def scaled(word, n):
    """Return the random word as an index below `n`; the bias is below n / 2**32."""
    return np.int64(((word >> _32) * np.uint64(n)) >> _32)


@jitable
def drawn(word, probabilities, n):
    """Return the index of the outcome, of `n`, that the random word falls on."""
    point = unit(word)
    reached = 0.0
    for i in range(n - 1):
        reached += probabilities[i]
        if point < reached:
            return np.int64(i)
    return np.int64(n - 1)


@jitable
def next_word(ctx):
    """Return the next random word; ctx.counter moves on."""
    ctx.counter += GOLDEN
    return mix64(ctx.counter)


@jitable
def uniform(ctx):
    """Return the next random number, 0 <= u < 1."""
    return unit(next_word(ctx))


@jitable
def begin_game(number, ctx):
    """Let ctx draw the numbers of that game from here on, whoever plays it and when; ctx.seed is a scrambled seed."""
    ctx.counter = ctx.seed ^ (np.uint64(number) * GAME_STEP)
