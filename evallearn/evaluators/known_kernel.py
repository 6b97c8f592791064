# mypy: ignore-errors
"""Template: an Eval over another one, which is asked where the game's `KnownValues` say nothing.

probe(s, address) -> float64                        to the viewer, NaN where it is not known
below(s, player, params) -> float64                 the other Eval
viewer, MIDDLE, MOST                                see `SolvedEval`; params.solved is the address
"""

from numba import njit


@njit
def evaluate_player(s, player, params):
    value = probe(s, params.solved)
    if value != value:
        return below(s, player, params)
    value = MIDDLE + min(max(value - MIDDLE, -MOST), MOST)
    return (value if viewer(s) == player else -value) + 0.0
