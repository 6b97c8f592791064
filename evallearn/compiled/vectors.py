"""Sums of rows and products for small networks, eight numbers to an instruction.

The compiler vectorises a loop only if it may reorder the sums or can prove that arrays do not overlap; in a record it
can do neither. So these functions say it in so many words. Products and sums are rounded one by one, in a fixed order,
on every machine; uncompiled they give the same last bit.

Arrays are handed over by their addresses (`a.ctypes.data`), and must be of float32, places of int32, units a multiple
of eight that is known when a kernel is compiled.
"""

# Numba compares the bare signatures of an overload, hence:
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import ctypes
from typing import SupportsInt

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from evallearn.compiled.codegen import (
    Address,
    Builder,
    Intrinsic,
    Literal,
    Signature,
    Target,
    Type,
    Typing,
    Value,
    Values,
)

LANES = 8
FLOAT, INT32, INT64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)
VECTOR = ir.VectorType(FLOAT, LANES)
AT_ONCE = 12
"""Vectors that are summed up side by side: so many stay in registers."""


def add_rows(
    h: Address, bias: Address, weights: Address, places: Address, values: Address, n: SupportsInt, units: int,
    floor: int, placed: int,
) -> None:  # fmt: skip
    """Set h = bias + values[0] * weights[places[0]] + values[1] * weights[places[1]] + ..., row after row.

    floor: 1 rectifies the sums: every number that is not above 0, NaN too, becomes 0.
    placed: 1 takes values[places[0]], values[places[1]], ...: the units of a layer before, of which most are 0.
    """
    total = _floats(bias, units).copy()
    for i, place in enumerate(_places(places, int(n)).tolist()):
        value = _floats(int(values) + 4 * (place if placed else i), 1)[0]
        total += value * _floats(int(weights) + 4 * units * place, units)
    _floats(h, units)[:] = np.where(total > 0, total, np.float32(0)) if floor else total


def dot(a: Address, b: Address, units: int) -> np.float32:
    """Return the product of two rows: eight sums side by side, then these in pairs."""
    lanes = np.zeros(LANES, np.float32)
    for first in range(0, units, LANES):
        lanes += _floats(a, units)[first : first + LANES] * _floats(b, units)[first : first + LANES]
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    return np.float32(lanes[0])


def nonzero(h: Address, places: Address, units: int) -> int:
    """Write where the row is not 0 into `places`, the last place first; return how many.

    `places` needs room for eight more.
    """
    found = np.flatnonzero(_floats(h, units))[::-1]
    _places(places, units)[: len(found)] = found
    return len(found)


def _floats(address: Address, n: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_float * n).from_address(int(address)))


def _places(address: Address, n: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_int32 * n).from_address(int(address)))


def _load(builder: Builder, address: Value, kind: ir.Type, offset: Value) -> Value:
    """Return the number or vector at address + offset bytes, which need not be aligned."""
    return builder.load(builder.inttoptr(builder.add(address, offset), kind.as_pointer()), align=4)


