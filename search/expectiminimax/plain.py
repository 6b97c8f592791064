"""EXPECTIMINIMAX as in the textbook: maximise, minimise, and average over the dice. No pruning: the oracle."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.search import IsCutoff
from evallearn.search.common.deepening import Deepening, Line
from evallearn.search.common.requirements import cut_at_depth

LEFT_OUT: tuple[float, Line] = (-math.inf, ())
"""The value and the line of a root action that the filter does not let through: no iteration chooses it."""


class Filtered(Deepening):
    """Deepening with a filter of moves: where two or more plies are left, only the best by one ply are followed."""

    def __init__(
        self, game: Game, evaluator: Evaluator, *, width: int | None = None, is_cutoff: IsCutoff = cut_at_depth
    ) -> None:
        super().__init__(game, evaluator, is_cutoff=is_cutoff)
        self.width, self.prunes = width, self.prunes or width is not None
        if width is not None:  # a reply that was left out may refute a win
            self.certain = ()

    def passing(self, s: State, depth: int) -> Sequence[Action]:
        """Return the actions that are followed, those of the best prospects first if some are left out."""
        actions = self.game.actions(s)
        if self.width is None or depth < 2 or len(actions) <= self.width:
            return actions
        prospects = [self._prospect(self.game.result(s, a), self.game.to_play(s)) for a in actions]
        order = sorted(range(len(actions)), key=lambda i: -prospects[i])  # equal ones keep the game's order
        return [actions[i] for i in order[: self.width]]

    def _prospect(self, s: State, mover: int) -> float:
        self.budget.spend()
        if self.game.is_terminal(s):
            self.ended += 1
            return self.game.utility(s, mover)
        self.eval_calls += 1
        return self.evaluator.evaluate(s, mover)

    def root_width(self, s: State, depth: int) -> int:
        """How many root actions are followed: all in the first iteration, and if all values are wanted."""
        n = len(self.game.actions(s))
        return n if self.width is None or depth < 2 or self.all_values else min(n, self.width)

    def root_order(self) -> list[int]:
        """Return the order of the root actions: the highest value of the last iteration first, equals as before."""
        if not self.found:
            self.order = list(range(len(self.ranks)))
        else:
            self.order.sort(key=lambda i: -self.found[i][0])
        return self.order


class PlainExpectiminimax(Filtered):
    """Looks at every line. See `Expectiminimax` for which games."""

    def root_values(self, s: State, depth: int) -> list[tuple[float, Line]]:
        actions, found = self.game.actions(s), [LEFT_OUT] * len(self.ranks)
        for i in self.root_order()[: self.root_width(s, depth)]:
            found[i] = self.value(self.game.result(s, actions[i]), depth - 1)
        return found

    def value(self, s: State, depth_left: int) -> tuple[float, Line]:
        """EXPECTIMINIMAX(s) to the root's player, and the line that leads to it; a line ends where dice are rolled."""
        self.budget.spend()
        game = self.game
        if game.is_terminal(s):
            self.ended += 1
            return game.utility(s, self.player), ()
        if self.is_cutoff(s, depth_left):
            self.eval_calls += 1
            return self.evaluator.evaluate(s, self.player), ()
        if game.to_play(s) == CHANCE:
            mean = 0.0
            for outcome, p in game.chances(s):  # not sum(): from Python 3.12 on it rounds in its own way
                mean += p * self.value(game.result(s, outcome), depth_left)[0]
            return mean, ()
        choose = max if game.to_play(s) == self.player else min
        children = [(a, *self.value(game.result(s, a), depth_left - 1)) for a in self.passing(s, depth_left)]
        action, value, line = choose(children, key=lambda child: child[1])
        return value, (action, *line)
