"""Checkpoints of learners that play against themselves: counters, tensors, and the recipe that must not change.

A checksum covers all three, so that learning never goes on from numbers that nobody learned.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from glob import escape
from json import dumps
from pathlib import Path
from typing import Any

import numpy as np

from evallearn.core.digest import json_digest, parse_json, plain_json, tensors_digest
from evallearn.core.files import short_name, write_atomically
from evallearn.errors import DataError

LONG = 50
"""A message names two values that differ if that takes fewer letters."""
TYPES = {"F32", "F64", "I64", "U64"}
"""Of the tensors that learners have."""
REMEDY = "delete it to begin anew"


def save_checkpoint(
    path: Path,
    kind: str,
    recipe: Mapping[str, object],
    counters: Mapping[str, object],
    tensors: Mapping[str, np.ndarray],
) -> None:
    """Write all that `read_checkpoint` needs, in a file that is whole or absent; what a killed one was writing goes."""
    from safetensors.numpy import save as to_bytes

    header = plain_json({"recipe": recipe, "counters": counters})
    header["checksum"] = checksum(header, tensors)
    write_atomically(path, to_bytes(dict(tensors), metadata={key(kind): dumps(header, sort_keys=True)}))
    for left in path.parent.glob(f".{escape(short_name(path.name))}.*.tmp"):  # half a gigabyte for each time
        left.unlink(missing_ok=True)


def read_checkpoint(
    path: Path,
    kind: str,
    recipe: Mapping[str, object],
    counters: Mapping[str, object],
    tensors: Mapping[str, np.ndarray],
    growing: Collection[str] = (),
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return (counters, tensors) of the file, which must be of this recipe.

    counters, tensors: what is wanted, of which type and how large; those of `growing` may have another length.

    Raises DataError for a file that is damaged, no checkpoint of that kind, or one of another recipe.
    """
    try:
        header, found = _read(path, key(kind))
        _require_whole(header, found)
    except _Foreign as error:
        raise DataError(f"{path} is no checkpoint of a {kind} learner ({error}): {REMEDY}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} is damaged, or no checkpoint ({error}): {REMEDY}") from None
    _require_recipe(path, header["recipe"], recipe)
    try:
        _require_counters(header["counters"], counters)
        _require_tensors(found, tensors, growing)
    except ValueError as error:
        raise DataError(f"{path} fits no learner of these settings ({error}): {REMEDY}") from None
    return {name: header["counters"][name] for name in counters}, found


class _Foreign(Exception):
    """The file is another one than was asked for."""


def _read(path: Path, key: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and all tensors. Raises _Foreign, OSError or ValueError."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            text = (file.metadata() or {}).get(key)
            if text is None:
                raise _Foreign(f"it has no {key!r} header")
            names = list(file.keys())
            kinds = {file.get_slice(name).get_dtype() for name in names}
            if not kinds <= TYPES:  # asked before they are read: NumPy does not have all of them
                raise _Foreign(f"it holds {', '.join(sorted(kinds - TYPES))}")
            return _object(text), {name: file.get_tensor(name) for name in names}
    except SafetensorError as error:
        raise ValueError(str(error)) from None


def _object(text: str) -> dict[str, Any]:
    header = parse_json(text)
    if not isinstance(header, dict) or not all(isinstance(header.get(key), dict) for key in ("recipe", "counters")):
        raise ValueError("its header names no recipe or no counters")
    return header


def _require_whole(header: Mapping[str, object], tensors: Mapping[str, np.ndarray]) -> None:
    """Raise ValueError for a wrong checksum."""
    if "checksum" not in header:
        raise ValueError("it has no checksum, as those of earlier versions")
    said = {name: value for name, value in header.items() if name != "checksum"}
    if header["checksum"] != checksum(said, tensors):
        raise ValueError("its checksum does not fit")


def _require_counters(found: Mapping[str, object], counters: Mapping[str, object]) -> None:
    for name, like in counters.items():
        if not is_like(found.get(name), like, 2**64 if name == "counter" else 2**63):
            raise ValueError(f"its counter {name} is {str(found.get(name))[:LONG]}")


def _require_tensors(
    found: Mapping[str, np.ndarray], tensors: Mapping[str, np.ndarray], growing: Collection[str]
) -> None:
    for name, like in tensors.items():
        array, first = found.get(name), 1 if name in growing else 0
        if array is None or (array.dtype, array.ndim) != (like.dtype, like.ndim):
            raise ValueError(f"it holds no {name} of type {like.dtype} and {like.ndim} dimensions")
        if array.shape[first:] != like.shape[first:]:
            raise ValueError(f"it holds {array.shape} {name}, not {like.shape}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"its {name} hold a number that is not finite")


def _require_recipe(path: Path, found: Mapping[str, object], recipe: Mapping[str, object]) -> None:
    for name, ours in plain_json(recipe).items():
        if found.get(name) != ours:
            shown = f"{found.get(name)!r}, now {ours!r}"
            shown = shown if len(shown) < LONG else "others"
            raise DataError(f"{path} was made with {name} {shown}: give the same settings, or {REMEDY}")


def is_like(found: object, like: object, limit: int) -> bool:
    """Return whether it is a value of that kind.

    That is a list of as many, a finite number, or a whole one from 0 to the limit.
    """
    if isinstance(like, list):
        return (
            isinstance(found, list) and len(found) == len(like) and all(map(is_like, found, like, [limit] * len(like)))
        )
    if isinstance(like, float):
        return isinstance(found, float) and math.isfinite(found)
    return type(found) is int and 0 <= found < limit


def checksum(header: Mapping[str, object], tensors: Mapping[str, np.ndarray]) -> str:
    """Return the sha256 of what a checkpoint says."""
    return json_digest(header, tensors_digest(tensors))


def key(kind: str) -> str:
    """Return the key under which the header stands in the file."""
    return f"evallearn-{kind}"
