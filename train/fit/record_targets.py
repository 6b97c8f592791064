"""What records teach under each target of `targets.py`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evallearn.data.dataset import Dataset
from evallearn.train.fit.scale import fit_scale
from evallearn.train.fit.stream import RecordStream
from evallearn.train.leaves import BlendedStream, QuietStream


def first_stream(target: str, dataset: Dataset, outcome_share: float) -> RecordStream:
    """Return what an evaluator is fitted to at first."""
    return BlendedStream(dataset, outcome_share) if target == "blend" else dataset


def quiet_scale(stream: QuietStream) -> float:
    """Return Texel's K: the factor for the evaluator that found the leaves, by the outcomes there."""
    weights, bias = stream.evaluator.weights.astype(np.float64), stream.evaluator.bias.astype(np.float64)

    def predictions() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for b in stream.batches("train"):
            yield np.einsum("ij,ij->i", b.features, weights[b.phase]) + bias[b.phase], b.outcome

    return fit_scale(predictions(), 1.0, max_iter=100, tol=1e-10)
