"""Games against itself in plain Python: the oracle of the episode kernel, to the last bit. See `settings.py`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evallearn.core.game import State
from evallearn.evaluators.features import half_range
from evallearn.evaluators.squash import squash
from evallearn.train.draws import Draws
from evallearn.train.models.patterns import PatternModel
from evallearn.train.selfplay.rounds import learner_seed
from evallearn.train.selfplay.settings import ADVERSARY_WEIGHT, RESIGN_PLAYTHROUGH, SelfPlaySettings, inverse


class Decision(NamedTuple):
    """A position of a game."""

    mover: int
    row: list[int]
    """What the model reads of it."""
    td_error: float
    """What look-ahead says, less what the model said."""
    trace: float
    """The probability of the move by the target: 1 for the best and 0 for others if nothing is random."""


class PlainTables:
    """`PatternModel`, slowly."""

    def __init__(self, model: PatternModel) -> None:
        self.layout, self.game, self.settings = model.layout, model.game, model.settings
        self.weights, self.error_sums = np.zeros_like(model.weights), np.zeros_like(model.error_sums)

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


class PlainEpisodes:
    """The same weights as `EpisodeLearner` after the same games, slowly."""

    def __init__(self, model: PatternModel, settings: SelfPlaySettings) -> None:
        self.model, self.game, self.settings = PlainTables(model), model.game, settings.suited(model.usual())
        self.parts = len(model.layout.places)
        self.uniform, self.games, self.moves, self.errors = Draws(settings.seed).uniform, 0, 0, 0.0

    @property
    def weights(self) -> np.ndarray:
        return self.model.weights

    def value(self, s: State) -> float:
        """Return what `s` is worth to its mover, as a share of a win."""
        if self.game.is_terminal(s):
            return self.game.utility(s, self.game.to_play(s)) / half_range(self.game)
        return self.model.predict(self.model.read(s))

    def ahead(self, s: State, depth: int, player: int) -> float:
        """Return the value to the player by so many plies of minimax: what alpha-beta finds, without its bounds."""
        mover = self.game.to_play(s)
        if depth == 0 or self.game.is_terminal(s):
            return self.value(s) if mover == player else -self.value(s)
        best = max(self.ahead(self.game.result(s, a), depth - 1, mover) for a in self.game.actions(s))
        return best if mover == player else -best

    def learn_from(self, path: list[Decision], step: float) -> None:
        """Every position learns from its own error, and from lambda of what followed, as far as that is likely."""
        total, follower, lambda_ = 0.0, -1, self.settings.lambda_ or 0.0
        for decision in reversed(path):
            total = total if decision.mover == follower else -total
            total = decision.td_error + lambda_ * (decision.trace * total)
            self.model.update(decision.row, total, step)
            follower = decision.mover

    def step(self) -> float:
        """Return the step of this game, for each weight of a position."""
        settings, schedule, games = self.settings, self.settings.schedule, self.games
        length = 0 if schedule.shape == "constant" else schedule.games
        since = games - settings.deep_from
        gone = games * inverse(settings.deep_from) if since < 0 else since * inverse(settings.deep_games or length)
        left = schedule.final + (1.0 - schedule.final) * max(0.0, 1.0 - gone)
        return left * (schedule.initial or 0.0) / (self.parts * (1.0 + games * inverse(schedule.half_life)))

    def backup(self, values: list[float]) -> float:
        """Return what a position is worth whose actions are worth `values`, a share of them being random."""
        epsilon, total = self.settings.target_epsilon or 0.0, 0.0
        if epsilon == 0:
            return max(values)
        for value in values:  # in this order and no other: `sum` is more exact
            total += value
        return (1.0 - epsilon) * max(values) + epsilon * (total / len(values))

    def adversary(self) -> tuple[int, float]:
        """Return (the adversary of this game, or -1; what each 1 less in its cell is worth to it)."""
        if not self.settings.adversary_share or self.uniform() >= self.settings.adversary_share:
            return -1, 0.0
        return int(self.uniform() * 2), self.uniform() * ADVERSARY_WEIGHT

    def adversarial(self, s: State, values: list[float], weight: float) -> int:
        """Return the number of an adversary's action; of equal ones the best by its value, or else the first."""
        left = []
        for a in self.game.actions(s):
            after = self.game.result(s, a)
            over = self.game.is_terminal(after)
            left.append(
                0 if over else self.game.cells(after, self.game.to_play(after))[self.settings.adversary_cell or 0]
            )
        wanted = [value - weight * cell for value, cell in zip(values, left, strict=True)]
        best = values.index(max(values))
        return best if wanted[best] == max(wanted) else wanted.index(max(wanted))

    def opened(self, s: State, plies: int) -> State:
        """Return the position after so many random moves, or fewer where the game is over."""
        for _ in range(plies):
            if not self.game.is_terminal(s):
                choices = self.game.actions(s)
                s = self.game.result(s, choices[int(self.uniform() * len(choices))])
        return s

    def play(self) -> None:
        """Play one game against itself."""
        game, settings = self.game, self.settings
        s, path = game.initial(), list[Decision]()
        depth = settings.depth if self.games >= settings.deep_from else 1
        opening = int(self.uniform() * ((settings.max_opening_plies or 0) + 1))
        adversary, weight = self.adversary()
        threshold, epsilon, random = settings.resign_threshold or 1.0, settings.epsilon or 0.0, settings.target_epsilon
        threshold = threshold if threshold < 1 and self.uniform() >= RESIGN_PLAYTHROUGH else np.inf
        if not settings.train_on_openings:
            s, opening = self.opened(s, opening), 0
        resigned = False
        while not (resigned or game.is_terminal(s)):
            choices, value = game.actions(s), self.value(s)
            values = [self.ahead(game.result(s, a), depth - 1, game.to_play(s)) for a in choices]
            chosen = best = values.index(max(values))
            if game.to_play(s) == adversary:
                chosen = self.adversarial(s, values, weight)
            if len(path) < opening or self.uniform() < epsilon:
                chosen = int(self.uniform() * len(choices))
            trace = (1.0 - (random or 0.0)) * (chosen == best) + (random or 0.0) / len(choices)
            path.append(Decision(game.to_play(s), self.model.read(s), self.backup(values) - value, trace))
            resigned = len(path) > opening and abs(value) > threshold and abs(max(values)) > threshold
            s = game.result(s, choices[chosen])
        self.learn_from(path, self.step())
        for decision in path:
            self.errors += abs(decision.td_error)
        self.games, self.moves = self.games + 1, self.moves + len(path)


