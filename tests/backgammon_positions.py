"""What the tests of backgammon share: positions in short, and arbitrary ones."""

from __future__ import annotations

import random
from collections.abc import Callable

from evallearn.games.backgammon.moves import NO_DICE, ROLLS, Dice, Side, State


def side(text: str, number: Callable[[int], int] = int) -> Side:
    """A side from "8:3 6 bar:2", all other checkers off."""
    counts = [0] * 26
    for part in text.split():
        name, _, n = part.partition(":")
        counts[25 if name == "bar" else number(int(name))] = int(n or 1)
    counts[0] = 15 - sum(counts)
    return tuple(counts)


def position(own: str, opp: str, dice: Dice = NO_DICE, player: int = 0) -> State:
    """Both sides on points as the player on roll numbers them."""
    return State(side(own), side(opp, lambda p: 25 - p), dice, player)


def random_state(rng: random.Random) -> State:
    """Any arrangement at all, most of them never seen in play: crowded bars, stacks, few checkers left."""
    own, opp = [0] * 26, [0] * 26
    highest = rng.choice((6, 7, 12, 24, 24))
    for _ in range(rng.choice((15, 15, rng.randint(1, 15)))):
        own[25 if rng.random() < 0.05 else rng.randint(1, highest)] += 1
    free = [q for q in range(1, 25) if not own[25 - q]]
    favourites = rng.sample(free, min(len(free), rng.randint(1, 8)))
    for _ in range(rng.choice((15, 15, rng.randint(1, 15)))):
        opp[25 if rng.random() < 0.05 else rng.choice(favourites if rng.random() < 0.7 else free)] += 1
    own[0], opp[0] = 15 - sum(own), 15 - sum(opp)
    return State(tuple(own), tuple(opp), rng.choice(ROLLS), rng.randrange(2))
