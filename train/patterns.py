"""Learning pattern tables by self-play alone: `PatternTrainer`. `td.py` says how a single game teaches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from evallearn.errors import SpecError
from evallearn.evaluators.layout import Layout
from evallearn.evaluators.patterns import PatternEval, pattern_set
from evallearn.protocols import Game, PatternSet
from evallearn.train.td import TdLearner, TdSettings

TICK = 0.5
"""Seconds between two reports, about: so soon Ctrl-C is heard."""
USUAL = {"alpha": 4.0, "lambda_": 0.6, "epsilon": 0.1, "coherence": True}
LARGEST = 1e4
"""A weight beyond this is no longer learning: tanh is flat from 8 on."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the learning is; rates are those since the last report."""

    games: int
    moves: int
    seconds: float
    games_per_second: float
    moves_per_second: float
    error: float
    """The mean |target - value| since the last report, as a share of a win."""


class PatternTrainer:
    """Learns the tables of a game's pattern set from games against itself.

    After `fit`: weights_ float32[n_groups, entries], layout_, games_, moves_ and `progress_`, the last report.
    """

    def __init__(
        self,
        patterns: str | PatternSet | None = None,
        *,
        alpha: float | None = None,
        half_life: int | None = None,
        horizon: int | None = None,
        lambda_: float | None = None,
        epsilon: float | None = None,
        opening_plies: int | None = None,
        coherence: bool | None = None,
        finest: float = 0.0,
        prune: float = 0.0,
        seed: int = 1,
    ) -> None:
        """patterns: a set of the game by its name, or a set; None: its first. finest: see `PatternEval.from_weights`.

        prune: the Eval leaves out weights that were hardly used, whose errors, as shares of a win, add up to less.
        The others are those of TdSettings; None: what the set says under `learning`, or else `USUAL`, and for
        opening_plies four times what opens a match, so that odd positions are learned too.
        """
        self.patterns, self.alpha, self.half_life, self.horizon = patterns, alpha, half_life, horizon
        self.lambda_, self.epsilon, self.opening_plies = lambda_, epsilon, opening_plies
        self.coherence, self.finest, self.prune, self.seed = coherence, finest, prune, seed

    def fit(
        self,
        game: Game,
        *,
        games: int | None = None,
        seconds: float | None = None,
        checkpoint: Path | None = None,
        every: float = 60.0,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> PatternTrainer:
        """Play until so many games in all, or for so many seconds from now.

        checkpoint: goes on from this file if it is there, and writes it about `every` so many seconds, at the end, and
        at Ctrl-C. Games that are learned in two pieces give the same weights as in one. Raises SpecError where the
        weights grow without bound; weights_ are then those of the last report at which all was well.
        """
        learner = self._learner(game)
        self._check(learner)
        limit = self._limit(games, seconds)
        if checkpoint is not None and checkpoint.exists():
            learner.restore(checkpoint)
        self.layout_ = learner.layout
        self._keep(learner)
        self.progress_ = Progress(learner.games, learner.moves, 0.0, 0.0, 0.0, 0.0)  # if there is nothing left to do
        start = saved = perf_counter()
        try:
            size = 1
            while learner.games < limit and (seconds is None or perf_counter() - start < seconds):
                taken = self._tick(learner, min(size, limit - learner.games), start, on_progress)
                size = max(1, min(2 * size, int(size * TICK / max(taken, 1e-6))))
                if checkpoint is not None and perf_counter() - saved > every:
                    learner.save(checkpoint)
                    saved = perf_counter()
        except KeyboardInterrupt:
            self._keep(learner)
            if checkpoint is not None:
                learner.save(checkpoint)
            raise
        if checkpoint is not None:
            learner.save(checkpoint)
        return self

    def _learner(self, game: Game) -> TdLearner:
        if not game.pattern_sets and not isinstance(self.patterns, PatternSet):
            raise SpecError(f"{game.name} declares no pattern sets: give it pattern_sets, or hand in a PatternSet")
        chosen = self.patterns if self.patterns is not None else next(iter(game.pattern_sets))
        patterns = pattern_set(game, chosen)
        return TdLearner(Layout.of(game, patterns), self.settings(game, patterns))

    def settings(self, game: Game, patterns: PatternSet) -> TdSettings:
        """What was asked for, what the set says, what is usual, in this order."""
        names = ("alpha", "half_life", "horizon", "lambda_", "epsilon", "opening_plies", "coherence")
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        openings = {"opening_plies": 4 * game.opening_plies}
        return TdSettings(**{**USUAL, **openings, **patterns.learning, **given}, seed=self.seed)

    def _check(self, learner: TdLearner) -> None:
        """What is refused before hours of learning, not after."""
        if not (self.finest == 0 or (0 < self.finest < 1 and math.frexp(self.finest)[0] == 0.5)):
            raise SpecError(
                f"finest={self.finest!r} does not work: give 0 or a power of two below 1, such as 0.0078125"
            )
        if not 0 <= self.prune < float("inf"):
            raise SpecError(f"prune={self.prune!r} does not work: give 0 or more")
        if self.prune and not learner.settings.coherence:
            raise SpecError(f"prune={self.prune:g} needs the sums that coherence keeps: switch it on, or prune off")

    def _limit(self, games: int | None, seconds: float | None) -> int:
        if games is None and seconds is None:
            raise SpecError("no end was given: name games, seconds or both")
        if games is not None and games < 1:
            raise SpecError(f"games={games!r} teach nothing: give 1 or more")
        if seconds is not None and not 0 < seconds < float("inf"):
            raise SpecError(f"seconds={seconds!r} do not work: give a number above 0")
        return games if games is not None else 1 << 62

    def _tick(
        self, learner: TdLearner, games: int, start: float, on_progress: Callable[[Progress], None] | None
    ) -> float:
        """So many games and a report; how many seconds the games took."""
        moves, errors, before = learner.moves, learner.errors, perf_counter()
        learner.learn(games)
        now = perf_counter()
        taken, played = max(now - before, 1e-9), learner.moves - moves
        self._refuse_divergence(learner)
        self._keep(learner)
        error = (learner.errors - errors) / max(1, played)
        self.progress_ = Progress(learner.games, learner.moves, now - start, games / taken, played / taken, error)
        if on_progress is not None:
            on_progress(self.progress_)
        return taken

    def _refuse_divergence(self, learner: TdLearner) -> None:
        largest = float(np.abs(learner.weights).max())
        if not largest <= LARGEST:  # so that NaN is refused too
            raise SpecError(
                f"alpha={learner.settings.alpha:g} made a weight of {learner.layout.game.name} grow to {largest:g} "
                f"in game {learner.games:,}: lower alpha; the weights of game {self.games_:,} are kept"
            )

    def _keep(self, learner: TdLearner) -> None:
        self.weights_, self.games_, self.moves_ = learner.tables(), learner.games, learner.moves
        if self.prune:
            self.used_ = learner.memory[:, 1].reshape(self.weights_.shape) >= self.prune

    def evaluator(self, made: Mapping[str, Any] | None = None) -> PatternEval:
        """The Eval that was learned."""
        details = {"method": "td", "games": self.games_, "moves": self.moves_, "seed": self.seed, **(made or {})}
        weights = np.where(self.used_, self.weights_, 0.0) if self.prune else self.weights_
        return PatternEval.from_weights(self.layout_, weights, details, finest=self.finest)