@intrinsic(prefer_literal=True)
def _add_rows(
    typingctx: Typing, h: Type, bias: Type, weights: Type, places: Type, values: Type, n: Type, units: Literal,
    floor: Literal, placed: Literal,
) -> Intrinsic:  # fmt: skip
    size, rectified, by_place = units.literal_value, floor.literal_value, placed.literal_value
    zeros = ir.Constant(VECTOR, [0.0] * LANES)

    def block(builder: Builder, args: Values, first: int, vectors: int) -> None:
        h, bias, weights, places, values, n = args[:6]
        offsets = [INT64(4 * (first + LANES * v)) for v in range(vectors)]
        sums = [cgutils.alloca_once(builder, VECTOR) for _ in range(vectors)]
        for v in range(vectors):
            builder.store(_load(builder, bias, VECTOR, offsets[v]), sums[v])
        with cgutils.for_range(builder, n) as loop:
            at = builder.mul(loop.index, INT64(4))
            place = builder.sext(_load(builder, places, INT32, at), INT64)
            value = _load(builder, values, FLOAT, builder.mul(place, INT64(4)) if by_place else at)
            one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), value, INT32(0))
            filled = builder.shuffle_vector(one, ir.Constant(VECTOR, ir.Undefined), _zeros())
            row = builder.mul(place, INT64(4 * size))
            for v in range(vectors):
                weight = _load(builder, weights, VECTOR, builder.add(row, offsets[v]))
                builder.store(builder.fadd(builder.load(sums[v]), builder.fmul(filled, weight)), sums[v])
        for v in range(vectors):
            pointer = builder.inttoptr(builder.add(h, offsets[v]), VECTOR.as_pointer())
            total = builder.load(sums[v])
            if rectified:
                total = builder.select(builder.fcmp_ordered(">", total, zeros), total, zeros)
            builder.store(total, pointer, align=4)

    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        for first in range(0, size, LANES * AT_ONCE):
            block(builder, args, first, min(AT_ONCE, (size - first) // LANES))
        return context.get_dummy_value()

    address = types.uint64
    return types.void(address, address, address, address, address, types.int64, units, floor, placed), codegen


@intrinsic(prefer_literal=True)
def _dot(typingctx: Typing, a: Type, b: Type, units: Literal) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        total = ir.Constant(VECTOR, [0.0] * LANES)
        for first in range(0, units.literal_value, LANES):
            left, right = (_load(builder, row, VECTOR, INT64(4 * first)) for row in args[:2])
            total = builder.fadd(total, builder.fmul(left, right))
        width = LANES
        while width > 1:
            width //= 2
            halves = [
                builder.shuffle_vector(
                    total, total, ir.Constant(ir.VectorType(INT32, width), list(range(k, k + width)))
                )
                for k in (0, width)
            ]
            total = builder.fadd(*halves)
        return builder.extract_element(total, INT32(0))

    return types.float32(types.uint64, types.uint64, units), codegen


ORDERS = bytes(b for mask in range(256) for b in [*(k for k in range(7, -1, -1) if mask >> k & 1), *[0] * 8][:8])
"""For each set of eight lanes which they are, the last one first; the rest of its row is not used."""


@intrinsic(prefer_literal=True)
def _nonzero(typingctx: Typing, h: Type, places: Type, units: Literal) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        h, places, _ = args
        few, many = ir.VectorType(ir.IntType(8), LANES), ir.VectorType(INT32, LANES)
        orders = builder.ptrtoint(
            cgutils.global_constant(builder.module, "lane_orders", cgutils.make_bytearray(ORDERS)), INT64
        )
        found: Value = INT64(0)
        for first in range(units.literal_value - LANES, -1, -LANES):
            there = builder.fcmp_unordered(
                "!=", _load(builder, h, VECTOR, INT64(4 * first)), ir.Constant(VECTOR, [0.0] * LANES)
            )
            mask = builder.zext(builder.bitcast(there, ir.IntType(8)), INT64)
            row = builder.load(
                builder.inttoptr(builder.add(orders, builder.mul(mask, INT64(LANES))), few.as_pointer()), align=1
            )
            named = builder.add(builder.zext(row, many), ir.Constant(many, [first] * LANES))
            end = builder.add(places, builder.mul(found, INT64(4)))
            builder.store(named, builder.inttoptr(end, many.as_pointer()), align=4)
            found = builder.add(found, builder.ctpop(mask))
        return found

    return types.int64(types.uint64, types.uint64, units), codegen


def _zeros() -> ir.Constant:
    return ir.Constant(ir.VectorType(INT32, LANES), [0] * LANES)


@overload(add_rows, prefer_literal=True)
def _add_rows_compiled(h, bias, weights, places, values, n, units, floor, placed):
    def compiled(h, bias, weights, places, values, n, units, floor, placed):
        _add_rows(
            types.uint64(h), types.uint64(bias), types.uint64(weights), types.uint64(places), types.uint64(values),
            types.int64(n), units, floor, placed,
        )  # fmt: skip

    return compiled


@overload(dot, prefer_literal=True)
def _dot_compiled(a, b, units):
    def compiled(a, b, units):
        return _dot(types.uint64(a), types.uint64(b), units)

    return compiled


@overload(nonzero, prefer_literal=True)
def _nonzero_compiled(h, places, units):
    def compiled(h, places, units):
        return _nonzero(types.uint64(h), types.uint64(places), units)

    return compiled
