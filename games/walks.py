"""Patterns without hand work: connected groups of squares, by random walks, rectangles, and the symmetries of a board.

Walks are those of Lucas ("Learning to play Othello with n-tuple systems", 2008): from a random square to a random
neighbour, until the group is large enough. They depend on their seed alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice

from evallearn.core.rng import scramble

Pattern = tuple[int, ...]


class _Numbers:
    """Random numbers that no version of Python changes."""

    def __init__(self, seed: int) -> None:
        self.counter = scramble(seed)

    def below(self, n: int) -> int:
        """Return a number from 0 to n - 1."""
        self.counter += 1
        return (scramble(self.counter) >> 32) * n >> 32


def neighbours(cell: int, columns: int, rows: int) -> list[int]:
    """Return the up to eight cells around; cell number rows * column + row."""
    column, row = divmod(cell, rows)
    return [
        rows * c + r
        for c in range(max(0, column - 1), min(columns, column + 2))
        for r in range(max(0, row - 1), min(rows, row + 2))
        if (c, r) != (column, row)
    ]


def walk(numbers: _Numbers, size: int, columns: int, rows: int) -> Pattern:
    """Draw one connected group of `size` cells, ascending."""
    at = numbers.below(columns * rows)
    group = {at}
    while len(group) < size:
        around = neighbours(at, columns, rows)
        at = around[numbers.below(len(around))]
        group.add(at)
    return tuple(sorted(group))


def distinct(groups: Iterable[Pattern], symmetries: tuple[Pattern, ...]) -> Iterator[Pattern]:
    """Yield the groups that are no image of an earlier one."""
    known = set[Pattern]()
    for group in groups:
        if group not in known:
            yield group
            known.update(tuple(sorted(s[cell] for cell in group)) for s in symmetries)


def walks(
    n: int, size: int, columns: int, rows: int, symmetries: tuple[Pattern, ...], seed: int
) -> tuple[Pattern, ...]:
    """Draw `n` groups of `size` cells, none of them an image of another."""
    numbers = _Numbers(seed)
    drawn = (walk(numbers, size, columns, rows) for _ in count())
    return tuple(islice(distinct(drawn, symmetries), n))


def blocks(width: int, height: int, columns: int, rows: int, symmetries: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """Return all rectangles of so many cells, none of them an image of another; ascending, from the lower left on."""
    found = (
        tuple(rows * (column + c) + row + r for c in range(width) for r in range(height))
        for column in range(columns - width + 1)
        for row in range(rows - height + 1)
    )
    return tuple(distinct(found, symmetries))


def slopes(width: int, height: int, columns: int, rows: int, symmetries: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """Return rising diagonals of `width` cells, each with those above and below it that make `height`.

    None of them is an image of another.
    """
    found, below = list[Pattern](), (height - 1) // 2
    for column in range(columns - width + 1):
        for row in range(rows - width + 1):
            first = [row + c - below for c in range(width)]
            cells = [(column + c, r) for c in range(width) for r in range(first[c], first[c] + height) if 0 <= r < rows]
            found.append(tuple(rows * c + r for c, r in cells))
    return tuple(distinct(found, symmetries))


def mirrored(columns: int, rows: int) -> Pattern:
    """Return the permutation that swaps left and right: cell i goes to mirrored[i]."""
    return tuple(rows * (columns - 1 - i // rows) + i % rows for i in range(columns * rows))


def images(board: Sequence[int], symmetries: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Rearrange the squares by each symmetry.

    The symmetries must be all that there are, so that the inverse of each is too. They may go on after the squares,
    with cells that only repeat what these say. The first is the identity.
    """
    return [tuple(board[cell] for cell in symmetry[: len(board)]) for symmetry in symmetries]


def of_a_square(side: int) -> tuple[Pattern, ...]:
    """Return the eight symmetries of a square board; the first is the identity."""
    n = side * side
    quarter = tuple(side * (i % side) + side - 1 - i // side for i in range(n))
    mirror = mirrored(side, side)
    turned = [tuple(range(n))]
    for _ in range(3):
        turned.append(tuple(quarter[i] for i in turned[-1]))
    return (*turned, *(tuple(mirror[i] for i in turn) for turn in turned))
