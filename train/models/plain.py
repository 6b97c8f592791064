"""The models in plain Python: the oracles of their kernels, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from evallearn.core.game import Game, State
from evallearn.evaluators import LinearEval
from evallearn.evaluators.features import half_range
from evallearn.evaluators.squash import squash
from evallearn.train.draws import Draws
from evallearn.train.models import Model
from evallearn.train.models.frozen_net import MAX_NODES, NODE_DRAWS, FrozenNet
from evallearn.train.models.linear import LinearModel, used_features
from evallearn.train.models.patterns import PatternModel


class PlainTables:
    """`PatternModel`, slowly."""

    outputs = 1

    def __init__(self, model: PatternModel) -> None:
        self.layout, self.game, self.settings = model.layout, model.game, model.settings
        self.weights, self.error_sums = np.zeros_like(model.weights), np.zeros_like(model.error_sums)
        self.parts = len(self.layout.places)

    def read(self, s: State) -> list[int]:
        """Return where the weights of `s` stand, as its mover sees it."""
        start = self.layout.group(s) * self.layout.entries
        return [start + i for i in self.layout.indices([int(c) for c in self.game.cells(s, self.game.to_play(s))])]

    def predict(self, row: list[int]) -> float:
        """Return the value to the mover, as a share of a win."""
        n, sums = len(row) - len(row) % 4, [0.0] * 4
        for k, i in enumerate(row):
            sums[k % 4 if k < n else 0] += float(self.weights[i])
        return squash((sums[0] + sums[1]) + (sums[2] + sums[3]))

    def update(self, row: list[int], error: float, step: float) -> None:
        for i in row:
            own = step
            if self.settings.temporal_coherence:
                net, total = self.error_sums[i]
                if total > 0:
                    own *= max(self.settings.min_step_ratio or 0.0, abs(float(net)) / float(total))
                self.error_sums[i] += np.float32(error), np.float32(abs(error))
            self.weights[i] += np.float32(own * error)


class LearningEval(LinearEval):
    """A linear evaluator whose weights may change, in double precision."""

    def __init__(self, start: LinearEval) -> None:
        super().__init__(start.game, np.zeros_like(start.weights))
        self.w = np.column_stack([start.weights, start.bias]).astype(float)
        """float64[n_phases, n_features + 1]: the bias last."""

    def raw(self, x: Any, phase: int) -> float:
        weights = self.w[phase].tolist()
        total: float = weights[-1]
        for w, f in zip(weights[:-1], x, strict=True):
            total += w * f
        return total


class PlainLinear:
    """`LinearModel`, slowly."""

    outputs = parts = 1

    def __init__(self, model: LinearModel) -> None:
        self.game: Game = model.game
        self.evaluator = LearningEval(model.start)
        self.per_phase, self.temporal_coherence = model.per_phase, model.temporal_coherence
        n = len(self.game.feature_names)
        self.used = used_features(self.game, model.features)
        self.gradient, self.notes = np.zeros((self.game.n_phases, n + 1)), 0
        self.error_sums, self.error_sizes = np.zeros_like(self.gradient), np.zeros_like(self.gradient)
        self.squares, self.inverse, self.seen = np.zeros(n), np.zeros(n), 0

    @property
    def weights(self) -> np.ndarray:
        """float64[n_phases, n_features]."""
        return np.ascontiguousarray(self.evaluator.w[:, :-1])

    def read(self, s: State) -> tuple[list[float], int]:
        """Return the features, as the mover sees them, and the phase."""
        x: list[float] = np.asarray(self.game.features(s, self.game.to_play(s)), np.float32).tolist()
        return x, self.game.phase(s)

    def predict(self, row: tuple[list[float], int]) -> float:
        """Return the value to the mover, as a share of a win."""
        return squash(self.evaluator.raw(*row))

    def visit(self, row: tuple[list[float], int], draws: Draws) -> None:
        """Count how large the features are in the positions of games."""
        self.seen += 1
        self.squares += np.square(row[0])
        known = self.used & (self.squares > 0.0)
        self.inverse[known] = self.seen / self.squares[known]

    def update(self, row: tuple[list[float], int], error: float, step: float) -> None:
        self.note(row, error)
        self.take(step)

    def on_node(self, s: State, value: float, alpha: float, beta: float) -> None:
        """Note what a search said of `s`, unless that is a bound which the model keeps."""
        error = (value - self.evaluator.evaluate(s, self.game.to_play(s))) / self.evaluator.scale
        if not (value >= beta and error < 0.0) and not (value <= alpha and error > 0.0):
            self.note(self.read(s), error)

    def note(self, row: tuple[list[float], int], error: float) -> None:
        x, k = row
        size = 1.0
        for f, share in zip(x, self.inverse.tolist(), strict=True):
            size += f * f * share
        part = error / max(size, len(x) + 1.0)
        for j in [k] if self.per_phase else range(self.game.n_phases):
            self.gradient[j] += part * np.array([*x, 1.0])
        self.notes += 1

    def take(self, step: float) -> None:
        """Move the weights by the mean of what was noted."""
        if not self.notes:
            return
        own = step * self.gradient / self.notes
        if self.temporal_coherence:
            moved = (self.gradient != 0.0) & (self.error_sizes > 0.0)
            own[moved] *= (np.abs(self.error_sums) / np.where(moved, self.error_sizes, 1.0))[moved]
            self.error_sums += self.gradient
            self.error_sizes += np.abs(self.gradient)
        self.evaluator.w += own * np.append(self.inverse, 1.0)
        self.gradient[:], self.notes = 0.0, 0


class PlainNet:
    """`FrozenNet`, slowly: `lessons` are the positions, and what they should have been worth."""

    parts = 1

    def __init__(self, player: FrozenNet) -> None:
        self.game, self.evaluator, self.outputs = player.game, player.net, player.outputs
        self.scale, self.lessons = half_range(player.game), list[tuple[State, np.ndarray]]()
        self.noted, self.nodes, self.node_draws = list[tuple[State, np.ndarray]](), 0, Draws(0)

    def read(self, s: State) -> State:
        """Return the position itself."""
        return s

    def predict(self, s: State) -> float:
        """Return the value to whoever sees the position, as a share of a win."""
        total = self.evaluator.levels[0] - self.evaluator.middle
        for step, p in zip(self.evaluator.steps.tolist(), self.probabilities(s), strict=True):
            total += step * p
        return float(total) / self.scale

    def probabilities(self, s: State) -> list[float]:
        """Return P(utility >= level) for every level but the lowest, to whoever sees the position."""
        return self.evaluator.probabilities(*self.evaluator.observe(s, self.game.observer(s)))

    def outputs_of(self, s: State) -> list[float]:
        """Return the same as values, 2 p - 1."""
        return [2.0 * p - 1.0 for p in self.probabilities(s)]

    def result_outputs(self, u: float) -> list[float]:
        """Return the same of a game that brought `u`."""
        steps = zip(self.evaluator.levels[:-1], self.evaluator.steps.tolist(), strict=True)
        return [2.0 * min(1.0, max(0.0, (u - level) / step)) - 1.0 for level, step in steps]

    def lesson(self, s: State, value: list[float], error: list[float]) -> None:
        """Write down that the position should have been worth value + error."""
        found = [(1.0 + (v + e)) / 2.0 for v, e in zip(value, error, strict=True)]
        self.lessons.append((s, np.array(found, np.float32)))

    def visit(self, s: State, draws: Draws) -> None:
        """Forget the nodes of the search before."""
        self.noted, self.nodes, self.node_draws.counter = [], 0, draws.counter ^ NODE_DRAWS

    def on_node(self, s: State, value: float, alpha: float, beta: float) -> None:
        """Note what a search said of `s`, unless that is a bound which the net keeps."""
        said = self.evaluator.evaluate(s, self.game.to_play(s))
        if (value >= beta and value < said) or (value <= alpha and value > said):
            return
        self.nodes += 1
        lesson = s, np.array([(1.0 + value / self.scale) / 2.0], np.float32)
        if self.nodes <= MAX_NODES:
            self.noted.append(lesson)
        elif (place := int(self.node_draws.uniform() * self.nodes)) < MAX_NODES:
            self.noted[place] = lesson

    def take(self, step: float) -> None:
        """Turn the nodes that were noted into lessons."""
        self.lessons += self.noted


def plain_model(model: Model | FrozenNet) -> Any:
    """Return the model in plain Python, before it has learned anything."""
    if isinstance(model, FrozenNet):
        return PlainNet(model)
    return PlainLinear(model) if isinstance(model, LinearModel) else PlainTables(model)  # type: ignore[arg-type]  # no other
