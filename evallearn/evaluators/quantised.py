"""A net in small whole numbers, whose first layer is kept up to date instead of being computed again (NNUE).

    inputs       whole multiples of 1/16, cut off at `reach`
    weights      16 bits, times a power of two; in a wide second layer some bits stay unused
    hidden units 16 bits
    sums         32 bits, exact in any order; those of the outputs 64 bits

No sum can leave its bits, whatever the inputs: that is checked when the net is built. So adding what changed since the
last position gives the very sums that adding everything gives, and both backends agree to the last bit. 32-bit
whole numbers and not float32, which is exact to 24 bits only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from evallearn.core.evaluator import EvalKernel
from evallearn.core.game import Game
from evallearn.core.json_shapes import Json
from evallearn.errors import EvaluatorError
from evallearn.evaluators.features import fixed_positions
from evallearn.evaluators.net import ACTIVATIONS, LANES, NetEval, OutcomeNet, of_phase
from evallearn.evaluators.squash import squash

TEMPLATE = Path(__file__).with_name("quantised_kernel.py")
NUMBERS = {
    "q1": np.int16, "c1": np.int32, "q2": np.int16, "c2": np.int32, "q3": np.int16, "c3": np.int32,
    "exponents": np.int16, "activation": np.int16,
}  # fmt: skip
"""Weights q and biases c of each layer; 2 ** exponents: what 1 is worth in q1, hidden1, q2, hidden2, q3."""
LAYERS = ("q1", "c1", "q2", "c2", "q3", "c3")
FINE = 4
"""Inputs are multiples of 2 ** -FINE."""
FARTHEST = 2**14 - 1
"""Largest input, in steps: a change from one end to the other still has 16 bits."""
LIMIT = 2**30
"""No sum is larger, so that there is room to round it."""
HIGHEST = 2**15 - 1
"""Of a hidden unit without an upper end."""
UNIT = -14
"""2 ** UNIT: what 1 is worth in a hidden unit that goes from 0 to 1."""
SPAN, LOOK_UP = 2560, -8
"""Logistic units are looked up at -10 to 10, 2 ** LOOK_UP apart."""
ROOM = 8
"""Hidden units without an upper end have room for so many times what the fixed positions make of them; inputs twice."""
LARGEST = 500
"""Of an exponent, either way: numbers beyond mean nothing."""


class QuantisedNet(OutcomeNet):
    """Shapes are those of `NetEval`, types those of NUMBERS. `quantise` makes it of a net."""

    kind = "quantised"
    incremental = True
    """False: the kernel adds everything at every position; the values are the same."""

    def __init__(self, game: Game, tensors: Mapping[str, np.ndarray], metadata: Json | None = None) -> None:
        super().__init__(game, metadata)
        if set(tensors) != set(NUMBERS):
            raise EvaluatorError(
                f"a quantised net needs the tensors {', '.join(NUMBERS)}; got {', '.join(sorted(tensors))}"
            )
        self._tensors = {k: np.ascontiguousarray(tensors[k]) for k in NUMBERS}
        self._check_shapes("a quantised net", {k: self._tensors[k] for k in LAYERS})
        for k, wanted in NUMBERS.items():
            if self._tensors[k].dtype != wanted:
                raise EvaluatorError(
                    f"tensor {k} of a quantised net must be {wanted.__name__}, got {self._tensors[k].dtype}"
                )
        self._check_exponents()
        self._check_sums()

    def _check_exponents(self) -> None:
        exponents = self._tensors["exponents"].tolist()
        for name, n in (("exponents", 5), ("activation", 1)):
            if self._tensors[name].shape != (n,):
                raise EvaluatorError(
                    f"tensor {name} of a quantised net of {self.game.name} must have shape ({n},), got "
                    f"{self._tensors[name].shape}"
                )
        code = int(self._tensors["activation"][0])
        if not 0 <= code < len(ACTIVATIONS):
            raise EvaluatorError(f"a quantised net has an activation from 0 to {len(ACTIVATIONS) - 1}; got {code}")
        self.activation = ACTIVATIONS[code]
        w1, hidden1, w2, hidden2, w3 = exponents
        bounded = self.activation != "relu"
        self.shifts = [hidden1 - (w1 - FINE), hidden2 - (_worth(self.activation, hidden1) + w2) if self.h2 else 0]
        if (
            any(abs(e) > LARGEST for e in exponents)
            or any(not 0 <= shift <= 30 for shift in self.shifts)
            or (bounded and any(not UNIT <= e <= 0 for e in (hidden1, hidden2)))
        ):
            raise EvaluatorError(f"the exponents {exponents} of this quantised net do not fit together: make it again")
        self.unit = 2.0 ** (_worth(self.activation, hidden2 if self.h2 else hidden1) + w3)
        self.tops = [2 ** -_worth(self.activation, e) if bounded else HIGHEST for e in (hidden1, hidden2)]

    def _check_sums(self) -> None:
        """Refuse weights with which a sum may leave its bits, and set `reach`."""
        t = self._tensors
        self.reach = reach_of(t["q1"], t["c1"])
        if self.reach < 2**FINE:
            raise EvaluatorError(
                "the weights of this quantised net are so large that the sums of an input of 1 may leave 32 bits: "
                "make it again"
            )
        if self.h2 and highest_sum(t["q2"], t["c2"], self.tops[0]) > LIMIT:
            raise EvaluatorError("the second layer's sums of this quantised net may leave 32 bits: make it again")

    # --- the value ---------------------------------------------------------------------------------------------------
    def logits(self, x: Sequence[float], phase: int) -> list[float]:
        q1, c1, q2, c2, q3, c3 = (of_phase(self._tensors[k], phase) for k in LAYERS)
        h = self._hidden(c1 + self.steps_of(x).astype(np.int64) @ q1, 0)
        if self.h2:
            h = self._hidden(c2 + h @ q2, 1)
        return [float(total) * self.unit for total in (c3 + h @ q3).tolist()]

    def steps_of(self, x: Sequence[float]) -> np.ndarray:
        """Return the inputs in steps, int32[n_features]: rounded and cut off, float32 all the way as in the kernel."""
        with np.errstate(over="ignore"):
            y = np.asarray(x, np.float32) * np.float32(2**FINE)
        y = np.clip(np.where(y == y, y, np.float32(0)), np.float32(-self.reach), np.float32(self.reach))
        steps: np.ndarray = (y + np.float32(FARTHEST + 1.5)).astype(np.int32) - np.int32(FARTHEST + 1)
        return steps

    def _hidden(self, sums: np.ndarray, layer: int) -> np.ndarray:
        h: np.ndarray = (sums + ((1 << self.shifts[layer]) >> 1)) >> self.shifts[layer]
        if self.activation == "sigmoid":
            h = self._logistic()[layer, np.clip(h, -SPAN, SPAN - 1) + SPAN].astype(np.int64)
        else:
            h = np.clip(h, 0, self.tops[layer])
        return h

    def _logistic(self) -> np.ndarray:
        """Return int16[2, 2 * SPAN]: logistic units of each layer."""
        if self._looked_up is None:
            exponents = self._tensors["exponents"]
            self._looked_up = np.array(
                [
                    [round((0.5 + 0.5 * squash(0.5 * i * 2.0 ** int(e))) * 2**-UNIT) for i in range(-SPAN, SPAN)]
                    for e in (exponents[1], exponents[3])
                ],
                np.int16,
            )
        return self._looked_up

    _looked_up: np.ndarray | None = None

    # --- files and the compiled backend ------------------------------------------------------------------------------
    def tensors(self) -> dict[str, np.ndarray]:
        return self._tensors

    def kernel(self) -> EvalKernel | None:
        rules = self.game.rules
        if rules is None or not self.two_sided:
            return None
        from evallearn.compiled.specialise import specialise

        by_mover = rules.features_mover is not None
        module = specialise(
            TEMPLATE,
            rules,
            MIDDLE=self.middle,
            N_INPUTS=self._padded(),
            H1=self.h1,
            H2=self.h2,
            LAST=self.h2 or self.h1,
            OUTPUTS=self.outputs,
            NETS=self.nets,
            LOGISTIC=self.activation == "sigmoid",
            FINE=np.float32(2**FINE),
            INCREMENTAL=self.incremental,
        )
        return EvalKernel(
            params=self._params(),
            evaluate_player=module.evaluate_player,
            evaluate_mover=module.evaluate_mover if by_mover else None,
        )

    def _padded(self) -> int:
        """Return the number of inputs of the kernel: some that are always 0 make it a multiple of eight."""
        return -(-len(self.game.feature_names) // LANES) * LANES

    def _params(self) -> np.ndarray:
        """Return the record of the kernel: weights, and the sums of a board on which every input is 0."""
        from evallearn.compiled.records import QuantisedRecord

        t, n, logistic = self._tensors, self._padded(), self.activation == "sigmoid"
        params = QuantisedRecord.one(
            **{f"of_{name}": len(t[name]) for name in LAYERS},
            nets=self.nets, features=len(self.game.feature_names), inputs=n, h1=self.h1, h2=max(1, self.h2),
            last=self.h2 or self.h1, outputs=self.outputs, widest=max(self.h1, self.h2), room=max(n, self.h1) + 1,
            logistic=2 * SPAN if logistic else 1,
        )  # fmt: skip
        for name in ("q1", "c1", "c3", *(("q2", "c2") if self.h2 else ())):
            params[name] = t[name]
        params["q3"] = t["q3"].swapaxes(1, 2)
        params["sums"] = t["c1"][None]
        if logistic:
            params["logistic"] = self._logistic()
        params["shift"], params["top"] = self.shifts, self.tops
        params["reach"], params["unit"] = self.reach, self.unit
        params["steps"], params["lowest"] = self.steps, self.levels[0] - self.middle
        return params


def _worth(activation: str, exponent: int) -> int:
    """Return the exponent of a hidden unit's value.

    Logistic ones have the same, whatever they are looked up with.
    """
    return UNIT if activation == "sigmoid" else exponent


def highest_sum(weights: np.ndarray, biases: np.ndarray, most: int) -> int:
    """Return a bound that no sum exceeds whose inputs are `most` at most."""
    sums = most * np.abs(weights.astype(np.int64)).sum(axis=1) + np.abs(biases.astype(np.int64))
    return int(sums.max())


def reach_of(weights: np.ndarray, biases: np.ndarray) -> int:
    """Return how large all inputs may be, in steps, before a sum can be too large."""
    room = LIMIT - int(np.abs(biases.astype(np.int64)).max())
    heaviest = int(np.abs(weights.astype(np.int64)).sum(axis=1).max())
    return max(0, min(FARTHEST, room // max(1, heaviest)))


# --- from a net ------------------------------------------------------------------------------------------------------
def quantise(net: NetEval, metadata: Json | None = None) -> QuantisedNet:
    """Return the net in whole numbers; its hidden units get the room they need in the game's fixed positions."""
    t, game, bounded = net.tensors(), net.game, net.activation != "relu"
    far, peaks = _extremes(net)
    farthest = math.ceil(2 * far * 2**FINE)
    w1 = _exponent(t["w1"], t["b1"], -FINE)
    q1, c1 = _rounded(t["w1"], t["b1"], w1, -FINE)
    while reach_of(q1, c1) < min(farthest, FARTHEST) and np.abs(q1).max() > 1:  # coarser weights leave more room
        w1 += 1
        q1, c1 = _rounded(t["w1"], t["b1"], w1, -FINE)
    hidden1 = _hidden_exponent(net, peaks[0], w1 - FINE)
    of1 = _worth(net.activation, hidden1)
    w2 = hidden2 = 0
    q2, c2 = t["w2"].astype(np.int16), t["b2"].astype(np.int32)
    last = of1
    if net.h2:
        top = 2**-of1 if bounded else HIGHEST
        w2 = _exponent(t["w2"], t["b2"], of1)
        q2, c2 = _rounded(t["w2"], t["b2"], w2, of1)
        while highest_sum(q2, c2, top) > LIMIT:
            w2 += 1
            q2, c2 = _rounded(t["w2"], t["b2"], w2, of1)
        hidden2 = _hidden_exponent(net, peaks[1], of1 + w2)
        last = _worth(net.activation, hidden2)
    w3 = _exponent(t["w3"], t["b3"], last)
    q3, c3 = _rounded(t["w3"], t["b3"], w3, last)
    exponents = np.array([w1, hidden1, w2, hidden2, w3], np.int16)
    tensors = {"q1": q1, "c1": c1, "q2": q2, "c2": c2, "q3": q3, "c3": c3, "exponents": exponents}
    return QuantisedNet(game, {**tensors, "activation": t["activation"]}, {**net.metadata, **(metadata or {})})


