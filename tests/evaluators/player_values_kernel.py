# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: an evaluator's kernel over many states."""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

if TYPE_CHECKING:
    from evallearn.compiled.hooks import CACHE, N_WORDS, State, evaluate_player


@njit(cache=CACHE)
def values(words, players, box, out):
    """out: the value of each state to the player beside it."""
    params = box[0]
    for i in range(len(words)):
        s = State(*to_fixed_tuple(words[i], N_WORDS))
        out[i] = evaluate_player(s, np.int64(players[i]), params)
