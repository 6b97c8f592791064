# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: `NetEval`.

Every sum has its order (vectors.py), so there is no fastmath, and the python backend can repeat it to the last bit.
A feature of 0 costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        ACCUMULATES,
        ACTIVATION,
        BEST,
        BY_MOVER,
        FLOOR,
        H1,
        H2,
        HAS_ACTIVE,
        LAST,
        MIDDLE,
        N_FEATURES,
        NETS,
        OUTPUTS,
        SCALE,
        TWO_SIDED,
        active_features,
        features_mover,
        features_player,
        observer,
        phase,
        to_play,
        won_player,
    )
    from evallearn.compiled.records import NetRecord
    from evallearn.compiled.vectors import add_rows, dot, nonzero
    from evallearn.evaluators.net import HALF, P0, P1, P2, Q0, Q1, Q2, Q3, SATURATED, of_phase
    from evallearn.evaluators.squash import squash

ZERO, ONE = np.float32(0), np.float32(1)


@njit
def observing_player(s):
    """Return the player as whom the net sees `s`."""
    return np.int64(to_play(s)) if BY_MOVER else np.int64(observer(s))


@njit
def see_as(s, player, x):
    """Write all features of `s` into `x`, as `player` sees them."""
    if BY_MOVER:
        features_mover(s, x)
    else:
        features_player(s, player, x)


@njit
def observe(s, x):
    """Write all features of `s` into `x`, as the net sees them."""
    see_as(s, observing_player(s), x)


@njit
def active(s, player, params: NetRecord):
    """Return how many features are not 0; params.places and params.values name them."""
    if HAS_ACTIVE:
        return np.int64(active_features(s, player, params.places, params.values))
    x, found = params.x, 0
    see_as(s, player, x)
    for i in range(N_FEATURES - 1, -1, -1):  # no branch: it would be mispredicted at every second number
        params.places[found] = i
        params.values[found] = x[i]
        found += x[i] != ZERO
    return np.int64(found)


@njit
def limit(h, n):
    """Cut off at 1 what FLOOR left, or apply the logistic function.

    NaN, of huge weights of both signs, says nothing.
    """
    for j in range(n):
        z = h[j]
        if ACTIVATION == 1:
            h[j] = z if z < ONE else ONE
        else:
            x = HALF * (z if z == z else ZERO)
            x = x if x > -SATURATED else -SATURATED
            x = x if x < SATURATED else SATURATED
            u = x * x
            p = ((u + P2) * u + P1) * u + P0
            q = ((Q3 * u + Q2) * u + Q1) * u + Q0
            h[j] = HALF + HALF * (x * (p / q))


@njit
def conclude(h, k, params: NetRecord):
    """Write the outputs from the last hidden layer: params.probabilities, never rising."""
    p, weights, bias = params.probabilities, of_phase(params.w3, k), of_phase(params.b3, k)
    for o in range(OUTPUTS):
        z = bias[o] + dot(h.ctypes.data, weights[o].ctypes.data, LAST)
        p[o] = 0.5 + 0.5 * squash(0.5 * np.float64(z)) if z == z else 0.5
    middle = OUTPUTS // 2
    for o in range(middle + 1, OUTPUTS):
        p[o] = min(p[o], p[o - 1])
    for o in range(middle - 1, -1, -1):
        p[o] = max(p[o], p[o + 1])


@njit
def predict_as(s, player, params: NetRecord):
    """Write params.probabilities[j] = P(utility >= levels[j + 1]) to `player`, who sees `s`."""
    k = np.int64(phase(s)) if NETS > 1 else np.int64(0)
    h1 = params.hidden1
    add_rows(
        h1.ctypes.data, of_phase(params.b1, k).ctypes.data, of_phase(params.w1, k).ctypes.data,
        params.places.ctypes.data, params.values.ctypes.data, active(s, player, params), H1, FLOOR, 0,
    )  # fmt: skip
    if ACTIVATION > 0:
        limit(h1, H1)
    if H2 > 0:
        h2 = params.hidden2
        add_rows(
            h2.ctypes.data, of_phase(params.b2, k).ctypes.data, of_phase(params.w2, k).ctypes.data,
            params.places.ctypes.data, h1.ctypes.data,
            nonzero(h1.ctypes.data, params.places.ctypes.data, H1), H2, FLOOR, 1,
        )  # fmt: skip
        if ACTIVATION > 0:
            limit(h2, H2)
        conclude(h2, k, params)
    else:
        conclude(h1, k, params)


@njit
def predict_outcomes(s, params: NetRecord):
    """Write params.probabilities to the player as whom the net sees `s`."""
    predict_as(s, observing_player(s), params)


@njit
def expected(s, player, params: NetRecord):
    """Return the expected result to `player`, who sees `s`, less the middle of the range."""
    predict_as(s, player, params)
    total = params.lowest
    for o in range(OUTPUTS):
        total += params.steps[o] * params.probabilities[o]
    return total


@njit
def evaluate_mover(s, params: NetRecord):
    return np.float32(expected(s, observing_player(s), params))


@njit
def evaluate_player(s, player, params: NetRecord):
    if ACCUMULATES:
        won = np.float64(won_player(s, player))
        return won + (BEST - won) * ((expected(s, player, params) + SCALE) / (2.0 * SCALE))
    seen_by = observing_player(s) if TWO_SIDED else np.int64(player)
    value = MIDDLE + np.float64(np.float32(expected(s, seen_by, params)))
    return value if seen_by == player else -value
