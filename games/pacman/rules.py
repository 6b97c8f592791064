"""Pacman for the compiled backend; `game.py` says what everything means.

A step moves a whole set of cells: 1 bit east and west, `width` bits south and north; the walls around every maze catch
what would run over the edge.
"""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, popcount, u64
from evallearn.compiled.rng import mix64
from evallearn.core.rules import Rules
from evallearn.games.pacman import state as world
from evallearn.games.pacman.bounds_rules import bounds_mover
from evallearn.games.pacman.seats import NEAR
from evallearn.games.pacman.state import MAX_GHOSTS, MAX_MOVES, STOP
from evallearn.games.pacman.words import (
    CELL,
    HEADING_AT,
    ONE,
    SCARED_AT,
    SIX_BITS,
    THREE_BITS,
    ZERO,
    State,
    at_start,
    bit,
    ghost,
    has,
    is_terminal,
    make_clock,
    moves,
    n_ghosts,
    pacman,
    scared,
    score,
    step,
    turn,
    width,
    with_ghost,
)

WORD_BITS, LAST_BIT = u64(64), u64(63)
SCARED_MOVES = u64(world.SCARED_MOVES)
FOOD_POINTS, GHOST_POINTS, WIN_POINTS = world.FOOD_POINTS, world.GHOST_POINTS, world.WIN_POINTS
CAUGHT_POINTS, MOVE_POINTS = world.CAUGHT_POINTS, world.MOVE_POINTS


# --- the formalism ---------------------------------------------------------------------------------------------------
@jitable
def actions(s, out):
    number = turn(s)
    back = -1
    cell = pacman(s)
    if number > 0:
        bits = ghost(s, number - 1)
        cell = bits & CELL
        heading = np.int64((bits >> HEADING_AT) & THREE_BITS)
        if heading != STOP:
            back = (heading + 2) & 3
    n = 0
    can_go_back = False
    for a in range(4):
        if not has(s.walls_low, s.walls_high, step(s, cell, a)):
            if a == back:
                can_go_back = True
            else:
                out[n] = a
                n += 1
    if number == 0:
        out[n] = STOP
        return n + 1
    if n == 0:
        out[0] = back if can_go_back else STOP
        return 1
    return n


@jitable
def to_play(s):
    return np.int64(0) if turn(s) == 0 else np.int64(1)


@jitable
def result(s, a):
    number = turn(s)
    following = number + 1 if number < n_ghosts(s) else 0
    if number == 0:
        return move_pacman(s, a, following)
    return move_ghost(s, number - 1, a, following)


@jitable
def move_pacman(s, a, following):
    cell = step(s, pacman(s), a)
    low, high = bit(cell)
    food_low, food_high = s.food_low & ~low, s.food_high & ~high
    points = score(s) + MOVE_POINTS
    won = False
    if food_low != s.food_low or food_high != s.food_high:
        points += FOOD_POINTS
        won = (food_low | food_high) == ZERO
        if won:
            points += WIN_POINTS
    capsules_low, capsules_high = s.capsules_low & ~low, s.capsules_high & ~high
    eaten = capsules_low != s.capsules_low or capsules_high != s.capsules_high
    ghosts = s.ghosts
    caught = 0
    for i in range(n_ghosts(s)):
        bits = ghost(s, i)
        if eaten:
            bits = (bits & ~(SIX_BITS << SCARED_AT)) | (SCARED_MOVES << SCARED_AT)
        if (bits & CELL) == cell:
            if scared(bits) != ZERO:
                bits = at_start(s, i)
                points += GHOST_POINTS
            elif not won:
                caught = 1
        ghosts = with_ghost(ghosts, i, bits)
    points += CAUGHT_POINTS * caught
    clock = make_clock(cell, following, moves(s) - 1, caught, points)
    return State(
        s.walls_low, s.walls_high, food_low, food_high, capsules_low, capsules_high, ghosts, s.setup, clock
    )  # fmt: skip


@jitable
def move_ghost(s, i, a, following):
    bits = ghost(s, i)
    cell = step(s, bits & CELL, a)
    fear = scared(bits)
    if fear != ZERO:
        fear -= ONE
    bits = cell | (u64(a) << HEADING_AT) | (fear << SCARED_AT)
    points = score(s)
    caught = 0
    if cell == pacman(s):
        if fear != ZERO:
            bits = at_start(s, i)
            points += GHOST_POINTS
        else:
            caught = 1
            points += CAUGHT_POINTS
    ghosts = with_ghost(s.ghosts, i, bits)
    clock = make_clock(pacman(s), following, moves(s), caught, points)
    return State(
        s.walls_low, s.walls_high, s.food_low, s.food_high, s.capsules_low, s.capsules_high, ghosts, s.setup, clock
    )  # fmt: skip


@jitable
def utility_mover(s):
    points = score(s)
    return np.float32(points if turn(s) == 0 else 0 - points)


