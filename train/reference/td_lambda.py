"""TD(lambda) as it was written down: the backward view with eligibility traces, on a small network, move by move.

    e[k] = lambda e[k] + gradient of Y[k](s)                      for every output k
    w    = w + alpha * sum over k of (Y[k](s') - Y[k](s)) e[k]    after every move; at the end Y(s') is the result

Sutton 1988; Tesauro 1992, who let a net of one hidden layer of sigmoid units learn backgammon this way; Sutton & Barto,
"Reinforcement Learning", second edition, chapter 12. gamma is 1. This is the reference, in plain NumPy: `neural.py` is
the one that is fast.

Y[j] = P(utility >= levels[j + 1]) to player 0, whoever is to move, as Tesauro's outputs were White's. The network sees
a state with the eyes of the player whose turn it is, so that it need learn each position only once.

A game is the chain of its start, of what each move leaves behind and of its end; dice are thrown between two of these.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.errors import SpecError
from evallearn.evaluators.net import levels_of
from evallearn.evaluators.plain import FunctionEval


class Model(Protocol):
    """Something with weights that answers a vector and says how it depends on them."""

    weights: np.ndarray

    def outputs(self, x: np.ndarray) -> np.ndarray:
        """Return float64[k]."""

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return float64[k, n_weights]."""


class Mlp:
    """sigmoid(sigmoid(x . w1 + b1) . w2 + b2), all weights in one row."""

    def __init__(self, inputs: int, hidden: int, outputs: int, seed: int = 1) -> None:
        self.inputs, self.hidden, self.n_outputs = inputs, hidden, outputs
        rng = np.random.default_rng(seed)
        w1, w2 = rng.normal(0, inputs**-0.5, (inputs, hidden)), rng.normal(0, 0.1, (hidden, outputs))
        self.weights = np.concatenate([w1.ravel(), np.zeros(hidden), w2.ravel(), np.zeros(outputs)])

    def layers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return w1 [inputs, hidden], b1 [hidden], w2 [hidden, outputs], b2 [outputs], as views of the weights."""
        f, h, k = self.inputs, self.hidden, self.n_outputs
        w1, b1, w2, b2 = np.split(self.weights, np.cumsum([f * h, h, h * k]))
        return w1.reshape(f, h), b1, w2.reshape(h, k), b2

    def outputs(self, x: np.ndarray) -> np.ndarray:
        w1, b1, w2, b2 = self.layers()
        return sigmoid(sigmoid(x @ w1 + b1) @ w2 + b2)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Backpropagation, for every output."""
        w1, b1, w2, b2 = self.layers()
        h = sigmoid(x @ w1 + b1)
        y = sigmoid(h @ w2 + b2)
        rows = []
        for k in range(self.n_outputs):
            slope = np.zeros(self.n_outputs)
            slope[k] = y[k] * (1 - y[k])
            below = slope[k] * w2[:, k] * h * (1 - h)
            rows.append(np.concatenate([np.outer(x, below).ravel(), below, np.outer(h, slope).ravel(), slope]))
        return np.array(rows)


def sigmoid(z: np.ndarray) -> np.ndarray:
    result: np.ndarray = 0.5 + 0.5 * np.tanh(0.5 * z)
    return result


# --- one chain, with weights that stay as they are -------------------------------------------------------------------
def lambda_returns(values: np.ndarray, lambda_: float) -> np.ndarray:
    """Return float64[t, k] from the values of all states and the result, float64[t + 1, k], by the definition.

    G[t] = (1 - lambda) * sum over n of lambda**(n - 1) * (the value n steps later) + what is left of the result.
    """
    end = len(values) - 1
    returns = []
    for t in range(end):
        weights = np.array([(1 - lambda_) * lambda_ ** (n - 1) for n in range(1, end - t)] + [lambda_ ** (end - t - 1)])
        returns.append(weights @ values[t + 1 :])
    return np.array(returns)


def forward_update(values: np.ndarray, gradients: np.ndarray, lambda_: float) -> np.ndarray:
    """Return what a chain teaches if every state moves towards its lambda-return, float64[n_weights]."""
    errors = lambda_returns(values, lambda_) - values[:-1]
    result: np.ndarray = np.einsum("tk,tkn->n", errors, gradients)
    return result


