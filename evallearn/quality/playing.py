"""Moves at random, for games to take positions from: the same for a seed."""

from __future__ import annotations

import random

from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.rng import GOLDEN, MASK64, scramble


def dice_of(seed: int, number: int) -> random.Random:
    """Return the random numbers of game `number`: unrelated to those of any other, whoever plays it."""
    return random.Random(scramble(scramble(seed + GOLDEN) ^ (number * GOLDEN & MASK64)))


def random_action(game: Game, s: State, rng: random.Random) -> Action:
    """Return a roll of the dice where they are due, else any action, all equally likely."""
    if game.to_play(s) == CHANCE:
        rolls = game.chances(s)
        return rng.choices([outcome for outcome, _ in rolls], [p for _, p in rolls])[0]
    return rng.choice(game.actions(s))
