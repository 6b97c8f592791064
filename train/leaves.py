"""Quiet leaves: where the value of a search comes from, once all exchanges are over.

EVAL is only asked where it is quiet, so that is where it should be learned (TDLeaf, Texel).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np

from evallearn.compiled.hooks import Hook
from evallearn.core.game import Game
from evallearn.data.dataset import Batch, Dataset
from evallearn.evaluators import LinearEval
from evallearn.search.alphabeta.options import Options

TEMPLATE = Path(__file__).with_name("leaves_kernel.py")
NO_LIMIT = 1 << 62


def search_options(game: Game) -> Options:
    """Return how searches that teach look: to a fixed depth and then until it is quiet, every node once."""
    return Options(
        table=False,
        killers=True,
        history=False,
        noisy_first=True,
        pvs=False,
        aspiration=False,
        quiescence=int(game.search_settings.get("quiescence", 0)),
    )


def search_record(game: Game, options: Options) -> np.ndarray:
    """Return the one record that such a search carries."""
    from evallearn.search.alphabeta.compiled import context

    assert game.rules is not None
    box = context(game.rules, 1)
    box["node_limit"], box["quiescence"] = NO_LIMIT, options.quiescence
    box["use_killers"], box["noisy_first"] = options.killers, options.noisy_first
    return box


def leaves_kernel(game: Game, searching: ModuleType, evaluate_mover: Hook | None, options: Options) -> ModuleType:
    """Return leaves_kernel.py for the alpha-beta kernels `searching` and the evaluator that they ask."""
    from evallearn.compiled.specialise import specialise
    from evallearn.search.common.repetition import repetition_kernels

    rules = game.rules
    assert rules is not None
    return specialise(
        TEMPLATE,
        rules,
        searching,
        repetition_kernels(rules),
        evaluate_mover=evaluate_mover,
        N_FEATURES=len(game.feature_names),
        SELECTIVE=options.selective,
    )


class QuietStream:
    """The records of a data set, each with the features of the quiet position that it leads to.

    An evaluator says which exchanges are the best. Positions from which they end the game are left out. A game without
    quiescence is quiet everywhere: nothing changes.
    """

    def __init__(self, dataset: Dataset, evaluator: LinearEval) -> None:
        self.dataset, self.evaluator, self.game = dataset, evaluator, evaluator.game
        self.n_features, self.n_phases = dataset.n_features, dataset.n_phases
        self.feature_names, self.checksum = dataset.feature_names, dataset.checksum
        self.accumulates = dataset.accumulates
        self.options = search_options(self.game)
        self.changes = self.options.selective and self.game.rules is not None
        if self.changes:
            self._build()

    def _build(self) -> None:
        from evallearn.compiled.specialise import announce
        from evallearn.search.alphabeta.compiled import kernels

        kernel = self.evaluator.kernel()
        assert kernel is not None
        searching = kernels(self.game, kernel, self.options, False)
        self.params, self.box = kernel.params.copy(), search_record(self.game, self.options)
        self.kernels = leaves_kernel(self.game, searching, kernel.evaluate_mover, self.options)
        announce(f"quiet leaves of {self.game.name}", self.kernels.quiet_rows)

    def batches(self, split: str) -> Iterator[Batch]:
        if not self.changes:
            yield from self.dataset.batches(split)
            return
        for b in self.dataset.batches(split, whole=True):
            features, phase = np.zeros_like(b.features), np.zeros_like(b.phase)
            turned = np.zeros(len(b), np.int8)
            assert b.words is not None
            self.kernels.quiet_rows(b.words, self.box, self.params, features, phase, turned)
            on = turned != 0
            yield Batch(features[on], phase[on], (b.outcome * turned)[on], b.game[on])


class BlendedStream:
    """The records of a data set, each with `share` of the outcome and the rest of what the search said of it."""

    def __init__(self, dataset: Dataset, share: float) -> None:
        self.dataset, self.share, self.accumulates = dataset, share, dataset.accumulates
        self.n_features, self.n_phases = dataset.n_features, dataset.n_phases
        self.feature_names, self.checksum = dataset.feature_names, dataset.checksum

    def batches(self, split: str) -> Iterator[Batch]:
        for b in self.dataset.batches(split, whole=True):
            assert b.value is not None
            target = self.share * b.outcome + (1.0 - self.share) * np.clip(b.value, -1.0, 1.0)
            yield Batch(b.features, b.phase, target.astype(np.float32), b.game)
