"""A linear evaluator as a model: `LinearModel`.

The step is that of the log loss of tanh, normalised: features count by their root mean square in the positions seen so
far, and no step takes away more than its part of an error. TreeStrap takes the mean over the nodes of a search. With
`temporal_coherence` every weight has a step of its own, smaller where its errors cancel out (Beal & Smith 1999).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from evallearn.compiled.learning_records import LinearModelRecord
from evallearn.core.digest import tensors_digest
from evallearn.core.game import Game
from evallearn.errors import SpecError, unknown
from evallearn.evaluators import LinearEval
from evallearn.evaluators.features import feature_hash
from evallearn.train.models import Arrays, ModelHooks
from evallearn.train.targets import SEARCH_TARGETS

TEMPLATE = Path(__file__).with_name("linear_kernel.py")
STATE = ("weights", "bias", "error_sums", "error_sizes", "squares", "inverse", "seen")
"""What of the record a checkpoint holds."""
STEPS = {"treestrap": 0.1, "rootstrap": 0.1, "td": 0.05, "tdleaf": 0.05}
"""Chosen by short runs of Connect Four and Othello: TreeStrap with 1.0 won by 48 Elo there where 0.1 won by 114."""


class LinearModel:
    """Weights for every feature and phase of a game."""

    targets: tuple[str, ...] = ("treestrap", *(target for target in SEARCH_TARGETS if target != "treestrap"))

    def __init__(
        self,
        game: Game,
        *,
        start: LinearEval | None = None,
        features: Sequence[str] = (),
        per_phase: bool = True,
        temporal_coherence: bool = False,
    ) -> None:
        """Set up the model.

        start: the weights to begin with; None: 0. features: those that may get a weight; none named: all.

        Raises SpecError for a game in which an evaluator cannot learn from its own alpha-beta.
        """
        require_searching(game, "use a target of records, such as outcome")
        self.game, self.per_phase, self.temporal_coherence = game, per_phase, temporal_coherence
        self.start = start or LinearEval.zero(game)
        if self.start.squash != "tanh":
            raise SpecError(f"the evaluator to begin with has squash={self.start.squash!r}: learning by td needs tanh")
        if self.start.game.name != game.name:
            raise SpecError(f"the evaluator to begin with is one of {self.start.game.name}, not of {game.name}")
        self.features = tuple(features)
        self.record = self._record()

    def _record(self) -> np.ndarray:
        """Return the evaluator's record: its weights, and what is noted about them."""
        n, p = len(self.game.feature_names), self.game.n_phases
        record = LinearModelRecord.one(phases=p, features=n, slots=n + 1)
        record["used"] = used_features(self.game, self.features)
        record["weights"], record["bias"] = self.start.weights, self.start.bias
        return record

    @property
    def weights(self) -> np.ndarray:
        """float64[n_phases, n_features], the model's own."""
        weights: np.ndarray = self.record["weights"][0]
        return weights

    @property
    def arrays(self) -> Arrays:
        """Return what hooks get."""
        return self.weights, self.record["error_sums"][0], self.record

    def usual(self, target: str) -> dict[str, object]:
        """Return the settings of self-play that suit the target."""
        return {
            "step_size": STEPS[target], "depth": 2, "lambda_": 0.7, "epsilon": 0.05,
            "max_opening_plies": 2 * self.game.opening_plies, "train_on_openings": False,
        }  # fmt: skip

    def hooks(self) -> ModelHooks:
        """Return what learns inside the episode kernel."""
        from evallearn.compiled.specialise import specialise

        rules, kernel, n = self.game.rules, self.start.kernel(), len(self.game.feature_names)
        assert rules is not None
        assert kernel is not None
        module = specialise(
            TEMPLATE,
            rules,
            own_evaluate=kernel.evaluate_mover,
            N_FEATURES=n,
            N_PHASES=self.game.n_phases,
            SCALE=self.start.scale,
            TEMPORAL_COHERENCE=self.temporal_coherence,
            PER_PHASE=self.per_phase,
        )
        return ModelHooks.of(module, np.dtype((np.float32, (n,))))

    # --- checkpoints and evaluators ----------------------------------------------------------------------------------
    def identity(self) -> dict[str, object]:
        """Return what a checkpoint must have in common with whoever goes on from it."""
        return {
            "game": self.game.name,
            "features": feature_hash(self.game),
            "start": tensors_digest(self.start.tensors()),
            "used": list(self.features),
            "per_phase": self.per_phase,
            "temporal_coherence": self.temporal_coherence,
        }

    def state(self) -> dict[str, np.ndarray]:
        """Return everything a checkpoint needs."""
        return {name: np.atleast_1d(self.record[name][0]) for name in STATE}

    def load_state(self, tensors: Mapping[str, np.ndarray]) -> None:
        """Go on from what `state` returned."""
        for name in STATE:
            self.record[name] = tensors[name]

    def freezer(self) -> Callable[[Mapping[str, object]], LinearEval]:
        """Copy the weights; return a function of metadata that makes their evaluator."""
        weights, bias, game = self.weights.copy(), self.record["bias"][0].copy(), self.game
        return lambda metadata: LinearEval(game, weights, bias, metadata)

    def evaluator(self, metadata: Mapping[str, object] | None = None) -> LinearEval:
        """Freeze the weights."""
        return self.freezer()(metadata or {})


def used_features(game: Game, names: Sequence[str]) -> np.ndarray:
    """Return bool[n_features]: those that are named, or all."""
    for name in names:
        if name not in game.feature_names:
            raise unknown(f"feature of {game.name}", name, game.feature_names)
    return np.array([not names or name in names for name in game.feature_names])


def require_searching(game: Game, remedy: str) -> None:
    """Refuse, up front, a game in which a model cannot learn from its own alpha-beta."""
    rules = game.rules
    if rules is None or rules.utility_mover is None or rules.features_mover is None:
        raise SpecError(
            f"{game.name} has no rules with features, seen by the mover: targets that learn while they play need the "
            f"compiled backend of a two-player zero-sum game without chance; {remedy}"
        )