class PlainMerging:
    """The same weights as `MergingLearner` after as many rounds, slowly."""

    def __init__(self, model: PatternModel, settings: SelfPlaySettings) -> None:
        suited, seed = settings.suited(model.usual()), settings.seed
        self.members = [
            PlainEpisodes(model, suited.of_learner(i, learner_seed(seed, i))) for i in range(settings.learners)
        ]
        self.share = (suited.merge_every or 0) // settings.learners
        self.known = np.zeros_like(self.members[0].model.error_sums)

    def round(self) -> None:
        """Let all play their share of games, and merge."""
        for member in self.members:
            for _ in range(self.share):
                member.play()
        for i in range(len(self.known)):
            self.merge(i)

    def merge(self, i: int) -> None:
        """Put together what all have learned of that weight; in this order and no other: `sum` is more exact."""
        before, learned, total, plain = self.known[i].astype(float), 0.0, 0.0, 0.0
        now, models = before, [member.model for member in self.members]
        for model in models:
            share = float(model.error_sums[i, 1]) - before[1]
            learned, total = learned + share, total + share * float(model.weights[i])
            plain, now = plain + float(model.weights[i]), now + (model.error_sums[i].astype(float) - before)
        weight = total / learned if learned > 0 else plain / len(models)
        self.known[i] = now
        for model in models:
            model.weights[i], model.error_sums[i] = weight, now
