"""Backgammon in text: GNU Backgammon's position ids, moves such as 8/5 6/5, and the picture of the board.

A position id is 80 bits in 14 characters of base64: for the player not on roll, then for the one on roll, and for
each point 1..24 and the bar, as many ones as checkers and then a zero, the first bit lowest.
"""

from __future__ import annotations

import base64
import re
import string
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import pairwise

from evallearn.errors import BadNotation, IllegalAction
from evallearn.games.backgammon.moves import (
    BAR,
    CHECKERS,
    NO_DICE,
    OFF,
    PASS,
    START,
    Dice,
    Side,
    State,
    move,
    steps_of,
    turns,
)

BASE64 = string.ascii_letters + string.digits + "+/"
ID_LENGTH, ID_BYTES = 14, 10
PLAYERS = "XO"
NO_PLAY = "(no play)"
NO_PLAY_TEXTS = {"noplay", "nomove", "cannotmove", "pass", "-"}
"""How programs and players write it, without spaces and brackets."""
SHOWN = 12
"""At most so many legal plays are listed in a message."""


# --- positions -------------------------------------------------------------------------------------------------------
def position_id(own: Side, opp: Side) -> str:
    """Write the id of the position with `own` on roll."""
    bits = length = 0
    for n in (*opp[1:], *own[1:]):
        bits |= (1 << n) - 1 << length
        length += n + 1
    return base64.b64encode(bits.to_bytes(ID_BYTES, "little")).decode()[:ID_LENGTH]


def read_id(text: str, where: str) -> tuple[Side, Side]:
    """Read (own, opp) from a position id; BadNotation says what is wrong with it, after `where`."""
    if len(text) != ID_LENGTH:
        raise BadNotation(f"{where}: the id {text!r} has {len(text)} characters; expected {ID_LENGTH}")
    if strange := [c for c in text if c not in BASE64]:
        raise BadNotation(f"{where}: {strange[0]!r} is no character of an id; expected A-Z, a-z, 0-9, + and /")
    data = base64.b64decode(text + "==")
    if not base64.b64encode(data).decode().startswith(text):
        raise BadNotation(f"{where}: the id has more than 80 bits; expected A, Q, g or w as its last character")
    bits = int.from_bytes(data, "little")
    opp, bits = _read_side(bits, "not on roll", where)
    own, bits = _read_side(bits, "on roll", where)
    if bits:
        raise BadNotation(f"{where}: the id goes on after the bars of both players; expected zeros there")
    _check_board(own, opp, where)
    return own, opp


def _read_side(bits: int, who: str, where: str) -> tuple[Side, int]:
    points = []
    for _ in range(25):
        n = (~bits & bits + 1).bit_length() - 1  # how many ones come first
        points.append(n)
        bits >>= n + 1
    if sum(points) > CHECKERS:
        raise BadNotation(f"{where}: the player {who} has {sum(points)} checkers; expected at most {CHECKERS}")
    return (CHECKERS - sum(points), *points), bits


def _check_board(own: Side, opp: Side, where: str) -> None:
    if shared := [p for p in range(1, 25) if own[p] and opp[25 - p]]:
        raise BadNotation(f"{where}: both players have checkers on point {shared[0]} of the player on roll; move one")
    if own[OFF] == opp[OFF] == CHECKERS:
        raise BadNotation(f"{where}: both players have borne off all checkers; only the winner can")


def dice_text(dice: Dice) -> str:
    """Write 31 for a three and a one."""
    return f"{dice[0]}{dice[1]}"


def read_dice(text: str) -> Dice | None:
    """Read 31, 13, 3-1 and 3 1; return None for anything else."""
    found = re.fullmatch(r"\s*([1-6])[\s,-]*([1-6])\s*", text)
    if not found:
        return None
    first, second = int(found[1]), int(found[2])
    return max(first, second), min(first, second)


def state_text(s: State) -> str:
    """Write the id; then, where needed, the dice after a colon, O for the second player, and `opening`."""
    dice = f":{dice_text(s.dice)}" if s.dice != NO_DICE else ""
    return position_id(s.own, s.opp) + dice + (" O" if s.player else "") + (" opening" if s.opening else "")


def read_state(text: str) -> State:
    """Read ID, ID:31, ID O, ID:31 X and ID opening, in upper or lower case after the id."""
    where = f"backgammon position {text!r}"
    head, *rest = text.split() or [""]
    name, colon, roll = head.partition(":")
    own, opp = read_id(name, where)
    dice = read_dice(roll) if colon else NO_DICE
    if dice is None:
        raise BadNotation(f"{where}: the dice are {roll!r}; expected two digits 1..6, as in {name}:31")
    words = [word.upper() for word in rest]
    opening = "OPENING" in words
    players = [word for word in words if word in tuple(PLAYERS)]
    if len(words) != opening + len(players) or len(players) > 1:
        raise BadNotation(
            f"{where}: {' '.join(rest)!r} follows the id; expected X or O, who is on roll, or opening "
            f"(dice stand right after the id, as in {name}:31)"
        )
    if dice != NO_DICE and CHECKERS in (own[OFF], opp[OFF]):
        raise BadNotation(f"{where}: the game is over, so there are no dice; leave :{roll} out")
    if opening and (own != START or opp != START or dice != NO_DICE):
        raise BadNotation(f"{where}: opening is only the starting position before its first roll; leave it out")
    return State(own, opp, dice, PLAYERS.index(players[0]) if players else 0, opening)


