"""How a won or lost position ends: whether that is proven, and in how many plies.

The principal variation does not tell: of several replies that all lose it shows any one, and a table may cut it short.
So a small search is made that prunes nothing unsound and lengthens no line: the first depth at which it sees the win
is how long the win takes.
"""

from __future__ import annotations

from dataclasses import dataclass

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Action, Game, State
from evallearn.core.search import Limits, Search, SearchResult
from evallearn.search.alphabeta.options import LENGTHENING, MISLEADING, UNSOUND
from evallearn.search.alphabeta.search import AlphaBeta
from evallearn.search.common.requirements import cut_at_depth, is_minimax

NODES = {"compiled": 300_000, "python": 1_000}
"""Of the small search: some tenths of a second."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known of the value of a position, and of the end that it foretells."""

    proven: bool
    plies: int | None = None
    """Of a win or a loss that is proven: plies to the end of the game, the action that was found included, if both play
    as well as one can; None where the small search did not get so far."""


def ending(game: Game, search: Search | None, s: State, found: SearchResult) -> Ending:
    """How the position ends after `found.action`, as far as `search`, which found it (None: a program), can tell."""
    low, high = game.utility_range
    if found.value not in (low, high):
        return Ending(found.exact)
    if game.is_terminal(game.result(s, found.action)):
        proven = found.exact or found.value == high
        return Ending(proven, 1 if proven else None)
    prover = _prover(game, search)
    if prover is None:
        return Ending(found.exact)
    plies = _plies(game, prover, s, found.action, found.value)
    if found.exact or (found.value == high and plies is not None):
        return Ending(True, plies)
    limits = Limits(nodes=NODES[prover.backend])
    proven = any(
        result.exact and result.value == found.value
        for result in (prover.search_without(off, s, limits) for off in (UNSOUND, MISLEADING))
    )
    return Ending(proven, plies if proven else None)


def plies_to_end(game: Game, search: Search | None, s: State, action: Action, value: float) -> int | None:
    """Plies from `s` to the end after `action`, which is known to be worth `value` to who plays it: a win or a loss.

    None where a small search does not tell, or where the value is neither.
    """
    if value not in game.utility_range:
        return None
    if game.is_terminal(game.result(s, action)):
        return 1
    prover = _prover(game, search)
    return None if prover is None else _plies(game, prover, s, action, value)


def _prover(game: Game, search: Search | None) -> AlphaBeta | None:
    """Alpha-beta that makes the small searches, or None for a game that it does not play."""
    if isinstance(search, AlphaBeta):
        return search
    evaluator: Evaluator | None = getattr(search, "evaluator", None)
    if search is None or evaluator is None or not is_minimax(game):
        return None
    return AlphaBeta(search.game, evaluator, backend="python")


def _plies(game: Game, prover: AlphaBeta, s: State, action: Action, value: float) -> int | None:
    if prover.options.is_cutoff is not cut_at_depth:  # its depths are no plies
        return None
    after, player = game.result(s, action), game.to_play(s)
    found = prover.search_without((*LENGTHENING, *UNSOUND), after, Limits(nodes=NODES[prover.backend]))
    found_value = found.value if found.player == player else 0.0 - found.value
    return 1 + found.depth if found.exact and found_value == value else None
