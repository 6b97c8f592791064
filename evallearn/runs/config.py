"""What a run does: settings that are checked before anything is played, and stored in the run's folder."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields

from evallearn.agents import default_limits
from evallearn.core.game import Game
from evallearn.core.settings import PAIRS, SEED, SHARE, STEP, Settings, number, setting, whole
from evallearn.data import SelfPlayConfig
from evallearn.registry import spec_of
from evallearn.search.common.requirements import MAX_DEPTH
from evallearn.train.targets import LINEAR_TARGETS, check_target

RATES = ("constant", "decay", "coherence")
TRACE, DEPTH = number(at_least=0, below=1), whole(1, MAX_DEPTH)
SCALED = ("generations", "games", "depth", "match_depth", "match_pairs", "match_milliseconds")
"""The settings that suit the speed of a game without compiled rules, unless they are given (runs/budget.py)."""


@dataclass(frozen=True)
class LearnConfig(Settings):
    """What a run does. It is stored in the run's folder: another configuration needs another folder."""

    seed: int = setting(1, "Same seed, same records, Evals and matches.", SEED)  # but for matches at equal time
    generations: int = setting(3, "Rounds of self-play, at most.", whole(1, 1000))
    patience: int = setting(3, "Stop after so many generations in a row without a better Eval.", whole(1, 1000))
    gate: float = setting(
        0.95,
        "How sure a match must be that a candidate is better; 0.5: any lead will do.",
        number(at_least=0.5, below=1),
    )
    target: str = setting("outcome", f"What a position should be worth: {', '.join(LINEAR_TARGETS)}.")
    blend: float = setting(
        0.5, "With target blend: the share of the outcome, the rest being what the search said.", SHARE
    )
    trace: float = setting(0.7, "With td and tdleaf: lambda, how far what happens later reaches back.", TRACE)
    rate: str = setting(
        "decay", "Steps of an Eval that learns while it plays: constant, decay or coherence.", choices=RATES
    )  # decay: they shrink to nothing in the course of a generation; coherence: they also differ by weight
    alpha: float | None = setting(None, "Its step: the part of an error taken away", STEP, auto="what suits the target")
    games: int = setting(12000, "Games per generation.", whole(100, 10**9))
    depth: int | None = setting(None, "Plies that self-play looks ahead", DEPTH, auto="what suits the game")
    exploration: float = setting(0.02, "Share of random actions in self-play.", SHARE)
    random_plies: int | None = setting(
        None,
        "Random plies that open each game",
        SelfPlayConfig.known()["random_plies"].allowed,
        auto="what suits the game",
    )
    match_depth: int | None = setting(
        None, "Plies that both sides of a match look ahead", DEPTH, auto="what suits the game"
    )
    match_pairs: int = setting(1000, "Openings per match, each played twice.", PAIRS)
    match_milliseconds: float = setting(
        2.0, "Time per move of the matches at equal time.", number(above=0, at_most=1e9)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_target(self.target, self.blend)


def learn_command(game: Game, config: LearnConfig) -> str:
    """Return the command that makes a run of this configuration, in any folder, without a measurement."""
    options = []
    for name in (f.name for f in fields(config)):
        value, always = getattr(config, name), name == "seed" or (game.rules is None and name in SCALED)
        if value is None and always:
            value = default_limits(game).depth
        if always or value != LearnConfig.default(name):
            options.append(f"--{name.replace('_', '-')}={value}")
    return shlex.join(["evallearn", "learn", spec_of(game), *options])
