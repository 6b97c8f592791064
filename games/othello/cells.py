"""What pattern tables read of Othello: groups of squares, and beyond them how many discs and moves there are.

Few discs are good in Othello until there are none. A sum of tables of ten squares cannot count how many are left, so
six cells count them, each in sixteen classes that are finest where the numbers are small:

    own, opp                  discs
    own-moves, opp-moves      legal moves, as if it were that player's turn
    own-safe, opp-safe        discs that no move of the other player flips at once
"""

from __future__ import annotations

from evallearn.core.patterns import PatternSet
from evallearn.games.walks import of_a_square, walks

DIRECTIONS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
"""(files, rows) of one step; the fifth to the eighth are the opposites of the first to the fourth."""
CLASSES = 16
COUNT_NAMES = ("own", "opp", "own-moves", "opp-moves", "own-safe", "opp-safe")
OWN, OPP, OWN_MOVES, OPP_MOVES, OWN_SAFE, OPP_SAFE = range(64, 64 + len(COUNT_NAMES))
"""Cells after those of the squares."""


def classes(*least: int) -> tuple[int, ...]:
    """Return for each number from 0 to 64 its class; all classes but the first are given by their least number."""
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
RISKS = {"target_epsilon": 0.1, "adversary_share": 0.3, "adversary_cell": OWN}
"""So that tables learn how a player comes to have no disc: see `train/selfplay/settings.py`."""

CLASSIC = (
    "a1 b1 c1 d1 e1 f1 g1 h1 b2 g2",  # an edge and its X squares
    "a2 b2 c2 d2 e2 f2 g2 h2",
    "a3 b3 c3 d3 e3 f3 g3 h3",
    "a4 b4 c4 d4 e4 f4 g4 h4",
    "a1 b1 c1 a2 b2 c2 a3 b3 c3",  # a corner
    "a1 b1 c1 d1 e1 a2 b2 c2 d2 e2",
    "a1 b2 c3 d4 e5 f6 g7 h8",  # the diagonals of 4 to 8 squares
    "b1 c2 d3 e4 f5 g6 h7",
    "c1 d2 e3 f4 g5 h6",
    "d1 e2 f3 g4 h5",
    "e1 f2 g3 h4",
)
"""The groups with which Buro's Logistello became strong ("From simple features to sophisticated evaluation functions",
1998): lines, edges and corners."""
CENTRE = (
    "c3 d3 e3 c4 d4 e4 c5 d5 e5",
    "c3 d3 e3 f3 c4 d4 e4 f4 d5 e5",
)
"""Where the discs of the first moves stand together: who has few of them there may soon have none."""


def cell_numbers(names: str) -> tuple[int, ...]:
    """Return the squares in the order in which they are named."""
    return tuple(ord(name[0]) - ord("a") + 8 * (int(name[1]) - 1) for name in names.split())


def straight(n: int) -> tuple[tuple[int, ...], ...]:
    """Return all straight groups of n squares but those that are images of others."""
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for square in range(64):
        for files, rows in DIRECTIONS:
            file, row = square % 8 + (n - 1) * files, square // 8 + (n - 1) * rows
            if 0 <= file < 8 and 0 <= row < 8:
                line = tuple(square + i * (files + 8 * rows) for i in range(n))
                found.setdefault(min(tuple(sorted(symmetry[i] for i in line)) for symmetry in SYMMETRIES), line)
    return tuple(found.values())


PATTERN_SETS = {
    "counts": PatternSet(
        patterns=(*map(cell_numbers, CLASSIC + CENTRE), *COUNT_GROUPS),
        note="The classic ones, two groups in the middle, and counts of discs and moves; a table per phase.",
        per_phase=True,
        learning={"step_size": 4.0, "lambda_": 0.8, "epsilon": 0.1, "max_opening_plies": 10, **RISKS},
    ),
    "classic": PatternSet(
        patterns=tuple(map(cell_numbers, CLASSIC)),
        note="11 lines, edges and corners of 4 to 10 squares, a table per phase.",
        per_phase=True,
        learning={"step_size": 4.0, "lambda_": 0.8, "epsilon": 0.2, "max_opening_plies": 10},
    ),
    "straight-4": PatternSet(patterns=straight(4), note="All straight groups of 4 squares, one table each."),
    "straight-3": PatternSet(patterns=straight(3), note="All straight groups of 3 squares, one table each."),
    "walks": PatternSet(
        patterns=walks(16, 7, 8, 8, SYMMETRIES, seed=1),
        note="16 groups of 7 neighbouring squares, by random walks.",
    ),
}
