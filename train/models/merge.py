"""Tables that learn side by side, and what they learned put together: `MergedTables`.

A weight becomes the mean of theirs, each counting as much as it has learned there since the last time (the sum of its
|errors|), so that what only one of them has seen is kept whole; the error sums add up. Then all go on from the same
tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from evallearn.core.memory import require_memory
from evallearn.errors import SpecError
from evallearn.train.models.patterns import PatternModel

TEMPLATE = Path(__file__).with_name("merge_kernel.py")
WEIGHT = 12
"""Bytes of a weight and of its two sums."""
PIECE = 1 << 20
"""Weights that are merged at a time."""


class MergedTables:
    """Twins of a model, itself the first, which `merge` makes the same again."""

    def __init__(self, model: PatternModel, learners: int) -> None:
        """Raise SpecError without temporal coherence, whose sums tell who has learned what."""
        if not model.settings.temporal_coherence:
            raise SpecError(
                f"learners={learners} need the sums that temporal_coherence keeps: switch it on, or take 1 learner"
            )
        require_memory((learners + 1) * len(model.weights) * WEIGHT, f"learners={learners}")
        self.weights = np.zeros((learners, *model.weights.shape), np.float32)
        self.error_sums = np.zeros((learners, *model.error_sums.shape), np.float32)
        self.weights[:], self.error_sums[:] = model.weights, model.error_sums
        self.known = model.error_sums.copy()
        """The error sums when they were merged last."""
        self.models = [model, *(model.twin() for _ in range(learners - 1))]
        for one, weights, sums in zip(self.models, self.weights, self.error_sums, strict=True):
            one.weights, one.error_sums = weights, sums
        self.kernels = self._kernels(learners)

    def _kernels(self, learners: int) -> Any:
        from evallearn.compiled.specialise import specialise

        return specialise(TEMPLATE, N_LEARNERS=learners)

    def merge(self, pool: ThreadPoolExecutor) -> None:
        """Put together what all have learned since the last time."""

        def piece(first: int) -> None:
            self.kernels.merge(self.weights, self.error_sums, self.known, first, first + PIECE)

        list(pool.map(piece, range(0, len(self.known), PIECE)))

    def load_state(self, tensors: Mapping[str, np.ndarray]) -> None:
        """Let all go on from what the first one's `state` returned."""
        self.known[:] = tensors["error_sums"]
        for model in self.models:
            model.load_state(tensors)
