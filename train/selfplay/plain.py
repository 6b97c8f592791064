"""Games against itself in plain Python: the oracle of the episode kernel, to the last bit. See `settings.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evallearn.core.game import CHANCE, Action, State
from evallearn.evaluators.features import half_range
from evallearn.train.draws import Draws
from evallearn.train.models import Model
from evallearn.train.models.frozen_net import FrozenNet
from evallearn.train.models.linear import LinearModel
from evallearn.train.models.patterns import PatternModel
from evallearn.train.models.plain import plain_model
from evallearn.train.selfplay.merging import learner_seed
from evallearn.train.selfplay.searches_plain import PlainSearches
from evallearn.train.selfplay.settings import ADVERSARY_WEIGHT, RESIGN_PLAYTHROUGH, SelfPlaySettings, inverse
from evallearn.train.targets import TARGETS


class Decision(NamedTuple):
    """A position of a game."""

    mover: int
    """Who moves, or will after the roll."""
    row: object
    """What the model reads of it, or of the leaf of its search; None where that is the end of the game."""
    value: list[float]
    """What the model said, to the mover: every output, as a share of a win."""
    found: list[float]
    """What looking ahead said."""
    error: list[float]
    """What it is compared with, less the value."""
    trace: float
    """The probability of the move by the target: 1 for the best and 0 for others if nothing is random."""
    sign: int = 1
    """-1 where the row is seen by the other player."""


class Choice(NamedTuple):
    """What look-ahead says of a position in which somebody chooses."""

    best: int
    values: list[float]
    """Of all actions to the mover; of a search, the best one's alone."""
    found: list[float]
    """What the position is worth to the mover: every output."""
    leaf: State | None = None
    """Where the value of a search comes from."""


