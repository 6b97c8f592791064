"""What `online.py` says, in plain Python: the oracle of online_kernel.py, to the last bit."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np

from evallearn.evaluators import LinearEval
from evallearn.evaluators.squash import squash
from evallearn.protocols import Action, Game, State
from evallearn.search.alphabeta_plain import Line, PlainAlphaBeta
from evallearn.search.common import Budget
from evallearn.train.draws import Draws
from evallearn.train.leaves import search_options
from evallearn.train.online import OnlineSettings, used_features
from evallearn.train.td import inverse


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


class NotingAlphaBeta(PlainAlphaBeta):
    """Tells `note(s, value, alpha, beta)` of every quiet node it has searched."""

    note: Any = None

    def begin(self) -> None:
        self.budget, self.killers, self.history = Budget(None, None), defaultdict(list), defaultdict(int)
        self.asked = self.leaves = self.unsound = 0

    def _value(
        self, s: State, depth: int, ply: int, alpha: float, beta: float, lengthened: int, passed: bool = False
    ) -> tuple[float, Line]:
        found = super()._value(s, depth, ply, alpha, beta, lengthened, passed)
        if self.note is not None and depth > 0 and not self.game.is_terminal(s):
            self.tell(s, found[0], alpha, beta)
        return found

    def tell(self, s: State, value: float, alpha: float, beta: float) -> None:
        """Of a node where EVAL could be asked: amid exchanges it would learn that pieces are worth little."""
        left = self.options.quiescence
        if left > 0:
            static = np.float32(self.evaluator.evaluate(s, self.game.to_play(s)))
            above = float(np.nextafter(static, np.float32(np.inf)))
            if self.game.forcing(s) or self._quiet(s, left, float(static), above) > static:
                return
        self.note(s, value, alpha, beta)


class PlainOnline:
    """The same weights as `OnlineLearner` after the same games, slowly."""

    def __init__(self, game: Game, settings: OnlineSettings) -> None:
        self.game, self.settings, self.eval = game, settings, LearningEval(game)
        n = len(game.feature_names)
        self.used = used_features(game, settings.only)
        self.gradient, self.notes = np.zeros((game.n_phases, n + 1)), 0
        self.net, self.total = np.zeros_like(self.gradient), np.zeros_like(self.gradient)
        self.squares, self.inverse, self.seen = np.zeros(n), np.zeros(n), 0
        self.draws, self.games, self.moves, self.errors = Draws(settings.seed), 0, 0, 0.0
        self.searching = NotingAlphaBeta(game, self.eval, search_options(game))
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

    # --- searches ----------------------------------------------------------------------------------------------------
    def search(self, s: State, actions: list[Action]) -> tuple[int, float, Line]:
        """Number of the best action, its value to the mover, and the line."""
        self.searching.begin()
        best, chosen, player = -math.inf, 0, self.game.to_play(s)
        line: Line = ()
        for i, a in enumerate(actions):
            child = self.game.result(s, a)
            value, below = self.searching._child(child, player, self.settings.depth - 1, 1, best, math.inf)
            if value > best:
                best, chosen, line = value, i, (a, *below)
        if self.searching.note is not None:
            self.searching.tell(s, best, -math.inf, math.inf)
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
        """The position after the action by which quiescence gets its value; None where it is the Eval's own."""
        game, player = self.game, self.game.to_play(s)
        value = self.searching._quiet(s, left, -math.inf, math.inf)
        if not game.forcing(s) and self.eval.evaluate(s, player) == value:
            return None
        for a in game.actions(s) if game.forcing(s) else game.noisy_actions(s):
            t = game.result(s, a)
            own = game.to_play(t)
            v = game.utility(t, own) if game.is_terminal(t) else self.searching._quiet(t, left - 1, -math.inf, math.inf)
            if (v if own == player else -v) == value:
                return t
        return None

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

    def shuffle(self, actions: list[Action]) -> None:
        for i in range(len(actions) - 1, 0, -1):
            j = int(self.draws.uniform() * (i + 1))
            actions[i], actions[j] = actions[j], actions[i]

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
