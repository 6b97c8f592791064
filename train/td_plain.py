"""One game of TD learning in plain Python: the oracle of td_kernel.py, to the last bit. See `td.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from evallearn.evaluators.features import half_range
from evallearn.evaluators.layout import Layout
from evallearn.evaluators.squash import squash
from evallearn.mixing import MASK64, scramble
from evallearn.protocols import State
from evallearn.train.td import LEAST, TdSettings

STEP = 0x9E3779B97F4A7C15


class PlainTd:
    """The same weights as `TdLearner` after the same games, slowly."""

    def __init__(self, layout: Layout, settings: TdSettings) -> None:
        self.layout, self.game, self.settings = layout, layout.game, settings
        self.weights = np.zeros(layout.n_groups * layout.entries, np.float32)
        self.memory = np.zeros((len(self.weights), 2), np.float32)
        self.counter, self.games, self.moves, self.errors = scramble(settings.seed), 0, 0, 0.0

    def uniform(self) -> float:
        self.counter = (self.counter + STEP) & MASK64
        return (scramble(self.counter) >> 11) * 2.0**-53

    def places(self, s: State) -> list[int]:
        """Where the weights of `s` stand, as its mover sees it."""
        start = self.layout.group(s) * self.layout.entries
        return [start + i for i in self.layout.indices([int(c) for c in self.game.cells(s, self.game.to_play(s))])]

    def value(self, s: State) -> float:
        """What `s` is worth to its mover, as a share of a win."""
        if self.game.is_terminal(s):
            return self.game.utility(s, self.game.to_play(s)) / half_range(self.game)
        places = self.places(s)
        n = len(places) - len(places) % 4
        sums = [0.0] * 4
        for k, i in enumerate(places):
            sums[k % 4 if k < n else 0] += float(self.weights[i])
        return squash((sums[0] + sums[1]) + (sums[2] + sums[3]))

    def change(self, places: list[int], error: float, rate: float) -> None:
        for i in places:
            own = rate
            if self.settings.coherence:
                net, total = self.memory[i]
                if total > 0:
                    own *= abs(float(net)) / float(total)
                self.memory[i] += np.float32(error), np.float32(abs(error))
            self.weights[i] += np.float32(own * error)

    def teach(self, path: list[tuple[int, list[int]]], error: float, rate: float) -> None:
        """path: (mover, places) of the positions that the error reaches; the last is the one it belongs to."""
        part = error
        for mover, places in reversed(path):
            self.change(places, part if mover == path[-1][0] else -part, rate)
            part *= self.settings.lambda_
            if self.settings.lambda_ == 0 or abs(part) < LEAST:
                return

    def play(self) -> None:
        """One game against itself."""
        game, settings = self.game, self.settings
        decay = 1.0 / settings.half_life if settings.half_life else 0.0
        rate = settings.alpha / (len(self.layout.places) * (1.0 + self.games * decay))
        s, path, ply = game.initial(), list[Any](), 0
        opening = int(self.uniform() * (settings.opening_plies + 1))
        while not game.is_terminal(s):
            choices = game.actions(s)
            values = [-self.value(game.result(s, a)) for a in choices]
            best = values.index(max(values))
            path.append((game.to_play(s), self.places(s)))
            error = values[best] - self.value(s)
            self.teach(path, error, rate)
            self.errors += abs(error)
            chosen = best
            if ply < opening or self.uniform() < settings.epsilon:
                chosen = int(self.uniform() * len(choices))
                path = path if chosen == best else []
            s, ply = game.result(s, choices[chosen]), ply + 1
        self.games, self.moves = self.games + 1, self.moves + ply
