# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: an evaluator over another one, `below`, which is asked where the game's `KnownValues` say nothing.

See `SolvedEval`. `probe` answers to the observer, NaN where it knows nothing; params.solved is the address.
"""

from typing import TYPE_CHECKING

from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import MIDDLE, MOST, observer, probe
    from evallearn.compiled.hooks import evaluate_player as below


@njit
def evaluate_player(s, player, params):
    value = probe(s, params.solved)
    if value != value:
        return below(s, player, params)
    value = MIDDLE + min(max(value - MIDDLE, -MOST), MOST)
    return (value if observer(s) == player else -value) + 0.0
