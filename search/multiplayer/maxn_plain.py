"""MAX^N as in the textbook, on the Python backend: short, slow, and the kernel's oracle."""

from __future__ import annotations

from collections.abc import Sequence

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Game, State
from evallearn.core.search import IsCutoff
from evallearn.search.common.deepening import Deepening, Line

Vector = tuple[float, ...]
TIES = {"first": 0.0, "paranoid": -1.0, "friendly": 1.0}
"""With which sign the root player's part breaks a tie."""


def value_to(values: Sequence[float], player: int, alliance: Sequence[int]) -> float:
    """Return what `player` maximises: the own part, or the sum of the alliance's parts."""
    if player not in alliance:
        return values[player]
    total = 0.0
    for p in alliance:  # not sum(): from Python 3.12 on it rounds in its own way
        total += values[p]
    return total


class PlainMaxN(Deepening):
    """See `MaxN` for what it promises."""

    def __init__(
        self, game: Game, evaluator: Evaluator, *, ties: str, alliance: tuple[int, ...], is_cutoff: IsCutoff
    ) -> None:
        super().__init__(game, evaluator, is_cutoff=is_cutoff)
        self.tie_sign, self.alliance = TIES[ties], alliance
        if alliance:  # values are sums
            self.certain = ()

    def root_values(self, s: State, depth: int) -> list[tuple[float, Line]]:
        children = [self.vector(self.game.result(s, a), depth - 1) for a in self.game.actions(s)]
        self.vectors = [vector for vector, _ in children]
        return [(value_to(vector, self.player, self.alliance), line) for vector, line in children]

    def estimate(self, s: State) -> float:
        return value_to(self.static(s), self.player, self.alliance)

    def values(self, s: State, best: int, value: float) -> Vector:
        return tuple(v + 0.0 for v in (self.vectors[best] if self.found else self.static(s)))

    def static(self, s: State) -> Vector:
        """Return what the evaluator says to each player."""
        return tuple(self.evaluator.evaluate(s, p) for p in range(self.game.n_players))

    def preference(self, values: Vector, mover: int) -> tuple[float, float]:
        """Return numbers of which the larger is the better for `mover`; the second one breaks ties."""
        own = value_to(values, mover, self.alliance)
        return own, self.tie_sign * value_to(values, self.player, self.alliance)

    def vector(self, s: State, depth_left: int) -> tuple[Vector, Line]:
        """Return what `s` is worth to each player, and the line that leads to it.

        A line ends where dice are rolled.
        """
        self.budget.spend()
        game, players = self.game, range(self.game.n_players)
        if game.is_terminal(s):
            self.ended += 1
            return tuple(game.utility(s, p) for p in players), ()
        if self.is_cutoff(s, depth_left):
            self.eval_calls += 1
            return self.static(s), ()
        mover = game.to_play(s)
        if mover == CHANCE:
            mean = [0.0] * len(players)
            for outcome, odds in game.chances(s):
                for p, value in enumerate(self.vector(game.result(s, outcome), depth_left)[0]):
                    mean[p] += odds * value
            return tuple(mean), ()
        children = [(a, *self.vector(game.result(s, a), depth_left - 1)) for a in game.actions(s)]
        action, values, line = max(children, key=lambda child: self.preference(child[1], mover))
        return values, (action, *line)