def _extremes(net: NetEval) -> tuple[float, list[float]]:
    """Return the largest feature, and the largest unit of each hidden layer, in the game's fixed positions.

    Raises EvaluatorError for features that whole multiples of 1/16 cannot tell.
    """
    t, game, peaks = net.tensors(), net.game, [0.0, 0.0]
    largest = np.zeros(len(game.feature_names))
    for s in fixed_positions(game):
        x = np.abs(features := np.asarray(game.features(s, game.observer(s)), np.float64))
        if x.max() * 2**FINE > FARTHEST:
            raise EvaluatorError(
                f"feature {game.feature_names[int(x.argmax())]!r} of {game.name} is {features[x.argmax()]:g} in "
                f"position {game.to_text(s)!r}; inputs of a quantised net reach {FARTHEST / 2**FINE:g}: divide it"
            )
        largest = np.maximum(largest, x)
        w1, b1, w2, b2 = (of_phase(t[k], game.phase(s)) for k in ("w1", "b1", "w2", "b2"))
        h = np.maximum(b1 + features @ w1.astype(np.float64), 0.0)
        peaks[0] = max(peaks[0], float(h.max()))
        if net.h2:
            h = np.maximum(b2 + h @ w2.astype(np.float64), 0.0)
            peaks[1] = max(peaks[1], float(h.max()))
    for name, value in zip(game.feature_names, largest.tolist(), strict=True):
        if 0 < value < 2.0 ** -(FINE + 1):
            raise EvaluatorError(
                f"feature {name!r} of {game.name} is never more than {value:g}; inputs of a quantised net are "
                f"multiples of 1/{2**FINE}: multiply it"
            )
    return float(largest.max()), peaks


