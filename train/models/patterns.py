"""Pattern tables as a model: `PatternModel`.

A value is tanh of the sum of weights. A step takes a part of the error away, shared out to all places: the gradient of
the log loss. With `temporal_coherence` every weight has a step of its own, smaller where its errors cancel out (Beal &
Smith, "Temporal coherence and prediction decay in TD learning", 1999), but never smaller than the part
`min_step_ratio`: or else sums from the time when all targets were guesses could stop it for good.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from evallearn.compiled.learning_records import PatternModelRecord
from evallearn.core.game import Game
from evallearn.core.patterns import PatternSet
from evallearn.core.settings import SHARE, Settings, number, setting
from evallearn.errors import SpecError
from evallearn.evaluators.features import half_range
from evallearn.evaluators.layout import Layout
from evallearn.evaluators.patterns import PatternEval, cell_hash, pattern_set
from evallearn.train.models import Arrays, ModelHooks

TEMPLATE = Path(__file__).with_name("patterns_kernel.py")
SUITS = "as suits the set"


@dataclass(frozen=True, kw_only=True)
class PatternSettings(Settings):
    """How tables learn, and how they are written down."""

    temporal_coherence: bool | None = setting(
        None, "Give every weight a step of its own, smaller where its errors cancel out.", is_flag=True, auto=SUITS
    )
    min_step_ratio: float | None = setting(
        None, "Lower bound of a weight's step, as a ratio of the step size.", SHARE, auto=SUITS
    )
    quantum: float = setting(
        0.0, "Round to multiples of this power of two, for small files; 0: of none.", number(at_least=0, below=1)
    )
    prune_below: float = setting(
        0.0, "Leave out weights whose errors add up to less, in wins; 0: none.", number(at_least=0, at_most=1e9)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quantum and math.frexp(self.quantum)[0] != 0.5:
            raise SpecError(f"quantum={self.quantum!r}: give 0 or a power of two below 1, such as 0.0078125")
        if self.prune_below and self.temporal_coherence is False:
            raise SpecError(
                f"prune_below={self.prune_below:g} needs the sums that temporal_coherence keeps: switch it on, or "
                "pruning off"
            )


class PatternModel:
    """The tables of a game's pattern set."""

    targets: tuple[str, ...] = ("td",)

    def __init__(
        self,
        game: Game,
        patterns: str | PatternSet | None = None,
        *,
        temporal_coherence: bool | None = None,
        min_step_ratio: float | None = None,
        quantum: float = 0.0,
        prune_below: float = 0.0,
    ) -> None:
        """Set up the model.

        patterns: a set of the game by its name, or a set; None: its first. The others are those of PatternSettings.

        Raises SpecError for a game that has no compiled backend with cells, or no two movers in turn.
        """
        if not game.pattern_sets and not isinstance(patterns, PatternSet):
            raise SpecError(f"{game.name} declares no pattern sets: give it pattern_sets, or hand in a PatternSet")
        self.game = game
        self.patterns = pattern_set(game, patterns if patterns is not None else next(iter(game.pattern_sets)))
        suited = self.patterns.learning
        self.settings = PatternSettings(
            temporal_coherence=chosen(temporal_coherence, suited.get("temporal_coherence"), True),
            min_step_ratio=chosen(min_step_ratio, suited.get("min_step_ratio"), 0.0),
            quantum=quantum,
            prune_below=prune_below,
        )
        rules = game.rules
        if rules is None or rules.cells is None or rules.utility_mover is None:
            raise SpecError(
                f"{game.name} has no rules with cells, seen by the mover: pattern tables learn on the compiled backend "
                "of a two-player zero-sum game without chance"
            )
        self.layout = Layout.of(game, self.patterns)
        self._begin()

    def _begin(self) -> None:
        n = self.layout.n_groups * self.layout.entries
        self.weights = np.zeros(n, np.float32)
        self.error_sums = np.zeros((n if self.settings.temporal_coherence else 1, 2), np.float32)
        """Of every weight, the sum of its errors and that of their sizes."""
        self.record = self.layout.record(PatternModelRecord)
        self.record["min_step_ratio"] = self.settings.min_step_ratio

    def twin(self) -> Self:
        """Return tables of the same patterns that know nothing yet."""
        other = copy.copy(self)
        other._begin()
        return other

    @property
    def arrays(self) -> Arrays:
        """Return what hooks get."""
        return self.weights, self.error_sums, self.record

    def tables(self) -> np.ndarray:
        """Return float32[n_groups, entries], a copy."""
        return self.weights.reshape(self.layout.n_groups, self.layout.entries).copy()

    def usual(self, target: str) -> dict[str, object]:
        """Return the settings of self-play that suit the set, or are usual for tables."""
        own = PatternSettings.known()
        usual = {"step_size": 4.0, "lambda_": 0.6, "epsilon": 0.1, "max_opening_plies": 4 * self.game.opening_plies}
        return usual | {name: value for name, value in self.patterns.learning.items() if name not in own}

    def hooks(self) -> ModelHooks:
        """Return what learns inside the episode kernel."""
        from evallearn.compiled.specialise import specialise
        from evallearn.evaluators.patterns import kernels

        rules, layout = self.game.rules, self.layout
        assert rules is not None
        evaluator = kernels(layout, half_range(self.game))
        module = specialise(
            TEMPLATE,
            rules,
            evaluator,
            N_PLACES=len(layout.places),
            ENTRIES=layout.entries,
            TEMPORAL_COHERENCE=self.settings.temporal_coherence,
        )
        places = len(layout.places)
        return ModelHooks.of(module, np.dtype((np.int32, (places,))), places)

    # --- checkpoints and evaluators ----------------------------------------------------------------------------------
    def identity(self) -> dict[str, object]:
        """Return what a checkpoint must have in common with whoever goes on from it."""
        layout, settings = self.layout, self.settings
        return {
            "game": self.game.name,
            "cells": cell_hash(self.game),
            "patterns": [list(p) for p in layout.patterns],
            "by": [layout.per_phase, layout.per_player],
            "temporal_coherence": settings.temporal_coherence,
            "min_step_ratio": settings.min_step_ratio,
        }

    def state(self) -> dict[str, np.ndarray]:
        """Return everything a checkpoint needs."""
        return {"weights": self.weights, "error_sums": self.error_sums}

    def load_state(self, tensors: Mapping[str, np.ndarray]) -> None:
        """Go on from what `state` returned."""
        self.weights[:], self.error_sums[:] = tensors["weights"], tensors["error_sums"]

    def freezer(self) -> Callable[[Mapping[str, object]], PatternEval]:
        """Copy the weights; return a function of metadata that makes their evaluator."""
        weights, settings, layout = self.tables(), self.settings, self.layout
        if settings.prune_below:
            weights[self.error_sums[:, 1].reshape(weights.shape) < settings.prune_below] = 0.0
        return lambda metadata: PatternEval.from_weights(layout, weights, metadata, quantum=settings.quantum)

    def evaluator(self, metadata: Mapping[str, object] | None = None) -> PatternEval:
        """Freeze the weights."""
        return self.freezer()(metadata or {})


def chosen(*values: Any) -> Any:
    """Return the first that is given."""
    return next(value for value in values if value is not None)
