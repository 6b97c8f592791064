"""Sets: the games in which one opening is played from every seat, and what they say about A and B.

Two players: the opening twice, seats swapped. One player: each of the two alone with the same luck. More: every
seating in which both take part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import fsum

from evallearn.core.game import Action, Game
from evallearn.core.json_shapes import JsonDict

Seats = tuple[int, ...]
"""Who sits where: 0 is A, 1 is B."""


@dataclass(slots=True)
class Played:
    """One game as a worker sends it back; pairs are [A, B]."""

    seats: Seats
    actions: list[Action]
    """After the opening, rolls of the dice included."""
    utilities: list[float]
    """To each player."""
    moves: list[int]
    nodes: list[int]
    seconds: list[float]
    """Spent choosing, by the clock; compiling is left out."""
    luck: float | None = None
    """What the dice gave player 0, in utility, as an evaluator measures it; None if none did."""
    end: str = ""
    """Empty: by the rules. Else `forfeit: why` or `adjudicated: which rule`."""
    forfeited_by: int | None = None
    """0 is A, 1 is B."""

    def to_json(self) -> JsonDict:
        """Return plain types, if the actions are."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class SetScore:
    """What a set says about A."""

    points: float
    """0, 1/4, 1/2, 3/4 or 1."""
    results: tuple[int, ...]
    """1 for a win of A, 0 for a draw, -1 for a loss: of each game, or of the whole set where games have no winner."""
    margin: float
    """Two players, zero-sum: the mean utility to A. Else the mean of A's utilities less the mean of B's."""
    luck: float | None
    """How much of the margin the dice gave."""


def seatings(n_players: int) -> tuple[Seats, ...]:
    """Return every way to seat A and B so that both take part; a single seat is taken by one after the other."""
    if n_players == 1:
        return (0,), (1,)
    return tuple(s for s in product((0, 1), repeat=n_players) if 0 < sum(s) < n_players)


def by_game(game: Game) -> bool:
    """Return True if each game is won, drawn or lost; else only whole sets are compared."""
    return game.n_players == 2 and game.zero_sum and not game.scored


def score_set(game: Game, played: Sequence[Played]) -> SetScore:
    """Score the set's games for A. An agent against itself scores exactly 1/2 with margin 0."""
    mine = [u for g in played for u, side in zip(g.utilities, g.seats, strict=True) if side == 0]
    theirs = [u for g in played for u, side in zip(g.utilities, g.seats, strict=True) if side == 1]
    margin = fsum(mine) / len(mine) - fsum(theirs) / len(theirs)
    zero_sum_pair = game.n_players == 2 and game.zero_sum
    if zero_sum_pair:
        margin = fsum(mine) / len(mine)
    luck = _luck(played) if zero_sum_pair else None
    if not by_game(game):
        result = _sign(margin)
        return SetScore(0.5 + 0.5 * result, (result,), margin, luck)
    results = tuple(_sign(u) for u in mine)
    return SetScore(0.5 + 0.25 * sum(results), results, margin, luck)


def _luck(played: Sequence[Played]) -> float | None:
    """Return the mean luck of A; None where a game has none."""
    found = [(g.luck if g.seats[0] == 0 else -g.luck) for g in played if g.luck is not None]
    return fsum(found) / len(found) if len(found) == len(played) else None


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)
