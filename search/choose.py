"""Which search plays which game."""

from __future__ import annotations

from copy import copy

from evallearn.protocols import Evaluator, Game, Search
from evallearn.search.alphabeta import AlphaBeta
from evallearn.search.expectiminimax import Expectiminimax
from evallearn.search.maxn import MaxN
from evallearn.search.options import sound as without_unsound


def search_for(game: Game, evaluator: Evaluator, *, sound: bool = False) -> Search:
    """The search that suits the game: alpha-beta, expectiminimax with dice or alone, max^n for the rest.

    Alpha-beta with the game's own settings; `sound` leaves out those that may change a value.
    """
    if game.n_players == 2 and game.zero_sum and not game.has_chance:
        settings = dict(game.search_settings)
        return AlphaBeta(game, evaluator, **(without_unsound(settings) if sound else settings))
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
