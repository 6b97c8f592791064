# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: an evaluator over many states."""

from typing import TYPE_CHECKING

from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

if TYPE_CHECKING:
    from evallearn.compiled.hooks import CACHE, N_WORDS, State, evaluate_mover, is_terminal, utility_mover


@njit(cache=CACHE, nogil=True)
def evaluate_rows(words, box, out):
    """Write into `out` the value of each state to the player to move.

    words: uint64[n, N_WORDS]; box: one parameter record; out: float32[n].
    """
    params = box[0]
    for i in range(len(words)):
        s = State(*to_fixed_tuple(words[i], N_WORDS))
        out[i] = utility_mover(s) if is_terminal(s) else evaluate_mover(s, params)
