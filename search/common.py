"""What the searches share: who they can play, how ties are broken, the default cutoff test."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable
from time import perf_counter
from typing import Any

import numpy as np

from evallearn.errors import SearchError
from evallearn.protocols import CHANCE, Evaluator, Game

ASPIRATION = 1 / 8
"""How far from the value of two plies before, as a part of a win, alpha-beta looks first."""
MAX_DEPTH = 120
"""Iterations: more than any game of the toolkit can be searched; depths are stored in one byte."""

NULL_DEPTH = 3
"""Null moves are tried from this depth on."""
LATE_DEPTH, LATE_FROM = 3, 3
"""Late moves: less deep from this depth on, after so many actions."""
FUTILITY = tuple(np.float32(math.tanh(0.12 * pawns)) for pawns in (0.0, 1.5, 3.0, 4.5))
"""By depth left: how much EVAL may be wrong, in a pawn and a half of chess by its hand-written Evals (0.12 before the
squashing). Squashed already, because tanh(a + b) needs only tanh(a) and tanh(b)."""
FUTILITY_DEPTH = len(FUTILITY) - 1
INSIDE = np.float32(1 - 2**-20)
"""The largest EVAL, as a share of a win, that futility reckons with: nearer to a win float32 would take it for one."""

EVAL_ORDER_DEPTH = 3
"""Actions are ordered by EVAL from this depth on: nearer to the cutoff that costs more nodes than it saves."""
EVAL_SCORES = 1 << 26
"""What an order by EVAL is counted in: so many steps from the middle to a win."""


def eval_score(value: float, win: float) -> int:
    """A value as a score by which actions are ordered, from 0 for a loss to 2 * EVAL_SCORES for a win."""
    return EVAL_SCORES + int(value / win * EVAL_SCORES)


def null_reduction(depth: int) -> int:
    """So much less deep is a null move searched."""
    return 2 if depth < 6 else 3


def late_reduction(depth: int, searched: int) -> int:
    """So much less deep is a late move searched after so many others."""
    return 2 if depth >= 5 and searched >= 8 else 1


def shifted(value: Any, margin: Any) -> Any:
    """float32: tanh(a + b) of value = tanh(a) and margin = tanh(b); a value as a share of a win."""
    return (value + margin) / (np.float32(1.0) + value * margin)


def cut_at_depth(s: Any, depth_left: int) -> bool:
    """The default IS-CUTOFF: the Eval is asked where no depth is left."""
    return depth_left <= 0


def require_two_player_zero_sum(game: Game, search: str) -> None:
    """Refuse, at construction, a game that minimax cannot play."""
    needs = f"{search} needs a two-player zero-sum game without chance"
    if game.has_chance:
        raise SearchError(f"{needs}; {game.name} rolls dice: use expectiminimax")
    if game.n_players != 2:
        raise SearchError(f"{needs}; {game.name} has {game.n_players} players: use max^n")
    if not game.zero_sum:
        raise SearchError(f"{needs}; {game.name} is not zero-sum: use max^n")


def is_minimax(game: Game) -> bool:
    """True for a two-player zero-sum game without chance."""
    return game.n_players == 2 and game.zero_sum and not game.has_chance


def values_to_all(game: Game, player: int, value: float) -> tuple[float, ...] | None:
    """The utilities to all players, if that to one player tells them: of one alone, or of two in a zero-sum game."""
    if game.n_players == 1:
        return (value + 0.0,)
    if game.n_players > 2 or not game.zero_sum:
        return None
    return (value + 0.0, 0.0 - value) if player == 0 else (0.0 - value, value + 0.0)


def require_own_eval(game: Game, evaluator: Evaluator) -> None:
    """Refuse an Eval that was made for another game."""
    if evaluator.game.plays != game.plays:
        raise SearchError(f"the {evaluator.name} Eval is of {evaluator.game.name}, not of {game.name}: choose another")


def tie_ranks(n: int, seed: int | None) -> list[int]:
    """Among equally good root actions the lowest rank wins: the earliest action, or a seeded shuffle."""
    ranks = list(range(n))
    if seed is not None:
        random.Random(seed).shuffle(ranks)
    return ranks


def require_unfinished(game: Game, s: Hashable) -> None:
    """There is nothing to search where the game is over."""
    if game.is_terminal(s):
        raise SearchError(f"the game is over in {game.name} position {game.to_text(s)!r}: there is nothing to search")


def require_decision(game: Game, s: Hashable) -> None:
    """There is nothing to choose where the game is over or dice are to be rolled."""
    require_unfinished(game, s)
    if game.to_play(s) == CHANCE:
        raise SearchError(f"{game.name} position {game.to_text(s)!r} waits for the dice: roll them first")


class Stopped(Exception):
    """A limit was reached in the middle of an iteration."""


class Budget:
    """Counts nodes and watches the clock for a plain search; `spend` raises Stopped where a limit is reached."""

    def __init__(self, nodes: int | None, seconds: float | None) -> None:
        self.nodes = 0
        self.limit = nodes
        self.start = perf_counter()
        self.end = None if seconds is None else self.start + seconds

    def spend(self) -> None:
        if self.limit is not None and self.nodes >= self.limit:
            raise Stopped
        self.nodes += 1
        if self.end is not None and perf_counter() > self.end:
            raise Stopped

    @property
    def seconds(self) -> float:
        return perf_counter() - self.start
