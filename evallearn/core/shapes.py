"""Whether JSON that a stranger may have written has the shape that is needed."""

from __future__ import annotations

from typing import Any

LARGEST = 1e300
"""Numbers are smaller: so they are finite, and can be formatted and computed with."""
ALL = "*"
"""As a key of a shape: of every value of the object."""


def has_shape(value: Any, shape: Any) -> bool:
    """Return whether a JSON value has a shape.

    shape: a type (float takes whole numbers, too), None, a tuple of shapes of which one must fit, [shape] for a list of
    any length, or {key: shape} for an object with these keys, and perhaps others; {ALL: shape}: of all its values.
    """
    if isinstance(shape, tuple):
        return any(has_shape(value, one) for one in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(has_shape(one, shape[0]) for one in value)
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(_has_key(value, key, one) for key, one in shape.items())
    if shape in (int, float):
        return type(value) in (int, shape) and abs(value) < LARGEST
    return value is None if shape is None else type(value) is shape


def _has_key(value: dict[str, Any], key: str, shape: Any) -> bool:
    if key == ALL:
        return all(has_shape(one, shape) for one in value.values())
    return key in value and has_shape(value[key], shape)
