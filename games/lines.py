"""What games have in common in which stones are lined up. Squares are bits: a line is a number with its bits set.

Where stones fall into columns, they stand as in Connect Four: column c, row r from the bottom is bit 7 * c + r.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from evallearn.core.game import Game
from evallearn.errors import BadNotation, IllegalAction

ROWS = 6
"""Of a board with falling stones."""


def open_lines(stones: int, others: int, count: int, lines: Iterable[int]) -> int:
    """Count the lines with exactly `count` of `stones` and none of `others`."""
    return sum((stones & line).bit_count() == count and not others & line for line in lines)


def threats(stones: int, mask: int, lines: Iterable[int]) -> int:
    """Return the squares, none of those taken in `mask`, that would complete a line."""
    squares = 0
    for line in lines:
        rest = line & ~stones
        if rest.bit_count() == 1 and not rest & mask:
            squares |= rest
    return squares


# --- falling stones --------------------------------------------------------------------------------------------------
def bit(column: int, row: int) -> int:
    """Return the square as a word with one bit set."""
    return 1 << (7 * column + row)


def height(mask: int, column: int) -> int:
    """Count the stones in the column."""
    return sum(mask & bit(column, row) > 0 for row in range(ROWS))


def all_lines(columns: int) -> Iterator[int]:
    """Yield the lines of four squares."""
    for dc, dr in ((1, 0), (0, 1), (1, 1), (1, -1)):
        for c in range(columns):
            for r in range(ROWS):
                if c + 3 * dc < columns and 0 <= r + 3 * dr < ROWS:
                    yield sum(bit(c + i * dc, r + i * dr) for i in range(4))


def playable(mask: int, columns: int) -> int:
    """Return the squares where the next stone of each column would land."""
    return sum(bit(c, height(mask, c)) for c in range(columns) if height(mask, c) < ROWS)


def play_columns(game: Game, text: str, columns: int, marks: str) -> Any:
    """Return the position after moves written as column digits; marks: those in which squares may be written, too."""
    s = game.initial()
    for i, digit in enumerate(text.strip(), 1):
        if digit not in "123456789"[:columns]:
            squares = f"{columns * ROWS} characters {marks} or . from the top left"
            expected = f"expected column digits 1..{columns}, or {squares}"
            raise BadNotation(f"{game.name} position {text!r}: character {i} is {digit!r}; {expected}")
        try:
            s = game.result(s, int(digit) - 1)
        except IllegalAction as error:
            raise BadNotation(f"{game.name} position {text!r}: move {i}: {error}") from None
    return s


def picture(squares: str, columns: int, status: str) -> str:
    """Draw rows from the top with their numbers, the column digits below, and a last line."""
    rows = [" ".join(squares[i : i + columns]) for i in range(0, len(squares), columns)]
    digits = " ".join(str(c + 1) for c in range(columns))
    return "\n".join([*(f"{len(rows) - i} {row}" for i, row in enumerate(rows)), "  " + digits, status])


def illegal_column(game: Game, s: Hashable, a: Any, columns: int) -> IllegalAction:
    """Return the error that says why no stone falls there, for every game of falling stones."""
    known = a in range(columns)
    shown = str(int(a) + 1) if known else repr(a)
    if not known:
        why = f"actions are 0..{columns - 1}, written 1..{columns}"
    elif game.is_terminal(s):
        why = "the game is over"
    else:
        why = f"column {shown} is full"
    legal = " ".join(str(c + 1) for c in sorted(game.actions(s))) or "none"
    return IllegalAction(f'illegal action {shown} in {game.name} position "{game.to_text(s)}": {why}; legal: {legal}')
