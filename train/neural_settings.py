"""How a net learns from games against itself: all that can be chosen, and what is refused.

The rate falls along a cosine to `final_rate` of itself at the game `horizon`. From `exact_from` of the horizon on a
position learns what all rolls lead to on average, instead of the one that fell (exact one-ply expectation). That is
twenty times as dear in backgammon, so that it pays to go through such a round several times (`epochs`), and to learn
from the last rounds together (`remembered`): many passes over few games learn those games by heart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from evallearn.core.settings import DERIVED_SEED, GAMES_OR_NONE, OPENING_PLIES, SHARE, STEP, check_ranges, number, whole
from evallearn.errors import SpecError
from evallearn.evaluators.net import ACTIVATIONS
from evallearn.search.common.requirements import MAX_DEPTH
from evallearn.train.models.net_torch import check_hidden
from evallearn.train.targets import SEARCH_TARGETS


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

    RANGES: ClassVar = {
        "lambda_": SHARE, "depth": whole(1, MAX_DEPTH), "exact_from": SHARE, "epsilon": SHARE,
        "opening_plies": OPENING_PLIES, "learning_rate": STEP, "final_rate": number(above=0, at_most=1),
        "horizon": GAMES_OR_NONE, "averaging": number(at_least=0, below=1), "batch_size": whole(1, 2**20),
        "epochs": whole(1, 10_000), "remembered": whole(1, 10_000), "games_per_round": whole(1, 10**6),
        "seed": DERIVED_SEED,
    }  # fmt: skip

    def __post_init__(self) -> None:
        check_ranges(self)
        check_hidden(self.hidden)
        for name, value, ok, remedy in (
            ("activation", self.activation, self.activation in ACTIVATIONS, f"one of {', '.join(ACTIVATIONS)}"),
            ("target", self.target, self.target in SEARCH_TARGETS, f"one of {', '.join(SEARCH_TARGETS)}"),
            ("exact_from", self.exact_from, not self.searches or self.exact_from == 1, "1, or td with a depth of 1"),
        ):
            if not ok:
                raise SpecError(f"{name}={value!r}: give {remedy}")

    @property
    def searches(self) -> bool:
        """Whether alpha-beta chooses the moves."""
        return self.target != "td" or self.depth > 1

    def done(self, games: float) -> float:
        """Return the share of the horizon that is behind us."""
        return min(1.0, games / self.horizon) if self.horizon else 0.0

    def rate(self, games: float) -> float:
        """Return the step of Adam after so many games."""
        wave = (1.0 + math.cos(math.pi * self.done(games))) / 2.0
        return self.learning_rate * (self.final_rate + (1.0 - self.final_rate) * wave)
