"""Games of a net against itself in plain Python: the oracle of `neural_play_kernel.py`, row by row and bit by bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evallearn.core.game import CHANCE, Action, State
from evallearn.evaluators.net import NetEval
from evallearn.train.draws import Draws

Row = tuple[State, np.ndarray]


class PlainActor:
    """The games and targets of `Actor`, slowly."""

    def __init__(self, net: NetEval, *, lambda_: float, epsilon: float, opening_plies: int, seed: int) -> None:
        self.net, self.game = net, net.game
        self.lambda_, self.epsilon, self.opening_plies, self.seed = lambda_, epsilon, opening_plies, seed

    def judge(self, s: State, player: int) -> list[float]:
        """Return P(utility >= levels[j + 1]) to `player`, for every j."""
        if self.game.is_terminal(s):
            return self.ended(self.game.utility(s, player))
        seen_by = self.game.viewer(s)
        p = self.net.probabilities(*self.net.see(s, seen_by))
        return p if seen_by == player else turned(p)

    def ended(self, u: float) -> list[float]:
        """Return the same of a game that brought `u`.

        Between two levels, as a draw between loss and win, it is a part of a step.
        """
        steps = zip(self.net.levels[:-1], self.net.steps.tolist(), strict=True)
        return [min(1.0, max(0.0, (u - level) / step)) for level, step in steps]

    def worth(self, p: Sequence[float]) -> float:
        total = self.net.levels[0] - self.net.middle
        for step, chance in zip(self.net.steps.tolist(), p, strict=True):
            total += step * chance
        return float(total)

    def expect(self, s: State, player: int) -> tuple[list[float], Action | None]:
        """Return what `player` should expect of `s`, and the best action of whoever is to choose there."""
        mover = self.game.to_play(s)
        if self.game.is_terminal(s) or mover == CHANCE:
            return self.judge(s, player), None
        found = [(self.judge(self.game.result(s, a), mover), a) for a in self.game.actions(s)]
        p, best = max(found, key=lambda pair: self.worth(pair[0]))  # the first of equal ones
        return (p if mover == player else turned(p)), best

    def play(self, number: int, *, exact: bool = False) -> list[Row]:
        """Return the rows of one game: positions, and float32[outputs] that they should have expected."""
        game, draws = self.game, Draws(0)
        draws.begin_game(number, self.seed)
        opening, s = int(draws.uniform() * (self.opening_plies + 1)), game.initial()
        states, sides, targets, followed = [], [], [], []
        while not game.is_terminal(s):
            states.append(s)
            sides.append(game.viewer(s))
            if game.to_play(s) == CHANCE:
                s = self.rolled(s, draws)
            p, best = self.expect(s, sides[-1])
            targets.append(np.array(p, np.float32))
            chosen = best
            if best is not None:
                if len(states) - 1 < opening or (self.epsilon > 0 and draws.uniform() < self.epsilon):
                    actions = game.actions(s)
                    chosen = actions[int(draws.uniform() * len(actions))]
                s = game.result(s, chosen)
            followed.append(chosen == best)
        if exact:
            targets = [self.look_ahead(s) for s in states]
        for t in range(len(states) - 2, -1, -1):
            if followed[t]:
                same, later = sides[t] == sides[t + 1], targets[t + 1].astype(float)
                if exact:
                    gap = later - np.array(self.judge(states[t + 1], sides[t + 1]))
                    mixed = targets[t].astype(float) + self.lambda_ * (gap if same else -gap[::-1])
                else:
                    later = later if same else np.array(turned(later.tolist()))
                    mixed = (1.0 - self.lambda_) * targets[t].astype(float) + self.lambda_ * later
                targets[t] = mixed.astype(np.float32)
        return list(zip(states, targets, strict=True))

    def rolled(self, s: State, draws: Draws) -> State:
        u, outcomes = draws.uniform(), self.game.chances(s)
        for outcome, odds in outcomes[:-1]:
            u -= odds
            if u < 0.0:
                return self.game.result(s, outcome)
        return self.game.result(s, outcomes[-1][0])

    def look_ahead(self, s: State) -> np.ndarray:
        """Return what the best play of every roll leads to, on average, float32[outputs]."""
        player = self.game.viewer(s)
        if self.game.to_play(s) != CHANCE:
            return np.array(self.expect(s, player)[0], np.float32)
        mean = [0.0] * self.net.outputs
        for outcome, odds in self.game.chances(s):
            p, _ = self.expect(self.game.result(s, outcome), player)
            mean = [m + odds * chance for m, chance in zip(mean, p, strict=True)]
        return np.array(mean, np.float32)


def turned(p: Sequence[float]) -> list[float]:
    """Return the same chances as the other player sees them."""
    return [1.0 - chance for chance in reversed(p)]
