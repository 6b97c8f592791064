"""What `online.py` says, in plain Python: the oracle of online_kernel.py, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from evallearn.core.game import Game, State
from evallearn.evaluators import LinearEval
from evallearn.evaluators.squash import squash
from evallearn.train.draws import Draws
from evallearn.train.online import OnlineSettings, used_features
from evallearn.train.searching_plain import PlainSearches
from evallearn.train.selfplay.settings import inverse


class LearningEval(LinearEval):
    """A linear Eval whose weights may change, in double precision."""

    def __init__(self, game: Game) -> None:
        super().__init__(game, np.zeros((game.n_phases, len(game.feature_names))))
        self.w = np.zeros((game.n_phases, len(game.feature_names) + 1))
        """float64[n_phases, n_features + 1]: the bias last."""

    def raw(self, x: Any, phase: int) -> float:
        weights = self.w[phase].tolist()
        total: float = weights[-1]
        for w, f in zip(weights[:-1], x, strict=True):
            total += w * f
        return total


class PlainOnline(PlainSearches):
    """The same weights as `OnlineLearner` after the same games, slowly."""

    def __init__(self, game: Game, settings: OnlineSettings) -> None:
        self.eval = LearningEval(game)
        super().__init__(game, self.eval, settings.depth, Draws(settings.seed))
        self.settings = settings
        n = len(game.feature_names)
        self.used = used_features(game, settings.only)
        self.gradient, self.notes = np.zeros((game.n_phases, n + 1)), 0
        self.net, self.total = np.zeros_like(self.gradient), np.zeros_like(self.gradient)
        self.squares, self.inverse, self.seen = np.zeros(n), np.zeros(n), 0
        self.games, self.moves, self.errors = 0, 0, 0.0
        if settings.target == "treestrap":
            self.searching.note = self.note_node

    # --- lessons -----------------------------------------------------------------------------------------------------
    def seen_features(self, s: State) -> list[float]:
        seen: list[float] = np.asarray(self.game.features(s, self.game.to_play(s)), np.float32).tolist()
        return seen

    def note_node(self, s: State, value: float, alpha: float, beta: float) -> None:
        error = (value - self.eval.evaluate(s, self.game.to_play(s))) / self.eval.scale
        if not (value >= beta and error < 0.0) and not (value <= alpha and error > 0.0):
            self.note(self.seen_features(s), self.game.phase(s), error)

    def note(self, x: list[float], k: int, error: float) -> None:
        size = 1.0
        for f, share in zip(x, self.inverse.tolist(), strict=True):
            size += f * f * share
        part = error / max(size, len(x) + 1.0)
        for j in [k] if self.settings.by_phase else range(self.game.n_phases):
            self.gradient[j] += part * np.array([*x, 1.0])
        self.notes += 1

    def take(self, rate: float) -> None:
        if self.notes:
            step = rate * self.gradient / self.notes
            if self.settings.coherence:
                moved = (self.gradient != 0.0) & (self.total > 0.0)
                step[moved] *= (np.abs(self.net) / np.where(moved, self.total, 1.0))[moved]
                self.net += self.gradient
                self.total += np.abs(self.gradient)
            self.eval.w += step * np.append(self.inverse, 1.0)
            self.gradient[:], self.notes = 0.0, 0

    def teach(self, x: list[float], k: int, target: float, rate: float) -> None:
        error = target - squash(self.eval.raw(x, k))
        self.errors += abs(error)
        self.note(x, k, error)
        self.take(rate)

    def see(self, s: State) -> None:
        self.seen += 1
        self.squares += np.square(self.seen_features(s))
        known = self.used & (self.squares > 0.0)
        self.inverse[known] = self.seen / self.squares[known]

    # --- games -------------------------------------------------------------------------------------------------------
    def play(self) -> None:
        """One game against itself."""
        game, settings, scale = self.game, self.settings, self.eval.scale
        left = max(0.0, 1.0 - self.games * inverse(settings.horizon))
        rate = left * settings.alpha / (1.0 + self.games * inverse(settings.half_life))
        s, ply, kept = game.initial(), 0, list[Any]()
        opening = int(self.draws.uniform() * (settings.opening_plies + 1))
        while not game.is_terminal(s):
            actions = list(game.actions(s))
            if ply < opening:
                chosen = int(self.draws.uniform() * len(actions))
            else:
                self.shuffle(actions)
                self.see(s)
                static = self.eval.evaluate(s, game.to_play(s)) / scale
                best, value, line = self.search(s, actions)
                if settings.target in ("td", "tdleaf"):
                    leaf = self.leaf_of(s, line) if settings.target == "tdleaf" else s
                    kept.append([s, static if leaf is s else value / scale, value / scale, leaf, False])
                elif settings.target == "rootstrap":
                    self.teach(self.seen_features(s), game.phase(s), value / scale, rate)
                else:
                    self.errors += abs(value / scale - static)
                    self.take(rate)
                explores = self.draws.uniform() < settings.epsilon
                chosen = int(self.draws.uniform() * len(actions)) if explores else best
                if kept:
                    kept[-1][-1] = chosen != best
                self.moves += 1
            s, ply = game.result(s, actions[chosen]), ply + 1
        self.teach_game(s, kept, rate)
        self.games += 1

    def teach_game(self, end: State, kept: list[Any], rate: float) -> None:
        """kept: (state, its value, the search's, leaf, whether another move was played) of every ply."""
        game, targets, after = self.game, list[float](), end
        back = game.utility(end, game.to_play(end)) / self.eval.scale
        for s, value, searched, _, strayed in reversed(kept):
            back = back if game.to_play(s) == game.to_play(after) else -back
            back = searched if strayed else back
            targets.append(back)
            back = (1.0 - self.settings.lambda_) * value + self.settings.lambda_ * back
            after = s
        for (s, _, _, leaf, _), target in zip(kept, reversed(targets), strict=True):
            if not game.is_terminal(leaf):
                sign = 1 if game.to_play(leaf) == game.to_play(s) else -1
                self.teach(self.seen_features(leaf), game.phase(leaf), sign * target, rate)
