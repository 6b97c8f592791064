"""The moves of Pacman and of a ghost, one at a time, and what happens where they meet; `game.py` tells the rules."""

from __future__ import annotations

from collections.abc import Sequence

from evallearn.games.pacman.state import (
    CAUGHT_POINTS,
    FOOD_POINTS,
    GHOST_POINTS,
    MOVE_POINTS,
    SCARED_MOVES,
    STOP,
    WIN_POINTS,
    Ghost,
    State,
)


def reverse(heading: int) -> int:
    """Return the direction straight back; none where the ghost has not moved yet."""
    return STOP if heading == STOP else (heading + 2) % 4


def ghost_actions(s: State, ghost: Ghost) -> tuple[int, ...]:
    """Return every way but straight back; back where that is the only one; a wait in a cell without exits."""
    ways = tuple(s.steps(ghost.cell))
    return tuple(a for a in ways if a != reverse(ghost.heading)) or ways or (STOP,)


def choices(s: State) -> tuple[int, ...]:
    """Return what Pacman, or the ghost whose turn it is, can do."""
    if s.is_over:
        return ()
    return (*s.steps(s.pacman), STOP) if s.turn == 0 else ghost_actions(s, s.ghosts[s.turn - 1])


def meet(s: State, who: Sequence[int]) -> State:
    """Let Pacman meet those of the ghosts numbered `who` that stand on his cell."""
    ghosts, score, caught = list(s.ghosts), s.score, False
    for i in who:
        if ghosts[i].cell != s.pacman:
            continue
        if ghosts[i].scared:
            ghosts[i] = Ghost(ghosts[i].start, STOP, 0, ghosts[i].start)
            score += GHOST_POINTS
        else:
            caught = s.food > 0
    return s._replace(ghosts=tuple(ghosts), score=score + CAUGHT_POINTS * caught, caught=int(caught))


def move_pacman(s: State, a: int) -> State:
    """Move Pacman one step and take what lies there."""
    cell = s.pacman if a == STOP else s.steps(s.pacman)[a]
    here, score, ghosts = 1 << cell, s.score + MOVE_POINTS, s.ghosts
    if s.food & here:
        score += FOOD_POINTS + (WIN_POINTS if s.food == here else 0)
    if s.capsules & here:
        ghosts = tuple(ghost._replace(scared=SCARED_MOVES) for ghost in ghosts)
    after = s._replace(
        food=s.food & ~here, capsules=s.capsules & ~here, pacman=cell, ghosts=ghosts, score=score, moves=s.moves - 1
    )
    return meet(after, range(len(ghosts)))


def move_ghost(s: State, number: int, a: int) -> State:
    """Move the ghost one step, with one move less to be scared."""
    ghost = s.ghosts[number]
    cell = ghost.cell if a == STOP else s.steps(ghost.cell)[a]
    moved = Ghost(cell, a, max(0, ghost.scared - 1), ghost.start)
    return meet(s._replace(ghosts=(*s.ghosts[:number], moved, *s.ghosts[number + 1 :])), (number,))
