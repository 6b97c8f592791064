"""Models: weights that learn, and the evaluators that they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np

from evallearn.compiled.hooks import Hook
from evallearn.core.game import Game
from evallearn.evaluators.features import FeatureEval

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]
Row = np.dtype[Any]
"""Type and width."""


class ModelHooks(NamedTuple):
    """A model inside a kernel: `evallearn/compiled/learning_hooks.py` says what each function promises."""

    row: Row
    """What stands in a row: its type and width."""
    parts: int
    """Weights that share a step."""
    observer: Hook
    read: Hook
    predict: Hook
    update: Hook
    OUTPUTS: int = 1
    prefetch: Hook | None = None
    cell: Hook | None = None
    visit: Hook | None = None
    take: Hook | None = None
    output: Hook | None = None
    write_result: Hook | None = None
    begin_episode: Hook | None = None
    evaluate_mover: Hook | None = None
    """For a model whose games are searched; None: they look ahead one ply, or without quiescence."""
    on_node: Hook | None = None

    @classmethod
    def of(cls, module: ModuleType, row: Row, parts: int = 1, **own: Any) -> ModelHooks:
        """Return what a model's template defines; `own` goes before."""
        defined: dict[str, Any] = {name: getattr(module, name) for name in cls._fields if hasattr(module, name)}
        return cls(**{**defined, "row": row, "parts": parts, **own})


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

    def usual(self, target: str) -> Mapping[str, object]:
        """Return the settings of self-play that suit it and the target, where none are given."""

    def hooks(self) -> ModelHooks:
        """Return what learns inside the episode kernel."""

    def identity(self) -> dict[str, object]:
        """Return what a checkpoint must have in common with whoever goes on from it."""

    def state(self) -> dict[str, np.ndarray]:
        """Return everything a checkpoint needs, not copied."""

    def load_state(self, tensors: Mapping[str, np.ndarray]) -> None:
        """Go on from what `state` returned."""

    def freezer(self) -> Callable[[Mapping[str, object]], FeatureEval]:
        """Copy the weights; return a function of metadata that makes their evaluator."""

    def evaluator(self, metadata: Mapping[str, object] | None = None) -> FeatureEval:
        """Freeze the weights."""
