"""The learner of nets: torch, minibatches, one thread, and so the same bytes for the same rows.

Cross-entropy of every output, Adam. The weights are kept as `NetEval` wants them: [nets, inputs, units]. Beside them
runs their average over the last steps, which is less noisy than they are: that is the net that was learned.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evallearn.core.game import Game
from evallearn.core.memory import require_memory
from evallearn.errors import SpecError
from evallearn.evaluators.net import TENSORS, NetEval

if TYPE_CHECKING:
    import torch


COPIES = 6
"""Of the weights: they themselves, their gradients, Adam's two moments, their average, and the net that plays."""


class NetLearner:
    """A net that learns, on the GPU if torch has one."""

    def __init__(self, start: NetEval, *, averaging: float = 0.0, device: str | None = None) -> None:
        """Set up the net for learning.

        averaging: how much of the average a step keeps, 0.999 for about the last 1,000 steps; 0: none.
        """
        import torch

        self.game, self.activation = start.game, start.activation
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.weights = {k: torch.tensor(start.tensors()[k], device=self.device, requires_grad=True) for k in TENSORS}
        self.average = {k: w.detach().clone() for k, w in self.weights.items()}
        self.averaging, self.steps = averaging, 0
        self.nets, self.two_layers = start.nets, start.h2 > 0
        self.used = [k for k in TENSORS if self.two_layers or k not in ("w2", "b2")]
        self.optimizer = torch.optim.Adam([self.weights[k] for k in self.used], lr=1e-3, fused=True)

    def learn(self, x: np.ndarray, phase: np.ndarray, targets: np.ndarray, rate: float) -> float:
        """Make one step; return the mean loss before it."""
        import torch

        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        inputs, q = torch.from_numpy(x).to(self.device), torch.from_numpy(targets).to(self.device)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(self.logits(inputs, phase), q, reduction="sum")
        loss = loss / len(x)
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        kept = min(self.averaging, self.steps / (self.steps + 9))  # the first weights are soon forgotten
        with torch.no_grad():
            for name, mean in self.average.items():
                mean.lerp_(self.weights[name], 1.0 - kept)
        return float(loss.detach())

    def logits(self, x: torch.Tensor, phase: np.ndarray) -> torch.Tensor:
        """Return float32[n, outputs]; each row by the net of its phase."""
        import torch

        if self.nets == 1:
            return self._forward(x, 0)
        z = torch.empty((len(x), self.weights["b3"].shape[1]), device=self.device)
        for k in range(self.nets):
            rows = torch.from_numpy(np.flatnonzero(phase == k)).to(self.device)
            if len(rows):
                z = z.index_copy(0, rows, self._forward(x[rows], k))
        return z

    def _forward(self, x: torch.Tensor, k: int) -> torch.Tensor:
        import torch

        w = self.weights
        h = self._activate(torch.addmm(w["b1"][k], x, w["w1"][k]))
        if self.two_layers:
            h = self._activate(torch.addmm(w["b2"][k], h, w["w2"][k]))
        return torch.addmm(w["b3"][k], h, w["w3"][k])

    def _activate(self, z: torch.Tensor) -> torch.Tensor:
        import torch

        if self.activation == "relu":
            return torch.relu(z)
        return torch.clamp(z, 0.0, 1.0) if self.activation == "clipped" else torch.sigmoid(z)

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the weights as they are now, copied."""
        return {k: w.detach().cpu().numpy().copy() for k, w in self.weights.items()}

    def averaged(self) -> dict[str, np.ndarray]:
        """Return their average, copied."""
        return {k: w.cpu().numpy().copy() for k, w in self.average.items()}

    def moments(self) -> dict[str, np.ndarray]:
        """Return the average and Adam's memory, copied; zeros before the first step."""
        found = {f"average.{k}": w for k, w in self.averaged().items()}
        for name in self.used:
            state = self.optimizer.state.get(self.weights[name], {})
            for kind in ("exp_avg", "exp_avg_sq"):
                zeros = np.zeros(tuple(self.weights[name].shape), np.float32)
                found[f"{kind}.{name}"] = state[kind].cpu().numpy().copy() if state else zeros
        return found

    def restore(self, tensors: dict[str, np.ndarray], steps: int) -> None:
        """Go on where `tensors` and `moments` were taken, after so many steps."""
        import torch

        self.steps = steps
        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(torch.from_numpy(tensors[name]))
                self.average[name].copy_(torch.from_numpy(tensors[f"average.{name}"]))
        for name in self.used if steps else ():
            weight = self.weights[name]
            state = {kind: torch.from_numpy(tensors[f"{kind}.{name}"]).to(weight) for kind in ("exp_avg", "exp_avg_sq")}
            self.optimizer.state[weight] = {"step": torch.tensor(float(steps), device=weight.device), **state}


def first_net(
    game: Game, hidden: tuple[int, ...], outputs: int, *, activation: str = "relu", split: bool = False, seed: int = 1
) -> NetEval:
    """Return random weights: He's for units that are cut off at 0, Glorot's for logistic ones; outputs begin at 0."""
    rng = np.random.default_rng([seed, 7])
    nets, n = (game.n_phases if split else 1), len(game.feature_names)
    h1, h2 = hidden[0], hidden[1] if len(hidden) > 1 else 0
    weights = nets * (n * h1 + h1 * h2 + (h2 or h1) * outputs)
    require_memory(COPIES * 4 * weights, f"hidden={hidden!r} with {n} features")
    gain = 1.0 if activation == "sigmoid" else 2.0

    def normal(rows: int, columns: int, wide: float) -> np.ndarray:
        one = rng.normal(0.0, math.sqrt(gain / wide), (1, rows, columns)) if columns else np.zeros((1, rows, 0))
        return np.repeat(one, nets, axis=0)  # all phases begin with the same net

    tensors = {
        "w1": normal(n, h1, n), "b1": np.zeros((nets, h1)),
        "w2": normal(h1, h2, h1), "b2": np.zeros((nets, h2)),
        "w3": 0.1 * normal(h2 or h1, outputs, h2 or h1), "b3": np.zeros((nets, outputs)),
    }  # fmt: skip
    return NetEval(game, tensors, activation)


def widened(net: NetEval, hidden: tuple[int, ...], seed: int) -> NetEval:
    """Return a net with so many units that says what `net` says.

    New units begin with random inputs and are not heard yet.
    """
    if len(hidden) != len(net.hidden) or any(new < old for new, old in zip(hidden, net.hidden, strict=True)):
        shown = ",".join(map(str, net.hidden))
        raise SpecError(
            f"hidden={hidden!r} does not work with a net of {shown} units to begin with: give as many layers, none "
            "smaller; or let that net be the teacher of a new one"
        )
    outputs, split = net.outputs, net.nets > 1
    fresh = first_net(net.game, hidden, outputs, activation=net.activation, split=split, seed=seed).tensors()
    tensors = {}
    for name, old in net.tensors().items():
        if name in TENSORS:
            new = fresh[name].copy()
            if name != "w1":  # what new units say, and to whom
                new[:, old.shape[1] :] = 0.0
            new[tuple(slice(n) for n in old.shape)] = old
            tensors[name] = new
    return NetEval(net.game, tensors, net.activation)
