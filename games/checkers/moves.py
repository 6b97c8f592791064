"""How checkers pieces move: squares, steps, jumps and the numbers of actions, in plain Python.

Squares are those of PDN, 1..32 from Black's back row, 0..31 inside. Black's men move towards 32, White's towards 1.
Square n is bit n + n // 8 of a word: with an empty bit after every second row, a diagonal step is a shift by 4 or 5 on
every row, and none runs over the edge.

An action says from where to where and, in two more bits, which pieces are taken on the way. Two bits are enough: the
squares on which one piece can land by jumping are 8, and 9 jumps join them, each over a square of its own. All
routes between two of these squares take the same squares but for whole cycles, and there are two independent cycles.
`JUMP_GRAPH` picks for each cycle the one jump that shows whether it was run through: the two bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

BLACK, WHITE = 0, 1
N_SQUARES = 32
DIRECTIONS = ((1, -1), (1, 1), (-1, 1), (-1, -1))
"""(rows, columns) of a step; as shifts of a word 4, 5, -4, -5."""
FORWARD = ((0, 1), (2, 3))
"""The directions in which the men of each player move and take."""
BITS = tuple(1 << (square + square // 8) for square in range(N_SQUARES))


def bit(square: int) -> int:
    """Return the square as a word with one bit set."""
    return BITS[square]


def word(squares: str) -> int:
    """Return the word of squares by their PDN numbers: word("1 5")."""
    return sum(bit(int(number) - 1) for number in squares.split())


def squares_of(board: int) -> list[int]:
    """Return the squares of a word, ascending."""
    return [square for square, b in enumerate(BITS) if board & b]


def row_column(square: int) -> tuple[int, int]:
    """Return row and column of a square.

    Row 0 is Black's back row; 1 stands in column 1, 4 in column 7, 5 in column 0.
    """
    row = square // 4
    return row, 2 * (square % 4) + 1 - row % 2


def neighbour(square: int, direction: int, steps: int = 1) -> int | None:
    """Return the square so many steps away, or None off the board."""
    (row, column), (down, right) = row_column(square), DIRECTIONS[direction]
    row, column = row + steps * down, column + steps * right
    return row * 4 + column // 2 if 0 <= row < 8 and 0 <= column < 8 else None


STEP = tuple(tuple(neighbour(square, d) for d in range(4)) for square in range(N_SQUARES))
"""STEP[square][direction]: the next square, or None."""
LANDING = tuple(tuple(neighbour(square, d, 2) for d in range(4)) for square in range(N_SQUARES))
"""LANDING[square][direction]: the square behind the next one, or None."""
BOARD = sum(BITS)
CROWN_ROW = (word("29 30 31 32"), word("1 2 3 4"))
"""Where the men of each player become kings."""


class JumpGraph(NamedTuple):
    """What a chain of jumps takes: tree[from] ^ tree[to] ^ the cycles whose bits of the action are set."""

    tree: tuple[int, ...]
    """tree[square]: what the way to the square in a spanning tree of its jumps takes."""
    cycles: tuple[tuple[int, int], ...]
    """cycles[square]: what the two cycles among its jumps take."""
    marks: tuple[tuple[int, int], ...]
    """marks[square]: for each cycle, the square that no other cycle takes and no way in the tree."""


def jump_graph() -> JumpGraph:
    """Build a spanning tree of each of the four groups of squares that jumps connect; other jumps close a cycle."""
    tree: dict[int, int] = {}
    cycles: dict[int, tuple[int, int]] = {}
    marks: dict[int, tuple[int, int]] = {}
    for root in range(N_SQUARES):
        if root in tree:
            continue
        group, closing, used = [root], {}, set()
        tree[root] = 0
        for square in group:  # grows while we walk
            for next_square, landing in zip(STEP[square], LANDING[square], strict=True):
                if next_square is None or landing is None or (over := bit(next_square)) in used:
                    continue
                used.add(over)
                if landing in tree:
                    closing[over] = tree[square] ^ tree[landing] ^ over
                else:
                    tree[landing] = tree[square] ^ over
                    group.append(landing)
        (first, first_cycle), (second, second_cycle) = closing.items()
        for square in group:
            cycles[square], marks[square] = (first_cycle, second_cycle), (first, second)
    squares = range(N_SQUARES)
    return JumpGraph(
        tuple(tree[n] for n in squares), tuple(cycles[n] for n in squares), tuple(marks[n] for n in squares)
    )


JUMP_GRAPH = jump_graph()
MEN = 12
"""Pieces of each player at most."""
CLOCK_LIMIT = 80
"""Forty moves of each player without a capture or a move of a man are a draw."""
N_ACTIONS = 4096
MAX_ACTIONS = 10 * MEN
"""A king has at most 4 steps, or 10 captures with different ends or different pieces taken (the tests try all)."""
MAX_PLIES = CLOCK_LIMIT * (2 * MEN * 7 + 2 * MEN)
"""So long the clock may run before each of at most 7 moves of a man, each of at most 23 captures, and the end."""


def action_number(start: int, end: int, taken: int) -> int:
    """Return start + 32 end + 1024 and 2048 for the cycles that the jumps ran through."""
    first, second = JUMP_GRAPH.marks[start]
    return start + 32 * end + 1024 * (taken & first != 0) + 2048 * (taken & second != 0)


class Move(NamedTuple):
    """A legal action, the squares that the piece visits, and what it takes."""

    action: int
    route: tuple[int, ...]
    taken: int


class State(NamedTuple):
    """Where the pieces stand, who is to move, and what the drawing rules need."""

    black: int
    white: int
    kings: int
    """Of both players."""
    player: int = BLACK
    clock: int = 0
    """Plies since the last capture or move of a man."""
    history: tuple[tuple[int, ...], ...] = ()
    """The positions of these plies, encoded, oldest first."""


def sides(s: State) -> tuple[int, int]:
    """Return (the pieces of the player to move, those of the other)."""
    return (s.black, s.white) if s.player == BLACK else (s.white, s.black)


def directions(s: State, square: int, player: int) -> tuple[int, ...]:
    """Return the directions of a piece of `player` there."""
    return (0, 1, 2, 3) if s.kings & bit(square) else FORWARD[player]


def steps(s: State) -> Iterator[Move]:
    """Yield the moves without a capture: direction by direction, in each the squares ascending."""
    own, opp = sides(s)
    for d in range(4):
        for start in squares_of(own):
            end = STEP[start][d]
            if end is not None and d in directions(s, start, s.player) and not (own | opp) & bit(end):
                yield Move(action_number(start, end, 0), (start, end), 0)


def jumps(s: State) -> Iterator[Move]:
    """Yield every route of every capture, piece by piece; a chain goes on as long as it can."""
    own, _ = sides(s)
    for start in squares_of(own):
        yield from chains(s, (start,), 0)


def chains(s: State, route: tuple[int, ...], taken: int) -> Iterator[Move]:
    """Yield the routes that begin with `route`.

    What was taken leaves the board at the end, and is not jumped twice.
    """
    own, opp = sides(s)
    start, here = route[0], route[-1]
    goes_on = False
    for d in directions(s, start, s.player):
        over, landing = STEP[here][d], LANDING[here][d]
        if over is None or landing is None or not opp & ~taken & bit(over):
            continue
        if landing == start or not (own | opp) & bit(landing):
            goes_on = True
            yield from chains(s, (*route, landing), taken | bit(over))
    if taken and not goes_on:
        yield Move(action_number(start, here, taken), route, taken)


def routes(s: State) -> list[Move]:
    """Return all legal ways to move, drawing rules aside; some captures can be made by several routes."""
    return list(jumps(s)) or list(steps(s))


def moves(s: State) -> list[Move]:
    """Return one move for each action, drawing rules aside."""
    found: dict[int, Move] = {}
    for move in routes(s):
        found.setdefault(move.action, move)
    return list(found.values())


def play(s: State, move: Move) -> State:
    """Return the state after a move of `moves(s)`."""
    own, opp = sides(s)
    start, end = bit(move.route[0]), bit(move.route[-1])
    was_king = s.kings & start
    own, opp, kings = own & ~start | end, opp & ~move.taken, s.kings & ~start & ~move.taken
    if was_king or end & CROWN_ROW[s.player]:
        kings |= end
    black, white = (own, opp) if s.player == BLACK else (opp, own)
    if move.taken or not was_king:
        return State(black, white, kings, 1 - s.player)
    return State(black, white, kings, 1 - s.player, s.clock + 1, (*s.history, encode(s)))


def encode(s: State) -> tuple[int, int, int, int]:
    """Return the words of the compiled backend: black, white, kings, player + 2 clock."""
    return s.black, s.white, s.kings, s.player | s.clock << 1


def occurrences(s: State) -> int:
    """Count how often the position has stood on the board, now included."""
    return 1 + sum(p[:3] == s[:3] and p[3] & 1 == s.player for p in s.history)


def is_drawn(s: State) -> bool:
    """Return True if a rule about earlier positions ends the game."""
    return s.clock >= CLOCK_LIMIT or occurrences(s) >= 3
