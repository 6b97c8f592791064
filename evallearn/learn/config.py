"""What a run does: settings that are checked before anything is played, and stored in the run's folder."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from typing import ClassVar

from evallearn.agents import default_limits
from evallearn.core.game import Game
from evallearn.core.settings import PAIRS, SEED, SHARE, STEP, check_ranges, number, whole
from evallearn.data import SelfPlayConfig
from evallearn.errors import unknown
from evallearn.registry import spec_of
from evallearn.search.common.requirements import MAX_DEPTH
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

    RANGES: ClassVar = {
        "seed": SEED, "generations": whole(1, 1000), "patience": whole(1, 1000), "gate": number(at_least=0.5, below=1),
        "blend": SHARE, "trace": TdSettings.RANGES["lambda_"], "alpha": STEP, "games": whole(100, 10**9),
        "depth": whole(1, MAX_DEPTH), "exploration": SHARE, "random_plies": SelfPlayConfig.RANGES["random_plies"],
        "match_depth": whole(1, MAX_DEPTH), "match_pairs": PAIRS, "match_milliseconds": number(above=0, at_most=1e9),
    }  # fmt: skip

    def __post_init__(self) -> None:
        check_ranges(self)
        check_target(self.target, self.blend)
        if self.rate not in RATES:
            raise unknown("rate", self.rate, RATES)


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
