"""The features of backgammon for the compiled backend; `features.py` says what each of them counts.

Sets of points are words as in `planes.py`: bit 25 - p for point p, so that a die shifts them up.
"""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, lowest_bit, popcount, u64
from evallearn.games.backgammon import features as plain
from evallearn.games.backgammon import moves as moves
from evallearn.games.backgammon.planes import (
    BAR,
    HALF,
    OFF,
    ONE,
    PLAYER,
    POINTS,
    ZERO,
    blots,
    count_at,
    made,
    mirrored,
    movable,
    moved,
    occupied,
)


def points(*numbers: int) -> np.uint64:
    """Return the word of some points."""
    return u64(sum(1 << 25 - p for p in numbers))


HOME, BLOCK, OPPOSING_HOME = points(*range(1, 7)), points(*range(4, 9)), points(*range(19, 25))
ADVANCED, ACE = points(*plain.ADVANCED), points(plain.ACE)
HIGH_HOME = points(4, 5, 6)
SIX_AHEAD = u64(0b1111110)
POINT_1, POINT_2, POINT_3 = u64(24), u64(23), u64(22)
SHOTS = plain.SHOTS
CHECKERS = moves.CHECKERS
DOUBTFUL, SURE = 1, 2


# --- who can hit -----------------------------------------------------------------------------------------------------
@jitable
def doubles_hit(own, on_bar, die, targets, free):
    """Return True if a double hits; `free` are the points that the opponent does not hold."""
    if on_bar > 0:
        entered = (BAR << die) & free
        if entered == ZERO or entered & targets != ZERO:
            return entered != ZERO
        own |= entered
    for _ in range(4 - on_bar):
        own = (own << die) & free
        if own & targets != ZERO:
            return True
    return False


@jitable
def both_dice_hit(low, high, die, other, targets, blocked):
    """Return, with `die` before `other`, whether both can be played at all, and whether such a play hits."""
    playable = hit = False
    todo = movable(occupied(low, high), blocked, die)
    while todo != ZERO:
        i = u64(lowest_bit(todo))
        todo &= todo - ONE
        low_1, high_1 = moved(low, high, i, die)
        second = movable(occupied(low_1, high_1), blocked, other)
        if second != ZERO:
            playable = True
            hit = hit or ((ONE << (i + die)) | (second << other)) & targets != ZERO
    return playable, hit


@jitable
def play_hits(low, high, a, b, targets, blocked):
    """Return True if a legal play of the larger die `a` and the smaller `b` hits.

    This is the slow way, through all first moves.
    """
    playable_ab, hit_ab = both_dice_hit(low, high, a, b, targets, blocked)
    playable_ba, hit_ba = both_dice_hit(low, high, b, a, targets, blocked)
    if playable_ab or playable_ba:
        return hit_ab or hit_ba
    large = movable(occupied(low, high), blocked, a)
    if large != ZERO:
        return (large << a) & targets != ZERO
    return (movable(occupied(low, high), blocked, b) << b) & targets != ZERO


@jitable
def order_hits(own, on_bar, die, other, targets, free):
    """Return, with `die` before `other`, SURE if a legal play hits, 0 if not, DOUBTFUL if `play_hits` must decide."""
    if on_bar > 0:
        first = (BAR << die) & free
        second = ((own | first) << other) & free if first != ZERO else ZERO
        rest_playable = second != ZERO
    else:
        first = (own << die) & free
        second = (first << other) & free
        rest = (own << other) & free
        rest_playable = rest & (rest - ONE) != ZERO
    if second & targets != ZERO or (first & targets != ZERO and rest_playable):
        return SURE
    return DOUBTFUL if first & targets != ZERO else 0


@jitable
def mixed_hit(low, high, own, on_bar, a, b, targets, blocked):
    """Return True if two different dice hit, the larger one being `a`."""
    free = POINTS & ~blocked
    if on_bar > 1:
        return ((BAR << a) | (BAR << b)) & free & targets != ZERO
    one = order_hits(own, on_bar, a, b, targets, free)
    two = order_hits(own, on_bar, b, a, targets, free)
    if one == SURE or two == SURE:
        return True
    return one + two > 0 and play_hits(low, high, a, b, targets, blocked)


@jitable
def shots(low, high, targets, blocked):
    """Count the rolls of 36 with which the side hits one of `targets`, the opponent's blots.

    `blocked` are the opponent's points.
    """
    if targets == ZERO:
        return 0
    own, on_bar = occupied(low, high) & POINTS, count_at(low, high, ZERO)
    n = 0
    for a in range(1, 7):
        for b in range(1, a):
            n += 2 if mixed_hit(low, high, own, on_bar, u64(a), u64(b), targets, blocked) else 0
        n += 1 if doubles_hit(own, on_bar, u64(a), targets, POINTS & ~blocked) else 0
    return n


# --- the rich set ----------------------------------------------------------------------------------------------------
@jitable
def checkers_on(low, high, area):
    """Count the checkers on the points of `area`."""
    ones, twos = popcount(low & area), popcount((low >> HALF) & area)
    return ones + 2 * twos + 4 * popcount(high & area) + 8 * popcount((high >> HALF) & area)


@jitable
def runs(made_points, length):
    """Return the lowest point of each `length` made points in a row."""
    found = made_points
    for _ in range(length - 1):
        found = made_points & (found << ONE)
    return found


@jitable
def longest_run(made_points):
    n, found = 0, made_points
    while found != ZERO and n < 6:
        n += 1
        found = made_points & (found << ONE)
    return n


@jitable
def trapped(run, opp_low, opp_high):
    """Count opposing checkers behind the rearmost of the `runs`."""
    if run == ZERO:
        return 0
    return checkers_on(opp_low, opp_high, (ONE << u64(25 - lowest_bit(run))) - ONE)


