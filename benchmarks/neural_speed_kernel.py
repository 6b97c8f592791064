# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: a net over many positions, with and without the work of finding its inputs."""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

if TYPE_CHECKING:
    from evallearn.compiled.hooks import CACHE, H1, N_WORDS, State
    from evallearn.compiled.vectors import add_rows
    from evallearn.evaluators.net_kernel import active, conclude, observing_player, predict_outcomes


@njit(cache=CACHE, nogil=True)
def positions(words, box, out):
    """out: the net's outputs for each encoded position."""
    params = box[0]
    for i in range(len(words)):
        predict_outcomes(State(*to_fixed_tuple(words[i], N_WORDS)), params)
        for j in range(out.shape[1]):
            out[i, j] = params.probabilities[j]


@njit(cache=CACHE, nogil=True)
def find(words, box, places, values, counts):
    """The inputs of each position that are not 0."""
    params = box[0]
    for i in range(len(words)):
        s = State(*to_fixed_tuple(words[i], N_WORDS))
        counts[i] = active(s, observing_player(s), params)
        for j in range(counts[i]):
            places[i, j] = params.places[j]
            values[i, j] = params.values[j]


@njit(cache=CACHE, nogil=True)
def net_alone(places, values, counts, box, out):
    """The same outputs from inputs that `find` has found; one hidden layer, rectified, one net for all phases."""
    params = box[0]
    h = params.hidden1
    for i in range(len(counts)):
        add_rows(
            h.ctypes.data, params.b1[0].ctypes.data, params.w1[0].ctypes.data,
            places[i].ctypes.data, values[i].ctypes.data, np.int64(counts[i]), H1, 1, 0,
        )  # fmt: skip
        conclude(h, np.int64(0), params)
        for j in range(out.shape[1]):
            out[i, j] = params.probabilities[j]
