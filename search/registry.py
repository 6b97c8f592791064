"""The searches by name, and which of them plays which game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import A, Game, S
from evallearn.core.search import Limits, Search
from evallearn.errors import unknown
from evallearn.search.alphabeta.options import sound as without_unsound
from evallearn.search.alphabeta.search import AlphaBeta
from evallearn.search.expectiminimax.search import Expectiminimax
from evallearn.search.minimax import Minimax, fixed_depth
from evallearn.search.montecarlo.flat import FlatMonteCarlo
from evallearn.search.montecarlo.mcts import MCTS
from evallearn.search.montecarlo.playouts import require_simulations
from evallearn.search.multiplayer.best_reply import BestReply
from evallearn.search.multiplayer.maxn import MaxN
from evallearn.search.multiplayer.paranoid import Paranoid

SEARCHES: Mapping[str, Callable[..., Search]] = {
    "minimax": Minimax,
    "alphabeta": AlphaBeta,
    "expectiminimax": Expectiminimax,
    "maxn": MaxN,
    "paranoid": Paranoid,
    "bestreply": BestReply,
    "mcts": MCTS,
    "flat": FlatMonteCarlo,
}
MONTE_CARLO = ("mcts", "flat")
"""The searches that can do without an evaluator, and whose answers are drawn at random."""


def usual_search(game: Game) -> tuple[str, Mapping[str, object]]:
    """Return the name of the search that suits the game, and its settings.

    Alpha-beta (with the game's own settings), expectiminimax with dice or for one alone, max^n for the rest.
    """
    if game.n_players == 2 and game.zero_sum and not game.has_chance:
        return "alphabeta", game.search_settings
    return "expectiminimax" if game.n_players == 1 or (game.n_players == 2 and game.zero_sum) else "maxn", {}


def require_limits(name: str, limits: Limits) -> None:
    """Refuse limits that the search of that name cannot keep: before anything is played."""
    if name == "minimax":
        fixed_depth(limits)
    elif name in MONTE_CARLO:
        require_simulations(limits, name)


def search_for(game: Game[S, A], evaluator: Evaluator[S], *, sound: bool = False) -> Search[S, A]:
    """Return the search that suits the game; `sound` leaves out the settings that may change a value."""
    name, settings = usual_search(game)
    return named_search(name, game, evaluator, **(without_unsound(settings) if sound else settings))


def named_search(name: str, game: Game[S, A], evaluator: Evaluator[S] | None, **settings: object) -> Search[S, A]:
    """Return the search of that name.

    Where it must stay on the python backend it runs on compiled rules at least, if the game has them. Only the Monte
    Carlo searches can do without an evaluator.
    """
    if name not in SEARCHES:
        raise unknown("search", name, SEARCHES)
    search: Search[S, A] = SEARCHES[name](game, evaluator, **settings)
    if search.backend == "python" and game.rules is not None:
        return SEARCHES[name](*_on_compiled_rules(game, evaluator), **settings)  # type: ignore[no-any-return]
    return search


def _on_compiled_rules(game: Game, evaluator: Evaluator | None) -> tuple[Game, Evaluator | None]:
    """Return the game on compiled rules and the evaluator for it: the same, ten times as fast."""
    from evallearn.compiled.game import CompiledGame

    fast, evaluator = CompiledGame(game), copy(evaluator)
    if evaluator is not None:  # it may see the same game through other eyes
        evaluator.game = fast if evaluator.game.name == game.name else CompiledGame(evaluator.game)
    return fast, evaluator
