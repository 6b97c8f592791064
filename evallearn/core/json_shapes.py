"""Whether JSON that a stranger may have written has the shape that is needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import TypeAlias, TypeVar, get_args, get_origin, get_type_hints, is_typeddict

Json: TypeAlias = Mapping[str, object]
"""An object of JSON; whoever reads it looks what its values are."""
JsonDict: TypeAlias = dict[str, object]
"""One that the reader may change."""
T = TypeVar("T")
LARGEST = 1e300
"""Numbers are smaller: so they are finite, and can be formatted and computed with."""
ALL = "*"
"""As a key of a shape: of every value of the object."""


def has_shape(value: object, shape: object) -> bool:
    """Return whether a JSON value has a shape.

    shape: a type (float takes whole numbers too, object anything), None, a tuple of shapes of which one must fit,
    [shape] for a list of any length, or {key: shape} for an object with these keys, and perhaps others; {ALL: shape}:
    of all its values.
    """
    if shape is object:
        return True
    if isinstance(shape, tuple):
        return any(has_shape(value, one) for one in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(has_shape(one, shape[0]) for one in value)
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(_has_key(value, key, one) for key, one in shape.items())
    if shape is int or shape is float:
        return isinstance(value, int | float) and type(value) in (int, shape) and abs(value) < LARGEST
    return value is None if shape is None else type(value) is shape


def _has_key(value: Json, key: str, shape: object) -> bool:
    if key == ALL:
        return all(has_shape(one, shape) for one in value.values())
    return key in value and has_shape(value[key], shape)


def number(value: object) -> float | None:
    """Return a finite float, or None for anything else: JSON has null, and Python's has NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:  # a whole number beyond 1e308
        return None


def numbers(values: object) -> list[float | None]:
    """Do the same for a list; return nothing for anything else."""
    return [number(v) for v in values] if isinstance(values, Sequence) and not isinstance(values, str) else []


def shape_of(kind: object) -> object:
    """Return the shape of a number, a text, a list, a dict[str, ...], a union or the required keys of a TypedDict."""
    if is_typeddict(kind):
        needed: frozenset[str] = getattr(kind, "__required_keys__")  # noqa: B009  # of a TypedDict
        return {key: shape_of(one) for key, one in get_type_hints(kind).items() if key in needed}
    origin, args = get_origin(kind), get_args(kind)
    if origin is list:
        return [shape_of(args[0])]
    if origin is dict:
        return {ALL: shape_of(args[1])}
    return tuple(map(shape_of, args)) if args else None if kind is NoneType else kind


def rows(value: object) -> list[Json]:
    """Return the objects of a list of objects."""
    return [v for v in value if isinstance(v, Mapping)] if isinstance(value, list | tuple) else []


def part(value: object) -> Json:
    """Return an object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> Sequence[object]:
    """Return a list, or an empty one."""
    return value if isinstance(value, list | tuple) else ()


def build(kind: Callable[..., T], found: Json) -> T:
    """Return what `kind` makes of the values that JSON names."""
    return kind(**found)
