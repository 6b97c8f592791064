"""Random playouts on the upper floor, and what every Monte Carlo search asks of its game, its Eval and its limits."""

from __future__ import annotations

from collections.abc import Sequence

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.rng import MASK64, scramble
from evallearn.core.search import Limits
from evallearn.errors import SearchError

GOLDEN = 0x9E3779B97F4A7C15
"""The step of SplitMix64: 2**64 divided by the golden ratio."""
LONGEST_PLAYOUT = 10_000
"""Plies after which a playout is cut where the game has no rules for the compiled floor that name a bound."""

Vector = tuple[float, ...]
"""What something is worth to each player."""


class Stream:
    """Random numbers that both floors can draw: SplitMix64."""

    def __init__(self, seed: int | None) -> None:
        self.state = first_word(seed)

    def word(self) -> int:
        self.state = (self.state + GOLDEN) & MASK64
        return scramble(self.state)

    def below(self, n: int) -> int:
        """0 .. n - 1; the bias is below n / 2**32."""
        return ((self.word() >> 32) * n) >> 32

    def index(self, chances: Sequence[tuple[Action, float]]) -> int:
        """Which outcome the dice say."""
        point, reached = (self.word() >> 11) * 2.0**-53, 0.0
        for i, (_, probability) in enumerate(chances[:-1]):
            reached += probability
            if point < reached:
                return i
        return len(chances) - 1


def first_word(seed: int | None) -> int:
    """Where the random numbers of a search begin; without a seed always at the same place."""
    return scramble(0 if seed is None else seed)


class Playouts:
    """Plays at random to the end, or for so many plies; there the Eval answers, or the middle of the utility range."""

    def __init__(self, game: Game, evaluator: Evaluator | None, plies: int) -> None:
        self.game, self.evaluator, self.plies = game, evaluator, plies
        self.players, self.middle = range(game.n_players), middle(game)
        self.two_sided = game.n_players == 2 and game.zero_sum

    def __call__(self, s: State, stream: Stream) -> Vector:
        """What became of the unfinished `s`."""
        game = self.game
        for _ in range(self.plies):
            if game.to_play(s) == CHANCE:
                chances = game.chances(s)
                s = game.result(s, chances[stream.index(chances)][0])
            else:
                actions = game.actions(s)
                s = game.result(s, actions[stream.below(len(actions))])
            if game.is_terminal(s):
                return self.end(s)
        return self.guess(s)

    def end(self, s: State) -> Vector:
        """The utilities of a finished game."""
        return tuple(self.game.utility(s, p) for p in self.players)

    def guess(self, s: State) -> Vector:
        """What is known of an unfinished one."""
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


def playout_plies(game: Game, evaluator: Evaluator | None, rollout_depth: int | None) -> int:
    """The plies of a playout: all, or `rollout_depth`, which needs an Eval."""
    if rollout_depth is None:
        return longest_playout(game)
    if isinstance(rollout_depth, bool) or not isinstance(rollout_depth, int) or rollout_depth < 0:
        raise SearchError(f"rollout_depth={rollout_depth!r}: give 0 or more plies, or None to play to the end")
    if evaluator is None:
        raise SearchError(f"rollout_depth={rollout_depth} needs an Eval to ask there: give one, or play to the end")
    return min(rollout_depth, longest_playout(game))


def require_simulations(limits: Limits, search: str) -> None:
    """Refuse a depth alone: it would never end."""
    if limits.nodes is None and limits.seconds is None:
        raise SearchError(f"{search} counts simulations: give nodes or time, not only {limits}")
