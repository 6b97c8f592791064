"""The settings of a recipe's stages: one class a verb, and the models of self-play."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from evallearn.core.settings import (
    GAMES,
    MINUTES,
    OPENING_PLIES,
    PAIRS,
    PENALTY,
    SHARE,
    Settings,
    number,
    setting,
    whole,
)
from evallearn.errors import SpecError
from evallearn.runs.fitting import METHODS, NET_METHOD, refuse_linear_options, refuse_online
from evallearn.runs.models import USUAL_MODEL, ModelOptions
from evallearn.search.common.requirements import MAX_DEPTH
from evallearn.train.selfplay.settings import SelfPlaySettings
from evallearn.train.targets import LINEAR_TARGETS

DEPTH = whole(1, MAX_DEPTH)
ROUNDS = whole(1, 1000)
SUITS_GAME = "what suits the game"
HIDDEN = {"seed"}
"""Settings that a run fills in."""


@dataclass(frozen=True, kw_only=True)
class Stage(Settings):
    """What all stages have."""

    verb: ClassVar[str] = ""
    name: str | None = setting(None, "What --set calls the stage.", auto="its verb")

    @property
    def called(self) -> str:
        return self.name or self.verb


@dataclass(frozen=True, kw_only=True)
class Played(Stage):
    """A stage that plays games."""

    seed_offset: int | None = setting(
        None, "The seed of its games is that of the run plus this.", whole(0, 2**31),
        auto="1000 times the run's, plus the generation",
    )  # fmt: skip
    share: float = setting(
        1.0, "The stage's part of --minutes, compared with that of others.", number(above=0, at_most=1e6)
    )

    def seed(self, seed: int, generation: int) -> int:
        """Return the seed of its games."""
        return seed * 1000 + generation if self.seed_offset is None else seed + self.seed_offset


@dataclass(frozen=True, kw_only=True)
class Generate(Played):
    """Play games and keep a record of each ply."""

    verb = "generate"
    games: int = setting(12000, "How many games.", whole(1, 10**9))
    player: str = setting("previous", "Who plays: previous (at first zero), handwritten:NAME, zoo:NAME or a file.")
    depth: int | None = setting(None, "Plies that searches look ahead.", DEPTH, auto=SUITS_GAME)
    nodes: int | None = setting(None, "Positions of a search, in place of a depth.", whole(1, 10**12), auto="no limit")
    epsilon: float = setting(0.02, "Share of random actions.", SHARE)
    opening_plies: int | None = setting(
        None, "Random plies that open each game; they are not recorded.", OPENING_PLIES, auto=SUITS_GAME
    )  # fmt: skip
    quiet: bool = setting(False, "Keep only plies at which nothing must be answered or taken.")


@dataclass(frozen=True, kw_only=True)
class Fit(Stage):
    """Learn an evaluator from the records."""

    verb = "fit"
    method: str = setting("logistic", f"How: {', '.join(METHODS)}.", choices=METHODS)
    penalty: float | None = setting(None, "Penalty of a linear method.", PENALTY, auto="what suits the method")
    target: str = setting("outcome", f"What a position should be worth: {', '.join(LINEAR_TARGETS)}.")
    outcome_share: float | None = setting(
        None, "The share of the outcome in a blend, the rest being the search's.", SHARE, auto="the target's, 0.5"
    )
    tapered: bool = setting(False, "Weights go in a straight line from the first phase of the game to the last.")
    generations: int | None = setting(
        None,
        "Learn from so many stages generate, the newest included.",
        ROUNDS,
        auto="all but the first, once there are two",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_online(self.target, self.outcome_share)
        if self.method == NET_METHOD:
            refuse_linear_options(self.penalty, self.tapered, self.target)

    @property
    def kind(self) -> str:
        """What the evaluator is called."""
        return "neural" if self.method == NET_METHOD else "linear"


@dataclass(frozen=True, kw_only=True)
class Gate(Stage):
    """Let the newest evaluator take its predecessor's place if a match says so, and begin again."""

    verb = "gate"
    promote_above: float = setting(
        0.95, "How sure the match must be that it is better; 0.5: any lead will do.", number(at_least=0.5, below=1)
    )
    pairs: int = setting(1000, "Openings of the match, each played twice.", PAIRS)
    depth: int | None = setting(None, "Plies that both sides look ahead.", DEPTH, auto=SUITS_GAME)
    generations: int = setting(3, "How often the stages before it are run, at most.", ROUNDS)
    patience: int = setting(3, "Stop after so many generations in a row without a better evaluator.", ROUNDS)


@dataclass(frozen=True, kw_only=True)
class SelfPlay(Played):
    """Play games in memory, from which a model learns at once."""

    verb = "selfplay"
    LEARNING: ClassVar = SelfPlaySettings
    games: int | None = setting(None, "How many games.", GAMES, auto="as many as the minutes allow")
    minutes: float | None = setting(
        None, "Time by the clock, if the games do not end before.", MINUTES, auto="no limit"
    )
    model: ModelOptions = USUAL_MODEL
    start: str | None = setting(None, "The evaluator to begin with: previous, or a file.", auto="none: from nothing")
    teacher: str | None = setting(None, "A net that plays meanwhile: previous, or a file.", auto="the model itself")
    opponent: str | None = setting(
        None, "Whom it meets in quick matches.", auto="the game's first hand-written heuristic that is compiled"
    )
    pairs: int = setting(500, "Of a quick match; 0: none are played.", whole(0, 10**6))
    halved: bool = setting(False, "Write a net with numbers of two bytes.")
    learning: SelfPlaySettings = field(default=SelfPlaySettings())

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.games is None and self.minutes is None:
            raise SpecError("it has no end: give games, or minutes")
        if self.pairs == 1:
            raise SpecError("pairs=1 tell nothing of the error: give 0, or 2 and more")


@dataclass(frozen=True, kw_only=True)
class Ladder(Settings):
    """Matches against hand-written heuristics, and at the end with equal time."""

    pairs: int = setting(1000, "Openings per match, each played twice; 0: no matches.", whole(0, int(PAIRS.high)))
    depth: int | None = setting(None, "Plies that both sides look ahead.", DEPTH, auto=SUITS_GAME)
    milliseconds: float = setting(2.0, "Time per move of the matches at equal time.", number(above=0, at_most=1e9))


VERBS: dict[str, type[Stage]] = {kind.verb: kind for kind in (Generate, Fit, SelfPlay, Gate)}