# --- moves -----------------------------------------------------------------------------------------------------------
def point_name(p: int) -> str:
    """Return bar, 24 .. 1 or off."""
    return "bar" if p == BAR else "off" if p == OFF else str(p)


def play_text(s: State, a: int) -> str:
    """Write the action as players do: bar/21, 24/18*/15, 8/4(2), 6/off; (no play) for a pass."""
    chains: list[list[tuple[int, bool]]] = []
    own, opp = s.own, s.opp
    for source, die in steps_of(a, s.dice):
        after = move(own, opp, source, die)
        landing = (max(source - die, OFF), after[1] != opp)
        own, opp = after
        chain = next((c for c in chains if c[-1][0] == source), None)
        if chain is None:
            chains.append([(source, False), landing])
        else:
            chain.append(landing)
    routes: dict[tuple[int, ...], tuple[int, set[int]]] = {}
    for chain in sorted(chains, reverse=True):
        route = tuple(p for i, (p, hit) in enumerate(chain) if hit or i in (0, len(chain) - 1))
        n, hits = routes.get(route, (0, set()))
        routes[route] = n + 1, hits | {p for p, hit in chain if hit}
    return " ".join(_route_text(route, n, hits) for route, (n, hits) in routes.items()) or NO_PLAY


def _route_text(route: tuple[int, ...], n: int, hits: set[int]) -> str:
    points = "/".join(point_name(p) + "*" * (p in hits) for p in route)
    return points if n == 1 else f"{points}({n})"


STOP = r"(?:bar|off|[0-9]{1,2})\s*\*?"
CHAIN = re.compile(rf"({STOP}(?:\s*[/-]\s*{STOP})+)\s*(?:\(\s*([1-4])\s*\))?[\s,;]*", re.ASCII | re.IGNORECASE)


def _chains(text: str, where: str) -> Iterator[tuple[list[int], set[int], int]]:
    """Yield (points, those marked as hits, how many checkers) of each part of a written play."""
    rest = text.strip()
    if not rest:
        raise BadNotation(f"{where} is empty; expected moves such as 8/5, bar/21* or 6/off(2), or {NO_PLAY}")
    while rest:
        found = CHAIN.match(rest)
        if not found:
            raise BadNotation(f"{where}: cannot read {rest!r}; expected moves such as 8/5, bar/21* or 6/off(2)")
        stops = [stop.strip().lower() for stop in re.split("[/-]", found[1])]
        points = [_point(stop.rstrip("* ")) for stop in stops]
        if points[0] > BAR or any(p <= q for p, q in pairwise(points)):
            numbers = "a checker moves from the bar (25) or 24 towards 1 and off (0), as its owner numbers the points"
            raise BadNotation(f"{where}: {found[1]!r} does not go down; {numbers}")
        yield points, {p for p, stop in zip(points, stops, strict=True) if stop.endswith("*")}, int(found[2] or 1)
        rest = rest[found.end() :]


def _point(name: str) -> int:
    return BAR if name == "bar" else OFF if name == "off" else int(name)


def _obstacle(s: State, source: int, to: int) -> str:
    """Say why no checker can go this way at all, whatever else is played; return an empty text if one might."""
    high, low = s.dice
    lengths = [high * n for n in (1, 2, 3, 4)] if high == low else [high, low, high + low]
    if to == OFF:
        return ""
    if source - to not in lengths:
        return f"{point_name(source)}/{to} is {source - to} pips, and the dice are {high} and {low}"
    return f"the opponent holds point {to}" if s.opp[25 - to] > 1 else ""


def read_play(s: State, text: str) -> int:
    """Find the legal action that `text` says, in any order, in steps or combined, with or without the marks of hits."""
    where = f"backgammon play {text!r} in position {state_text(s)!r}"
    legal = turns(s.own, s.opp, s.dice)
    if "".join(text.lower().split()).strip("()") in NO_PLAY_TEXTS:
        if PASS not in legal:
            raise IllegalAction(f"{where}: a move is possible; legal: {plays(s, legal)}")
        return PASS
    change, landings, marked = Counter[int](), set[int](), set[int]()
    for points, stars, n in _chains(text, where):
        if obstacle := next(filter(None, (_obstacle(s, *hop) for hop in pairwise(points))), None):
            raise IllegalAction(f"{where}: {obstacle}; legal: {plays(s, legal)}")
        change[points[0]] -= n
        change[points[-1]] += n
        landings.update(points[1:])
        marked |= stars
    wanted = tuple(n + change[p] for p, n in enumerate(s.own))
    expected = {p for p in landings if p != OFF and s.opp[25 - p] == 1}
    hits = {a: _hits(s, opp) for a, (own, opp) in legal.items() if own == wanted and a != PASS}
    fitting = [a for a in hits if expected | marked <= hits[a]]
    best = [a for a in fitting if hits[a] == expected] or fitting
    if len(best) > 1:
        either = " or ".join(play_text(s, a) for a in best)
        raise BadNotation(f"{where} may be {either}: write the points where it hits")
    if not best:
        raise IllegalAction(f"{where} is not legal; legal: {plays(s, legal)}")
    return best[0]


def _hits(s: State, opp: Side) -> set[int]:
    """Return the mover's points on which the opponent has lost a checker."""
    return {25 - q for q in range(1, 25) if opp[q] < s.opp[q]}


def plays(s: State, legal: Collection[int]) -> str:
    """List the legal plays for a message, the first dozen."""
    shown = [play_text(s, a) for a in list(legal)[:SHOWN]]
    return ", ".join(shown) + (f" and {len(legal) - SHOWN} more" if len(legal) > SHOWN else "")
