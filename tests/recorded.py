"""What the tests of game records share: random games of every kind as records."""

from __future__ import annotations

import functools
import random
from dataclasses import replace
from typing import Any

from playing import random_game

from evallearn import get_game
from evallearn.arena.records import GameRecord
from evallearn.core.game import Game

NAMES = ('handwritten:a b@depth=4,"x"', "runs/ü/linear.safetensors\\v2", "random")
ENDS = ("adjudicated: plies=3", "forfeit: engine said\n {nothing; [at] all % # 1-0")
WON = ("1", "2", "3", "4", "5", "6", "7")
"""Tic-tac-toe, won by X."""


def record_of(game: Game, seed: int, *, known: bool = True, end: str = "") -> GameRecord:
    """A random game with a random opening; cut short if it did not end by the rules."""
    rng = random.Random(seed)
    played = random_game(game, seed)
    texts = [game.action_to_text(s, a) for s, a in played[:-1]]
    stop = rng.randrange(len(texts)) if end else len(texts)
    start = rng.randint(0, min(stop, 30))
    utilities = [game.utility(played[-1][0], p) for p in range(game.n_players)]
    return GameRecord(
        number=seed,
        opening=game.to_text(played[start][0]),
        opening_actions=tuple(texts[:start]) if known else None,
        players=tuple(NAMES[(p + seed) % 3] for p in range(game.n_players)),
        actions=tuple(texts[start:stop]),
        utilities=tuple(utilities),
        end=end,
        set=seed // 2,
    )


@functools.cache
def sample(name: str) -> tuple[GameRecord, ...]:
    """Games of all kinds: openings known or not, ended by the rules or not, without a move."""
    game = get_game(name)
    whole = [record_of(game, seed, known=known) for known in (True, False) for seed in (1, 2)]
    cut = [record_of(game, seed, known=known, end=end) for known in (True, False) for seed, end in enumerate(ENDS, 3)]
    empty = replace(cut[0], number=7, opening=game.to_text(game.initial()), opening_actions=(), actions=())
    return (*whole, *cut, empty, replace(empty, number=8, opening_actions=None))


def ttt(**changes: Any) -> GameRecord:
    return replace(GameRecord(1, ".........", (), ("a", "b"), WON, (1.0, -1.0)), **changes)
