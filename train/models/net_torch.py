"""Nets in torch: what learning from records and learning from games share.

Weights have the shapes of `NetEval`: [nets, inputs, units], where nets is 1 or the number of phases, for each tensor by
itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from evallearn.core.settings import whole
from evallearn.errors import SpecError
from evallearn.evaluators.net import LANES, TENSORS

if TYPE_CHECKING:
    import torch

UNITS = whole(1, 4096)
"""Of a layer: a search asks the net again and again, and more are too slow for any."""


def check_hidden(hidden: tuple[int, ...]) -> None:
    """Raise SpecError for hidden layers that no net has."""
    if not 1 <= len(hidden) <= 2 or any(h not in UNITS or h % LANES for h in hidden):
        raise SpecError(f"hidden={hidden!r}: give one or two multiples of {LANES}, {UNITS.high} at most, such as 80")


def first_tensors(
    n_features: int, hidden: tuple[int, ...], outputs: int, *, activation: str = "relu", nets: int = 1, seed: int = 1
) -> dict[str, np.ndarray]:
    """Return random weights: He's for units that are cut off at 0, Glorot's for logistic ones; outputs begin near 0."""
    rng, (h1, h2) = np.random.default_rng([seed, 7]), (*hidden, 0)[:2]
    gain = 1.0 if activation == "sigmoid" else 2.0

    def normal(rows: int, columns: int) -> np.ndarray:
        one = rng.normal(0.0, math.sqrt(gain / rows), (1, rows, columns)) if columns else np.zeros((1, rows, 0))
        return np.repeat(one, nets, axis=0)  # all phases begin with the same net

    return {
        "w1": normal(n_features, h1), "b1": np.zeros((nets, h1)),
        "w2": normal(h1, h2), "b2": np.zeros((nets, h2)),
        "w3": 0.1 * normal(h2 or h1, outputs), "b3": np.zeros((nets, outputs)),
    }  # fmt: skip


def learnable(tensors: Mapping[str, np.ndarray], device: str = "cpu") -> dict[str, torch.Tensor]:
    """Return the tensors as float32 weights with gradients."""
    import torch

    return {k: torch.tensor(t, dtype=torch.float32, device=device, requires_grad=True) for k, t in tensors.items()}


def arrays(weights: Mapping[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """Return the weights as they are now, copied."""
    return {k: w.detach().cpu().numpy().copy() for k, w in weights.items()}


def logits(weights: Mapping[str, torch.Tensor], activation: str, x: torch.Tensor, phase: np.ndarray) -> torch.Tensor:
    """Return the outputs before they are squashed, float32[n, outputs]; each row by the weights of its phase."""
    import torch

    tensors = [weights[name] for name in TENSORS if weights[name].shape[-1]]  # no empty ones of a second layer
    if all(len(w) == 1 for w in tensors[::2]):  # shared; biases may still be those of the phases
        parts = [w[0] if len(w) == 1 else w for w in tensors]
        return _forward(parts, activation, x, torch.from_numpy(phase).to(x.device))
    z = torch.empty((len(x), tensors[-1].shape[1]), device=x.device)
    for k in range(max(map(len, tensors))):
        rows = torch.from_numpy(np.flatnonzero(phase == k)).to(x.device)
        if len(rows):
            parts = [w[k if len(w) > 1 else 0] for w in tensors]
            z = z.index_copy(0, rows, _forward(parts, activation, x[rows]))
    return z


def cross_entropy(z: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """Return the loss of logits that should have been the probabilities q: summed over outputs, the mean of rows."""
    import torch

    return torch.nn.functional.binary_cross_entropy_with_logits(z, q, reduction="sum") / len(z)


def _forward(
    parts: Sequence[torch.Tensor], activation: str, x: torch.Tensor, phase: torch.Tensor | None = None
) -> torch.Tensor:
    """Return the logits; parts: of one phase, or biases of all phases with the phase of each row."""
    import torch

    def layer(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.addmm(b, x, w) if b.dim() == 1 else x @ w + b[phase]

    def activate(z: torch.Tensor) -> torch.Tensor:
        if activation == "relu":
            return torch.relu(z)
        return torch.clamp(z, 0.0, 1.0) if activation == "clipped" else torch.sigmoid(z)

    *hidden, last, bias = parts
    for w, b in zip(hidden[::2], hidden[1::2], strict=True):
        x = activate(layer(x, w, b))
    return layer(x, last, bias)
