"""One game of TD learning in plain Python: the oracle of td_kernel.py, to the last bit. See `td.py`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evallearn.core.game import State
from evallearn.evaluators.features import half_range
from evallearn.evaluators.layout import Layout
from evallearn.evaluators.squash import squash
from evallearn.train.draws import Draws
from evallearn.train.td import HUNGER, PLAYED_OUT, TdSettings, inverse
from evallearn.train.td_team import member_settings


class Step(NamedTuple):
    """A position of a game."""

    mover: int
    places: list[int]
    error: float
    """What look-ahead says, less what the tables said."""
    likely: float
    """How likely the move that was made is, by the target: 1 for the best and 0 for others if nothing is random."""


class PlainTd:
    """The same weights as `TdLearner` after the same games, slowly."""

    def __init__(self, layout: Layout, settings: TdSettings) -> None:
        self.layout, self.game, self.settings = layout, layout.game, settings
        self.weights = np.zeros(layout.n_groups * layout.entries, np.float32)
        self.memory = np.zeros((len(self.weights), 2), np.float32)
        self.uniform, self.games, self.moves, self.errors = Draws(settings.seed).uniform, 0, 0, 0.0

    def places(self, s: State) -> list[int]:
        """Where the weights of `s` stand, as its mover sees it."""
        start = self.layout.group(s) * self.layout.entries
        return [start + i for i in self.layout.indices([int(c) for c in self.game.cells(s, self.game.to_play(s))])]

    def worth(self, s: State, player: int) -> float:
        """What `s` is worth to the player, as a share of a win."""
        return self.value(s) if self.game.to_play(s) == player else -self.value(s)

    def ahead(self, s: State, depth: int, player: int) -> float:
        """What `s` is worth to the player by so many plies of minimax: what alpha-beta finds, without its bounds."""
        if depth == 0 or self.game.is_terminal(s):
            return self.worth(s, player)
        mover = self.game.to_play(s)
        best = max(self.ahead(self.game.result(s, a), depth - 1, mover) for a in self.game.actions(s))
        return best if mover == player else -best

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
                    own *= max(self.settings.least, abs(float(net)) / float(total))
                self.memory[i] += np.float32(error), np.float32(abs(error))
            self.weights[i] += np.float32(own * error)

    def teach(self, path: list[Step], rate: float) -> None:
        """Every position learns from its own error, and from lambda of what followed, as far as that is likely."""
        total, follower = 0.0, -1
        for step in reversed(path):
            total = total if step.mover == follower else -total
            total = step.error + self.settings.lambda_ * (step.likely * total)
            self.change(step.places, total, rate)
            follower = step.mover

    def rate(self) -> float:
        """The step of this game."""
        left = max(0.0, 1.0 - self.settings.gone(self.games))
        slower = 1.0 + self.games * inverse(self.settings.half_life)
        return left * self.settings.alpha / (len(self.layout.places) * slower)

    def expected(self, values: list[float]) -> float:
        """What a position is worth whose actions are worth `values`, a share of them being random."""
        noise, total = self.settings.noise, 0.0
        if noise == 0:
            return max(values)
        for value in values:  # in this order and no other: `sum` is more exact
            total += value
        return (1.0 - noise) * max(values) + noise * (total / len(values))

    def hunter(self) -> tuple[int, float]:
        """(who hunts in this game, or -1; what each 1 less is worth to that player)."""
        if not self.settings.hunts or self.uniform() >= self.settings.hunts:
            return -1, 0.0
        return int(self.uniform() * 2), self.uniform() * HUNGER

    def hunted(self, s: State, values: list[float], hunger: float) -> int:
        """The number of a hunter's action; of equal ones the best by its value, or else the first."""
        left = []
        for a in self.game.actions(s):
            after = self.game.result(s, a)
            over = self.game.is_terminal(after)
            left.append(0 if over else self.game.cells(after, self.game.to_play(after))[self.settings.prey])
        wanted = [value - hunger * prey for value, prey in zip(values, left, strict=True)]
        best = values.index(max(values))
        return best if wanted[best] == max(wanted) else wanted.index(max(wanted))

    def opened(self, s: State, plies: int) -> State:
        """The position after so many random moves, or fewer where the game is over."""
        for _ in range(plies):
            if not self.game.is_terminal(s):
                choices = self.game.actions(s)
                s = self.game.result(s, choices[int(self.uniform() * len(choices))])
        return s

    def play(self) -> None:
        """One game against itself."""
        game, settings = self.game, self.settings
        s, path = game.initial(), list[Step]()
        depth = settings.depth if self.games >= settings.deep_from else 1
        opening = int(self.uniform() * (settings.opening_plies + 1))
        hunter, hunger = self.hunter()
        decided = settings.decided if settings.decided < 1 and self.uniform() >= PLAYED_OUT else np.inf
        if not settings.learn_openings:
            s, opening = self.opened(s, opening), 0
        over = False
        while not (over or game.is_terminal(s)):
            choices = game.actions(s)
            values = [self.ahead(game.result(s, a), depth - 1, game.to_play(s)) for a in choices]
            chosen = best = values.index(max(values))
            if game.to_play(s) == hunter:
                chosen = self.hunted(s, values, hunger)
            if len(path) < opening or self.uniform() < settings.epsilon:
                chosen = int(self.uniform() * len(choices))
            likely = (1.0 - settings.noise) * (chosen == best) + settings.noise / len(choices)
            path.append(Step(game.to_play(s), self.places(s), self.expected(values) - self.value(s), likely))
            over = len(path) > opening and abs(self.value(s)) > decided and abs(max(values)) > decided
            s = game.result(s, choices[chosen])
        self.teach(path, self.rate())
        for step in path:
            self.errors += abs(step.error)
        self.games, self.moves = self.games + 1, self.moves + len(path)


class PlainTeam:
    """The same weights as `TdTeam` after as many rounds, slowly."""

    def __init__(self, layout: Layout, settings: TdSettings) -> None:
        self.members = [PlainTd(layout, member_settings(settings, i)) for i in range(settings.learners)]
        self.share = settings.exchange // settings.learners
        self.known = np.zeros_like(self.members[0].memory)

    def round(self) -> None:
        """All play their share of games, and meet."""
        for member in self.members:
            for _ in range(self.share):
                member.play()
        for i in range(len(self.known)):
            self.meet(i)

    def meet(self, i: int) -> None:
        """Put together what all have learned of that weight; in this order and no other: `sum` is more exact."""
        before, learned, total, plain = self.known[i].astype(float), 0.0, 0.0, 0.0
        now = before
        for member in self.members:
            share = float(member.memory[i, 1]) - before[1]
            learned, total = learned + share, total + share * float(member.weights[i])
            plain, now = plain + float(member.weights[i]), now + (member.memory[i].astype(float) - before)
        weight = total / learned if learned > 0 else plain / len(self.members)
        self.known[i] = now
        for member in self.members:
            member.weights[i], member.memory[i] = weight, now