@jitable
def wastage(low, high, own, rear):
    n1, n2, n3 = count_at(low, high, POINT_1), count_at(low, high, POINT_2), count_at(low, high, POINT_3)
    gaps = HIGH_HOME & ~own & ~(rear | (rear - ONE))
    return 2 * max(n1 - 1, 0) + max(n2 - 1, 0) + max(n3 - 3, 0) + popcount(gaps)


@jitable
def one_sided(low, high, opp_low, opp_high, held):
    """Return RICH_NAMES without the shots, for one side; `held` are the opponent's points as this side numbers them."""
    own, own_made = occupied(low, high), made(low, high)
    front = lowest_bit(occupied(opp_low, opp_high))
    pips = contact = outside = timing = stacked = 0
    todo = own
    while todo != ZERO:
        i = lowest_bit(todo)
        todo &= todo - ONE
        p, n = 25 - i, count_at(low, high, u64(i))
        pips += p * n
        contact += n * max(p - front, 0)
        outside += n * max(p - 6, 0)
        timing += n * max(p - 6, 0) if p < 19 else 0
        stacked += max(n - 3, 0) if p < 25 else 0
    rear = own & ~(own - ONE)
    off, on_bar, entry = count_at(low, high, OFF), count_at(low, high, ZERO), popcount(held & OPPOSING_HOME)
    fives = runs(own_made, 5)
    return (
        pips,
        wastage(low, high, own, rear),
        contact,
        popcount(blots(low, high) & ((ONE << u64(25 - front)) - ONE)),
        popcount(own_made),
        popcount(own_made & HOME),
        popcount(own_made & BLOCK),
        longest_run(own_made),
        trapped(fives, opp_low, opp_high),
        trapped(own_made & (fives << ONE), opp_low, opp_high),
        popcount(own_made & OPPOSING_HOME),
        1 if own_made & ADVANCED != ZERO else 0,
        1 if own_made & ACE != ZERO else 0,
        on_bar,
        entry * entry if on_bar > 0 else 0,
        checkers_on(low, high, BAR | OPPOSING_HOME),
        popcount(held & (rear * SIX_AHEAD)),
        timing,
        stacked,
        off,
        outside if off == 0 else 0,
    )


@jitable
def rich_player(s, player, out):
    low, high, opp_low, opp_high = s.own_low, s.own_high, s.opp_low, s.opp_high
    sign = 1 if player == np.int64(s.turn & PLAYER) else -1
    out[:] = 0
    for turn in range(2):  # first for the side on roll, then for the other one
        held, targets = mirrored(made(opp_low, opp_high), blots(opp_low, opp_high))
        counted = one_sided(low, high, opp_low, opp_high, held)
        for k in range(len(counted)):
            out[k if k < SHOTS else k + 2] += sign * counted[k]
        out[SHOTS + turn] = sign * shots(low, high, targets, held)
        low, high, opp_low, opp_high, sign = opp_low, opp_high, low, high, -sign


# --- Tesauro's set ---------------------------------------------------------------------------------------------------
SIDE_UNITS = len(plain.TESAURO_NAMES) // 2 - 1


@jitable
def write_units(low, high, out, first):
    """Write the 98 inputs of one side, from place `first` on, where zeros stand."""
    todo = occupied(low, high) & POINTS
    while todo != ZERO:
        i = lowest_bit(todo)
        todo &= todo - ONE
        k, n = first + 4 * (24 - i), count_at(low, high, u64(i))
        out[k] = 1.0
        out[k + 1] = 1.0 if n >= 2 else 0.0
        out[k + 2] = 1.0 if n >= 3 else 0.0
        out[k + 3] = max(n - 3, 0) / 2
    out[first + 96] = count_at(low, high, ZERO) / 2
    out[first + 97] = count_at(low, high, OFF) / CHECKERS


@jitable
def tesauro_player(s, player, out):
    out[:] = 0.0
    on_roll = player == np.int64(s.turn & PLAYER)
    mine, theirs = (0, SIDE_UNITS) if on_roll else (SIDE_UNITS, 0)
    write_units(s.own_low, s.own_high, out, mine)
    write_units(s.opp_low, s.opp_high, out, theirs)
    out[2 * SIDE_UNITS if on_roll else 2 * SIDE_UNITS + 1] = 1.0


@jitable
def active_units(low, high, first, n, places, values):
    """Write those of a side's 98 inputs that are not 0, from number `n` on, the last one first; return the new `n`."""
    for place, count, whole in ((97, count_at(low, high, OFF), CHECKERS), (96, count_at(low, high, ZERO), 2)):
        if count != 0:
            places[n] = first + place
            values[n] = count / whole
            n += 1
    todo = occupied(low, high) & POINTS
    while todo != ZERO:
        i = lowest_bit(todo)
        todo &= todo - ONE
        k, checkers = first + 4 * (24 - i), count_at(low, high, u64(i))
        if checkers > 3:
            places[n] = k + 3
            values[n] = (checkers - 3) / 2
            n += 1
        for unit in range(min(checkers, 3) - 1, -1, -1):
            places[n] = k + unit
            values[n] = 1.0
            n += 1
    return n


@jitable
def tesauro_active(s, player, places, values):
    on_roll = player == np.int64(s.turn & PLAYER)
    places[0], values[0] = 2 * SIDE_UNITS + (0 if on_roll else 1), 1.0
    if on_roll:
        n = active_units(s.opp_low, s.opp_high, SIDE_UNITS, 1, places, values)
        return active_units(s.own_low, s.own_high, 0, n, places, values)
    n = active_units(s.own_low, s.own_high, SIDE_UNITS, 1, places, values)
    return active_units(s.opp_low, s.opp_high, 0, n, places, values)
