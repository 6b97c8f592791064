"""The neural evaluator that predicts how a game ends: one output for every step between two possible results.

    features seen by the mover -> one or two hidden layers -> logistic units p[j] = P(utility >= levels[j + 1])
    EVAL(s) = levels[0] + sum over j of (levels[j + 1] - levels[j]) p[j]

Most games only know loss and win: one output, the probability to win. Backgammon has six results and so five outputs,
as TD-Gammon's successors have: no backgammon lost, no gammon lost, won, won a gammon, won a backgammon. Where an output
contradicts one that is nearer to the middle (more gammons than wins), it counts as that one.

Phases of the game may share all weights, have networks of their own, or share some. The compiled backend adds in the
same order, so both backends agree to the last bit.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from evallearn.core.evaluator import EvalKernel
from evallearn.core.game import Game
from evallearn.core.json_shapes import Json
from evallearn.errors import EvaluatorError, unknown
from evallearn.evaluators.features import FeatureEval
from evallearn.evaluators.squash import squash

if TYPE_CHECKING:
    from evallearn.compiled.records import NetRecord

LANES = 8
"""Hidden units come in eights: so many numbers fit into one instruction."""
TENSORS = ("w1", "b1", "w2", "b2", "w3", "b3")
ACTIVATIONS = ("relu", "clipped", "sigmoid")
"""max(z, 0); the same, 1 at most; 1 / (1 + exp(-z))."""
# tanh(x) = x P(x^2) / Q(x^2) up to |x| = 4.97, within 1e-4: enough for hidden units, and float32 all the way.
SATURATED = np.float32(4.97)
P0, P1, P2 = np.float32(135135.0), np.float32(17325.0), np.float32(378.0)
Q0, Q1, Q2 = np.float32(135135.0), np.float32(62370.0), np.float32(3150.0)
Q3 = np.float32(28.0)
HALF, ONE, ZERO = np.float32(0.5), np.float32(1.0), np.float32(0.0)


def levels_of(game: Game) -> tuple[float, ...]:
    """Return the results that the game can end with, lowest first; by default the worst and the best."""
    return tuple(map(float, game.levels or game.utility_range))


def of_phase(tensor: Any, k: Any) -> Any:
    """Return what phase `k` uses of a tensor: its own part, or the one that all phases share.

    Kernels compile it, too.
    """
    return tensor[k if len(tensor) > 1 else 0]


class OutcomeNet(FeatureEval):
    """What nets of any numbers have in common: their shapes, and the way from outputs to a value."""

    nets: int
    """1, or the number of phases if any tensor has a part for each."""
    h1: int
    h2: int
    outputs: int

    def _check_shapes(self, what: str, tensors: Mapping[str, np.ndarray]) -> None:
        """Set the sizes from the weights and biases of three layers, in this order; refuse what does not fit."""
        game, given = self.game, list(tensors.values())
        h1, h2 = (t.shape[-1] if t.ndim == 3 else 0 for t in (given[0], given[2]))
        results = levels_of(game)
        self.levels = tuple(map(float, game.utility_range)) if given[5].shape[1:] == (1,) else results
        self.steps = np.diff(self.levels)
        self.outputs, phases = len(self.steps), sorted({1, game.n_phases})
        last = h2 or h1
        shapes = ((len(game.feature_names), h1), (h1,), (h1, h2), (h2,), (last, self.outputs), (self.outputs,))
        for (name, t), shape in zip(tensors.items(), shapes, strict=True):
            if t.shape not in [(n, *shape) for n in phases] or h1 < 1 or h1 % LANES or h2 % LANES:
                wanted = ", ".join([" or ".join(map(str, phases)), *map(str, shape)])
                raise EvaluatorError(
                    f"tensor {name} of {what} of {game.name} must have shape ({wanted}), with hidden units in "
                    f"multiples of {LANES}, got {t.shape}"
                )
        self.nets, self.h1, self.h2 = max(map(len, given)), h1, h2

    @property
    def hidden(self) -> tuple[int, ...]:
        """The units of its hidden layers."""
        return (self.h1, self.h2) if self.h2 else (self.h1,)

    @abstractmethod
    def logits(self, x: Sequence[float], phase: int) -> list[float]:
        """Return the outputs before they are squashed."""

    def probabilities(self, x: Sequence[float], phase: int) -> list[float]:
        """Return the outputs: P(utility >= levels[j + 1]) for every j, never rising."""
        p = [0.5 + 0.5 * squash(0.5 * logit) if logit == logit else 0.5 for logit in self.logits(x, phase)]
        middle = self.outputs // 2
        for j in range(middle + 1, self.outputs):
            p[j] = min(p[j], p[j - 1])
        for j in range(middle - 1, -1, -1):
            p[j] = max(p[j], p[j + 1])
        return p

    def _expected(self, x: Sequence[float], phase: int) -> float:
        """Return the expected result, less the middle of the range."""
        total = self.levels[0] - self.middle
        for step, p in zip(self.steps.tolist(), self.probabilities(x, phase), strict=True):
            total += step * p
        return total

    def raw(self, x: Sequence[float], phase: int) -> float:
        """Return the number of which tanh makes the value."""
        return math.atanh(self._expected(x, phase) / self.scale)

    def share(self, x: Sequence[float], phase: int) -> float:
        return (self._expected(x, phase) + self.scale) / (2.0 * self.scale)

    def value(self, x: Sequence[float], phase: int) -> float:
        return self.middle + float(np.float32(self._expected(x, phase)))


class NetEval(OutcomeNet):
    """Shapes: w1 [nets, n_features, h1], b1 [nets, h1], w2 [nets, h1, h2], b2 [nets, h2], w3 [nets, h, outputs], b3.

    nets is 1 or the number of phases, for each tensor by itself: phases may share weights and have biases of their own.
    h2 may be 0, then there is one hidden layer, and w3 follows w1. h1 and h2 are multiples of 8. With one output the
    net says which share of the way from the worst result to the best is to be expected, whatever lies between.
    """

    kind = "net"
    template = Path(__file__).with_name("net_kernel.py")

    def __init__(
        self,
        game: Game,
        tensors: Mapping[str, np.ndarray],
        activation: str = "relu",
        metadata: Json | None = None,
    ) -> None:
        super().__init__(game, metadata)
        if activation not in ACTIVATIONS:
            raise unknown("activation", activation, ACTIVATIONS)
        if set(tensors) != set(TENSORS):
            raise EvaluatorError(f"a net needs the tensors {', '.join(TENSORS)}; got {', '.join(sorted(tensors))}")
        self.activation = activation
        with np.errstate(over="ignore"):  # a number too large for float32 is refused below
            self._tensors = {k: np.asarray(tensors[k], np.float32, order="C") for k in TENSORS}
        self._check_shapes("a net", self._tensors)
        for k, t in self._tensors.items():
            if not np.isfinite(t).all():
                raise EvaluatorError(f"tensor {k} of this net holds a number that is not finite: train it again")

    def halved(self) -> NetEval:
        """Return the net with weights rounded to 16 bits, about three digits: its file is half as large."""
        with np.errstate(over="ignore"):  # refused below
            tensors = {k: t.astype(np.float16) for k, t in self._tensors.items()}
        return NetEval(self.game, tensors, self.activation, self.metadata)

    # --- the value ---------------------------------------------------------------------------------------------------
    def logits(self, x: Sequence[float], phase: int) -> list[float]:
        w1, b1, w2, b2, w3, b3 = (of_phase(self._tensors[k], phase) for k in TENSORS)
        with np.errstate(over="ignore", invalid="ignore"):
            h = activate(_add_rows(b1, x, w1), self.activation)
            if self.h2:
                h = activate(_add_rows(b2, h.tolist(), w2), self.activation)
            z: list[float] = (b3 + dot_plain(h, w3)).tolist()
        return z

    # --- files and the compiled backend ------------------------------------------------------------------------------
    def tensors(self) -> dict[str, np.ndarray]:
        return {**self._tensors, "activation": np.array([ACTIVATIONS.index(self.activation)], np.int16)}

    @classmethod
    def from_tensors(cls, game: Game, tensors: Mapping[str, np.ndarray], metadata: Json) -> NetEval:
        """Return the net from what `tensors` returned, as its inverse; they may be a stranger's."""
        code = tensors["activation"]
        if code.shape != (1,) or not 0 <= int(code[0]) < len(ACTIVATIONS):
            raise EvaluatorError(f"a net has one activation, 0 to {len(ACTIVATIONS) - 1}; got {code.tolist()}")
        return cls(game, {k: tensors[k] for k in TENSORS}, ACTIVATIONS[int(code[0])], metadata)

    def kernel(self) -> EvalKernel | None:
        if self.game.rules is None:
            return None
        module = self.kernels()
        by_mover = self.game.rules.features_mover is not None
        return EvalKernel(
            params=self.params(),
            evaluate_player=module.evaluate_player,
            evaluate_mover=module.evaluate_mover if by_mover else None,
        )

    def kernels(self) -> ModuleType:
        """Return net_kernel.py for this game and these sizes."""
        from evallearn.compiled.specialise import specialise

        rules = self.game.rules
        assert rules is not None
        return specialise(
            self.template,
            rules,
            MIDDLE=self.middle,
            SCALE=self.scale,
            BEST=float(self.game.utility_range[1]),
            TWO_SIDED=self.two_sided,
            ACCUMULATES=self.accumulates,
            N_FEATURES=len(self.game.feature_names),
            H1=self.h1,
            H2=self.h2,
            LAST=self.h2 or self.h1,
            OUTPUTS=self.outputs,
            NETS=self.nets,
            ACTIVATION=ACTIVATIONS.index(self.activation),
            FLOOR=int(self.activation != "sigmoid"),
        )

    def params(self, record: type[NetRecord] | None = None, **sizes: int) -> np.ndarray:
        """Return the record of the kernel: weights and working memory.

        record: one that extends it; sizes: those of its own arrays.
        """
        from evallearn.compiled.records import NetRecord

        t, n = self._tensors, len(self.game.feature_names)
        params = (record or NetRecord).one(
            **{f"of_{name}": len(tensor) for name, tensor in t.items()},
            features=n, h1=self.h1, h2=max(1, self.h2), last=self.h2 or self.h1, outputs=self.outputs,
            room=max(n, self.h1) + LANES, **sizes,
        )  # fmt: skip
        for name in ("w1", "b1", "b3", *(("w2", "b2") if self.h2 else ())):
            params[name] = t[name]
        params["w3"] = t["w3"].swapaxes(1, 2)
        params["steps"], params["lowest"] = self.steps, self.levels[0] - self.middle
        return params


