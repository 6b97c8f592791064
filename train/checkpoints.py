"""Checkpoints of learners that play against themselves: counters, tensors, and the recipe that must not change."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from glob import escape
from pathlib import Path
from typing import Any

import numpy as np

from evallearn.atomic import short_name, write_atomically
from evallearn.errors import DataError

LONG = 50
"""A message names two values that differ if that takes fewer letters."""


def save_checkpoint(
    path: Path, kind: str, recipe: Mapping[str, Any], counters: Mapping[str, Any], tensors: Mapping[str, np.ndarray]
) -> None:
    """All that `read_checkpoint` needs, in a file that is whole or absent; what a killed one was writing goes."""
    from safetensors.numpy import save

    header = json.dumps({"recipe": recipe, "counters": counters}, sort_keys=True)
    write_atomically(path, save(dict(tensors), metadata={key(kind): header}))
    for left in path.parent.glob(f".{escape(short_name(path.name))}.*.tmp"):  # half a gigabyte for each time
        left.unlink(missing_ok=True)


def read_checkpoint(
    path: Path,
    kind: str,
    recipe: Mapping[str, Any],
    counters: Mapping[str, Any],
    tensors: Mapping[str, np.ndarray],
    growing: Collection[str] = (),
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """(counters, tensors) of the file, which must be of this recipe.

    counters, tensors: what is wanted, and how large; those of `growing` may have another length.

    Raises DataError for a file that is no checkpoint of that kind, or one of another recipe.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            header = json.loads((file.metadata() or {})[key(kind)])
            found, numbers = header["recipe"], {name: header["counters"][name] for name in counters}
            arrays = {name: file.get_tensor(name) for name in tensors}
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"{path} is no checkpoint of a {kind} learner ({error}): delete it to begin anew") from None
    for name, ours in json.loads(json.dumps(recipe)).items():  # as a file holds it: tuples are lists there
        if found.get(name) != ours:
            shown = f"{found.get(name)!r}, now {ours!r}"
            shown = shown if len(shown) < LONG else "others"
            raise DataError(f"{path} was made with {name} {shown}: give the same settings, or delete it to begin anew")
    for name, array in arrays.items():
        first = 1 if name in growing else 0
        if array.ndim != tensors[name].ndim or array.shape[first:] != tensors[name].shape[first:]:
            raise DataError(f"{path} holds {array.shape} {name}, not {tensors[name].shape}: delete it to begin anew")
    return numbers, {name: array.astype(tensors[name].dtype) for name, array in arrays.items()}


def key(kind: str) -> str:
    """Under which the header stands in the file."""
    return f"evallearn-{kind}"
