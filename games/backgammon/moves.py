"""How checkers move in backgammon: plain Python, the oracle of `rules.py`.

A side is a tuple of 26 counts as its owner numbers the points: [0] borne off, [1] to [24] the points, [25] the bar.
Checkers move towards lower numbers, 1 to 6 are the home board. My point p is my opponent's point 25 - p, so a checker
enters from the bar on 25 - die and leaves the board at 0: bar and off are points like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

OFF, BAR = 0, 25
HOME = range(1, 7)
CHECKERS = 15
Side = tuple[int, ...]
Board = tuple[Side, Side]
"""(own, opp): the player who moves, then the other one."""
Dice = tuple[int, int]
"""The larger first; (0, 0) before the roll."""

START: Side = tuple({24: 2, 13: 5, 8: 3, 6: 5}.get(p, 0) for p in range(26))
ROLLS: tuple[Dice, ...] = tuple((high, low) for high in range(1, 7) for low in range(1, high + 1))
NO_DICE: Dice = (0, 0)

SOURCE_BITS = 5
SMALLER_FIRST = 1 << 4 * SOURCE_BITS
PASS = 0


class State(NamedTuple):
    """The checkers of the player whose turn it is, of the other one, the dice, and whose turn it is."""

    own: Side
    opp: Side
    dice: Dice
    player: int
    opening: bool = False
    """True only before the first roll of a game, which is never a double."""


def sources(own: Side, opp: Side, die: int) -> list[int]:
    """Return the points from which a checker may move `die` pips, the highest first."""
    if own[BAR]:
        return [BAR] if opp[die] < 2 else []
    occupied = [p for p in range(24, 0, -1) if own[p]]
    all_home = not any(own[7:])
    return [
        p
        for p in occupied
        if (p > die and opp[25 - (p - die)] < 2)  # the point it lands on is not held by two opposing checkers
        or (p <= die and all_home and (p == die or p == occupied[0]))
    ]


def move(own: Side, opp: Side, source: int, die: int) -> Board:
    """Move one checker `die` pips from `source`, or bear it off; a single opposing checker there goes to the bar."""
    to = max(source - die, OFF)
    mine, theirs = list(own), opp
    mine[source] -= 1
    mine[to] += 1
    if to != OFF and opp[25 - to] == 1:
        hit = list(opp)
        hit[25 - to] = 0
        hit[BAR] += 1
        theirs = tuple(hit)
    return tuple(mine), theirs


def play_in_order(board: Board, dice: tuple[int, ...]) -> tuple[int, dict[Board, tuple[int, ...]]]:
    """Return how many of the dice can be played in that order, and {board after them: the sources on the way there}.

    Of several ways to the same board the one that begins with the highest source is kept, then the highest second
    source, and so on; boards come in that order too.
    """
    reached: dict[Board, tuple[int, ...]] = {board: ()}
    for played, die in enumerate(dice):
        further: dict[Board, tuple[int, ...]] = {}
        for (own, opp), way in reached.items():
            for source in sources(own, opp, die):
                further.setdefault(move(own, opp, source, die), (*way, source))
        if not further:
            return played, reached
        reached = further
    return len(dice), reached


def action_of(way: tuple[int, ...], smaller_first: bool) -> int:
    """Encode the sources in the order of play, five bits each, 0 after the last; flag a smaller die played first."""
    code = sum(source << SOURCE_BITS * i for i, source in enumerate(way))
    return code | SMALLER_FIRST if smaller_first and way else code


def steps_of(a: int, dice: Dice) -> list[tuple[int, int]]:
    """Return the (source, die) of each checker move in action `a`."""
    high, low = dice
    order = (high,) * 4 if high == low else (low, high) if a & SMALLER_FIRST else (high, low)
    ways = (a >> SOURCE_BITS * i & 31 for i in range(4))
    return [(source, die) for source, die in zip(ways, order, strict=False) if source]


@lru_cache(maxsize=1 << 12)
def turns(own: Side, opp: Side, dice: Dice) -> dict[int, Board]:
    """Return {action: board after it} of a whole turn, one action for each distinct board; never empty.

    As many dice as possible must be played, and the larger one where only one of the two can be.
    """
    high, low = dice
    if high == low:
        orders = [(play_in_order((own, opp), (high,) * 4), False)]
    else:
        orders = [(play_in_order((own, opp), (high, low)), False), (play_in_order((own, opp), (low, high)), True)]
    most = max(played for (played, _), _ in orders)
    actions: dict[Board, int] = {}
    for (played, reached), smaller_first in orders:
        if played == most and not (actions and most < 2):
            for board, way in reached.items():
                actions.setdefault(board, action_of(way, smaller_first))
    return {a: board for board, a in actions.items()}


def is_race(own: Side, opp: Side) -> bool:
    """Return True if the sides have passed each other: no checker can be hit any more."""
    return rearmost(own) + rearmost(opp) < 25


def rearmost(side: Side) -> int:
    """Return the highest point with a checker, 25 for the bar, 0 if all are off."""
    return next((p for p in range(BAR, 0, -1) if side[p]), 0)


def pips(side: Side) -> int:
    """Return how far all checkers have to go until they are off."""
    return sum(p * n for p, n in enumerate(side))


# --- words -----------------------------------------------------------------------------------------------------------
HIGH_DIE, LOW_DIE = 2, 5
"""In the fifth word bit 0 is the player, bit 1 the opening; the dice begin at these bits, three for each."""


def _words(p: int, n: int) -> tuple[int, int]:
    """Return `n` checkers on point `p` in the two words of a side: their binary digits, one in each half."""
    digits = [(n >> k & 1) << BAR - p for k in range(4)]
    return digits[0] | digits[1] << 32, digits[2] | digits[3] << 32


WORDS = tuple(tuple(_words(p, n) for n in range(CHECKERS + 1)) for p in range(26))


def planes(side: Side) -> tuple[int, int]:
    """Return a side in the form of the compiled backend (see `planes.py`)."""
    low = high = 0
    for of_point, n in zip(WORDS, side, strict=True):
        if n:
            low |= of_point[n][0]
            high |= of_point[n][1]
    return low, high


def side_of(low: int, high: int) -> Side:
    """Return the side of two words: the inverse of `planes`."""
    return tuple(
        low >> i & 1 | (low >> 31 + i & 2) | (high >> i & 1) << 2 | (high >> 29 + i & 8) for i in range(BAR, -1, -1)
    )


def words_of(s: State) -> tuple[int, ...]:
    """Return the five words of the compiled backend."""
    return (*planes(s.own), *planes(s.opp), s.player | s.opening << 1 | s.dice[0] << HIGH_DIE | s.dice[1] << LOW_DIE)


def state_of(words: Sequence[int]) -> State:
    """Return the state of five words: the inverse of `words_of`."""
    own_low, own_high, opp_low, opp_high, turn = words
    dice = (turn >> HIGH_DIE & 7, turn >> LOW_DIE & 7)
    return State(side_of(own_low, own_high), side_of(opp_low, opp_high), dice, turn & 1, bool(turn & 2))
