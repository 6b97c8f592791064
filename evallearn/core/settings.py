"""Settings: frozen dataclasses whose fields know their help and their range.

    @dataclass(frozen=True, kw_only=True)
    class Fit(Settings):
        penalty: float = setting(1.0, "Weight of the penalty, in records.", PENALTY)
        seed: int = setting(1, "The same seed gives the same weights.", SEED)

Fields are checked when the object is made. The command line, manifests and docs are derived from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from numbers import Integral, Real
from typing import Any, TypeVar

from evallearn.core.json_shapes import JsonDict
from evallearn.errors import SpecError, unknown

T = TypeVar("T")


@dataclass(frozen=True)
class Range:
    """The numbers between two ends, which belong to it unless they are open."""

    low: float
    high: float
    is_whole: bool = False
    low_is_open: bool = False
    high_is_open: bool = False

    def __contains__(self, value: Any) -> bool:
        """Return True for a number of the range.

        False for NaN, for what is no number, and for fractions where whole numbers are wanted.
        """
        kind: Any = Integral if self.is_whole else Real
        if isinstance(value, bool) or not isinstance(value, kind):
            return False
        above = self.low < value if self.low_is_open else self.low <= value
        below = value < self.high if self.high_is_open else value <= self.high
        return bool(above and below)

    def __str__(self) -> str:
        """Return the range in words: `a whole number from 1 to 9`, `a number above 0, at most 1`."""
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


@dataclass(frozen=True)
class Setting:
    """What a field of settings knows of itself."""

    help: str
    """One sentence, with the unit."""
    allowed: Range | None = None
    """The numbers that it takes."""
    choices: Sequence[str] = ()
    """The words that it takes."""
    auto: str = ""
    """What None stands for, where it is the default."""
    is_flag: bool = False
    """Whether it is True or False."""
    option: str = ""
    """Its name on the command line, where that is not the field's."""

    def require(self, name: str, value: object) -> None:
        """Raise SpecError for a value that the setting does not take."""
        if self.is_flag and not isinstance(value, bool):
            raise SpecError(f"{name}={value!r}: give True or False")
        if self.choices and value not in self.choices:
            raise unknown(name, str(value), self.choices)
        if self.allowed is not None:
            self.allowed.require(name, value)


def setting(
    default: T,
    help: str,
    allowed: Range | None = None,
    *,
    choices: Sequence[str] = (),
    auto: str = "",
    is_flag: bool = False,
    option: str = "",
) -> T:
    """Return a dataclass field that knows its help, the numbers or words it takes, and what None stands for."""
    known = Setting(help, allowed, tuple(choices), auto, is_flag or isinstance(default, bool), option)
    return field(default=default, metadata={"setting": known})


class Settings:
    """Base of frozen dataclasses whose fields are made by `setting`; those that are not are left alone."""

    def __post_init__(self) -> None:
        for name, known in self.known().items():
            value = getattr(self, name)
            if value is not None or not known.auto:
                known.require(name.rstrip("_"), value)

    @classmethod
    def known(cls) -> Mapping[str, Setting]:
        """Return what every field knows of itself, by its name."""
        return {f.name: f.metadata["setting"] for f in fields(cls) if "setting" in f.metadata}  # type: ignore[arg-type]  # subclasses are dataclasses

    @classmethod
    def default(cls, name: str) -> object:
        """Return the default of a field."""
        return next(f.default for f in fields(cls) if f.name == name)  # type: ignore[arg-type]

    def to_json(self) -> JsonDict:
        """Return plain JSON for manifests and checkpoints."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}  # type: ignore[call-overload]


def check_ranges(settings: object) -> None:
    """Refuse settings of a trainer in the manner of scikit-learn that are outside of its RANGES. Raises SpecError."""
    for name, allowed in settings.RANGES.items():  # type: ignore[attr-defined]  # such a trainer has them
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
