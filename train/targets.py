"""Which target a linear Eval is learned by: one switch, everything else stays the same.

outcome      how the game ended
blend        a share of that, the rest what the search said of the position
texel        how the game ended, learned where all exchanges are over (as the chess program Texel was tuned)
td, tdleaf, rootstrap, treestrap
             what its own searches find while it plays: see `online.py`

The first three are learned from records by scikit-learn's manner of regression, the others in games of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evallearn.data.dataset import Dataset
from evallearn.errors import SpecError, unknown
from evallearn.train.fit.scale import fit_scale
from evallearn.train.fit.stream import RecordStream
from evallearn.train.leaves import BlendedStream, QuietStream
from evallearn.train.searching import TARGETS as WHILE_PLAYING

RECORD_TARGETS = ("outcome", "blend", "texel")
ONLINE_TARGETS = WHILE_PLAYING
TARGETS = (*RECORD_TARGETS, *ONLINE_TARGETS)


def check_target(target: str, blend: float) -> None:
    """Refuse a target that there is not, and a share that is none."""
    if target not in TARGETS:
        raise unknown("target", target, TARGETS)
    if not 0.0 <= blend <= 1.0:
        raise SpecError(f"blend={blend!r}: give the share of the outcome, from 0 (the search alone) to 1 (the outcome)")


def first_stream(target: str, dataset: Dataset, blend: float) -> RecordStream:
    """What an Eval is fitted to at first."""
    return BlendedStream(dataset, blend) if target == "blend" else dataset


def quiet_scale(stream: QuietStream) -> float:
    """Texel's K: the factor by which the Eval that found the leaves should be multiplied, by the outcomes there."""
    weights, bias = stream.evaluator.weights.astype(np.float64), stream.evaluator.bias.astype(np.float64)

    def predictions() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for b in stream.batches("train"):
            yield np.einsum("ij,ij->i", b.features, weights[b.phase]) + bias[b.phase], b.outcome

    return fit_scale(predictions(), 1.0, max_iter=100, tol=1e-10)
