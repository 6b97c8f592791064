"""Which numbers a setting takes: written once, beside the setting, for whoever makes it and for the command line.

A class of settings says `RANGES = {"seed": SEED, ...}` and calls `check_ranges(self)` when it is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from evallearn.errors import SpecError


@dataclass(frozen=True)
class Range:
    """The numbers between two ends, which belong to it unless they are open."""

    low: float
    high: float
    is_whole: bool = False
    low_is_open: bool = False
    high_is_open: bool = False

    def __contains__(self, value: Any) -> bool:
        """False for NaN, for what is no number, and for fractions where whole numbers are wanted."""
        kind: Any = Integral if self.is_whole else Real
        if isinstance(value, bool) or not isinstance(value, kind):
            return False
        above = self.low < value if self.low_is_open else self.low <= value
        below = value < self.high if self.high_is_open else value <= self.high
        return bool(above and below)

    def __str__(self) -> str:
        """`a whole number from 1 to 9`, `a number above 0, at most 1`."""
        low, high = (f"{end}" if self.is_whole else f"{end:g}" for end in (self.low, self.high))
        if self.low_is_open:
            return f"a number above {low}, {'below' if self.high_is_open else 'at most'} {high}"
        return f"a {'whole ' * self.is_whole}number from {low} to {'below ' * self.high_is_open}{high}"

    def require(self, name: str, value: object) -> None:
        """Refuse any other value. Raises SpecError."""
        if value not in self:
            raise SpecError(f"{name}={value!r}: give {self}")


def whole(at_least: int, at_most: int) -> Range:
    """Return the range of whole numbers, both ends included."""
    return Range(at_least, at_most, is_whole=True)


def number(
    *, at_least: float | None = None, above: float = 0.0, at_most: float | None = None, below: float = 0.0
) -> Range:
    """Return a range of numbers: name one lower and one upper end."""
    return Range(
        above if at_least is None else at_least,
        below if at_most is None else at_most,
        low_is_open=at_least is None,
        high_is_open=at_most is None,
    )


def check_ranges(settings: Any) -> None:
    """Refuse settings of which a number is out of its range; None stands for a default. Raises SpecError."""
    for name, allowed in settings.RANGES.items():
        value = getattr(settings, name)
        if value is not None:
            allowed.require(name.rstrip("_"), value)


SEED = whole(0, 2**32 - 1)
"""Of what people choose: scikit-learn takes no larger one."""
DERIVED_SEED = whole(0, 2**63 - 1)
"""Of what is made from a seed: a run has one for each of its generations."""
SHARE = number(at_least=0, at_most=1)
STEP = number(above=0, at_most=1e30)
"""Of what learns; float32 holds no much larger one. Far smaller ones diverge, and are told so."""
PENALTY = number(above=0, at_most=1e12)
"""Of a fit, in records."""
GAMES = whole(1, 10**12)
GAMES_OR_NONE = whole(0, 10**12)
"""Where 0 stands for never, or for all."""
OPENING_PLIES = whole(0, 2**15)
"""As many plies as a game may have."""
PAIRS = whole(1, 10**7)
"""Openings of a match."""
MINUTES = number(above=0, at_most=1e6)
"""About two years."""
