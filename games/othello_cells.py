"""What pattern tables see of Othello beyond the squares: how many discs and moves there are.

Few discs are good in Othello until there are none. A sum of tables of ten squares does not see how many are left, so
six cells count them, each in sixteen classes that are finest where the numbers are small:

    own, opp                  discs
    own-moves, opp-moves      legal moves, as if it were that player's turn
    own-safe, opp-safe        discs that no move of the other player flips at once
"""

from __future__ import annotations

from evallearn.games.walks import of_a_square

CLASSES = 16
COUNT_NAMES = ("own", "opp", "own-moves", "opp-moves", "own-safe", "opp-safe")
OWN, OPP, OWN_MOVES, OPP_MOVES, OWN_SAFE, OPP_SAFE = range(64, 64 + len(COUNT_NAMES))
"""Cells after those of the squares."""


def classes(*least: int) -> tuple[int, ...]:
    """For each number from 0 to 64 its class; all classes but the first are given by their least number."""
    return tuple(sum(n >= bound for bound in least) for n in range(65))


DISC_CLASSES = classes(2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 21, 27, 35)
"""Of discs, which are 1 or more."""
FEW_CLASSES = classes(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 19)
"""Of moves and of safe discs."""

STACKS = tuple((cell,) for cell in range(64 + len(COUNT_NAMES)))
CONTENTS = (*[((0,), (1,), (2,))] * 64, *[tuple((n,) for n in range(CLASSES))] * len(COUNT_NAMES))
"""A square holds one of three things, a count one of sixteen."""
SYMMETRIES = tuple((*symmetry, *range(64, len(STACKS))) for symmetry in of_a_square(8))
"""The counts stay where they are."""

COUNT_GROUPS = (
    (OWN, OPP),
    (OWN_MOVES, OPP_MOVES),
    (OWN, OWN_SAFE),
    (OPP, OPP_SAFE),
    (OWN, OWN_MOVES, OPP_MOVES),
    (OPP, OWN_MOVES, OPP_MOVES),
    (OWN, OPP, OPP_MOVES),
    (OWN, OWN_SAFE, OWN_MOVES, OPP_MOVES),
    (OPP, OPP_SAFE, OWN_MOVES, OPP_MOVES),
    (OWN, OPP, OWN_SAFE, OPP_SAFE),
)
"""Small groups learn soon, large ones exactly."""
