"""How a net learns from games against itself: all that can be chosen, and what is refused.

The rate falls along a cosine to `final_rate` of itself at the game `horizon`. From `exact_from` of the horizon on a
position learns what all rolls lead to on average, instead of the one that fell (exact one-ply expectation). That is
twenty times as dear in backgammon, so that it pays to go through such a round several times (`epochs`), and to learn
from the last rounds together (`remembered`): many passes over few games learn those games by heart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from evallearn.errors import SpecError
from evallearn.evaluators.net import ACTIVATIONS, LANES
from evallearn.search.common import MAX_DEPTH
from evallearn.train.searching import TARGETS


@dataclass(frozen=True, kw_only=True)
class NeuralSettings:
    """How to learn; see the module's text."""

    hidden: tuple[int, ...] = (80,)
    """Units of one or two hidden layers."""
    activation: str = "relu"
    split: bool = True
    """A net of its own for every phase of the game."""
    lambda_: float = 0.7
    target: str = "td"
    """What a game teaches: td, or what alpha-beta finds (`neural_search.py`): tdleaf, rootstrap, treestrap."""
    depth: int = 1
    """Plies that its searches look ahead, before quiescence; with td and 1 there is no search."""
    exact_from: float = 1.0
    """The share of the horizon after which targets are exact one-ply expectations; 1: never."""
    epsilon: float = 0.0
    """Share of random moves."""
    opening_plies: int = 0
    """Each game opens with 0 to so many random moves."""
    learning_rate: float = 2e-3
    final_rate: float = 0.05
    """What is left of the rate at the horizon."""
    horizon: int = 0
    """The game at which the rate has fallen; 0: it stays."""
    averaging: float = 0.999
    """How much of the running average of the weights a step keeps; it plays, and is what is learned."""
    batch_size: int = 256
    epochs: int = 1
    """How often torch goes through the rounds that it remembers, after each."""
    remembered: int = 1
    """So many rounds are learned from, the newest included."""
    games_per_round: int = 500
    seed: int = 1

    def __post_init__(self) -> None:
        units = bool(self.hidden) and all(h > 0 and h % LANES == 0 for h in self.hidden)
        for name, value, ok, remedy in (
            ("hidden", self.hidden, units and len(self.hidden) <= 2, f"one or two multiples of {LANES}, such as 80"),
            ("activation", self.activation, self.activation in ACTIVATIONS, f"one of {', '.join(ACTIVATIONS)}"),
            ("target", self.target, self.target in TARGETS, f"one of {', '.join(TARGETS)}"),
            ("depth", self.depth, 1 <= self.depth <= MAX_DEPTH, f"1 to {MAX_DEPTH} plies"),
            ("lambda", self.lambda_, 0 <= self.lambda_ <= 1, "a number from 0 to 1"),
            ("exact_from", self.exact_from, 0 <= self.exact_from <= 1, "a share from 0 to 1"),
            ("exact_from", self.exact_from, not self.searches or self.exact_from == 1, "1, or td with a depth of 1"),
            ("epsilon", self.epsilon, 0 <= self.epsilon <= 1, "a number from 0 to 1"),
            ("opening_plies", self.opening_plies, self.opening_plies >= 0, "0 or more plies"),
            ("learning_rate", self.learning_rate, 0 < self.learning_rate < math.inf, "a number above 0"),
            ("final_rate", self.final_rate, 0 < self.final_rate <= 1, "a share above 0, 1 at most"),
            ("horizon", self.horizon, self.horizon >= 0, "0 or more games"),
            ("averaging", self.averaging, 0 <= self.averaging < 1, "a number from 0 to below 1"),
            ("batch_size", self.batch_size, self.batch_size >= 1, "1 or more"),
            ("epochs", self.epochs, self.epochs >= 1, "1 or more"),
            ("remembered", self.remembered, self.remembered >= 1, "1 or more rounds"),
            ("games_per_round", self.games_per_round, self.games_per_round >= 1, "1 or more"),
            ("seed", self.seed, 0 <= self.seed < 2**63, "a whole number from 0 to 2**63 - 1"),
        ):
            if not ok:
                raise SpecError(f"{name}={value!r} does not work: give {remedy}")

    @property
    def searches(self) -> bool:
        """Whether alpha-beta chooses the moves."""
        return self.target != "td" or self.depth > 1

    def done(self, games: float) -> float:
        """The share of the horizon that is behind us."""
        return min(1.0, games / self.horizon) if self.horizon else 0.0

    def rate(self, games: float) -> float:
        """The step of Adam after so many games."""
        wave = (1.0 + math.cos(math.pi * self.done(games))) / 2.0
        return self.learning_rate * (self.final_rate + (1.0 - self.final_rate) * wave)
