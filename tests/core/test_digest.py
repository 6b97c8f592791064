"""Digests of texts, bytes and arrays; marks of weights."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from evallearn.core.digest import digest, json_digest, tensors_digest

ROWS = np.arange(6, dtype="<f4").reshape(2, 3)


@pytest.mark.parametrize(
    ("parts", "data"),
    [
        ((), b""),
        (("é",), "é".encode()),
        (("a", b"\0", "b"), b"a\0b"),
        ((ROWS,), ROWS.tobytes()),
        ((ROWS.T, "x"), ROWS.T.tobytes() + b"x"),
        ((np.zeros((0, 3)), np.ones(())), np.ones(1).tobytes()),
    ],
)
def test_parts_are_digested_one_after_another(parts: tuple[str | bytes | np.ndarray, ...], data: bytes) -> None:
    assert digest(*parts) == hashlib.sha256(data).hexdigest()


def test_a_tensor_is_its_name_type_shape_and_numbers() -> None:
    seen = {
        tensors_digest(t)
        for t in ({"w": ROWS}, {"v": ROWS}, {"w": ROWS.T}, {"w": ROWS + 1}, {"w": ROWS.astype("<f8")}, {})
    }
    assert len(seen) == 6
    assert tensors_digest({"a": ROWS, "b": ROWS.T}) == tensors_digest({"b": ROWS.T, "a": ROWS})


def test_an_object_is_what_it_says_and_what_it_belongs_to() -> None:
    assert json_digest({"a": 1, "b": 2}) == json_digest({"b": 2, "a": 1}) != json_digest({"a": 1, "b": 2}, "x")
