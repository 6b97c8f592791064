"""The world of Pacman: mazes, ghosts, positions and distances. `game.py` says how the game goes.

Cells are numbered row by row from the top left and named by column letter and row number (b2); sets of cells are words
with a bit per cell. Every maze is enclosed by walls, so that a step never leaves it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

NORTH, EAST, SOUTH, WEST, STOP = range(5)
MAX_CELLS, MAX_WIDTH, MAX_GHOSTS = 128, 26, 4
"""Two words of cells, columns a to z, and four ghosts in a word."""
MAX_MOVES = 200
"""Pacman's moves in a game, at most."""
FOOD_POINTS, GHOST_POINTS, WIN_POINTS, CAUGHT_POINTS, MOVE_POINTS = 10, 200, 500, -500, -1
SCARED_MOVES = 40
"""Ghost moves that a capsule lasts."""
MOST_POINTS = 4096
"""No score of an allowed position, nor of any that can follow, lies further from 0: see `State.reach`."""


@lru_cache(maxsize=64)
def ways(width: int, walls: int) -> tuple[Mapping[int, int], ...]:
    """Return for each cell {direction: neighbour} without the walls, north first and clockwise."""
    around = ((cell - width, cell + 1, cell + width, cell - 1) for cell in range(walls.bit_length()))
    return tuple(
        {a: there for a, there in enumerate(cells) if there >= 0 and not walls >> there & 1} for cells in around
    )


class Ghost(NamedTuple):
    """Where a ghost is, where it is heading (STOP before its first move), how long it is scared, where it starts."""

    cell: int
    heading: int
    scared: int
    start: int


class State(NamedTuple):
    """A position; `turn` is 0 for Pacman and i for the i-th ghost, `moves` are those that Pacman has left."""

    width: int
    walls: int
    food: int
    capsules: int
    pacman: int
    ghosts: tuple[Ghost, ...]
    turn: int
    score: int
    moves: int
    caught: int

    @property
    def height(self) -> int:
        """Rows of the maze: its last cell is a wall."""
        return self.walls.bit_length() // self.width

    def steps(self, cell: int) -> Mapping[int, int]:
        """Return {direction: neighbour} without the walls, north first and clockwise."""
        return ways(self.width, self.walls)[cell]

    def distances(self, sources: Iterable[int]) -> dict[int, int]:
        """Return {cell: steps from the nearest source} of all reachable cells; ghosts block nobody."""
        found = dict.fromkeys(sources, 0)
        queue = deque(found)
        while queue:
            cell = queue.popleft()
            for there in self.steps(cell).values():
                if there not in found:
                    found[there] = found[cell] + 1
                    queue.append(there)
        return found

    def tour(self) -> int:
        """Count the steps to eat everything, always going to the nearest dot, of several to the lowest cell."""
        cell, food, total = self.pacman, self.food, 0
        while food:
            reached, front = {cell}, {cell}
            while not any(food >> c & 1 for c in front):
                front = {there for c in front for there in self.steps(c).values()} - reached
                reached |= front
                total += 1
            cell = min(c for c in front if food >> c & 1)
            food ^= 1 << cell
        return total

    @property
    def is_over(self) -> bool:
        """Caught, all food eaten, or no moves left once the ghosts have answered the last one."""
        return bool(self.caught) or not self.food or (self.turn == 0 and self.moves == 0)

    @property
    def reach(self) -> tuple[int, int]:
        """The least and the most that the score can become from here, however the maze is built."""
        if self.is_over:
            return self.score, self.score
        ghosts = len(self.ghosts) * self.capsules.bit_count() + sum(ghost.scared > 0 for ghost in self.ghosts)
        gain = FOOD_POINTS * self.food.bit_count() + GHOST_POINTS * ghosts + WIN_POINTS
        return self.score + MOVE_POINTS * self.moves + CAUGHT_POINTS, self.score + gain


def cells_of(bits: int) -> Iterator[int]:
    """Return the cells of a set, ascending."""
    return (cell for cell in range(bits.bit_length()) if bits >> cell & 1)


MAZES = {
    # Loops everywhere: a careful Pacman need not be caught.
    "small": """
        %%%%%%%%%%%
        %.........%
        %.%%.%.%%.%
        %....P....%
        %.%%.%.%%.%
        %....G....%
        %%%%%%%%%%%""",
    # A dot on either side, out of sight of a short search, and a nook to dither in. The ghost is walled in: what
    # Pacman does or fails to do here is his own doing.
    "thrash": """
        %%%%%%%%%%%
        %%%%%-%%%%%
        %.---P---.%
        %%%%%%%%%%%
        %G-%%%%%%%%
        %%%%%%%%%%%""",
    # Between two ghosts, the dots out of reach: who looks far enough ahead runs into the nearer ghost, to lose less.
    "trapped": """
        %%%%%%%%%
        %G--P-G-%
        %-%%%%%%%
        %---....%
        %%%%%%%%%""",
    # Trapped as well, unless the ghost on the left goes the wrong way: then the dots can be reached.
    "gamble": """
        %%%%%%%%%
        %---P-G-%
        %G%%%%%%%
        %..-----%
        %%%%%%%%%""",
    # A capsule in a corner turns the chase round.
    "capsule": """
        %%%%%%%%%%
        %o..%...G%
        %.%.%.%%.%
        %.%...%%.%
        %...P....%
        %%%%%%%%%%""",
    "two_ghosts": """
        %%%%%%%%%%%%%
        %o.........o%
        %.%%.%.%.%%.%
        %.%G.%.%.G%.%
        %.%%.%.%.%%.%
        %.....P.....%
        %%%%%%%%%%%%%""",
    # Without walls one ghost can hardly corner Pacman.
    "open": """
        %%%%%%%%%
        %...G...%
        %.......%
        %.......%
        %.......%
        %...P...%
        %%%%%%%%%""",
}
"""The mazes by name: % wall, . food, o capsule, P Pacman, G ghost, - nothing."""
