"""The discs of Othello as words of 64 bits: moves, flips, and what an evaluator counts of them; see `game.py`."""

from __future__ import annotations

from evallearn.games.othello.cells import DIRECTIONS, DISC_CLASSES, FEW_CLASSES

FULL = (1 << 64) - 1


def ray(square: int, direction: tuple[int, int]) -> tuple[int, ...]:
    """Return the squares from `square`, itself excluded, to the edge of the board, each as a word with one bit set."""
    file, row = square % 8 + direction[0], square // 8 + direction[1]
    bits = []
    while 0 <= file < 8 and 0 <= row < 8:
        bits.append(1 << (8 * row + file))
        file, row = file + direction[0], row + direction[1]
    return tuple(bits)


def squares(names: str) -> int:
    """Return the word of squares such as "a1 h8"."""
    return sum(1 << (ord(name[0]) - ord("a") + 8 * (int(name[1]) - 1)) for name in names.split())


RAYS = tuple(tuple(ray(square, d) for d in DIRECTIONS) for square in range(64))
NEIGHBOURS = tuple(sum(r[0] for r in RAYS[square] if r) for square in range(64))
CORNERS = squares("a1 h1 a8 h8")
X_SQUARES = squares("b2 g2 b7 g7")
C_SQUARES = squares("b1 a2 g1 h2 a7 b8 h7 g8")
EDGES = squares("c1 d1 e1 f1 a3 a4 a5 a6 h3 h4 h5 h6 c8 d8 e8 f8")
"""The edge squares that are neither corners nor next to one."""
RING = squares("c2 d2 e2 f2 b3 b4 b5 b6 g3 g4 g5 g6 c7 d7 e7 f7")
INNER = FULL ^ (CORNERS | X_SQUARES | C_SQUARES | EDGES | RING)
"""The sixteen squares in the middle, c3 to f6."""
SQUARE_VALUES = ((CORNERS, 16), (C_SQUARES, -4), (X_SQUARES, -6), (EDGES, 2), (RING, -1), (INNER, 1))
"""A static table: corners can not be flipped, their neighbours give them away, the ring opens the edge."""
CORNER_NEIGHBOURS = tuple((1 << corner, NEIGHBOURS[corner]) for corner in (0, 7, 56, 63))


def flips(own: int, opp: int, square: int) -> int:
    """Return the discs that a disc of `own` on `square` would flip."""
    flipped = 0
    for bits in RAYS[square]:
        run = 0
        for bit in bits:
            if not opp & bit:
                if own & bit:
                    flipped |= run
                break
            run |= bit
    return flipped


def moves(own: int, opp: int) -> list[int]:
    """Return the empty squares where a disc of `own` flips something, ascending."""
    return [square for square in range(64) if not (own | opp) >> square & 1 and flips(own, opp, square)]


def has_neighbour(square: int, discs: int) -> bool:
    """Return True if one of the up to eight squares around holds one of `discs`."""
    return NEIGHBOURS[square] & discs != 0


def stable(discs: int) -> int:
    """Return the discs that can never be flipped, as far as propagation from the corners shows.

    A disc is stable if on each of the four axes one of its two neighbours is off the board or stable itself.
    """
    found, before = 0, -1
    while found != before:
        before = found
        for square in range(64):
            if discs >> square & 1 and all(is_safe(square, axis, found) for axis in range(4)):
                found |= 1 << square
    return found


def is_safe(square: int, axis: int, stable_discs: int) -> bool:
    """Return True if an end of the axis through `square` is closed: the board ends there, or a stable disc follows."""
    ends = RAYS[square][axis], RAYS[square][axis + 4]
    return any(not end or end[0] & stable_discs for end in ends)


def exposed(discs: int, empty: int, near: int) -> int:
    """Count the corner-adjacent squares `near` that `discs` hold while their corner is empty."""
    return sum((discs & near & around).bit_count() for corner, around in CORNER_NEIGHBOURS if empty & corner)


def one_sided(own: int, opp: int) -> tuple[int, ...]:
    """Return what is counted for each player alone, in the order of feature_names without parity."""
    empty = FULL & ~(own | opp)
    return (
        own.bit_count(),
        len(moves(own, opp)),
        (own & CORNERS).bit_count(),
        exposed(own, empty, X_SQUARES),
        exposed(own, empty, C_SQUARES),
        (own & EDGES).bit_count(),
        sum(has_neighbour(square, empty) for square in range(64) if own >> square & 1),
        sum(has_neighbour(square, opp) for square in range(64) if empty >> square & 1),
        stable(own).bit_count(),
        sum(value * (own & area).bit_count() for area, value in SQUARE_VALUES),
    )


def flippable(own: int, opp: int) -> int:
    """Return the discs of `opp` that some move of `own` flips."""
    found = 0
    for square in moves(own, opp):
        found |= flips(own, opp, square)
    return found


def counts(own: int, opp: int) -> tuple[int, ...]:
    """Return the cells after those of the squares: see `cells.py`."""
    return (
        DISC_CLASSES[own.bit_count()],
        DISC_CLASSES[opp.bit_count()],
        FEW_CLASSES[len(moves(own, opp))],
        FEW_CLASSES[len(moves(opp, own))],
        FEW_CLASSES[(own & ~flippable(opp, own)).bit_count()],
        FEW_CLASSES[(opp & ~flippable(own, opp)).bit_count()],
    )
