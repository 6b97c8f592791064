"""Models: weights that learn, and the evaluators that they become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from evallearn.core.game import Game
from evallearn.evaluators.features import FeatureEval

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


class ModelHooks(NamedTuple):
    """A model inside a kernel. `row` is scratch of fixed width; `weights` are its three arrays, passed flat.

    The third is an array of one record, of which the functions get the record itself.
    """

    read: Any
    """read(s, row, *weights) -> group: write what the model reads of `s`, send for the weights that `row` names."""
    predict: Any
    """predict(row, group, *weights) -> float64: the value to the mover, as a share of a win."""
    prefetch: Any
    """prefetch(row, group, *weights): send for what `update` will need."""
    update: Any
    """update(row, group, error, step, *weights): move the value by a part of the error."""
    cell: Any
    """cell(i, record) -> int: what the mover saw on a cell of the state that was read last."""
    visit: Any
    """visit(row, record): count what a position of a game looks like."""
    take: Any
    """take(step, record): learn the mean of what `note_node` noted."""
    row: np.dtype[Any]
    """What stands in a row: its type and width."""
    parts: int
    """Weights that share a step."""
    evaluate_mover: Any = None
    """EVAL(s, record), for a model whose games are searched; None: they look ahead one ply, or without quiescence."""
    note_node: Any = None
    """note_node(s, value, alpha, beta, record): note what a search says of a node."""


class Model(Protocol):
    """Weights that learn."""

    game: Game
    targets: tuple[str, ...]
    """What it can learn; the first is usual."""

    @property
    def weights(self) -> np.ndarray: ...
    @property
    def arrays(self) -> Arrays:
        """Return what hooks get."""

    def usual(self, target: str) -> Mapping[str, Any]:
        """Return the settings of self-play that suit it and the target, where none are given."""

    def hooks(self) -> ModelHooks:
        """Return what learns inside the episode kernel."""

    def identity(self) -> dict[str, Any]:
        """Return what a checkpoint must have in common with whoever goes on from it."""

    def state(self) -> dict[str, np.ndarray]:
        """Return everything a checkpoint needs, not copied."""

    def load_state(self, tensors: Mapping[str, np.ndarray]) -> None:
        """Go on from what `state` returned."""

    def freezer(self) -> Any:
        """Copy the weights; return a function of metadata that makes their evaluator."""

    def evaluator(self, metadata: Mapping[str, Any] | None = None) -> FeatureEval:
        """Freeze the weights."""