def _exponent(weights: np.ndarray, biases: np.ndarray, of_inputs: int) -> int:
    """Return the exponent of the power of two with which all weights fit 16 bits, all biases half of LIMIT."""
    needs = [
        float(np.abs(weights).max(initial=0)) / HIGHEST,
        float(np.abs(biases).max()) / (LIMIT / 2) / 2.0**of_inputs,
    ]
    largest = max(needs)
    return max(-LARGEST // 2, math.ceil(math.log2(largest))) if largest > 0 else 0


def _hidden_exponent(net: NetEval, peak: float, of_sums: int) -> int:
    """Return the exponent of a hidden unit: as fine as 16 bits allow, but no finer than its sums."""
    if net.activation == "sigmoid":
        wanted = LOOK_UP
    elif net.activation == "clipped":
        wanted = UNIT
    else:
        wanted = math.ceil(math.log2(ROOM * peak / HIGHEST)) if peak > 0 else of_sums
    if net.activation != "relu" and of_sums > 0:
        raise EvaluatorError(
            f"the weights of this net of {net.game.name} are too large for quantised units from 0 to 1: train it again "
            "with a lower learning rate"
        )
    return min(max(wanted, of_sums), of_sums + 30)


def _rounded(weights: np.ndarray, biases: np.ndarray, exponent: int, of_inputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and biases in whole numbers."""
    q = np.rint(weights.astype(np.float64) / 2.0**exponent).astype(np.int16)
    return q, np.rint(biases.astype(np.float64) / 2.0 ** (exponent + of_inputs)).astype(np.int32)
