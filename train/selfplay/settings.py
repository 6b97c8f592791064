"""How a model learns from games against itself: everything that can be chosen, and what is refused.

Both players share the model. In each position the value V(s) to the mover is moved towards what look-ahead says,

    backup = max over actions a of -V(result(s, a)), a finished game counting as what it is,

whether that action is played or, for exploration, another one. At the end of the game every position learns, the last
one first: with lambda above 0 also from what followed (`train/targets.py` has the formula), as far as the moves between
were likely.

With `target_epsilon` that is what an epsilon-soft policy would be worth, as if both players made that share of their
moves at random,

    backup = (1 - epsilon) * max over a of q(a) + epsilon * mean over a of q(a), where q(a) = -V(result(s, a)),

so that a position is worth less in which a slip is the end; a move is as likely as it is then (tree backup). With 0
what is learned is what the best moves are worth, not what exploration made of them.

An adversary, one of the players in `adversary_share` of the games, also minimises `adversary_cell`, a cell as the
player sees it who moves next, and gives up to ADVERSARY_WEIGHT of a win for each 1 less. Targets ignore it. Two players
who both think that few discs are good never find out how they come to have none; an adversary shows them.

With `depth` above 1 the backup is what alpha-beta of that depth says with the model itself, in all games or in the last
ones, `deep_games`; the step then begins anew.

That is `td` for tables. A linear model plays by alpha-beta of `depth` plies, ended by the game's quiescence, and learns

td          what the next position was worth to it, and at the end the outcome; after a move that was not the best, what
            the search said instead
tdleaf      the same of the searches' values, learned where they come from: at the leaves (Baxter, Tridgell & Weaver)
rootstrap   what the search said of the position, at once
treestrap   what the search said of it, and of every node of its tree; where pruning left a bound, only if the model
            breaks it (Veness, Silver, Uther & Blair 2009); where quiescence would go on, not at all

A net learns the same, and in games with dice

td           what the next position was worth to it, after the roll that fell
expectation  what the best play of every roll leads to, on average. The luck of the dice is taken off, and what is left
             is how far the net contradicts itself further on; lambda 1 is a rollout of one game without its luck. That
             is twenty times as dear in backgammon, so that it pays to learn from each round several times (`Rounds`)

It learns in rounds, from rows of positions and probabilities (`rounds.py`). Such a target may lie a little outside 0 to
1, which does not matter to the gradient of a cross-entropy, while cutting it off would make rare results too likely.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from evallearn.core.settings import (
    DERIVED_SEED,
    GAMES,
    GAMES_OR_NONE,
    OPENING_PLIES,
    SHARE,
    STEP,
    Settings,
    number,
    setting,
    whole,
)
from evallearn.errors import SpecError, unknown
from evallearn.train.models import Model
from evallearn.train.targets import SELF_PLAY_TARGETS

DEEPEST = 12
"""Plies; a target that costs more than a million positions teaches too little."""
ADVERSARY_WEIGHT = 0.2
"""How much of a win an adversary gives at most for each 1 that is less in its cell; each draws its own."""
RESIGN_PLAYTHROUGH = 0.1
"""Share of games that go on where `resign_threshold` ends the others."""
MOST_LEARNERS = 64
"""Each has weights of its own."""
SUITS = "as suits the model"
SHAPES = ("constant", "linear", "cosine")


@dataclass(frozen=True, kw_only=True)
class Schedule(Settings):
    """How large the steps are, game by game."""

    initial: float | None = setting(
        None, "The step size: the part of an error that a step takes away.", STEP, auto=SUITS, option="step-size"
    )
    shape: str = setting("constant", f"How the step falls: {', '.join(SHAPES)}.", choices=SHAPES, option="schedule")
    games: int = setting(0, "The game at which it has fallen.", GAMES_OR_NONE, option="schedule-games")
    final: float = setting(0.0, "What is left of the step then, as a share.", SHARE, option="final-step")
    half_life: int = setting(0, "Games that halve the step besides; 0: never.", GAMES_OR_NONE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shape != "constant" and not self.games:
            raise SpecError(f"games=0 for a {self.shape} schedule: give the game at which the step has fallen")

    def left(self, done: np.ndarray) -> np.ndarray:
        """Return what is left of the step where that share of the schedule is behind us."""
        if self.shape == "cosine":  # number by number: NumPy's own may round by where one stands
            fallen = np.array([(1.0 + math.cos(math.pi * min(1.0, share))) / 2.0 for share in done.tolist()])
        else:
            fallen = np.maximum(0.0, 1.0 - done)
        result: np.ndarray = self.final + (1.0 - self.final) * fallen
        return result

    def step_at(self, games: float) -> float:
        """Return the step after so many games, the next one begun or not."""
        assert self.initial is not None
        done = min(1.0, games / self.games) if self.shape != "constant" else 0.0
        left = float(self.left(np.array([done]))[0]) if done else 1.0
        return self.initial * left / (1.0 + games * inverse(self.half_life))


@dataclass(frozen=True, kw_only=True)
class Rounds(Settings):
    """How a net learns from rounds of games: many passes over few games would learn those games by heart."""

    games: int = setting(500, "Games of a round, all played with the same weights.", whole(1, 10**6))
    batch_size: int = setting(256, "Positions of a step.", whole(1, 2**20))
    epochs: int = setting(1, "Passes over the rounds that are learned from, after each round.", whole(1, 10_000))
    replay: int = setting(1, "Rounds that are learned from, the newest included.", whole(1, 10_000))


UNCHANGING, USUAL_ROUNDS = Schedule(), Rounds()


@dataclass(frozen=True, kw_only=True)
class SelfPlaySettings(Settings):
    """How to learn; see the module's text."""

    target: str | None = setting(
        None, f"What a position should be worth: {', '.join(SELF_PLAY_TARGETS)}.", choices=SELF_PLAY_TARGETS, auto=SUITS
    )
    depth: int | None = setting(None, "Plies of look-ahead behind a target.", whole(1, DEEPEST), auto=SUITS)
    deep_games: int = setting(
        0, "The last games of the schedule, the only ones with that depth; 0: all.", GAMES_OR_NONE
    )
    lambda_: float | None = setting(None, "Decay of the lambda-return: how far errors reach back.", SHARE, auto=SUITS)
    epsilon: float | None = setting(None, "Share of random moves.", SHARE, auto=SUITS)
    target_epsilon: float | None = setting(None, "Share of random moves that targets count in.", SHARE, auto=SUITS)
    adversary_share: float | None = setting(
        None, "Share of games in which one player also minimises a cell; targets ignore it.", SHARE, auto=SUITS
    )
    adversary_cell: int | None = setting(None, "The cell that it minimises; -1: none.", whole(-1, 2**20), auto=SUITS)
    max_opening_plies: int | None = setting(
        None, "Each game opens with 0 to so many random moves.", OPENING_PLIES, auto=SUITS
    )
    train_on_openings: bool | None = setting(None, "Learn from those moves, too.", is_flag=True, auto=SUITS)
    resign_threshold: float | None = setting(
        None, "A value, as a share of a win, that ends nine of ten games; 1: none.", number(above=0, at_most=1),
        auto=SUITS,
    )  # fmt: skip
    schedule: Schedule = UNCHANGING
    rounds: Rounds = USUAL_ROUNDS
    learners: int = setting(1, "Learners side by side, a core and weights for each.", whole(1, MOST_LEARNERS))
    merge_every: int | None = setting(
        None, "Games of all learners, about, after which they merge what they learned.", GAMES, auto=SUITS
    )
    seed: int = setting(1, "The same seed gives the same weights.", DERIVED_SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        shallow = self.depth in (None, 1)  # deep targets know the value of the best action alone
        adversary, cell, every = self.adversary_share or 0.0, self.adversary_cell, self.merge_every
        for name, value, ok, remedy in (
            ("target_epsilon", self.target_epsilon, shallow or not self.target_epsilon, "0 with depth above 1"),
            ("adversary_share", adversary, shallow or not adversary, "0 with depth above 1"),
            ("adversary_cell", cell, not adversary or cell is None or cell >= 0, "the cell, or adversary_share 0"),
            ("deep_games", self.deep_games, self.deep_games <= self.schedule.games, "as many as the schedule at most"),
            ("merge_every", every, every is None or every >= self.learners, "as many games as there are learners"),
        ):
            if not ok:
                raise SpecError(f"{name}={value!r}: give {remedy}")

    def suited(self, model: Model) -> Self:
        """Return the same with every None replaced by what is usual for the model."""
        target = self.target or model.targets[0]
        if target not in model.targets:
            raise SpecError(f"target={target!r}: {type(model).__name__} learns {' or '.join(model.targets)}")
        usual = model.usual(target)
        for name in usual:
            if name not in DEFAULTS and name != "step_size":
                raise unknown("setting that suits a model", name, [*DEFAULTS, "step_size"])
        known = {**DEFAULTS, **usual, "target": target}
        names = [f.name for f in fields(self) if getattr(self, f.name) is None]
        initial = self.schedule.initial if self.schedule.initial is not None else known["step_size"]
        return replace(self, schedule=replace(self.schedule, initial=initial), **{name: known[name] for name in names})

    @property
    def deep_from(self) -> int:
        """The first game that looks `depth` plies ahead."""
        return self.schedule.games - self.deep_games if self.deep_games else 0

    def depths(self, first: int, games: int) -> np.ndarray:
        """Return int64[games]: the plies of look-ahead from game `first` on."""
        return np.where(np.arange(first, first + games) >= self.deep_from, self.depth or 1, 1)

    def steps(self, first: int, games: int, parts: int) -> np.ndarray:
        """Return float64[games]: the step from game `first` on, for each of so many weights that share it.

        It falls before the deep games, and again among them.
        """
        schedule, number_of = self.schedule, np.arange(first, first + games)
        assert schedule.initial is not None
        since, length = number_of - self.deep_from, 0 if schedule.shape == "constant" else schedule.games
        deep, before = inverse(min(self.deep_games, length) or length), inverse(min(self.deep_from, length))
        left = schedule.left(np.where(since >= 0, since * deep, number_of * before))
        result: np.ndarray = left * schedule.initial / (parts * (1.0 + number_of * inverse(schedule.half_life)))
        return result

    def of_learner(self, number: int, seed: int) -> Self:
        """Return the settings of one of the learners: a seed of its own, and its share of all games."""
        n, schedule = self.learners, self.schedule
        shared = replace(schedule, games=-(-schedule.games // n), half_life=-(-schedule.half_life // n))
        return replace(self, learners=1, seed=seed, schedule=shared, deep_games=self.deep_games // n)


DEFAULTS: dict[str, Any] = {
    "depth": 1,
    "lambda_": 0.7, "epsilon": 0.05, "target_epsilon": 0.0, "adversary_share": 0.0, "adversary_cell": -1,
    "max_opening_plies": 0, "train_on_openings": True, "resign_threshold": 1.0, "merge_every": 20_000,
}  # fmt: skip
"""Where neither the caller nor the model says anything."""


def inverse(games: int) -> float:
    """Return 1 / games; 0 stands for never."""
    return 1.0 / games if games else 0.0
