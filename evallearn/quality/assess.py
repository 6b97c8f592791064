"""All parts together: one evaluator, one suite, one result with its verdicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evallearn.core.evaluator import Evaluator
from evallearn.core.json_shapes import JsonDict
from evallearn.core.settings import SEED, Settings, setting, whole
from evallearn.errors import DataError, EvaluatorError
from evallearn.quality.figures import Figure, bounded_mean
from evallearn.quality.formatting import choices_verdict, swing_verdict, thrash_verdict, values_verdict
from evallearn.quality.measure import Measured, measured, no_sides
from evallearn.quality.suite import Suite
from evallearn.quality.swing import Swing, swings
from evallearn.quality.thrash import Thrash, thrash
from evallearn.search.common.requirements import MAX_DEPTH

DEPTH, MANY = whole(1, MAX_DEPTH), whole(0, 10**6)


@dataclass(frozen=True, kw_only=True)
class QualitySettings(Settings):
    """What is measured, and how closely."""

    depth: int = setting(1, "Plies to look ahead when it chooses.", DEPTH)
    swing_depth: int = setting(4, "Deepest search of the swing; 0: none.", whole(0, MAX_DEPTH))
    swing_positions: int = setting(50, "Positions of the suite that are searched for it, at most.", MANY)
    games: int = setting(10, "Games against itself in which thrashing is looked for; 0: none.", MANY)
    thrash_depth: int = setting(2, "Plies that the players of these games look ahead.", DEPTH)
    seed: int = setting(1, "Of resampling, and of the games' openings and dice.", SEED)


@dataclass(frozen=True, kw_only=True)
class Quality:
    """How well an evaluator values positions."""

    name: str
    measured: Measured
    swings: tuple[Swing, ...]
    """Without quiescence and with it, where the game has noisy actions; else one; none if left out."""
    thrash: Thrash | None
    verdicts: dict[str, str]
    """A sentence each for choices, values, swing and thrashing, as far as there is one."""

    def to_json(self) -> JsonDict:
        return {
            "name": self.name,
            **self.measured.to_json(),
            "swings": [s.to_json() for s in self.swings],
            "thrash": self.thrash.to_json() if self.thrash else None,
            "verdicts": dict(self.verdicts),
        }


def assess(evaluator: Evaluator, suite: Suite, settings: QualitySettings | None = None, *, name: str = "") -> Quality:
    """Measure everything that can be said of the evaluator; the same arguments give the same result."""
    do = settings or QualitySettings()
    if evaluator.game.plays != suite.game.plays:
        raise EvaluatorError(
            f"{evaluator.name!r} is an evaluator of {evaluator.game.name}, the suite is of {suite.game.name}: "
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
    """Measure how much less `other` gives away a move than `first`, position by position on the same suite.

    Sharper than their two intervals: what is hard about a position is so for both. None without figures of choices.
    """
    a, b = np.array(first.measured.losses), np.array(other.measured.losses)
    if a.shape != b.shape:
        raise DataError(
            f"{first.name} was measured on {len(a)} positions, {other.name} on {len(b)}: use the same suite"
        )
    return bounded_mean(a - b, -first.measured.most_lost, first.measured.most_lost)


def scale_of(suite: Suite) -> float:
    """Return the scale for changes of value: a win; in a game for points, the spread of the values."""
    low, high = suite.game.utility_range
    spread = float(np.std([item.value for item in suite.items]))
    return spread if no_sides(suite) and spread > 0 else (high - low) / 2
