"""Attacks as words of 64 bits, for the compiled backend of chess.

A slider's attacks along a rank or a diagonal depend on the six inner squares of that line. Multiplying the line's
occupied squares by file b collects them in the six highest bits (Kindergarten bitboards): an index of 4 kB tables,
which stay in the fastest cache. A file is turned into a rank first, by another multiplication.
"""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, lowest_bit, u64
from evallearn.games.chess import moves as plain
from evallearn.games.chess.moves import steps

ZERO, ONE, SEVEN, EIGHT, NINE = u64(0), u64(1), u64(7), u64(8), u64(9)
THREE, INDEX_SHIFT = u64(3), u64(58)
ALL = u64(-1)
FILE_A = u64(0x0101010101010101)
FILE_B = u64(0x0202020202020202)
NOT_FILE_A, NOT_FILE_H = u64(0xFEFEFEFEFEFEFEFE), u64(0x7F7F7F7F7F7F7F7F)
SIXTEEN, THIRTY_TWO = u64(16), u64(32)
FIRST_RANK = u64(0xFF)
TURN = u64(0x0080402010080400)
"""Sends squares 2 to 7 of file a to the six highest bits, the seventh rank lowest."""


def word(squares):
    """Return the bits of the squares."""
    return sum(1 << square for square in squares)


def words(rows):
    """Return uint64[n]: a word for each list of squares."""
    return np.array([word(row) for row in rows], np.uint64)


def line_words(*directions):
    """Return uint64[64]: the squares on a line with each square, itself left out."""
    return words([t for d in directions for t in steps(square, d)] for square in range(64))


KNIGHT, KING = words(plain.KNIGHT_STEPS), words(plain.KING_STEPS)
PAWN = np.array([words(rows) for rows in plain.PAWN_ATTACKS])
"""uint64[2, 64], by the pawn's player."""
RANK, FILE = line_words((1, 0), (-1, 0)), line_words((0, 1), (0, -1))
RISING, FALLING = line_words((1, 1), (-1, -1)), line_words((-1, 1), (1, -1))


def seen_along(place, inner):
    """Return the squares 0..7 of a line that a slider on `place` attacks.

    Bit i of `inner` says that square i + 1 is taken.
    """
    seen = []
    for way in (range(place + 1, 8), range(place - 1, -1, -1)):
        for t in way:
            seen.append(t)
            if 1 <= t <= 6 and inner >> (t - 1) & 1:
                break
    return seen


def make_line_tables():
    """Return two uint64[8, 64] by place on the line and index: all ranks filled alike; the same on file a."""
    ranks, files = np.zeros((8, 64), np.uint64), np.zeros((8, 64), np.uint64)
    for place in range(8):
        for inner in range(64):
            ranks[place, inner] = word(8 * r + t for r in range(8) for t in seen_along(place, inner))
            files[7 - place, inner] = word(8 * (7 - t) for t in seen_along(place, inner))  # its index runs downwards
    return ranks, files


RANKS, FILES = make_line_tables()


@jitable
def first(squares):
    """Return the lowest square of a word, as a word too: unsigned, so that it may shift and index words."""
    return np.uint64(lowest_bit(squares))


@jitable
def along(line, file, occupied):
    """Return the attacks on a rank or a diagonal."""
    return line & RANKS[file, ((line & occupied) * FILE_B) >> INDEX_SHIFT]


@jitable
def bishop_attacks(square, occupied):
    file = square & SEVEN
    return along(RISING[square], file, occupied) | along(FALLING[square], file, occupied)


@jitable
def rook_attacks(square, occupied):
    file = square & SEVEN
    index = (((occupied >> file) & FILE_A) * TURN) >> INDEX_SHIFT
    return along(RANK[square], file, occupied) | (FILES[square >> THREE, index] << file)


@jitable
def line_through(king, square):
    """Return the line of the king on which `square` lies; it must be on one."""
    bit = ONE << square
    if RANK[king] & bit != ZERO:
        return RANK[king]
    if FILE[king] & bit != ZERO:
        return FILE[king]
    return RISING[king] if RISING[king] & bit != ZERO else FALLING[king]


@jitable
def between(king, square):
    """Return the squares strictly between the king and a square on a line with him."""
    line = line_through(king, square)
    above = ~ZERO << king if square > king else ~ZERO << square
    below = (ONE << square) - ONE if square > king else (ONE << king) - ONE
    return line & above & below & ~(ONE << square)


@jitable
def pawn_steps(pawns, player):
    """Return the squares one step ahead of the pawns."""
    return pawns << EIGHT if player == ZERO else pawns >> EIGHT


@jitable
def pawn_attacks_west(pawns, player):
    """Return the pawns' attacks towards file a."""
    return (pawns & NOT_FILE_A) << SEVEN if player == ZERO else (pawns & NOT_FILE_A) >> NINE


@jitable
def pawn_attacks_east(pawns, player):
    """Return the pawns' attacks towards file h."""
    return (pawns & NOT_FILE_H) << NINE if player == ZERO else (pawns & NOT_FILE_H) >> SEVEN


@jitable
def beside(x):
    """Return the squares one file to the left and to the right."""
    return ((x & NOT_FILE_A) >> ONE) | ((x & NOT_FILE_H) << ONE)


@jitable
def ahead(x, player):
    """Return all squares before those of `x`, from the side of `player`."""
    if player == ZERO:
        x = x << EIGHT
        x |= x << EIGHT
        x |= x << SIXTEEN
        return x | (x << THIRTY_TWO)
    x = x >> EIGHT
    x |= x >> EIGHT
    x |= x >> SIXTEEN
    return x | (x >> THIRTY_TWO)


@jitable
def files_of(x):
    """Return the files of the squares, as bits 0 to 7."""
    x |= x >> THIRTY_TWO
    x |= x >> SIXTEEN
    return (x | (x >> EIGHT)) & FIRST_RANK
