"""The small neural evaluator: named features, two hidden layers of rectified units, a bias vector per game phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from evallearn.core.game import Game
from evallearn.core.shapes import Json
from evallearn.errors import EvaluatorError
from evallearn.evaluators.features import FeatureEval, Field

TENSORS = ("w1", "b1", "w2", "b2", "w3", "b3")


class MlpEval(FeatureEval):
    """EVAL(s) = tanh(w3 . relu(w2 . relu(w1 . f(s) + b1[phase]) + b2) + b3), seen by the mover.

    Shapes: w1 [n_features, h1], b1 [n_phases, h1], w2 [h1, h2], b2 [h2], w3 [h2], b3 [1]; inputs are raw features
    (a trainer folds its scaling into w1 and b1).
    """

    kind = "mlp"
    template = Path(__file__).with_name("mlp_kernel.py")

    def __init__(self, game: Game, tensors: Mapping[str, np.ndarray], made: Json | None = None) -> None:
        super().__init__(game, made)
        if set(tensors) != set(TENSORS):
            raise EvaluatorError(
                f"an MLP Eval needs the tensors {', '.join(TENSORS)}; got {', '.join(sorted(tensors))}"
            )
        with np.errstate(over="ignore"):  # a number too large for float32 is refused below
            self._tensors = {k: np.asarray(tensors[k], np.float32, order="C") for k in TENSORS}
        f, p = len(game.feature_names), game.n_phases
        w1, w2 = self._tensors["w1"], self._tensors["w2"]
        h1, h2 = (w1.shape[-1], w2.shape[-1]) if w1.ndim == w2.ndim == 2 else (0, 0)
        wanted = {"w1": (f, h1), "b1": (p, h1), "w2": (h1, h2), "b2": (h2,), "w3": (h2,), "b3": (1,)}
        for k, shape in wanted.items():
            if self._tensors[k].shape != shape or 0 in shape:
                raise EvaluatorError(
                    f"tensor {k} of an MLP Eval of {game.name} must have shape {shape}, got {self._tensors[k].shape}"
                )
            if not np.isfinite(self._tensors[k]).all():
                raise EvaluatorError(f"tensor {k} of this MLP Eval holds a number that is not finite: refit it")
        self.h1, self.h2 = h1, h2

    def raw(self, x: Sequence[float], phase: int) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            total = self._forward(x, phase)
        return 0.0 if total != total else total  # huge weights of both signs: inf - inf says nothing

    def _forward(self, x: Sequence[float], phase: int) -> float:
        # The order of the additions is the kernel's, so that both floors agree to the last bit.
        t = self._tensors
        h1 = t["b1"][phase].copy()
        for f, row in zip(x, t["w1"], strict=True):
            if f != 0.0:
                h1 += np.float32(f) * row
        h2 = t["b2"].copy()
        for f, row in zip(h1, t["w2"], strict=True):
            if f > 0.0:
                h2 += f * row
        total = float(t["b3"][0])
        for f, w in zip(h2.tolist(), t["w3"].tolist(), strict=True):
            if f > 0.0:
                total += f * w
        return total

    def tensors(self) -> dict[str, np.ndarray]:
        return self._tensors

    def scratch(self) -> list[Field]:
        return [*super().scratch(), ("hidden1", "f4", (self.h1,)), ("hidden2", "f4", (self.h2,))]

    def sizes(self) -> dict[str, int]:
        return {"H1": self.h1, "H2": self.h2}
