"""Learning pattern tables by self-play alone: `PatternTrainer`. `td.py` says how a single game teaches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from evallearn.core.game import Game
from evallearn.core.patterns import PatternSet
from evallearn.core.settings import number
from evallearn.errors import SpecError
from evallearn.evaluators.layout import Layout
from evallearn.evaluators.patterns import PatternEval, pattern_set
from evallearn.train.self_taught import SelfTaughtTrainer
from evallearn.train.td import TdLearner, TdSettings
from evallearn.train.td_team import TdTeam

PRUNE = number(at_least=0, at_most=1e9)
USUAL = {"alpha": 4.0, "lambda_": 0.6, "epsilon": 0.1, "coherence": True}


class PatternTrainer(SelfTaughtTrainer):
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
        noise: float | None = None,
        hunts: float | None = None,
        opening_plies: int | None = None,
        learn_openings: bool | None = None,
        decided: float | None = None,
        coherence: bool | None = None,
        least: float | None = None,
        depth: int | None = None,
        deep_games: int | None = None,
        learners: int | None = None,
        exchange: int | None = None,
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
        self.learn_openings, self.decided, self.learners, self.exchange = learn_openings, decided, learners, exchange
        self.noise, self.hunts = noise, hunts
        self.coherence, self.least, self.depth, self.deep_games = coherence, least, depth, deep_games
        self.finest, self.prune, self.seed = finest, prune, seed

    def learner(self, game: Game) -> TdLearner | TdTeam:
        if not game.pattern_sets and not isinstance(self.patterns, PatternSet):
            raise SpecError(f"{game.name} declares no pattern sets: give it pattern_sets, or hand in a PatternSet")
        chosen = self.patterns if self.patterns is not None else next(iter(game.pattern_sets))
        patterns = pattern_set(game, chosen)
        settings = self.settings(game, patterns)
        self._check(settings)
        return (TdTeam if settings.learners > 1 else TdLearner)(Layout.of(game, patterns), settings)

    def settings(self, game: Game, patterns: PatternSet) -> TdSettings:
        """What was asked for, what the set says, what is usual, in this order."""
        names = (
            "alpha", "half_life", "horizon", "lambda_", "epsilon", "opening_plies", "coherence", "least", "depth",
            "deep_games", "noise", "hunts", "learn_openings", "decided", "learners", "exchange",
        )  # fmt: skip
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        openings = {"opening_plies": 4 * game.opening_plies}
        return TdSettings(**{**USUAL, **openings, **patterns.learning, **given}, seed=self.seed)

    def _check(self, settings: TdSettings) -> None:
        if not (self.finest == 0 or (0 < self.finest < 1 and math.frexp(self.finest)[0] == 0.5)):
            raise SpecError(f"finest={self.finest!r}: give 0 or a power of two below 1, such as 0.0078125")
        PRUNE.require("prune", self.prune)
        if self.prune and not settings.coherence:
            raise SpecError(f"prune={self.prune:g} needs the sums that coherence keeps: switch it on, or prune off")

    def keep(self, learner: TdLearner | TdTeam) -> None:
        self.layout_, self.weights_ = learner.layout, learner.tables()
        if self.prune:
            self.used_ = learner.memory[:, 1].reshape(self.weights_.shape) >= self.prune

    def evaluator(self, made: Mapping[str, Any] | None = None) -> PatternEval:
        """The Eval that was learned."""
        details = {"method": "td", "games": self.games_, "moves": self.moves_, "seed": self.seed, **(made or {})}
        weights = np.where(self.used_, self.weights_, 0.0) if self.prune else self.weights_
        return PatternEval.from_weights(self.layout_, weights, details, finest=self.finest)
