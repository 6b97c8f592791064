# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: an evaluator's kernel over many states, and the probabilities of its net."""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

if TYPE_CHECKING:
    from evallearn.compiled.hooks import CACHE, N_WORDS, State, evaluate_player
    from evallearn.evaluators.net_kernel import predict_outcomes


@njit(cache=CACHE)
def values(words, players, box, out, probabilities):
    """out: the value of each state to the player beside it; probabilities: the outputs of the net."""
    params = box[0]
    for i in range(len(words)):
        s = State(*to_fixed_tuple(words[i], N_WORDS))
        out[i] = evaluate_player(s, np.int64(players[i]), params)
        predict_outcomes(s, params)
        for j in range(probabilities.shape[1]):
            probabilities[i, j] = params.probabilities[j]