def backward_update(values: np.ndarray, gradients: np.ndarray, lambda_: float) -> np.ndarray:
    """Return the same by eligibility traces, without looking ahead by more than a step."""
    traces, total = np.zeros(gradients.shape[1:]), np.zeros(gradients.shape[2])
    for t in range(len(gradients)):
        traces = lambda_ * traces + gradients[t]
        total += (values[t + 1] - values[t]) @ traces
    return total


class Traces:
    """Online: the weights change after every step, and values are those of the weights of the moment."""

    def __init__(self, alpha: float, lambda_: float) -> None:
        self.alpha, self.lambda_ = alpha, lambda_
        self.begin()

    def begin(self) -> None:
        """Begin a new chain: what happened before is not its doing."""
        self.e: np.ndarray | float = 0.0

    def step(self, weights: np.ndarray, value: np.ndarray, gradient: np.ndarray, following: np.ndarray) -> None:
        """Learn from a step from a state to the next one, or to the result."""
        self.e = self.lambda_ * self.e + gradient
        weights += self.alpha * ((following - value) @ self.e)


# --- games against itself --------------------------------------------------------------------------------------------
class TdLambda:
    """A network that learns a two-player zero-sum game, on the python or the compiled backend, with or without dice."""

    def __init__(
        self,
        game: Game,
        *,
        hidden: int = 20,
        alpha: float = 0.1,
        lambda_: float = 0.7,
        epsilon: float = 0.0,
        seed: int = 1,
    ) -> None:
        """epsilon: share of random moves, for games without dice."""
        if game.n_players != 2 or not game.zero_sum or not game.feature_names:
            raise SpecError(f"{game.name} is no two-player zero-sum game with features: TD(lambda) cannot learn it")
        self.game, self.epsilon, self.games = game, epsilon, 0
        self.levels = np.array(levels_of(game))
        self.model = Mlp(len(game.feature_names), hidden, len(self.levels) - 1, seed)
        self.traces, self.rng = Traces(alpha, lambda_), random.Random(seed)

    def outputs(self, s: State) -> np.ndarray:
        """Return Y(s): what player 0 may expect of `s`; at the end the result."""
        if self.game.is_terminal(s):
            u = self.game.utility(s, 0)  # a draw is half a win, where no level is its own
            return np.clip((u - self.levels[:-1]) / np.diff(self.levels), 0.0, 1.0)
        y = self.model.outputs(self.inputs(s))
        return y if self.game.observer(s) == 0 else 1 - y[::-1]

    def gradient(self, s: State) -> np.ndarray:
        """Return how Y(s) depends on the weights."""
        g = self.model.gradient(self.inputs(s))
        return g if self.game.observer(s) == 0 else -g[::-1]

    def inputs(self, s: State) -> np.ndarray:
        return np.asarray(self.game.features(s, self.game.observer(s)), float)

    def evaluate(self, s: State, player: int) -> float:
        """Return what `s` is worth to `player`."""
        value = float(self.levels[0] + np.diff(self.levels) @ self.outputs(s))
        return value if player == 0 else -value

    def evaluator(self) -> FunctionEval:
        """Return the network as it is now, for searches and matches."""
        return FunctionEval(self.game, self.evaluate)

    def learn(self, games: int) -> None:
        """Learn from so many games against itself."""
        for _ in range(games):
            self.traces.begin()
            chain = self.play()
            s = next(chain)
            for following in chain:
                self.traces.step(self.model.weights, self.outputs(s), self.gradient(s), self.outputs(following))
                s = following
            self.games += 1

    def play(self) -> Iterator[State]:
        """Yield the start, and what every move leaves behind; it plays with the weights of the moment."""
        game, s = self.game, self.game.initial()
        yield s
        while not game.is_terminal(s):
            if game.to_play(s) == CHANCE:
                outcomes, odds = zip(*game.chances(s), strict=True)
                s = game.result(s, self.rng.choices(outcomes, odds)[0])
                if game.is_terminal(s):
                    yield s
            else:
                s = game.result(s, self.choose(s))
                yield s

    def choose(self, s: State) -> Action:
        """Return the best move one ply ahead, or now and then any."""
        game, player = self.game, self.game.to_play(s)
        actions: Sequence[Action] = game.actions(s)
        if self.rng.random() < self.epsilon:
            return self.rng.choice(actions)
        return max(actions, key=lambda a: self.evaluate(game.result(s, a), player))
