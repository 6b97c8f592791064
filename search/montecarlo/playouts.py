"""Random playouts on the Python backend, and what Monte Carlo searches ask of game, evaluator and limits."""

from __future__ import annotations

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Game, State
from evallearn.core.rng import SplitMix64
from evallearn.core.search import Limits
from evallearn.errors import SearchError

LONGEST_PLAYOUT = 10_000
"""Plies after which a playout is cut where the game has no rules for the compiled backend that name a bound."""

Vector = tuple[float, ...]
"""What something is worth to each player."""


class Playouts:
    """Plays at random to the end, or for so many plies; then the evaluator answers, or the middle of the utilities."""

    def __init__(self, game: Game, evaluator: Evaluator | None, plies: int) -> None:
        self.game, self.evaluator, self.plies = game, evaluator, plies
        self.players, self.middle = range(game.n_players), middle(game)
        self.two_sided = game.n_players == 2 and game.zero_sum

    def __call__(self, s: State, rng: SplitMix64) -> Vector:
        """Play on from the unfinished `s` and return what became of it."""
        game = self.game
        for _ in range(self.plies):
            if game.to_play(s) == CHANCE:
                chances = game.chances(s)
                s = game.result(s, chances[rng.index(chances)][0])
            else:
                actions = game.actions(s)
                s = game.result(s, actions[rng.below(len(actions))])
            if game.is_terminal(s):
                return self.end(s)
        return self.guess(s)

    def end(self, s: State) -> Vector:
        """Return the utilities of a finished game."""
        return tuple(self.game.utility(s, p) for p in self.players)

    def guess(self, s: State) -> Vector:
        """Return what is known of an unfinished game."""
        if self.evaluator is None:
            return tuple(self.middle for _ in self.players)
        if self.two_sided:
            value = self.evaluator.evaluate(s, 0)
            return value, -value
        return tuple(self.evaluator.evaluate(s, p) for p in self.players)


def middle(game: Game) -> float:
    """Neither won nor lost."""
    return sum(game.utility_range) / 2


def longest_playout(game: Game) -> int:
    """Plies after which a playout is cut in any case; a roll is a ply too."""
    return LONGEST_PLAYOUT if game.rules is None else game.rules.max_plies


def playout_plies(game: Game, evaluator: Evaluator | None, playout_depth: int | None) -> int:
    """Return the plies of a playout: all, or `playout_depth`, which needs an evaluator."""
    if playout_depth is None:
        return longest_playout(game)
    if isinstance(playout_depth, bool) or not isinstance(playout_depth, int) or playout_depth < 0:
        raise SearchError(f"playout_depth={playout_depth!r}: give 0 or more plies, or None to play to the end")
    if evaluator is None:
        raise SearchError(
            f"playout_depth={playout_depth} needs an evaluator to ask there: give one, or play to the end"
        )
    return min(playout_depth, longest_playout(game))


def require_simulations(limits: Limits, search: str) -> None:
    """Refuse a depth alone: it would never end."""
    if limits.nodes is None and limits.seconds is None:
        raise SearchError(f"{search} counts simulations: give nodes or time, not only {limits}")
