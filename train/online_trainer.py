"""`OnlineTrainer`: a linear Eval from games against itself. `online.py` says what a game teaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evallearn.core.game import Game
from evallearn.evaluators import LinearEval
from evallearn.train.online import OnlineLearner, OnlineSettings
from evallearn.train.self_taught import SelfTaughtTrainer


class OnlineTrainer(SelfTaughtTrainer):
    """Learns linear weights by td, tdleaf, rootstrap or treestrap.

    After `fit`: weights_ float64[n_phases, n_features], bias_ float64[n_phases], games_, moves_, nodes_, progress_.
    """

    def __init__(
        self,
        target: str = "treestrap",
        *,
        depth: int = 2,
        alpha: float | None = None,
        half_life: int = 0,
        horizon: int = 0,
        lambda_: float = 0.7,
        epsilon: float = 0.05,
        opening_plies: int | None = None,
        coherence: bool = False,
        only: Sequence[str] = (),
        by_phase: bool = True,
        seed: int = 1,
        start: LinearEval | None = None,
    ) -> None:
        """Those of OnlineSettings; start: the Eval to begin with, None: all weights 0.

        alpha: None: what suits the target. opening_plies: None: twice what opens a match.
        """
        self.target, self.depth, self.lambda_ = target, depth, lambda_
        self.half_life, self.horizon = half_life, horizon
        self.alpha = DEFAULT_ALPHA.get(target, 0.1) if alpha is None else alpha
        self.epsilon, self.opening_plies, self.coherence, self.only = epsilon, opening_plies, coherence, only
        self.by_phase, self.seed, self.start = by_phase, seed, start

    def learner(self, game: Game) -> OnlineLearner:
        settings = OnlineSettings(
            target=self.target,
            depth=self.depth,
            alpha=self.alpha,
            half_life=self.half_life,
            horizon=self.horizon,
            lambda_=self.lambda_,
            epsilon=self.epsilon,
            opening_plies=2 * game.opening_plies if self.opening_plies is None else self.opening_plies,
            coherence=self.coherence,
            only=tuple(self.only),
            by_phase=self.by_phase,
            seed=self.seed,
        )
        return OnlineLearner(game, settings, self.start)

    def keep(self, learner: OnlineLearner) -> None:
        self.weights_, self.bias_ = learner.weights.copy(), learner.params["bias"][0].copy()
        self.game_, self.nodes_ = learner.game, learner.nodes

    def evaluator(self, made: Mapping[str, Any] | None = None) -> LinearEval:
        """The Eval that was learned."""
        details = {"method": self.target, "games": self.games_, "moves": self.moves_, "seed": self.seed}
        return LinearEval(self.game_, self.weights_, self.bias_, {**details, **(made or {})})


DEFAULT_ALPHA = {"treestrap": 0.1, "rootstrap": 0.1, "td": 0.05, "tdleaf": 0.05}
"""Chosen by short runs of Connect Four and Othello: TreeStrap with 1.0 won by 48 Elo there where 0.1 won by 114."""
