"""From any number to a value strictly between loss and win: tanh, as plain arithmetic.

The C library's tanh costs as much as all features of a position together, and differs in the last bit between
machines. This one is a quotient of two polynomials, exact to 3e-9 (float32 resolves 6e-8), and the same to the last bit
uncompiled, compiled and everywhere.
"""

from __future__ import annotations

import math

import numpy as np

BOUND = 1.0 - 2.0**-20
"""The largest |value| of a non-terminal state, as a share of a win: exact in float32, strictly inside."""
SATURATED = math.atanh(BOUND)
# tanh(x) = x P(x^2) / Q(x^2) on [-SATURATED, SATURATED]; fitted for the least largest relative error.
P0, P1, P2 = 0.9999999975373647, 0.13486399046257616, 0.003622415380911624
P3, P4 = 2.2791383819080366e-05, 1.6648195833640447e-08
Q1, Q2, Q3 = 0.46819729920075426, 0.026354889449239235, 0.0003496713113333118
Q4 = 9.061489701837805e-07


def squash(raw: float) -> float:
    """Return tanh(raw), kept strictly between -1 and 1. Plain arithmetic only: kernels compile this very function."""
    x = min(max(raw, -SATURATED), SATURATED)
    u = x * x
    p = (((P4 * u + P3) * u + P2) * u + P1) * u + P0
    q = (((Q4 * u + Q3) * u + Q2) * u + Q1) * u + 1.0
    return min(max(x * (p / q), -BOUND), BOUND)


def clip(raw: float) -> float:
    """Return `raw` itself, kept strictly between -1 and 1: for raw scores that are values already.

    Kernels compile it, too.
    """
    return min(max(raw, -BOUND), BOUND)


SQUASHES = {"tanh": squash, "clip": clip}
"""By the name that stands in a file."""


def to_value(raw: float, scale: float, by: str = "tanh") -> float:
    """Return the value of a state whose raw score is `raw`, where a win is worth `scale`.

    It is rounded to float32 as kernels do.
    """
    return float(np.float32(scale * SQUASHES[by](raw)))
