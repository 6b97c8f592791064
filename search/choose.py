"""Which search plays which game."""

from __future__ import annotations

from copy import copy
from typing import Any

from evallearn.protocols import Evaluator, Game
from evallearn.search.alphabeta import AlphaBeta
from evallearn.search.expectiminimax import Expectiminimax
from evallearn.search.maxn import MaxN


def search_for(game: Game, evaluator: Evaluator) -> Any:
    """The search that suits the game: alpha-beta, expectiminimax with dice or alone, max^n for the rest."""
    if game.n_players == 2 and game.zero_sum and not game.has_chance:
        return AlphaBeta(game, evaluator)
    game, evaluator = _downstairs(game, evaluator)
    if game.n_players == 1 or (game.n_players == 2 and game.zero_sum):
        return Expectiminimax(game, evaluator)
    return MaxN(game, evaluator)


def _downstairs(game: Game, evaluator: Evaluator) -> tuple[Game, Evaluator]:
    """A plain search on compiled rules and features, if the game has them: ten times as fast."""
    if game.rules is None:
        return game, evaluator
    from evallearn.compiled.game import CompiledGame

    game, evaluator = CompiledGame(game), copy(evaluator)
    evaluator.game = game
    return game, evaluator
