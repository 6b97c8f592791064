"""Games against itself in plain Python: the oracle of the episode kernel, to the last bit. See `settings.py`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evallearn.core.game import Action, State
from evallearn.evaluators.features import half_range
from evallearn.train.draws import Draws
from evallearn.train.models import Model
from evallearn.train.models.patterns import PatternModel
from evallearn.train.models.plain import PlainLinear, plain_model
from evallearn.train.selfplay.rounds import learner_seed
from evallearn.train.selfplay.searches_plain import PlainSearches
from evallearn.train.selfplay.settings import ADVERSARY_WEIGHT, RESIGN_PLAYTHROUGH, SelfPlaySettings, inverse
from evallearn.train.targets import TARGETS


class Decision(NamedTuple):
    """A position of a game."""

    mover: int
    row: Any
    """What the model reads of it, or of the leaf of its search; None where that is the end of the game."""
    td_error: float
    """What it was compared with, less what the model said."""
    trace: float
    """The probability of the move by the target: 1 for the best and 0 for others if nothing is random."""
    sign: int = 1
    """-1 where the row is seen by the other player."""
    value: float = 0.0
    """What the model said, to the mover."""


class Choice(NamedTuple):
    """What look-ahead says of a position."""

    best: int
    values: list[float]
    """Of all actions to the mover; of a search, the best one's alone."""
    leaf: State | None = None
    """Where the value of a search comes from."""


