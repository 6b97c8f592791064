"""Where the pieces of checkers stand, square by square, and the shapes they make, in plain Python.

Squares are numbered from Black's side; for White the board is turned round, so that `man_1` is a man on 32. The shapes
are Samuel's ("Some studies in machine learning using the game of checkers", 1959), counted for both sides.
"""

from __future__ import annotations

from evallearn.games.checkers.moves import BLACK, BOARD, N_SQUARES, STEP, bit, squares_of

MAN_NAMES = tuple(f"man_{number}" for number in range(1, 29))
"""A man on the last row is a king."""
KING_NAMES = tuple(f"king_{number}" for number in range(1, 33))
SHAPE_NAMES = (
    "exposed",  # pieces with an empty square on both sides, each of the two diagonals counted
    "gaps",  # empty squares between two own pieces, each diagonal counted
    "dykes",  # own pieces between two own pieces, each diagonal counted
    "holes",  # empty squares next to three or four own pieces
    "poles",  # men next to empty squares only
)
NAMES = (*MAN_NAMES, *KING_NAMES, *SHAPE_NAMES)
DIAGONALS = ((0, 2), (1, 3))
"""Both ends of each diagonal, as directions."""


def seen_from(square: int, player: int) -> int:
    """Return the square as the player numbers it, from 0."""
    return square if player == BLACK else N_SQUARES - 1 - square


def on_squares(pieces: int, player: int, n: int) -> list[int]:
    """Return, for each of the player's first n squares, 1 if one of the pieces stands there."""
    held = {seen_from(square, player) for square in squares_of(pieces)}
    return [int(square in held) for square in range(n)]


def between(area: int, sides: int) -> int:
    """Count how often a square of the area lies on a diagonal between two squares of `sides`."""
    ends = ((STEP[n][d], STEP[n][e]) for n in squares_of(area) for d, e in DIAGONALS)
    return sum(a is not None and b is not None and sides & bit(a) != 0 and sides & bit(b) != 0 for a, b in ends)


def neighbours(square: int, area: int) -> int:
    """Count the squares of the area next to the square."""
    return sum(end is not None and area & bit(end) != 0 for end in STEP[square])


def one_sided_shapes(men: int, kings: int, opp: int, player: int) -> tuple[int, ...]:
    """Return what is counted for each player alone, in the order of NAMES."""
    own = men | kings
    empty = BOARD & ~(own | opp)
    return (
        *on_squares(men, player, len(MAN_NAMES)),
        *on_squares(kings, player, len(KING_NAMES)),
        between(own, empty),
        between(empty, own),
        between(own, own),
        sum(neighbours(n, own) >= 3 for n in squares_of(empty)),
        sum(neighbours(n, own | opp) == 0 for n in squares_of(men)),
    )
