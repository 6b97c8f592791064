"""MAX^N: every player maximises their own part of a vector of values (Luckhardt & Irani, 1986)."""

from __future__ import annotations

from evallearn.protocols import CHANCE, State
from evallearn.search.deepening import Deepening, Line

Vector = tuple[float, ...]


class MaxN(Deepening):
    """For any number of players, any sum, with or without chance.

    A player who is indifferent takes the earliest action; with three players that choice can matter to the others.
    """

    def root_values(self, s: State, depth: int) -> list[tuple[float, Line]]:
        player = self.game.to_play(s)
        children = [self.vector(self.game.result(s, a), depth - 1) for a in self.game.actions(s)]
        return [(values[player], line) for values, line in children]

    def vector(self, s: State, depth_left: int) -> tuple[Vector, Line]:
        """What `s` is worth to each player, and the line that leads to it; a line ends where dice are rolled."""
        self.budget.spend()
        game, players = self.game, range(self.game.n_players)
        if game.is_terminal(s):
            self.ended += 1
            return tuple(game.utility(s, p) for p in players), ()
        if self.is_cutoff(s, depth_left):
            self.asked += 1
            return tuple(self.evaluator.evaluate(s, p) for p in players), ()
        mover = game.to_play(s)
        if mover == CHANCE:
            rolls = [(p, self.vector(game.result(s, roll), depth_left)[0]) for roll, p in game.chances(s)]
            return tuple(sum(p * values[i] for p, values in rolls) for i in players), ()
        children = [(a, *self.vector(game.result(s, a), depth_left - 1)) for a in game.actions(s)]
        action, values, line = max(children, key=lambda child: child[1][mover])
        return values, (action, *line)
