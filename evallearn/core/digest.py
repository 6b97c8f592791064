"""Digests of what a file or an evaluator holds, all by SHA-256; and JSON text that a stranger may have written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from evallearn.core.json_shapes import Json, JsonDict


def parse_json(text: bytes | str) -> Any:
    """Return what the JSON text says. Raises ValueError for everything else, however deep it is nested."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def plain_json(data: Json) -> JsonDict:
    """Return the object as a file gives it back: tuples are lists there, and all keys are texts."""
    return dict(json.loads(json.dumps(data)))


def digest(*parts: str | bytes | np.ndarray) -> str:
    """Return the sha256 of the parts, one after another."""
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            found.update(np.ascontiguousarray(part).data)
        else:
            found.update(part.encode() if isinstance(part, str) else part)
    return found.hexdigest()


def json_digest(plain: Json, belongs_to: str = "") -> str:
    """Return the sha256 of what a JSON object says, however it is laid out, and of what it belongs to."""
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return digest(f"{belongs_to}\n{text}")


def tensors_digest(tensors: Mapping[str, np.ndarray]) -> str:
    """Return the sha256 of the tensors' names, types, shapes and numbers."""
    found = sorted(tensors.items())
    return digest(*(part for name, t in found for part in (f"{name} {t.dtype} {t.shape} ", t)))


def weights_mark(evaluator: object) -> str:
    """Return ` #` and a digest of the evaluator's weights, or nothing if it has none."""
    while hasattr(evaluator, "below"):  # tables over an evaluator: its weights are what may change
        evaluator = evaluator.below
    if not hasattr(evaluator, "tensors"):
        return ""
    squash = getattr(evaluator, "squash", "tanh")
    other = f" {squash}" if squash != "tanh" else ""  # the same weights, other values
    return f" #{tensors_digest(evaluator.tensors())[:10]}{other}"
