"""Sending for what lies far away changes nothing, on either backend."""

from __future__ import annotations

import numpy as np
from numba import njit

from evallearn.compiled.memory import fetch


def test_fetch_leaves_arrays_of_any_shape_as_they_are():
    @njit
    def total(array, row):
        found = 0.0
        for i in row:
            fetch(array, i)
        for i in row:
            found += array.reshape(-1)[i]
        return found

    flat, row = np.arange(12, dtype=np.float32), np.array([11, 0, 5])
    assert total(flat, row) == total(flat.reshape(4, 3), row) == 16.0
    assert flat.tolist() == list(range(12))
    assert "prefetch" in next(iter(total.inspect_llvm().values()))


def test_fetch_does_nothing_upstairs():
    assert fetch(np.zeros(3), 1) is None
