"""Between which scores a game of Pacman must end from here on; `bounds_rules.py` says the same for kernels."""

from __future__ import annotations

from evallearn.games.pacman.state import (
    CAUGHT_POINTS,
    FOOD_POINTS,
    GHOST_POINTS,
    MOVE_POINTS,
    WIN_POINTS,
    State,
    cells_of,
)


def beyond(here: int, first: int, last: int) -> int:
    """Return the steps on a line to visit both ends of first..last: to the nearer one, and from there to the other."""
    if first >= here:
        return last - here
    if last <= here:
        return here - first
    return last - first + min(last - here, here - first)


def walk(s: State) -> int:
    """Return a number of moves below which Pacman cannot have eaten everything, walls or no walls; there is food."""
    cells = list(cells_of(s.food))
    rows, columns = ([f(cell, s.width) for cell in cells] for f in (int.__floordiv__, int.__mod__))
    upright = beyond(s.pacman // s.width, min(rows), max(rows))
    sideways = beyond(s.pacman % s.width, min(columns), max(columns))
    return max(len(cells), upright + sideways)


def score_bounds(s: State) -> tuple[int, int]:
    """Return (least, most) that the score can end with.

    At worst Pacman makes all his moves, eats nothing and is caught. At best he eats every scared ghost, all ghosts
    again after each capsule, and all the food in as few moves as `walk` says; where he has not so many moves left, a
    dot with each of them.
    """
    if s.is_over:
        return s.score, s.score
    dots, needed = s.food.bit_count(), walk(s)
    ghosts = len(s.ghosts) * s.capsules.bit_count() + sum(ghost.scared > 0 for ghost in s.ghosts)
    most = s.score + GHOST_POINTS * ghosts
    if needed <= s.moves:
        most += FOOD_POINTS * dots + WIN_POINTS + MOVE_POINTS * needed
    else:
        most += (FOOD_POINTS + MOVE_POINTS) * min(dots, s.moves)
    return s.score + MOVE_POINTS * s.moves + CAUGHT_POINTS, most
