"""What pattern tables read of Connect Four: the squares, the lowest threat of each column, and the groups of both."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from evallearn.core.patterns import PatternSet
from evallearn.games.lines import ROWS, bit, height
from evallearn.games.walks import blocks, mirrored, slopes, walks

COLUMNS = 7
OWNER, REACH, EVEN, ABOVE, ROOM = (COLUMNS * n for n in range(ROWS, ROWS + 5))
"""Cells after those of the squares, which are numbered ROWS * column + row: see `ConnectFour.cells`."""
SYMMETRIES = (
    tuple(range(ROOM + 1)),
    (
        *mirrored(COLUMNS, ROWS),
        *(first + c for first in (OWNER, REACH, EVEN, ABOVE) for c in reversed(range(COLUMNS))),
        ROOM,
    ),
)


def of_columns(n: int, *kinds: int) -> Iterator[tuple[int, ...]]:
    """Yield the cells of those kinds of every `n` columns, none an image of another."""
    for columns in combinations(range(COLUMNS), n):
        if columns <= tuple(COLUMNS - 1 - c for c in reversed(columns)):
            yield tuple(kind + c for c in columns for kind in kinds)


def column_contents(rows: int) -> Iterator[tuple[int, ...]]:
    """Yield what a column can hold, as `cells` writes it: stones of both, one landing square, nothing above."""
    for stacked in range(rows + 1):
        for stones in product((2, 1), repeat=stacked):
            yield (*reversed(stones), *(3, *[0] * (rows - 1))[: rows - stacked])


def column_threats(column: int, own: int, opp: int, mask: int) -> tuple[int, int, int, int, int]:
    """Return (owner, reach, even, above) of the column's lowest threat, and the stones that fit: see `cells`."""
    below = height(mask, column)
    found = [((own & b > 0) + 2 * (opp & b > 0), r) for r in range(below, ROWS) if (own | opp) & (b := bit(column, r))]
    room = next((r - below - 1 for _, r in found if r > below), ROWS - below)
    if not found:
        return 0, (ROWS - below) % 2, 0, 0, room
    owner, row = found[0]
    above = found[1][0] if len(found) > 1 else 0
    stacked = len(found) > 1 and found[1][1] == row + 1 and owner & above > 0
    reach = 3 if row > below and stacked else min(row - below, 2)
    return owner, reach, row % 2, above, room


STACKS = (
    *(tuple(range(ROWS * column, ROWS * (column + 1))) for column in range(COLUMNS)),
    *(tuple(first + column for first in (OWNER, REACH, EVEN, ABOVE)) for column in range(COLUMNS)),
    (ROOM,),
)
CONTENTS = (
    *[tuple(column_contents(ROWS))] * COLUMNS,
    *[((0, 0, 0, 0), (0, 1, 0, 0), *product((1, 2, 3), range(4), range(2), range(4)))] * COLUMNS,
    ((0,), (1,)),
)

BLOCKS = [block for w, h in ((3, 4), (4, 3), (2, 6)) for block in blocks(w, h, COLUMNS, ROWS, SYMMETRIES)]
SLOPES = [*BLOCKS, *slopes(4, 3, COLUMNS, ROWS, SYMMETRIES)]
THREATS = [
    *SLOPES,
    (*range(OWNER, OWNER + COLUMNS), ROOM),
    *of_columns(3, OWNER, REACH, EVEN),
    *of_columns(2, OWNER, REACH, EVEN, ABOVE),
]
WIDE = [block for w, h in ((5, 3), (4, 4), (7, 2)) for block in blocks(w, h, COLUMNS, ROWS, SYMMETRIES)]
LEARNING = {"step_size": 3.0, "lambda_": 0.7, "max_opening_plies": 16, "min_step_ratio": 0.1}
"""Of the sets with threats."""
PATTERN_SETS = {
    "threats": PatternSet(
        patterns=THREATS,
        note="The slopes, and the lowest threats of all columns, of every three and of every two.",
        per_player=True,
        learning=LEARNING,
    ),
    "wide": PatternSet(
        patterns=[*THREATS, *WIDE],
        note="The threats, and all blocks of 5 by 3, 4 by 4 and 7 by 2 squares: 50 million numbers.",
        per_player=True,
        learning={
            **LEARNING,
            "max_opening_plies": 12,
            "train_on_openings": False,
            "resign_threshold": 0.7,
            "merge_every": 100_000,
        },
    ),
    "blocks": PatternSet(
        patterns=BLOCKS,
        note="All blocks of 3 by 4, 4 by 3 and 2 by 6 squares.",
        per_player=True,
        learning={"step_size": 3.0, "lambda_": 0.7, "max_opening_plies": 20},
    ),
    "slopes": PatternSet(
        patterns=SLOPES,
        note="The blocks, and all diagonals of 4 squares with those above and below.",
        per_player=True,
        learning={"step_size": 3.0, "lambda_": 0.7, "max_opening_plies": 20, "min_step_ratio": 0.1},
    ),
    "walks": PatternSet(
        patterns=walks(70, 8, COLUMNS, ROWS, SYMMETRIES, seed=1),
        note="70 groups of 8 neighbouring squares, by random walks.",
        per_player=True,
    ),
}
