"""Which games a search can play, how ties are broken, the default cutoff test."""

from __future__ import annotations

import random
from collections.abc import Hashable

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Game, State
from evallearn.errors import SearchError

MAX_DEPTH = 120
"""Iterations: more than any game of the toolkit can be searched; depths are stored in one byte."""


def cut_at_depth(s: State, depth_left: int) -> bool:
    """Return True where no depth is left, and so the evaluator is asked: the default IS-CUTOFF."""
    return depth_left <= 0


def require_game(game: object) -> None:
    """Refuse what is no game: arguments in the wrong order, or a game's name."""
    if not isinstance(game, Game):
        given = repr(game) if isinstance(game, str) else f"a {type(game).__name__}"
        raise SearchError(
            f"a search was given {given} as its game: give get_game('NAME') or a game of your own, then an evaluator"
        )


def require_two_player_zero_sum(game: Game, search: str) -> None:
    """Refuse, at construction, a game that minimax cannot play."""
    require_game(game)
    needs = f"{search} needs a two-player zero-sum game without chance"
    if game.has_chance:
        raise SearchError(f"{needs}; {game.name} rolls dice: use expectiminimax")
    if game.n_players != 2:
        raise SearchError(f"{needs}; {game.name} has {game.n_players} players: use max^n")
    if not game.zero_sum:
        raise SearchError(f"{needs}; {game.name} is not zero-sum: use max^n")


def is_minimax(game: Game) -> bool:
    """Return True for a two-player zero-sum game without chance."""
    return game.n_players == 2 and game.zero_sum and not game.has_chance


def values_to_all(game: Game, player: int, value: float) -> tuple[float, ...] | None:
    """Return the utilities to all players, or None if that to one player does not tell them.

    It tells them in a game of one player, and in a zero-sum game of two.
    """
    if game.n_players == 1:
        return (value + 0.0,)
    if game.n_players > 2 or not game.zero_sum:
        return None
    return (value + 0.0, 0.0 - value) if player == 0 else (0.0 - value, value + 0.0)


def require_own_eval(game: Game, evaluator: Evaluator) -> None:
    """Refuse what is no evaluator, and an evaluator that was made for another game."""
    require_game(game)
    if not isinstance(evaluator, Evaluator):
        remedy = "FunctionEval(game, function)" if callable(evaluator) else "heuristic(game, name)"
        raise SearchError(f"a search was given a {type(evaluator).__name__} as its evaluator: write {remedy}")
    if evaluator.game.plays != game.plays:
        raise SearchError(
            f"the {evaluator.name} evaluator is of {evaluator.game.name}, not of {game.name}: choose another"
        )


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
