"""What records teach under each target of `targets.py`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evallearn.data.dataset import Dataset
from evallearn.train.fit.scale import fit_scale
from evallearn.train.fit.stream import RecordStream
from evallearn.train.leaves import BlendedStream, QuietStream
from evallearn.train.targets import TARGETS


def first_stream(target: str, dataset: Dataset, outcome_share: float | None) -> RecordStream:
    """Return what an evaluator is fitted to at first; without a share, the target's own."""
    found = TARGETS[target]
    if found.backup != "search":
        return dataset
    return BlendedStream(dataset, found.outcome_share if outcome_share is None else outcome_share)


def quiet_scale(stream: QuietStream) -> float:
    """Return Texel's K: the factor for the evaluator that found the leaves, by the outcomes there."""
    weights, bias = stream.evaluator.weights.astype(np.float64), stream.evaluator.bias.astype(np.float64)

    def predictions() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for b in stream.batches("train"):
            yield np.einsum("ij,ij->i", b.features, weights[b.phase]) + bias[b.phase], b.outcome

    return fit_scale(predictions(), 1.0, max_iter=100, tol=1e-10)