def activate(z: np.ndarray, activation: str) -> np.ndarray:
    """Return the hidden units for these sums."""
    h: np.ndarray = np.where(z == z, z, ZERO)  # huge weights of both signs: inf - inf says nothing
    if activation == "sigmoid":
        x = np.minimum(np.maximum(HALF * h, -SATURATED), SATURATED)
        u = x * x
        p = ((u + P2) * u + P1) * u + P0
        q = ((Q3 * u + Q2) * u + Q1) * u + Q0
        h = HALF + HALF * (x * (p / q))
    else:
        h = np.maximum(h, ZERO)
        if activation == "clipped":
            h = np.minimum(h, ONE)
    return h


def _add_rows(bias: np.ndarray, x: Sequence[float], weights: np.ndarray) -> np.ndarray:
    """Return bias + x . weights, row after row from the last one back, as the kernel adds."""
    total = bias.copy()
    for f, row in zip(reversed(x), weights[::-1], strict=True):
        if f != 0.0:
            total += np.float32(f) * row
    return total


def dot_plain(h: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return h . weights, float32[columns]: eight sums side by side and then these in pairs, as `vectors.dot` adds."""
    lanes = np.zeros((LANES, weights.shape[1]), np.float32)
    for first in range(0, len(h), LANES):
        lanes += h[first : first + LANES, None] * weights[first : first + LANES]
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    total: np.ndarray = lanes[0]
    return total
