"""The learner of nets: torch, minibatches, one thread, and so the same bytes for the same rows.

Cross-entropy of every output, Adam. The weights are kept as `NetEval` wants them: [nets, inputs, units]. Beside them
runs their average over the last steps, which is less noisy than they are: that is the net that was learned.
"""

from __future__ import annotations

import numpy as np

from evallearn.core.game import Game
from evallearn.core.memory import require_memory
from evallearn.errors import SpecError
from evallearn.evaluators.net import TENSORS, NetEval
from evallearn.train.models.net_torch import arrays, cross_entropy, first_tensors, learnable, logits

COPIES = 6
"""Of the weights: they themselves, their gradients, Adam's two moments, their average, and the net that plays."""


class NetLearner:
    """A net that learns, on the GPU if torch has one."""

    def __init__(self, start: NetEval, *, ema_decay: float = 0.0, device: str | None = None) -> None:
        """Set up the net for learning.

        ema_decay: how much of the average a step keeps, 0.999 for about the last 1,000 steps; 0: none.
        """
        import torch

        self.game, self.activation = start.game, start.activation
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.weights = learnable({k: start.tensors()[k] for k in TENSORS}, self.device)
        self.average = {k: w.detach().clone() for k, w in self.weights.items()}
        self.ema_decay, self.steps = ema_decay, 0
        self.used = [k for k in TENSORS if start.h2 or k not in ("w2", "b2")]
        self.optimizer = torch.optim.Adam([self.weights[k] for k in self.used], lr=1e-3, fused=True)

    def learn(self, x: np.ndarray, phase: np.ndarray, targets: np.ndarray, rate: float) -> float:
        """Make one step; return the mean loss before it."""
        import torch

        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        inputs, q = torch.from_numpy(x).to(self.device), torch.from_numpy(targets).to(self.device)
        loss = cross_entropy(logits(self.weights, self.activation, inputs, phase), q)
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        kept = min(self.ema_decay, self.steps / (self.steps + 9))  # the first weights are soon forgotten
        with torch.no_grad():
            for name, mean in self.average.items():
                mean.lerp_(self.weights[name], 1.0 - kept)
        return float(loss.detach())

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the weights as they are now, copied."""
        return arrays(self.weights)

    def averaged(self) -> dict[str, np.ndarray]:
        """Return their average, copied."""
        return arrays(self.average)

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
    game: Game,
    hidden: tuple[int, ...],
    outputs: int,
    *,
    activation: str = "relu",
    per_phase: bool = False,
    seed: int = 1,
) -> NetEval:
    """Return a net of random weights, whose outputs begin near 0."""
    nets, n = (game.n_phases if per_phase else 1), len(game.feature_names)
    h1, h2 = (*hidden, 0)[:2]
    weights = nets * (n * h1 + h1 * h2 + (h2 or h1) * outputs)
    require_memory(COPIES * 4 * weights, f"hidden={hidden!r} with {n} features")
    tensors = first_tensors(n, hidden, outputs, activation=activation, nets=nets, seed=seed)
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
    outputs, per_phase = net.outputs, net.nets > 1
    fresh = first_net(net.game, hidden, outputs, activation=net.activation, per_phase=per_phase, seed=seed).tensors()
    tensors = {}
    for name, old in net.tensors().items():
        if name in TENSORS:
            new = fresh[name][: len(old)].copy()
            if name != "w1":  # what new units say, and to whom
                new[:, old.shape[1] :] = 0.0
            new[tuple(slice(n) for n in old.shape)] = old
            tensors[name] = new
    return NetEval(net.game, tensors, net.activation)
