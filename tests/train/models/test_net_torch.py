"""Nets in torch say what `NetEval` says, whatever their phases share."""

import numpy as np
import pytest
import torch
from nets import random_net
from toys import DoubleMove

from evallearn.evaluators.net import TENSORS
from evallearn.train.models.net_learner import widened
from evallearn.train.models.net_torch import learnable, logits


@pytest.mark.parametrize("per_phase", [(), ("b1",), ("w1", "b3"), ("w3",), TENSORS], ids=str)
@pytest.mark.parametrize(("hidden", "activation"), [((8,), "relu"), ((16, 8), "clipped"), ((8, 8), "sigmoid")])
def test_logits_are_those_of_the_eval_and_of_a_wider_one(hidden, activation, per_phase):
    net = random_net(DoubleMove(), hidden, activation, per_phase=per_phase)
    wide = widened(net, tuple(2 * h for h in hidden), seed=1)
    rng = np.random.default_rng(0)
    x, phase = rng.normal(size=(20, 3)).astype(np.float32), rng.integers(0, 2, 20)
    for e in (net, wide):
        weights = learnable({k: e.tensors()[k] for k in TENSORS})
        found = logits(weights, activation, torch.from_numpy(x), phase).detach().numpy()
        expected = [net.logits(row, k) for row, k in zip(x.tolist(), phase.tolist(), strict=True)]
        np.testing.assert_allclose(found, expected, atol=2e-4)
    assert all(len(wide.tensors()[k]) == len(net.tensors()[k]) for k in TENSORS)
