"""Sums of rows and products, eight numbers to an instruction: compiled as uncompiled, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from evallearn.compiled.vectors import AT_ONCE, LANES, add_rows, dot, nonzero

SIZES = (8, LANES * AT_ONCE, LANES * AT_ONCE + 8)
"""One piece of eight, as many as fit at once, and one more; each size is compiled for itself."""
MORE = (16, 80, 176)
every_size = pytest.mark.parametrize("units", [*SIZES, *(pytest.param(n, marks=pytest.mark.long) for n in MORE)])


def numbers(units: int, rows: int) -> tuple[np.ndarray, ...]:
    """bias, weights, places, values: of all magnitudes, so that another order of the sums shows."""
    rng = np.random.default_rng(units + rows)
    wild = rng.normal(0, 1, (rows + 1, units)) * 10.0 ** rng.integers(-4, 5, (rows + 1, units))
    places = rng.permutation(rows).astype(np.int32)
    return (
        wild[-1].astype(np.float32), np.ascontiguousarray(wild[:-1], np.float32), places,
        rng.normal(0, 1, rows).astype(np.float32),
    )  # fmt: skip


def by_address(add, bias, weights, places, values, n, units, floor=0, placed=0):
    h = np.full(units, np.nan, np.float32)
    at = [a.ctypes.data for a in (h, bias, weights, places, values)]
    add(*at, n, units, floor, placed)
    return h


@pytest.fixture(scope="module")
def kernels():
    """(add_rows, by place and rectified, dot, nonzero) for every size, which must be known when they are compiled."""

    def make(units):
        @njit
        def rows(h, bias, weights, places, values, n, *_):
            add_rows(h, bias, weights, places, values, n, units, 0, 0)

        @njit
        def placed(h, bias, weights, places, values, n, *_):
            add_rows(h, bias, weights, places, values, n, units, 1, 1)

        @njit
        def product(a, b):
            return dot(a.ctypes.data, b.ctypes.data, units)

        @njit
        def found(h, places):
            return nonzero(h.ctypes.data, places.ctypes.data, units)

        return rows, placed, product, found

    return {units: make(units) for units in SIZES + MORE}


@every_size
def test_sums_of_rows_are_the_same_on_both_backends(units, kernels):
    for rows in (0, 1, 2, 7, 33):
        given = bias, weights, places, values = numbers(units, max(1, rows))
        wanted = bias.copy()
        for place, value in zip(places[:rows], values[:rows], strict=True):
            wanted += value * weights[place]
        assert by_address(kernels[units][0], *given, rows, units).tobytes() == wanted.tobytes()
        assert by_address(add_rows, *given, rows, units).tobytes() == wanted.tobytes()
        assert by_address(add_rows, *given, rows, units, 1).tobytes() == np.maximum(wanted, 0).tobytes()


@every_size
def test_rectified_sums_with_values_by_place_are_the_same_on_both_backends(units, kernels):
    for rows in (0, 1, 2, 7, 33):
        given = bias, weights, places, values = numbers(units, max(1, rows))
        bias[:5] = np.nan, -np.inf, np.inf, -0.0, 0.0
        wanted = bias.copy()
        for place in places[:rows]:
            wanted += values[place] * weights[place]
        wanted = np.where(wanted > 0, wanted, np.float32(0))
        assert by_address(kernels[units][1], *given, rows, units, 1, 1).tobytes() == wanted.tobytes()
        assert by_address(add_rows, *given, rows, units, 1, 1).tobytes() == wanted.tobytes()


@every_size
def test_products_are_the_same_on_both_backends(units, kernels):
    a, weights, _, _ = numbers(units, 3)
    for b in weights:
        compiled, plain = kernels[units][2](a, b), dot(a.ctypes.data, b.ctypes.data, units)
        assert np.float32(compiled).tobytes() == np.float32(plain).tobytes()
        assert float(plain) == pytest.approx(float(a.astype(float) @ b.astype(float)), rel=1e-3, abs=1.0)


def test_rows_need_not_be_aligned(kernels):
    bias, weights, places, values = numbers(8, 5)
    shifted = np.empty(8 * 5 + 1, np.float32)[1:].reshape(5, 8)
    shifted[:] = weights
    found = by_address(kernels[8][0], bias, shifted, places, values, 5, 8)
    assert found.tobytes() == by_address(add_rows, bias, weights, places, values, 5, 8).tobytes()


@every_size
def test_places_that_are_not_0_come_from_the_last_one_back(units, kernels):
    rng = np.random.default_rng(units)
    for share in (0.0, 0.1, 0.5, 1.0):
        row = (rng.uniform(0, 1, units) < share).astype(np.float32)
        compiled, plain = np.full(units + LANES, -1, np.int32), np.full(units + LANES, -1, np.int32)
        n = kernels[units][3](row, compiled)
        assert n == nonzero(row.ctypes.data, plain.ctypes.data, units) == int(row.sum())
        assert compiled[:n].tolist() == plain[:n].tolist() == np.flatnonzero(row)[::-1].tolist()
