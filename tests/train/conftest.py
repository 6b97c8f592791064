"""A game for the trainers' tests: enough of the contract to build an evaluator on three features and two phases."""

from __future__ import annotations

import numpy as np
import pytest

from evallearn.core.game import Game


class Toy(Game):
    """States are (feature values, phase); the game is over where it begins, so that nobody ever moves."""

    name = "toy"
    feature_names = ("a", "b", "c")
    n_phases = 2
    antisymmetric = False

    def initial(self):
        return ((0.0, 0.0, 0.0), 0)

    def to_play(self, s):
        return 0

    def actions(self, s):
        return ()

    def result(self, s, a):
        raise NotImplementedError

    def is_terminal(self, s):
        return s == self.initial()

    def utility(self, s, player):
        return 0.0

    def features(self, s, player):
        return s[0]

    def phase(self, s):
        return s[1]

    def to_text(self, s):
        return repr(s)

    def from_text(self, text):
        raise NotImplementedError


@pytest.fixture
def toy():
    return Toy()


@pytest.fixture
def make_records():
    """make_records(n, weights [phases, 3], bias [phases], draws=0.0, seed=0) -> the arguments of an ArrayStream.

    Outcomes are drawn from P(win) = (1 + tanh(w[phase] . x + b[phase])) / 2; features have odd means and scales.
    """

    def make(n, weights, bias, *, draws=0.0, seed=0, phase_shares=None):
        weights, bias = np.asarray(weights, float), np.asarray(bias, float)
        rng = np.random.default_rng(seed)
        x = (rng.normal(size=(n, weights.shape[1])) * [1.0, 10.0, 0.1] + [5.0, -20.0, 0.3]).astype(np.float32)
        phase = rng.choice(len(weights), n, p=phase_shares)
        raw = np.einsum("ij,ij->i", x - np.float32([5.0, -20.0, 0.3]), weights[phase]) + bias[phase]
        y = np.where(rng.random(n) < (1 + np.tanh(raw)) / 2, 1.0, -1.0) * (rng.random(n) >= draws)
        return {
            "features": x,
            "outcome": y.astype(np.float32),
            "game": np.arange(n) // 10,
            "phase": phase,
            "n_phases": len(weights),
            "feature_names": ("a", "b", "c"),
        }

    return make
