"""The searches of models that learn from them, in plain Python: the oracle of search_kernel.py."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Action, Game, State
from evallearn.search.alphabeta.plain import Line, PlainAlphaBeta
from evallearn.search.common.budget import Budget
from evallearn.train.draws import Draws
from evallearn.train.leaves import search_options


class NotingAlphaBeta(PlainAlphaBeta):
    """Tells `note(s, value, alpha, beta)` of every quiet node it has searched."""

    note: Any = None

    def begin(self) -> None:
        self.budget, self.killers, self.history = Budget(None, None), defaultdict(list), defaultdict(int)
        self.eval_calls = self.leaf_calls = self.unsound = 0

    def _value(
        self, s: State, depth: int, ply: int, alpha: float, beta: float, lengthened: int, passed: bool = False
    ) -> tuple[float, Line]:
        found = super()._value(s, depth, ply, alpha, beta, lengthened, passed)
        if self.note is not None and depth > 0 and not self.game.is_terminal(s):
            self.report_node(s, found[0], alpha, beta)
        return found

    def report_node(self, s: State, value: float, alpha: float, beta: float) -> None:
        """Tell of a node where EVAL could be asked: amid exchanges it would learn that pieces are worth little."""
        left = self.options.quiescence
        if left > 0:
            static = np.float32(self.evaluator.evaluate(s, self.game.to_play(s)))
            above = float(np.nextafter(static, np.float32(np.inf)))
            if self.game.forcing(s) or self._quiet(s, left, float(static), above) > static:
                return
        self.note(s, value, alpha, beta)


class PlainSearches:
    """Searches to a depth, and where their values come from."""

    def __init__(self, game: Game, evaluator: Evaluator, depth: int, draws: Draws) -> None:
        self.game, self.depth, self.draws = game, depth, draws
        self.searching = NotingAlphaBeta(game, evaluator, search_options(game))

    def shuffle(self, actions: list[Action]) -> None:
        for i in range(len(actions) - 1, 0, -1):
            j = int(self.draws.uniform() * (i + 1))
            actions[i], actions[j] = actions[j], actions[i]

    def search(self, s: State, actions: list[Action]) -> tuple[int, float, Line]:
        """Return the number of the best action, its value to the mover, and the line."""
        self.searching.begin()
        best, chosen, player = -math.inf, 0, self.game.to_play(s)
        line: Line = ()
        for i, a in enumerate(actions):
            child = self.game.result(s, a)
            value, below = self.searching._child(child, player, self.depth - 1, 1, best, math.inf)
            if value > best:
                best, chosen, line = value, i, (a, *below)
        if self.searching.note is not None:
            self.searching.report_node(s, best, -math.inf, math.inf)
        return chosen, best, line

    def leaf_of(self, s: State, line: Line) -> State:
        for a in line:
            s = self.game.result(s, a)
        left = self.searching.options.quiescence
        while left > 0 and not self.game.is_terminal(s):
            after = self.next_quiet(s, left)
            if after is None:
                break
            s, left = after, left - 1
        return s

    def next_quiet(self, s: State, left: int) -> State | None:
        """Return the position after the action by which quiescence gets its value.

        It is None where the value is the evaluator's own.
        """
        game, player = self.game, self.game.to_play(s)
        value = self.searching._quiet(s, left, -math.inf, math.inf)
        if not game.forcing(s) and self.searching.evaluator.evaluate(s, player) == value:
            return None
        for a in game.actions(s) if game.forcing(s) else game.noisy_actions(s):
            t = game.result(s, a)
            own = game.to_play(t)
            v = game.utility(t, own) if game.is_terminal(t) else self.searching._quiet(t, left - 1, -math.inf, math.inf)
            if (v if own == player else -v) == value:
                return t
        return None
