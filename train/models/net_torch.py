"""Nets in torch: what learning from records and learning from games share.

Weights have the shapes of `NetEval`: [nets, inputs, units], where nets is 1 or the number of phases, for each tensor by
itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
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

    if all(len(weights[k]) == 1 for k in ("w1", "w2", "w3")):
        return _forward(weights, activation, x, torch.from_numpy(phase).to(x.device))
    z = torch.empty((len(x), weights["b3"].shape[1]), device=x.device)
    for k in range(max(map(len, weights.values()))):
        rows = torch.from_numpy(np.flatnonzero(phase == k)).to(x.device)
        if len(rows):
            own = {name: w[k : k + 1] if len(w) > 1 else w for name, w in weights.items()}
            z = z.index_copy(0, rows, _forward(own, activation, x[rows]))
    return z


def cross_entropy(z: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """Return the loss of logits that should have been the probabilities q: summed over outputs, the mean of rows."""
    import torch

    return torch.nn.functional.binary_cross_entropy_with_logits(z, q, reduction="sum") / len(z)


def _forward(
    weights: Mapping[str, torch.Tensor], activation: str, x: torch.Tensor, phase: torch.Tensor | None = None
) -> torch.Tensor:
    """Return the logits; phase: of each row, where there is more than one bias."""
    import torch

    w1, b1, w2, b2, w3, b3 = (weights[k] for k in TENSORS)

    def layer(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.addmm(b[0], x, w[0]) if len(b) == 1 else x @ w[0] + b[phase]

    def activate(z: torch.Tensor) -> torch.Tensor:
        if activation == "relu":
            return torch.relu(z)
        return torch.clamp(z, 0.0, 1.0) if activation == "clipped" else torch.sigmoid(z)

    h = activate(layer(x, w1, b1))
    if w2.shape[2]:
        h = activate(layer(h, w2, b2))
    return layer(h, w3, b3)
