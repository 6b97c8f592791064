"""EXPECTIMINIMAX as in the textbook: maximise, minimise, and average over the dice. No pruning: the oracle."""

from __future__ import annotations

from evallearn.protocols import CHANCE, State
from evallearn.search.deepening import Deepening, Line


class PlainExpectiminimax(Deepening):
    """Looks at every line. See `Expectiminimax` for which games."""

    def root_values(self, s: State, depth: int) -> list[tuple[float, Line]]:
        return [self.value(self.game.result(s, a), depth - 1) for a in self.game.actions(s)]

    def value(self, s: State, depth_left: int) -> tuple[float, Line]:
        """EXPECTIMINIMAX(s) to the root's player, and the line that leads to it; a line ends where dice are rolled."""
        self.budget.spend()
        game = self.game
        if game.is_terminal(s):
            self.ended += 1
            return game.utility(s, self.player), ()
        if self.is_cutoff(s, depth_left):
            self.asked += 1
            return self.evaluator.evaluate(s, self.player), ()
        if game.to_play(s) == CHANCE:
            mean = 0.0
            for outcome, p in game.chances(s):  # not sum(): from Python 3.12 on it rounds in its own way
                mean += p * self.value(game.result(s, outcome), depth_left)[0]
            return mean, ()
        choose = max if game.to_play(s) == self.player else min
        children = [(a, *self.value(game.result(s, a), depth_left - 1)) for a in game.actions(s)]
        action, value, line = choose(children, key=lambda child: child[1])
        return value, (action, *line)