class PlainEpisodes:
    """The same weights as `EpisodeLearner` after the same games, slowly."""

    def __init__(self, model: Model, settings: SelfPlaySettings) -> None:
        self.model, self.game, self.settings = plain_model(model), model.game, settings.suited(model)
        self.scale, self.draws = half_range(self.game), Draws(settings.seed)
        self.uniform, self.games, self.moves, self.errors = self.draws.uniform, 0, 0, 0.0
        target = TARGETS[self.settings.target or "td"]
        self.searches: PlainSearches | None = None
        if isinstance(self.model, PlainLinear):
            self.searches = PlainSearches(self.game, self.model.evaluator, 1, self.draws)
            self.searches.searching.note = self.model.note_node if target.learn_at == "tree" else None
        self.leaves, self.every_node = target.learn_at == "leaf", target.learn_at == "tree"
        self.compares_next = self.searches is not None and target.backup == "next"
        self.at_once = self.searches is not None and target.backup == "search"

    @property
    def weights(self) -> np.ndarray:
        weights: np.ndarray = self.model.weights
        return weights

    # --- looking ahead -----------------------------------------------------------------------------------------------
    def value(self, s: State) -> float:
        """Return what `s` is worth to its mover, as a share of a win."""
        if self.game.is_terminal(s):
            return self.game.utility(s, self.game.to_play(s)) / self.scale
        return float(self.model.predict(self.model.read(s)))

    def ahead(self, s: State, depth: int, player: int) -> float:
        """Return the value to the player by so many plies of minimax: what alpha-beta finds, without its bounds."""
        mover = self.game.to_play(s)
        if depth == 0 or self.game.is_terminal(s):
            return self.value(s) if mover == player else -self.value(s)
        best = max(self.ahead(self.game.result(s, a), depth - 1, mover) for a in self.game.actions(s))
        return best if mover == player else -best

    def choose(self, s: State, choices: list[Action], depth: int) -> Choice:
        """Look ahead; a search shuffles the choices before."""
        game = self.game
        if self.searches is None:
            values = [self.ahead(game.result(s, a), depth - 1, game.to_play(s)) for a in choices]
            return Choice(values.index(max(values)), values)
        self.searches.depth = depth
        self.searches.shuffle(choices)
        best, value, line = self.searches.search(s, choices)
        return Choice(best, [value / self.scale], self.searches.leaf_of(s, line) if self.leaves else None)

    def backup(self, values: list[float]) -> float:
        """Return what a position is worth whose actions are worth `values`, a share of them being random."""
        epsilon, total = self.settings.target_epsilon or 0.0, 0.0
        if epsilon == 0:
            return max(values)
        for value in values:  # in this order and no other: `sum` is more exact
            total += value
        return (1.0 - epsilon) * max(values) + epsilon * (total / len(values))

    # --- whom one plays against --------------------------------------------------------------------------------------
    def adversary(self) -> tuple[int, float]:
        """Return (the adversary of this game, or -1; what each 1 less in its cell is worth to it)."""
        if not self.settings.adversary_share or self.uniform() >= self.settings.adversary_share:
            return -1, 0.0
        return int(self.uniform() * 2), self.uniform() * ADVERSARY_WEIGHT

    def adversarial(self, s: State, values: list[float], weight: float) -> int:
        """Return the number of an adversary's action; of equal ones the best by its value, or else the first."""
        left, cell = [], self.settings.adversary_cell or 0
        for a in self.game.actions(s):
            after = self.game.result(s, a)
            over = self.game.is_terminal(after)
            left.append(0 if over else self.game.cells(after, self.game.to_play(after))[cell])
        wanted = [value - weight * amount for value, amount in zip(values, left, strict=True)]
        best = values.index(max(values))
        return best if wanted[best] == max(wanted) else wanted.index(max(wanted))

    # --- learning ----------------------------------------------------------------------------------------------------
    def step(self) -> float:
        """Return the step of this game, for each weight of a position."""
        settings, schedule, games = self.settings, self.settings.schedule, self.games
        length = 0 if schedule.shape == "constant" else schedule.games
        since = games - settings.deep_from
        gone = games * inverse(settings.deep_from) if since < 0 else since * inverse(settings.deep_games or length)
        left = schedule.final + (1.0 - schedule.final) * max(0.0, 1.0 - gone)
        parts: int = self.model.parts
        return left * (schedule.initial or 0.0) / (parts * (1.0 + games * inverse(schedule.half_life)))

    def compare_with_next(self, path: list[Decision], found: list[float], end: State) -> None:
        """Compare every position with the next one, the last with the end; with the search where that was not best."""
        following, mover = self.value(end) if self.game.is_terminal(end) else 0.0, self.game.to_play(end)
        for t in reversed(range(len(path))):
            following = following if path[t].mover == mover else -following
            error = (following if path[t].trace > 0.0 else found[t]) - path[t].value
            path[t] = path[t]._replace(td_error=error)
            following, mover = path[t].value, path[t].mover

    def learn_from(self, path: list[Decision], step: float) -> None:
        """Let every position learn from its own error, and from lambda of what followed, as far as that is likely."""
        total, follower, lambda_, errors = 0.0, -1, self.settings.lambda_ or 0.0, list[float]()
        for decision in reversed(path):
            total = total if decision.mover == follower else -total
            total = decision.td_error + lambda_ * (decision.trace * total)
            errors, follower = [total, *errors], decision.mover
        lessons = list(zip(path, errors, strict=True))
        for decision, error in lessons if self.compares_next else lessons[::-1]:
            if self.compares_next and decision.row is not None:
                error = decision.sign * (decision.value + error) - self.model.predict(decision.row)
                self.errors += abs(error)
            if decision.row is not None:
                self.model.update(decision.row, error, step)

    def learn_at_once(self, row: Any, error: float) -> None:
        """Learn what the search has just said of a position, or of all nodes below it."""
        if self.every_node:
            self.model.take(self.step())
        else:
            self.model.update(row, error, self.step())

    # --- games -------------------------------------------------------------------------------------------------------
    def opened(self, s: State, plies: int) -> State:
        """Return the position after so many random moves, or fewer where the game is over."""
        for _ in range(plies):
            if not self.game.is_terminal(s):
                choices = self.game.actions(s)
                s = self.game.result(s, choices[int(self.uniform() * len(choices))])
        return s

    def decision(self, s: State, choice: Choice, row: Any, value: float, trace: float) -> Decision:
        """Return what is learned there: at the root or at the leaf."""
        mover, sign, leaf, found = self.game.to_play(s), 1, choice.leaf, self.backup(choice.values)
        error = found - value
        if leaf is not None:
            sign = 1 if self.game.to_play(leaf) == mover else -1
            row, value = None if self.game.is_terminal(leaf) else self.model.read(leaf), found
        return Decision(mover, row, error, trace, sign, value)

    def play(self) -> None:
        """Play one game against itself."""
        game, settings = self.game, self.settings
        s, path, all_found = game.initial(), list[Decision](), list[float]()
        depth = settings.depth or 1 if self.games >= settings.deep_from else 1
        opening = int(self.uniform() * ((settings.max_opening_plies or 0) + 1))
        adversary, weight = self.adversary()
        threshold, epsilon, random = settings.resign_threshold or 1.0, settings.epsilon or 0.0, settings.target_epsilon
        threshold = threshold if threshold < 1 and self.uniform() >= RESIGN_PLAYTHROUGH else np.inf
        if not settings.train_on_openings:
            s, opening = self.opened(s, opening), 0
        resigned = False
        while not (resigned or game.is_terminal(s)):
            row, choices = self.model.read(s), list(game.actions(s))
            if self.searches is not None:
                self.model.visit(row)
            value = self.model.predict(row)
            choice = self.choose(s, choices, depth)
            found = self.backup(choice.values)
            if self.at_once:
                self.learn_at_once(row, found - value)
            chosen = choice.best
            if game.to_play(s) == adversary:
                chosen = self.adversarial(s, choice.values, weight)
            if len(path) < opening or self.uniform() < epsilon:
                chosen = int(self.uniform() * len(choices))
            trace = (1.0 - (random or 0.0)) * (chosen == choice.best) + (random or 0.0) / len(choices)
            path.append(self.decision(s, choice, row, value, trace))
            all_found.append(found)
            resigned = len(path) > opening and abs(value) > threshold and abs(max(choice.values)) > threshold
            s = game.result(s, choices[chosen])
        if resigned:
            path[-1] = path[-1]._replace(trace=0.0)  # what followed is not known
        if self.compares_next:
            self.compare_with_next(path, all_found, s)
        if not self.at_once:
            self.learn_from(path, self.step())
        for decision in [] if self.compares_next else path:
            self.errors += abs(decision.td_error)
        self.games, self.moves = self.games + 1, self.moves + len(path)


class PlainMerging:
    """The same weights as `MergingLearner` after as many rounds, slowly."""

    def __init__(self, model: PatternModel, settings: SelfPlaySettings) -> None:
        suited, seed = settings.suited(model), settings.seed
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