class PlainEpisodes:
    """The same weights as `EpisodeLearner` after the same games, and the same lessons as of a net's, slowly."""

    def __init__(self, model: Model | FrozenNet, settings: SelfPlaySettings) -> None:
        """Set up; settings are those that suit the model, without a None."""
        self.model, self.game, self.settings = plain_model(model), model.game, settings
        self.is_net, self.outputs = isinstance(model, FrozenNet), self.model.outputs
        self.scale, self.draws = half_range(self.game), Draws(settings.seed)
        self.uniform, self.games, self.moves, self.errors = self.draws.uniform, 0, 0, 0.0
        target = TARGETS[settings.target or "td"]
        self.searches: PlainSearches | None = None
        if isinstance(model, LinearModel) or (isinstance(model, FrozenNet) and model.searches):
            self.searches = PlainSearches(self.game, self.model.evaluator, 1, self.draws)
            self.searches.searching.note = self.model.on_node if target.learn_at == "tree" else None
        self.leaves, self.every_node = target.learn_at == "leaf", target.learn_at == "tree"
        self.expects = target.backup == "expectation"
        self.compares_next = self.searches is not None and target.backup == "next"
        self.at_once = self.searches is not None and target.backup == "search"

    @property
    def weights(self) -> np.ndarray:
        weights: np.ndarray = self.model.weights
        return weights

    # --- looking ahead -----------------------------------------------------------------------------------------------
    def observer(self, s: State) -> int:
        """Return who sees `s`: the mover; before a roll, who will move after it."""
        return self.game.observer(s) if self.is_net else self.game.to_play(s)

    def value(self, s: State, player: int) -> tuple[float, list[float]]:
        """Return what `s` is worth to the player, as a share of a win: as one number, and every output."""
        if self.game.is_terminal(s):
            u = self.game.utility(s, player)
            return u / self.scale, [u / self.scale] if self.outputs == 1 else self.model.result_outputs(u)
        value = float(self.model.predict(self.model.read(s)))
        outputs = [value] if self.outputs == 1 else self.model.outputs_of(s)
        return (value, outputs) if self.observer(s) == player else (-value, turned(outputs))

    def ahead(self, s: State, depth: int, player: int) -> tuple[float, list[float]]:
        """Return the value to the player by so many plies of minimax: what alpha-beta finds, without its bounds."""
        mover = self.game.to_play(s)
        if depth == 0 or self.game.is_terminal(s):
            return self.value(s, player)
        best = max(self.ahead(self.game.result(s, a), depth - 1, mover)[0] for a in self.game.actions(s))
        return (best, [best]) if mover == player else (-best, [-best])

    def choose(self, s: State, choices: list[Action], depth: int) -> Choice:
        """Look ahead; a search shuffles the choices before."""
        game = self.game
        if self.searches is None:
            found = [self.ahead(game.result(s, a), depth - 1, game.to_play(s)) for a in choices]
            values = [value for value, _ in found]
            best = values.index(max(values))
            return Choice(best, values, found[best][1] if self.outputs > 1 else [self.backup(values)])
        self.searches.depth = depth
        self.searches.shuffle(choices)
        best, value, line = self.searches.search(s, choices)
        leaf = self.searches.leaf_of(s, line) if self.leaves else None
        return Choice(best, [value / self.scale], [value / self.scale], leaf)

    def backup(self, values: list[float]) -> float:
        """Return what a position is worth whose actions are worth `values`, a share of them being random."""
        epsilon, total = self.settings.target_epsilon or 0.0, 0.0
        if epsilon == 0:
            return max(values)
        for value in values:  # in this order and no other: `sum` is more exact
            total += value
        return (1.0 - epsilon) * max(values) + epsilon * (total / len(values))

    def expect(self, s: State, player: int) -> list[float]:
        """Return what `player` should expect of `s`, where somebody chooses, the dice are to roll, or all is over."""
        if self.game.is_terminal(s) or self.game.to_play(s) == CHANCE:
            return self.value(s, player)[1]
        found = self.choose(s, list(self.game.actions(s)), 1).found
        return found if self.game.to_play(s) == player else turned(found)

    def expectation(self, s: State, player: int) -> list[float]:
        """Return what the best play of every roll leads to, on average."""
        if self.game.to_play(s) != CHANCE:
            return self.expect(s, player)
        mean = [0.0] * self.outputs
        for outcome, odds in self.game.chances(s):
            found = self.expect(self.game.result(s, outcome), player)
            mean = [m + odds * value for m, value in zip(mean, found, strict=True)]
        return mean

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

    def compare_with_next(self, path: list[Decision], end: State) -> None:
        """Compare every position with the next one, the last with the end; with the search where that was not best."""
        mover = self.game.to_play(end)
        following = self.game.utility(end, mover) / self.scale if self.game.is_terminal(end) else 0.0
        for t in reversed(range(len(path))):
            decision = path[t]
            following = following if decision.mover == mover else -following
            error = (following if decision.trace > 0.0 else decision.found[0]) - decision.value[0]
            path[t] = decision._replace(error=[error])
            following, mover = decision.value[0], decision.mover

    def learn_from(self, path: list[Decision], step: float) -> None:
        """Let every position learn from its own error, and from lambda of what followed, as far as that is likely."""
        total, follower, lambda_ = [0.0] * self.outputs, -1, self.settings.lambda_ or 0.0
        errors = list[list[float]]()
        for decision in reversed(path):
            total = total if decision.mover == follower else turned(total)
            total = [e + lambda_ * (decision.trace * later) for e, later in zip(decision.error, total, strict=True)]
            errors, follower = [total, *errors], decision.mover
        lessons = list(zip(path, errors, strict=True))
        for decision, error in lessons if self.compares_next else lessons[::-1]:
            value = decision.value
            if self.compares_next and decision.row is not None:
                value = [self.model.predict(decision.row)]
                error = [decision.sign * (decision.value[0] + error[0]) - value[0]]
                self.errors += abs(error[0])
            if decision.row is not None:
                self.learn(decision.row, value, error, step)

    def learn(self, row: object, value: list[float], error: list[float], step: float) -> None:
        """Let a position learn; a net writes a lesson."""
        if self.is_net:
            self.model.lesson(row, value, error)
        else:
            self.model.update(row, error[0], step)

    def learn_at_once(self, row: object, value: list[float], error: list[float]) -> None:
        """Learn what the search has just said of a position, or of all nodes below it."""
        if self.every_node:
            self.model.take(self.step())
        else:
            self.learn(row, value, error, self.step())

    # --- games -------------------------------------------------------------------------------------------------------
    def rolled(self, s: State) -> State:
        """Return the position after a random roll."""
        u, outcomes = self.uniform(), self.game.chances(s)
        for outcome, odds in outcomes[:-1]:
            u -= odds
            if u < 0.0:
                return self.game.result(s, outcome)
        return self.game.result(s, outcomes[-1][0])

    def opened(self, s: State, plies: int) -> State:
        """Return the position after so many random decisions, or fewer where the game is over."""
        for _ in range(plies):
            if self.game.is_terminal(s):
                break
            s, choices = self.chance(s)
            if choices:
                s = self.game.result(s, choices[int(self.uniform() * len(choices))])
        return s

    def chance(self, s: State) -> tuple[State, list[Action]]:
        """Return the position after the dice have rolled, if they are to roll, and what can then be chosen."""
        s = self.rolled(s) if self.game.to_play(s) == CHANCE else s
        nobody = self.game.is_terminal(s) or self.game.to_play(s) == CHANCE
        return s, [] if nobody else list(self.game.actions(s))

    def decision(self, mover: int, choice: Choice, row: object, value: list[float], found: list[float]) -> Decision:
        """Return what is learned there: at the root or at the leaf."""
        sign, leaf, error = 1, choice.leaf, [f - v for f, v in zip(found, value, strict=True)]
        if leaf is not None:
            sign = 1 if self.game.to_play(leaf) == mover else -1
            row, value = None if self.game.is_terminal(leaf) else self.model.read(leaf), found
        return Decision(mover, row, value, found, error, 1.0, sign)

    def play(self, number: int | None = None) -> None:
        """Play one game against itself; `number`: the game of a net, which has random numbers of its own."""
        game, settings = self.game, self.settings
        if number is not None:
            self.draws.begin_game(number, settings.seed)
        s, path = game.initial(), list[Decision]()
        depth = settings.depth or 1 if self.games >= settings.deep_from else 1
        opening = int(self.uniform() * ((settings.max_opening_plies or 0) + 1))
        adversary, weight = self.adversary()
        threshold, epsilon, random = settings.resign_threshold or 1.0, settings.epsilon or 0.0, settings.target_epsilon
        threshold = threshold if threshold < 1 and self.uniform() >= RESIGN_PLAYTHROUGH else np.inf
        if not settings.train_on_openings:
            s, opening = self.opened(s, opening), 0
        resigned = False
        while not (resigned or game.is_terminal(s)):
            row, mover = self.model.read(s), self.observer(s)
            if self.searches is not None:
                self.model.visit(row, self.draws)
            said, value = self.value(s, mover)
            found = self.expectation(s, mover) if self.expects else None
            s, choices = self.chance(s)
            if not choices:
                nobody = Choice(-1, [], self.value(s, mover)[1])
                path.append(self.decision(mover, nobody, row, value, nobody.found if found is None else found))
                continue
            choice = self.choose(s, choices, depth)
            if found is None:
                found = choice.found if game.to_play(s) == mover else turned(choice.found)
            decision = self.decision(mover, choice, row, value, found)
            if self.at_once:
                self.learn_at_once(row, value, decision.error)
            chosen = choice.best
            if mover == adversary:
                chosen = self.adversarial(s, choice.values, weight)
            if len(path) < opening or self.uniform() < epsilon:
                chosen = int(self.uniform() * len(choices))
            trace = (1.0 - (random or 0.0)) * (chosen == choice.best) + (random or 0.0) / len(choices)
            path.append(decision._replace(trace=trace))
            resigned = len(path) > opening and abs(said) > threshold and abs(max(choice.values)) > threshold
            s = game.result(s, choices[chosen])
        if resigned:
            path[-1] = path[-1]._replace(trace=0.0)  # what followed is not known
        if self.compares_next:
            self.compare_with_next(path, s)
        if not self.at_once:
            self.learn_from(path, self.step())
        for decision in [] if self.compares_next else path:
            self.errors += abs(decision.error[0])
        self.games, self.moves = self.games + 1, self.moves + len(path)


def turned(outputs: Sequence[float]) -> list[float]:
    """Return the same outputs as the other player sees them."""
    return [-value for value in reversed(outputs)]


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
