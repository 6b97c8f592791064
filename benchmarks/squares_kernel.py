# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: a board's squares as inputs of 0 and 1."""

from typing import TYPE_CHECKING

from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import N_CELLS, VALUES, cells


@njit
def features_mover(s, out):
    """First a square's input for content 1, of all squares, then those for content 2 and so on."""
    cells(s, out)
    for v in range(VALUES - 1, 0, -1):  # the first ones last: they stand where the contents stood
        for c in range(N_CELLS):
            out[(v - 1) * N_CELLS + c] = 1.0 if out[c] == v else 0.0
