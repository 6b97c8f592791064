"""A new model: one number for every position, by its hash, as TD(0) is taught."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from evallearn import FunctionEval
from evallearn.compiled.bits import jitable
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game
from evallearn.core.settings import setting, whole
from evallearn.runs.models import ModelOptions
from evallearn.train.models import Arrays, ModelHooks


class HashedModel:
    """Numbers that are found by the hash of a position."""

    targets = ("td",)

    def __init__(self, game: Game, *, size: int = 1 << 12) -> None:
        self.game, self.weights, self.sums = game, np.zeros(size), np.zeros(1)
        self.record = np.zeros(1, np.dtype([("unused", "i8")]))

    @property
    def arrays(self) -> Arrays:
        return self.weights, self.sums, self.record

    def usual(self, target: str) -> dict[str, object]:
        return {"step_size": 0.2, "lambda_": 0.5, "epsilon": 0.2}

    def hooks(self) -> ModelHooks:
        rules: Any = self.game.rules
        key, to_play, size = rules.key, rules.to_play, np.uint64(len(self.weights))

        def read(s: Any, row: Any, weights: Any, sums: Any, record: Any) -> Any:
            row[0] = np.int64(key(s) % size)
            return np.int64(0)

        def predict(row: Any, group: Any, weights: Any, sums: Any, record: Any) -> Any:
            return weights[row[0]]

        def update(t: Any, row: Any, group: Any, io: Any, weights: Any, sums: Any, record: Any) -> None:
            weights[row[0]] += io.step * io.td_error[t, 0]

        return ModelHooks(
            row=np.dtype((np.int64, (1,))), parts=1, observer=to_play, read=jitable(read), predict=jitable(predict),
            update=jitable(update),
        )  # fmt: skip

    def identity(self) -> dict[str, object]:
        return {"game": self.game.name, "size": len(self.weights)}

    def state(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights}

    def load_state(self, tensors: Mapping[str, np.ndarray]) -> None:
        self.weights[:] = tensors["weights"]

    def freezer(self) -> Callable[[Mapping[str, object]], Any]:
        weights, game = self.weights.copy(), self.game
        rules: Any = game.rules

        def value(s: Any, player: int) -> float:
            v = float(weights[int(rules.key(rules.State(*map(np.uint64, game.encode(s))))) % len(weights)])
            return float(np.clip(v if game.to_play(s) == player else -v, -0.99, 0.99))

        return lambda metadata: FunctionEval(game, value)

    def evaluator(self, metadata: Mapping[str, object] | None = None) -> Any:
        return self.freezer()(metadata or {})


@dataclass(frozen=True, kw_only=True)
class HashedOptions(ModelOptions):
    """A number for every position, by its hash."""

    kind: ClassVar[str] = "hashed"
    size: int = setting(1 << 12, "How many numbers.", whole(1, 2**24))

    def build(self, game: Game, start: Evaluator | None, seed: int) -> Any:
        return HashedModel(game, **self.given())
