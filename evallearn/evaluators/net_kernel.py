# mypy: ignore-errors
"""Template: `NetEval`. The names below are injected.

to_play, viewer, phase, features_mover | features_player, active_features    the game's `Rules`
N_FEATURES, H1, H2, OUTPUTS, NETS, ACTIVATION                                of the net
squash, MIDDLE, BY_MOVER, HAS_ACTIVE                                         of the toolkit and the game
SATURATED, P0 .. P2, Q0 .. Q3, HALF                                          see net.py

Layers add whole rows of weights, the last layer eight sums side by side: loops vectorise without reordering any sum,
so there is no fastmath, and the plain floor can repeat it to the last bit. A feature of 0 costs nothing.
"""

import numpy as np
from numba import njit

ZERO, ONE = np.float32(0), np.float32(1)
LANES = 8


@njit
def sees(s):
    """Whose eyes the net sees `s` with."""
    return np.int64(to_play(s)) if BY_MOVER else np.int64(viewer(s))


@njit
def see(s, x):
    """All features of `s` as the net sees them."""
    if BY_MOVER:
        features_mover(s, x)
    else:
        features_player(s, viewer(s), x)


@njit
def active(s, params):
    """The features that are not 0, the last one first: their number; params.places and params.values name them."""
    if HAS_ACTIVE:
        return np.int64(active_features(s, sees(s), params.places, params.values))
    see(s, params.x)
    n = 0
    for i in range(N_FEATURES - 1, -1, -1):  # no branch: it would be mispredicted at every second feature
        params.places[n] = i
        params.values[n] = params.x[i]
        n += params.x[i] != ZERO
    return np.int64(n)


@njit
def activate(h, n):
    """In place. NaN, of huge weights of both signs, says nothing."""
    for j in range(n):
        z = h[j]
        if ACTIVATION == 0:
            h[j] = z if z > ZERO else ZERO
        elif ACTIVATION == 1:
            z = z if z > ZERO else ZERO
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
def conclude(h, n, k, params):
    """The outputs from the last hidden layer: params.chances, never rising."""
    lanes = params.lanes
    for o in range(OUTPUTS):
        for l in range(LANES):
            lanes[o, l] = ZERO
    w3 = params.w3[k]
    for i in range(n // LANES):
        for o in range(OUTPUTS):
            for l in range(LANES):
                lanes[o, l] += h[LANES * i + l] * w3[i, o, l]
    p = params.chances
    for o in range(OUTPUTS):
        low = (lanes[o, 0] + lanes[o, 4]) + (lanes[o, 2] + lanes[o, 6])
        z = params.b3[k, o] + (low + ((lanes[o, 1] + lanes[o, 5]) + (lanes[o, 3] + lanes[o, 7])))
        p[o] = 0.5 + 0.5 * squash(0.5 * np.float64(z)) if z == z else 0.5
    middle = OUTPUTS // 2
    for o in range(middle + 1, OUTPUTS):
        p[o] = min(p[o], p[o - 1])
    for o in range(middle - 1, -1, -1):
        p[o] = max(p[o], p[o + 1])


@njit
def foretell(s, params):
    """params.chances[j] = P(utility >= levels[j + 1]) to whom the net sees `s` with."""
    k = np.int64(phase(s)) if NETS > 1 else np.int64(0)
    n = active(s, params)
    h1, w1 = params.hidden1, params.w1[k]
    for j in range(H1):
        h1[j] = params.b1[k, j]
    for a in range(n):
        f, row = params.values[a], w1[params.places[a]]
        for j in range(H1):
            h1[j] += f * row[j]
    activate(h1, H1)
    if H2 > 0:
        h2, w2 = params.hidden2, params.w2[k]
        for j in range(H2):
            h2[j] = params.b2[k, j]
        for i in range(H1 - 1, -1, -1):
            f, row = h1[i], w2[i]
            if f != ZERO:
                for j in range(H2):
                    h2[j] += f * row[j]
        activate(h2, H2)
        conclude(h2, H2, k, params)
    else:
        conclude(h1, H1, k, params)


@njit
def worth(s, params):
    """What `s` is worth, less the middle of the range, to whom the net sees it with."""
    foretell(s, params)
    total = params.lowest
    for o in range(OUTPUTS):
        total += params.steps[o] * params.chances[o]
    return np.float32(total)


@njit
def evaluate_mover(s, params):
    return worth(s, params)


@njit
def evaluate_player(s, player, params):
    value = MIDDLE + np.float64(worth(s, params))
    return value if sees(s) == player else -value
