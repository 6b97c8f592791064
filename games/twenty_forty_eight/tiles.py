"""The tiles of 2048 by their exponents: how they slide, merge and score, and the features; see `game.py`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

UP, RIGHT, DOWN, LEFT = range(4)
LINES = {
    UP: tuple(tuple(range(c, 16, 4)) for c in range(4)),
    RIGHT: tuple(tuple(range(r + 3, r - 1, -1)) for r in range(0, 16, 4)),
    DOWN: tuple(tuple(range(c + 12, -1, -4)) for c in range(4)),
    LEFT: tuple(tuple(range(r, r + 4)) for r in range(0, 16, 4)),
}
"""The four lines of each direction; the tiles slide towards the first cell of each."""
NEIGHBOURS = tuple(pair for line in LINES[LEFT] + LINES[UP] for pair in pairwise(line))
CORNERS = (0, 3, 12, 15)
SNAKE = (15, 14, 13, 12, 8, 9, 10, 11, 7, 6, 5, 4, 0, 1, 2, 3)
"""The weight of each cell along a snake from the top left: large tiles in a row that turns at the edges."""
SNAKES = tuple(
    tuple(SNAKE[(c, r)[swap] * 4 + (r, c)[swap]] for y in range(4) for x in range(4) for r, c in [(y ^ v, x ^ h)])
    for swap in (1, 0)
    for v in (0, 3)
    for h in (0, 3)
)
"""The snake from every corner in both directions."""
LOG_STEPS = 1024
"""log_sum has steps of 1/1024."""


def grown_from(small: int, cells: Sequence[int]) -> int:
    """Return what these tiles have scored if all grew from tiles of exponent `small`.

    Those were 2s or 4s; smaller tiles have scored nothing.
    """
    return sum((e - small) << e for e in cells if e > small)


HIGHEST_SCORE = grown_from(1, range(17, 1, -1))
"""3,932,164: of the board 131072, 65536, .. 4, were all of it grown from 2s."""


def slide(line: Sequence[int]) -> tuple[list[int], int]:
    """Return (the line after its tiles slid to the front, points).

    A tile merges once, and the front pair goes first.
    """
    tiles, points = [e for e in line if e], 0
    merged: list[int] = []
    while tiles:
        e = tiles.pop(0)
        if tiles and tiles[0] == e:
            tiles.pop(0)
            e += 1
            points += 1 << e
        merged.append(e)
    return merged + [0] * (len(line) - len(merged)), points


def moved(cells: tuple[int, ...], direction: int) -> tuple[tuple[int, ...], int]:
    """Return (the cells after a move, points)."""
    after, total = list(cells), 0
    for line in LINES[direction]:
        exponents, points = slide([cells[i] for i in line])
        total += points
        for i, e in zip(line, exponents, strict=True):
            after[i] = e
    return tuple(after), total


def log2_steps(n: int) -> int:
    """Return log2(n) in steps, straight between powers of two and rounded down: integers, so both backends agree."""
    e = n.bit_length() - 1
    return (e - 1) * LOG_STEPS + ((n * LOG_STEPS) >> e)


def tile_sum(cells: Sequence[int]) -> int:
    """Return the sum of all tiles: each new one adds to it, and a merge leaves it as it is."""
    return sum(1 << e for e in cells if e)


def unmerged(cells: Sequence[int]) -> int:
    """Return what these tiles would still score, were they merged all the way: a merge takes from it what it scores."""
    total = tile_sum(cells)
    return sum((e - 1) << e for e in range(1, 19) if total >> e & 1) - grown_from(1, cells)


def disorder(line: Sequence[int]) -> int:
    """Return 0 if the line rises or falls all along, else the lesser sum of steps against one of the directions."""
    steps = [b - a for a, b in pairwise(line)]
    return min(sum(d for d in steps if d > 0), sum(-d for d in steps if d < 0))


def counts(cells: Sequence[int]) -> tuple[float, ...]:
    """Return the features, in the order of feature_names."""
    largest = max(cells)
    pairs = [(cells[i], cells[j]) for i, j in NEIGHBOURS if cells[i] and cells[j]]
    return (
        1,
        log2_steps(1 + tile_sum(cells)) / LOG_STEPS,
        unmerged(cells) / LOG_STEPS,
        cells.count(0),
        sum(a == b for a, b in pairs),
        sum(abs(a - b) for a, b in pairs),
        sum(disorder([cells[i] for i in line]) for line in LINES[LEFT] + LINES[UP]),
        largest,
        int(any(cells[i] == largest for i in CORNERS)),
        max(sum(w * e for w, e in zip(snake, cells, strict=True)) for snake in SNAKES),
    )
