"""Games at random, for positions to judge and openings to play on from: on the fastest floor, the same for a seed."""

from __future__ import annotations

import random

from evallearn.mixing import MASK64, scramble
from evallearn.protocols import CHANCE, Action, Game, State

MISSES = 200
"""Random openings in a row that were all seen before, or over: then there are no more."""
SALT = 0x9E3779B97F4A7C15
"""So that seed 0 and game 0 are no special case."""


def fastest(game: Game) -> Game:
    """The same game on the compiled floor, if it has one; with working memory of its own."""
    if game.rules is None:
        return game
    from evallearn.compiled.game import CompiledGame

    return CompiledGame(game)


def dice_of(seed: int, number: int) -> random.Random:
    """The random numbers of game `number`: unrelated to those of any other, whoever plays it."""
    return random.Random(scramble(scramble(seed + SALT) ^ (number * SALT & MASK64)))


def random_action(game: Game, s: State, rng: random.Random) -> Action:
    """A roll of the dice where they are due, else any action, all equally likely."""
    if game.to_play(s) == CHANCE:
        rolls = game.chances(s)
        return rng.choices([outcome for outcome, _ in rolls], [p for _, p in rolls])[0]
    return rng.choice(game.actions(s))


def random_openings(game: Game, n: int, plies: int, seed: int) -> list[State]:
    """Different unfinished positions after so many random plies; fewer than n if no more are found.

    With dice they are repeated: the same opening is another game.
    """
    fast, rng = fastest(game), dice_of(seed, 0)
    found: dict[State, None] = {}
    misses = 0
    while len(found) < n and misses < MISSES:
        s = fast.initial()
        for _ in range(plies):
            if fast.is_terminal(s):
                break
            s = fast.result(s, random_action(fast, s, rng))
        misses = misses + 1 if s in found or fast.is_terminal(s) else 0
        if not fast.is_terminal(s):
            found[s] = None
    different = list(found)
    return [different[i % len(different)] for i in range(n)] if game.has_chance and different else different
