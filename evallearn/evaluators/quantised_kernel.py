# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: `QuantisedNet`.

Positions that are looked at one after the other differ in few inputs, as brothers in a search do; so `look` keeps the
sums of the last position that each player saw in each phase, and adds what differs. They are whole numbers: the way
there leaves no trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        BY_MOVER,
        FINE,
        H1,
        H2,
        INCREMENTAL,
        LAST,
        LOGISTIC,
        MIDDLE,
        N_INPUTS,
        NETS,
        OUTPUTS,
        features_mover,
        features_player,
        observer,
        phase,
        to_play,
    )
    from evallearn.compiled.integers import add_whole_rows, clip_sums, differences, dot_whole, whole_inputs
    from evallearn.compiled.records import QuantisedRecord
    from evallearn.evaluators.net import of_phase
    from evallearn.evaluators.quantised import SPAN
    from evallearn.evaluators.squash import squash


@njit
def observing_player(s):
    """Return the player as whom the net sees `s`."""
    return np.int64(to_play(s)) if BY_MOVER else np.int64(observer(s))


@njit
def look(s, side, k, params: QuantisedRecord):
    """Bring params.sums[side, k] to the position `s`."""
    if BY_MOVER:
        features_mover(s, params.x)
    else:
        features_player(s, observer(s), params.x)
    fresh, places, values = params.fresh.ctypes.data, params.places.ctypes.data, params.values.ctypes.data
    whole_inputs(fresh, params.x.ctypes.data, FINE, params.reach, N_INPUTS)
    sums, weights = params.sums[side, k].ctypes.data, of_phase(params.q1, k).ctypes.data
    if INCREMENTAL:
        n = differences(fresh, params.seen[side, k].ctypes.data, places, values, N_INPUTS, 1)
        add_whole_rows(sums, sums, weights, places, values, n, H1)
    else:
        n = differences(fresh, params.zeros.ctypes.data, places, values, N_INPUTS, 0)
        add_whole_rows(sums, of_phase(params.c1, k).ctypes.data, weights, places, values, n, H1)


@njit
def activate(sums, layer, units, params: QuantisedRecord):
    """Write params.hidden: what the units of a layer make of their sums, whole numbers too."""
    h = params.hidden
    if LOGISTIC:
        clip_sums(h.ctypes.data, sums.ctypes.data, params.shift[layer], -SPAN, SPAN - 1, units)
        for j in range(units):
            h[j] = params.logistic[layer, h[j] + SPAN]
    else:
        clip_sums(h.ctypes.data, sums.ctypes.data, params.shift[layer], 0, params.top[layer], units)


@njit
def second_layer(k, params: QuantisedRecord):
    """Write params.sums2 from the hidden units of the first layer."""
    places, values = params.places.ctypes.data, params.values.ctypes.data
    n = differences(params.hidden.ctypes.data, params.zeros.ctypes.data, places, values, H1, 0)
    bias, weights = of_phase(params.c2, k).ctypes.data, of_phase(params.q2, k).ctypes.data
    add_whole_rows(params.sums2.ctypes.data, bias, weights, places, values, n, H2)


@njit
def conclude(k, params: QuantisedRecord):
    """Write the outputs from the last hidden units: params.probabilities, never rising."""
    p, weights, bias = params.probabilities, of_phase(params.q3, k), of_phase(params.c3, k)
    for o in range(OUTPUTS):
        total = bias[o] + dot_whole(params.hidden.ctypes.data, weights[o].ctypes.data, LAST)
        p[o] = 0.5 + 0.5 * squash(0.5 * (np.float64(total) * params.unit))
    middle = OUTPUTS // 2
    for o in range(middle + 1, OUTPUTS):
        p[o] = min(p[o], p[o - 1])
    for o in range(middle - 1, -1, -1):
        p[o] = max(p[o], p[o + 1])


@njit
def evaluate_mover(s, params: QuantisedRecord):
    """Return what `s` is worth, less the middle of the range, to the player as whom the net sees it."""
    k = np.int64(phase(s)) if NETS > 1 else np.int64(0)
    side = observing_player(s)
    look(s, side, k, params)
    activate(params.sums[side, k], 0, H1, params)
    if H2 > 0:
        second_layer(k, params)
        activate(params.sums2, 1, H2, params)
    conclude(k, params)
    total = params.lowest
    for o in range(OUTPUTS):
        total += params.steps[o] * params.probabilities[o]
    return np.float32(total)


@njit
def evaluate_player(s, player, params: QuantisedRecord):
    value = MIDDLE + np.float64(evaluate_mover(s, params))
    return value if observing_player(s) == player else -value
