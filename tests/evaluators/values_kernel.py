# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: an Eval's kernel over many states, and what its net foretells."""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

if TYPE_CHECKING:
    from evallearn.compiled.hooks import CACHE, N_WORDS, State, evaluate_player
    from evallearn.evaluators.net_kernel import foretell


@njit(cache=CACHE)
def values(words, players, box, out, chances):
    """out: the value of each state to the player beside it; chances: the outputs of the net."""
    params = box[0]
    for i in range(len(words)):
        s = State(*to_fixed_tuple(words[i], N_WORDS))
        out[i] = evaluate_player(s, np.int64(players[i]), params)
        foretell(s, params)
        for j in range(chances.shape[1]):
            chances[i, j] = params.chances[j]
