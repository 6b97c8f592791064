"""The linear evaluator: a weighted sum of features, one weight vector per game phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evallearn.core.game import Game, State
from evallearn.core.json_shapes import Json
from evallearn.errors import EvaluatorError, unknown
from evallearn.evaluators.features import FeatureEval
from evallearn.evaluators.squash import SQUASHES

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


class LinearEval(FeatureEval):
    """EVAL(s) = tanh(w[phase] . f(s) + bias[phase]), seen by the mover; the bias is the worth of being to move.

    squash="clip" leaves out tanh: the sum is a value already, and is only kept strictly between loss and win.
    """

    kind = "linear"
    template = Path(__file__).with_name("linear_kernel.py")

    def __init__(
        self,
        game: Game,
        weights: np.ndarray,
        bias: np.ndarray | None = None,
        metadata: Json | None = None,
        *,
        squash: str = "tanh",
    ) -> None:
        """Take weights [n_phases, n_features], bias [n_phases] and squash, tanh or clip."""
        super().__init__(game, metadata)
        if squash not in SQUASHES:
            raise unknown("squash", squash, SQUASHES)
        self.squash = squash
        shape = (game.n_phases, len(game.feature_names))
        with np.errstate(over="ignore"):  # a number too large for float32 is refused below
            self.weights = np.asarray(weights, np.float32)
            self.bias = np.zeros(shape[0], np.float32) if bias is None else np.asarray(bias, np.float32)
        if self.weights.shape != shape or self.bias.shape != shape[:1]:
            raise EvaluatorError(
                f"a linear evaluator of {game.name} needs weights of shape {shape} and bias {shape[:1]}, "
                f"got {self.weights.shape} and {self.bias.shape}"
            )
        if not (np.isfinite(self.weights).all() and np.isfinite(self.bias).all()):
            raise EvaluatorError(f"a weight of this linear evaluator of {game.name} is not a finite number: refit it")
        self._rows = [(float(b), w.tolist()) for b, w in zip(self.bias, self.weights, strict=True)]

    @classmethod
    def from_sklearn(
        cls,
        model: BaseEstimator,
        game: Game,
        metadata: Json | None = None,
        *,
        name: str | None = None,
        scale: float = 1.0,
        squash: str | None = None,
        records: object = None,
    ) -> LinearEval:
        """Return a fitted scikit-learn pipeline as an evaluator; all phases get its weights.

        A pipeline: scalers, selectors or PCA, then a linear model.
        A classifier of wins (the larger label) and losses with probabilities: EVAL = P(win) - P(loss), exactly.
        A regressor or RidgeClassifier: EVAL = squash(scale * prediction), with squash "tanh" or "clip". tanh orders
        positions as the pipeline does; clip keeps the predictions as values, and so is the default for dice.
        name: by default that of the linear model, such as "Ridge".
        records: a Dataset or (features, outcome), which choose what has the least error on held-out games.
        Rows are features as the player to move sees them. What cannot be folded into weights raises EvaluatorError.
        """
        from evallearn.evaluators.from_sklearn import (  # an evaluator needs no scikit-learn
            linear_weights,
            model_name,
            squash_of,
        )

        if not 0.0 < scale < float("inf"):
            raise EvaluatorError(f"scale={scale!r} does not work: give a number above 0, or nothing for 1")
        weights, bias = linear_weights(model, game)
        squash, more, chosen = squash_of(model, game, scale * weights, float(scale * bias), squash, records)
        origin = {"name": name or model_name(model), "trainer": "scikit-learn", "model": repr(model), **chosen}
        rows, biases = np.tile(scale * weights, (game.n_phases, 1)), np.full(game.n_phases, scale * bias)
        return cls(game, more * rows, more * biases, {**origin, **(metadata or {})}, squash=squash)

    @classmethod
    def zero(cls, game: Game) -> LinearEval:
        """Return the evaluator that is 0 wherever the game is not over, so that search alone must do the work."""
        return cls(game, np.zeros((game.n_phases, len(game.feature_names))), metadata={"name": "zero"})

    def raw(self, x: Sequence[float], phase: int) -> float:
        total, weights = self._rows[phase]
        for w, f in zip(weights, x, strict=True):
            total += w * f
        return total

    def tensors(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights, "bias": self.bias}

    def explain(self, s: State, player: int) -> dict[str, float]:
        mover = self.game.observer(s) if self.two_sided else player
        sign = 1.0 if player == mover else -1.0
        bias, weights = self._rows[self.game.phase(s)]
        x = np.asarray(self.game.features(s, mover), np.float32).tolist()
        parts = {n: sign * w * f + 0.0 for n, w, f in zip(self.game.feature_names, weights, x, strict=True)}
        parts["to move"] = sign * bias + 0.0  # 0.0, never -0.0
        return dict(sorted(parts.items(), key=lambda kv: -abs(kv[1])))


def heuristic(game: Game, name: str) -> LinearEval:
    """Return the game's hand-written heuristic of that name."""
    if name not in game.heuristics:
        raise unknown(f"heuristic of {game.name}", name, game.heuristics)
    known = game.heuristics[name]
    game = game.seen_as(known.view or game.name)
    rows = [known.weights] * game.n_phases if isinstance(known.weights, Mapping) else known.weights
    for row in rows:
        for feature in row:
            if feature not in game.feature_names:
                raise unknown(f"feature in heuristic {name!r} of {game.name}", feature, game.feature_names)
    weights = np.array([[row.get(f, 0.0) * known.unit for f in game.feature_names] for row in rows])
    found = LinearEval(game, weights, metadata={"name": name, "note": known.note})
    found.unit = known.unit
    return found
