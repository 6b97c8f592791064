"""Options in a description: `NAME=VALUE` texts, and what a search's constructor makes of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from evallearn.core.json_shapes import JsonDict
from evallearn.errors import SpecError, unknown
from evallearn.search import SEARCHES
from evallearn.search.alphabeta.options import Options

SWITCHES = {"true": True, "on": True, "false": False, "off": False}
OPTION = re.compile(r"\s*([A-Za-z][\w .-]*?)\s*=(.*)", re.DOTALL)
"""NAME=VALUE; engines have names with spaces, as in `Skill Level=3`."""


@dataclass(frozen=True)
class Kind:
    """How the text of an option is read."""

    read: Callable[[str], Any]
    """Raises KeyError or ValueError for a text that is none."""
    wanted: str
    """What to write, in words."""


def read_options(parts: Sequence[str], place: str) -> dict[str, str]:
    """Return `["k=3"]` as {"k": "3"}."""
    found: dict[str, str] = {}
    for part in parts:
        match = OPTION.fullmatch(part)
        if not match:
            raise SpecError(f"option {part!r} of {place}: write it as NAME=VALUE")
        name, value = match.groups()
        if name in found:
            raise SpecError(f"option {name!r} of {place} is given twice: give it once")
        found[name] = value.strip()
    return found


def trailing_options(text: str) -> tuple[str, list[str]]:
    """Return a command, and the options that follow it: the last segments between commas of the form NAME=VALUE."""
    first, *segments = text.split(",")
    options: list[str] = []
    while segments and OPTION.fullmatch(segments[-1]):
        options.insert(0, segments.pop())
    return ",".join([first, *segments]), options


def search_settings(search: str, parts: Sequence[str]) -> JsonDict:
    """Return the keyword arguments of that search which `["leaf=playout", "exploration=1.0"]` says."""
    known = search_options(search)
    settings = {}
    for name, value in read_options(parts, search).items():
        if name not in known:
            raise unknown(f"option of {search}", name, known)
        try:
            settings[name] = known[name].read(value)
        except (KeyError, ValueError):
            raise SpecError(f"option {name}={value} of {search}: give {known[name].wanted}") from None
    return settings


def search_options(search: str) -> dict[str, Kind]:
    """Return the options of that search which a text can say; a function, such as is_cutoff, is none of them."""
    constructor = SEARCHES[search].__init__
    named = list(inspect.signature(constructor).parameters.values())
    hints = get_type_hints(constructor)
    types = {p.name: hints[p.name] for p in named if p.kind is p.KEYWORD_ONLY}
    if any(p.kind is p.VAR_KEYWORD for p in named):  # alpha-beta hands the rest on
        types |= get_type_hints(Options)
    kinds = {name: kind_of(type_) for name, type_ in types.items()}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def needs_eval(search: str) -> bool:
    """Return True if the search cannot do without an evaluator."""
    parameter = inspect.signature(SEARCHES[search].__init__).parameters["evaluator"]
    return parameter.default is inspect.Parameter.empty


def kind_of(annotation: Any) -> Kind | None:
    """Say how a text becomes a value of that type; None if it cannot."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        kinds = [kind_of(a) for a in inner if a is not NoneType]
        return kinds[0] if len(kinds) == 1 else None
    if origin is Literal:
        return Kind({text: text for text in inner}.__getitem__, " or ".join(inner))
    if origin is Sequence and inner == (int,):
        return Kind(lambda text: tuple(map(int, text.split("-"))), "whole numbers with - between them, as 0-1")
    return {
        bool: Kind(lambda text: SWITCHES[text.lower()], "on or off"),
        int: Kind(int, "a whole number"),
        float: Kind(float, "a number"),
        str: Kind(str, "a text"),
    }.get(annotation)
