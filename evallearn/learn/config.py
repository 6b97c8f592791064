"""What a run does: settings that are checked before anything is played, and stored in the run's folder."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields

from evallearn.agents import default_limits
from evallearn.data import SelfPlayConfig
from evallearn.errors import SpecError, unknown
from evallearn.protocols import Game, Limits
from evallearn.registry import spec_of
from evallearn.train.targets import check_target
from evallearn.train.td import TdSettings

RATES = ("constant", "decay", "coherence")
SCALED = ("generations", "games", "depth", "match_depth", "match_pairs", "match_milliseconds")
"""The settings that suit the speed of a game without compiled rules, unless they are given (learn/budget.py)."""


@dataclass(frozen=True)
class LearnConfig:
    """What a run does. It is stored in the run's folder: another configuration needs another folder."""

    seed: int = 1
    """The same seed gives the same records, Evals and matches (but for those at equal time)."""
    generations: int = 3
    """Rounds of self-play, at most; the first plays without knowledge, each later one with the best Eval so far."""
    patience: int = 3
    """So many generations in a row without a better Eval end the run early."""
    gate: float = 0.95
    """How sure a match must make it that a candidate is better than the incumbent, for it to take its place."""
    target: str = "outcome"
    """What a position should be worth: see train/targets.py."""
    blend: float = 0.5
    """With target blend: the share of the outcome."""
    trace: float = 0.7
    """With td and tdleaf: lambda, how far what happens later reaches back."""
    rate: str = "decay"
    """Of an Eval that learns while it plays: whether its steps are `constant`, shrink to nothing in the course of a
    generation (`decay`), or shrink and also differ by weight (`coherence`)."""
    alpha: float | None = None
    """Which part of an error such a step takes away; None: what suits the target."""
    games: int = 12000
    """Games of self-play in each generation."""
    depth: int | None = None
    """Plies that self-play looks ahead; None: what suits the game, 4 for alpha-beta, 1 with dice."""
    exploration: float = 0.02
    """Share of random actions in self-play."""
    random_plies: int | None = None
    """Random plies that open each game; None: what suits the game."""
    match_depth: int | None = None
    """Plies that both sides of a match look ahead; None: what suits the game."""
    match_pairs: int = 1000
    """Openings of each match of the ladder; each is played twice, with seats swapped."""
    match_milliseconds: float = 2.0
    """Time per move of the matches at equal time."""

    def __post_init__(self) -> None:
        whole = {"generations": (1, 1000), "patience": (1, 1000), "games": (100, 10**9), "match_pairs": (1, 10**7),
                 "seed": (0, 2**53)}  # fmt: skip
        for name, (least, most) in whole.items():
            if not least <= getattr(self, name) <= most:
                raise SpecError(f"{name}={getattr(self, name)}: give a whole number from {least} to {most}")
        if not 0.5 <= self.gate < 1:
            raise SpecError(f"gate={self.gate}: give a likelihood from 0.5 (any lead will do) to below 1, such as 0.95")
        if not 0 < self.match_milliseconds < 1e9:
            raise SpecError(f"match_milliseconds={self.match_milliseconds}: give a number above 0")
        check_target(self.target, self.blend)
        if self.rate not in RATES:
            raise unknown("rate", self.rate, RATES)
        TdSettings(alpha=self.alpha or 1.0, lambda_=self.trace)
        for depth in (self.depth, self.match_depth):
            if depth is not None:
                Limits(depth=depth)  # these refuse what they cannot work with, before anything is played
        SelfPlayConfig(exploration=self.exploration, random_plies=self.random_plies or 0)


def learn_command(game: Game, config: LearnConfig) -> str:
    """The command that makes a run of this configuration, in any folder, without a measurement."""
    options = []
    for name in (f.name for f in fields(config)):
        value, always = getattr(config, name), name == "seed" or (game.rules is None and name in SCALED)
        if value is None and always:
            value = default_limits(game).depth
        if always or value != getattr(LearnConfig, name):
            options.append(f"--{name.replace('_', '-')}={value}")
    return shlex.join(["evallearn", "learn", spec_of(game), *options])
