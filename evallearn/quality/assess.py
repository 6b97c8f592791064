"""All parts together: one Eval, one suite, one result with its verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from evallearn.core.evaluator import Evaluator
from evallearn.core.settings import SEED, check_ranges, whole
from evallearn.errors import DataError, EvaluatorError
from evallearn.quality.figures import Figure, bounded_mean
from evallearn.quality.formatting import choices_verdict, swing_verdict, thrash_verdict, values_verdict
from evallearn.quality.measure import Measured, measured, no_sides
from evallearn.quality.suite import Suite
from evallearn.quality.swing import Swing, swings
from evallearn.quality.thrash import Thrash, thrash
from evallearn.search.common.requirements import MAX_DEPTH


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is looked at, and how closely."""

    depth: int = 1
    """Plies that the Eval looks ahead to choose."""
    swing_depth: int = 4
    """The deepest search of the swing; 0 leaves that part out."""
    swing_positions: int = 50
    """At most so many positions of the suite are searched for it."""
    games: int = 10
    """Games in which thrashing is looked for; 0 leaves that part out."""
    thrash_depth: int = 2
    """Plies that the players of these games look ahead."""
    seed: int = 1
    """Of resampling, and of the games' openings and dice."""

    RANGES: ClassVar = {
        "depth": whole(1, MAX_DEPTH), "swing_depth": whole(0, MAX_DEPTH), "swing_positions": whole(0, 10**6),
        "games": whole(0, 10**6), "thrash_depth": whole(1, MAX_DEPTH), "seed": SEED,
    }  # fmt: skip

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, kw_only=True)
class Quality:
    """What an Eval is worth as a judge of positions."""

    name: str
    measured: Measured
    swings: tuple[Swing, ...]
    """Without quiescence and with it, where the game has noisy actions; else one; none if left out."""
    thrash: Thrash | None
    verdicts: dict[str, str]
    """A sentence each for choices, values, swing and thrashing, as far as there is one."""

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            **self.measured.to_json(),
            "swings": [s.to_json() for s in self.swings],
            "thrash": self.thrash.to_json() if self.thrash else None,
            "verdicts": dict(self.verdicts),
        }


def assess(evaluator: Evaluator, suite: Suite, settings: Settings | None = None, *, name: str = "") -> Quality:
    """Everything that can be said of the Eval; the same arguments give the same result."""
    do = settings or Settings()
    if evaluator.game.plays != suite.game.plays:
        raise EvaluatorError(
            f"{evaluator.name!r} is an Eval of {evaluator.game.name}, the suite is of {suite.game.name}: "
            "give a suite of the same game"
        )
    found = measured(evaluator, suite, depth=do.depth, seed=do.seed)
    some = suite.part(do.swing_positions)
    swung = swings(evaluator, some, depth=do.swing_depth, seed=do.seed) if do.swing_depth else ()
    thrashed = thrash(evaluator, depth=do.thrash_depth, games=do.games, seed=do.seed) if do.games else None
    said = {
        "choices": choices_verdict(found),
        "values": values_verdict(found),
        "swing": swing_verdict(swung, scale_of(suite)),
        "thrash": thrash_verdict(thrashed) if thrashed else None,
    }
    return Quality(
        name=name or evaluator.name,
        measured=found,
        swings=swung,
        thrash=thrashed,
        verdicts={part: sentence for part, sentence in said.items() if sentence},
    )


def compare(first: Quality, other: Quality) -> Figure | None:
    """How much less `other` gives away a move than `first`, position by position on the same suite.

    Sharper than their two intervals: what is hard about a position is so for both. None without figures of choices.
    """
    a, b = np.array(first.measured.losses), np.array(other.measured.losses)
    if a.shape != b.shape:
        raise DataError(
            f"{first.name} was measured on {len(a)} positions, {other.name} on {len(b)}: use the same suite"
        )
    return bounded_mean(a - b, -first.measured.most_lost, first.measured.most_lost)


def scale_of(suite: Suite) -> float:
    """What a change of value is large or small beside: a win; in a game for points, the spread of the values."""
    low, high = suite.game.utility_range
    spread = float(np.std([item.value for item in suite.items]))
    return spread if no_sides(suite) and spread > 0 else (high - low) / 2
