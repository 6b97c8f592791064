"""Digests of what a file or an Eval holds, and JSON text that a stranger may have written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np


def parse_json(text: bytes | str) -> Any:
    """Return what the JSON text says. Raises ValueError for everything else, however deep it is nested."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def plain_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object as a file gives it back: tuples are lists there, and all keys are texts."""
    return json.loads(json.dumps(data))  # type: ignore[no-any-return]  # JSON may be anything


def json_digest(plain: Mapping[str, Any], belongs_to: str = "") -> str:
    """Return the sha256 of what a JSON object says, however it is laid out, and of what it belongs to."""
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{belongs_to}\n{text}".encode()).hexdigest()


def tensors_digest(tensors: Mapping[str, np.ndarray]) -> str:
    """Return the sha256 of the tensors' names, types, shapes and numbers."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tensor.shape} ".encode())
        digest.update(np.ascontiguousarray(tensor).data)
    return digest.hexdigest()