# --- what an evaluator reads -----------------------------------------------------------------------------------------
@jitable
def grown(low, high, free_low, free_high, across):
    """Return the set and all cells one step from it."""
    rest = WORD_BITS - across
    sideways_low = low | (low << ONE) | (low >> ONE) | (high << LAST_BIT)
    sideways_high = high | (high << ONE) | (high >> ONE) | (low >> LAST_BIT)
    upright_low = (low << across) | (low >> across) | (high << rest)
    upright_high = (high << across) | (high >> across) | (low >> rest)
    return (sideways_low | upright_low) & free_low, (sideways_high | upright_high) & free_high


@jitable
def tour(s):
    """Count the steps to eat everything, always going to the nearest dot, of several to the lowest cell."""
    across, free_low, free_high = width(s), ~s.walls_low, ~s.walls_high
    food_low, food_high = s.food_low, s.food_high
    low, high = bit(pacman(s))
    steps = 0
    while (food_low | food_high) != ZERO:
        while ((low & food_low) | (high & food_high)) == ZERO:
            low, high = grown(low, high, free_low, free_high, across)
            steps += 1
        low, high = low & food_low, high & food_high
        if low != ZERO:
            low, high = low & (~low + ONE), ZERO
        else:
            high &= ~high + ONE
        food_low, food_high = food_low ^ low, food_high ^ high
    return steps


@jitable
def ghost_sets(s):
    """Return (low, high) of the ghosts that are not scared, of those that are, and how many these are."""
    active_low = active_high = scared_low = scared_high = ZERO
    n_scared = 0
    for i in range(n_ghosts(s)):
        low, high = bit(ghost(s, i) & CELL)
        if scared(ghost(s, i)) == ZERO:
            active_low |= low
            active_high |= high
        else:
            scared_low |= low
            scared_high |= high
            n_scared += 1
    return active_low, active_high, scared_low, scared_high, n_scared


@jitable
def active_ghosts_on(s, low, high):
    """Count the ghosts on the set that are not scared."""
    n = 0
    for i in range(n_ghosts(s)):
        if scared(ghost(s, i)) == ZERO and has(low, high, ghost(s, i) & CELL):
            n += 1
    return n


@jitable
def features_to(s, sign, out):
    """Write the features from Pacman's side, times the sign.

    One flood from Pacman and one from the ghosts, step by step together.
    """
    across, free_low, free_high = width(s), ~s.walls_low, ~s.walls_high
    theirs_low, theirs_high, scared_low, scared_high, n_scared = ghost_sets(s)
    mine_low, mine_high = bit(pacman(s))
    new_low, new_high = mine_low, mine_high  # the cells exactly `steps` from Pacman
    ghosts_1 = ghosts_2 = ghosts_4 = exits = 0
    territory = safe_food = capsule_near = scared_near = steps = 0
    while (new_low | new_high) != ZERO:
        safe_low, safe_high = new_low & ~theirs_low, new_high & ~theirs_high
        territory += popcount(safe_low) + popcount(safe_high)
        safe_food += popcount(safe_low & s.food_low) + popcount(safe_high & s.food_high)
        if steps < NEAR:
            if capsule_near == 0 and ((new_low & s.capsules_low) | (new_high & s.capsules_high)) != ZERO:
                capsule_near = NEAR - steps
            if scared_near == 0 and ((new_low & scared_low) | (new_high & scared_high)) != ZERO:
                scared_near = NEAR - steps
        if steps <= 4:
            ghosts_4 += active_ghosts_on(s, new_low, new_high)
            if steps <= 2:
                ghosts_2 = ghosts_4
            if steps <= 1:
                ghosts_1 = ghosts_4
            if steps == 1:
                exits = popcount(new_low) + popcount(new_high)
        more_low, more_high = grown(mine_low, mine_high, free_low, free_high, across)
        new_low, new_high = more_low & ~mine_low, more_high & ~mine_high
        mine_low, mine_high = more_low, more_high
        theirs_low, theirs_high = grown(theirs_low, theirs_high, free_low, free_high, across)
        steps += 1
    way = tour(s)
    out[0] = sign
    out[1] = sign * score(s)
    out[2] = sign * (popcount(s.food_low) + popcount(s.food_high))
    out[3] = sign * way
    out[4] = sign * ghosts_1
    out[5] = sign * ghosts_2
    out[6] = sign * ghosts_4
    out[7] = sign * exits
    out[8] = sign * territory
    out[9] = sign * safe_food
    out[10] = sign * (popcount(s.capsules_low) + popcount(s.capsules_high))
    out[11] = sign * capsule_near
    out[12] = sign * n_scared
    out[13] = sign * scared_near
    out[14] = sign * max(0, way - moves(s))


@jitable
def features_mover(s, out):
    features_to(s, 1 if turn(s) == 0 else -1, out)


@jitable
def phase(s):
    return np.int64(0)


@jitable
def key(s):
    maze = mix64(s.walls_low ^ mix64(s.walls_high ^ mix64(s.setup)))
    items = mix64(s.food_low ^ mix64(s.food_high ^ mix64(s.capsules_low ^ mix64(s.capsules_high))))
    return mix64(s.clock ^ mix64(s.ghosts ^ mix64(items ^ maze)))


RULES = Rules.of(
    __name__,
    is_terminal=is_terminal,
    bounds_mover=bounds_mover,
    n_actions=5,
    max_actions=5,
    max_plies=MAX_MOVES * (1 + MAX_GHOSTS),
    alternates=False,
)
