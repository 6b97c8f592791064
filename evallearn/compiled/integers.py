"""Rows of small whole numbers, eight to an instruction: `vectors.py` for quantised nets.

Whole numbers may be added in any order, but the compiler cannot prove that arrays of a record do not overlap, and it
widens every sum to 64 bits. So these say it in so many words; uncompiled they give the same numbers.

Arrays are handed over by their addresses (`a.ctypes.data`) and are int32 unless a text says otherwise. Their length is
a multiple of eight that is known when a kernel is compiled, and so is `keep`.
"""

# Numba compares the bare signatures of an overload, hence:
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import SupportsFloat, SupportsInt, TypeAlias

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
INT16, INT32, INT64 = (ir.IntType(bits) for bits in (16, 32, 64))
FLOATS, SHORT, WHOLE = (ir.VectorType(kind, LANES) for kind in (ir.FloatType(), INT16, INT32))
AT_ONCE = 12
"""Vectors that are summed up side by side: so many stay in registers."""
ADDRESS = types.uint64
Kind: TypeAlias = type[ctypes.c_int16] | type[ctypes.c_int32] | type[ctypes.c_float]


# --- uncompiled ------------------------------------------------------------------------------------------------------
def whole_inputs(steps: Address, x: Address, fine: SupportsFloat, reach: SupportsFloat, n: int) -> None:
    """Write x (float32) into steps, in steps of 1 / fine, rounded, cut off at `reach`; NaN is 0.

    `reach` is less than 2**14.
    """
    y = _numbers(x, n, ctypes.c_float) * np.float32(fine)
    y = np.clip(np.where(y == y, y, np.float32(0)), -np.float32(reach), np.float32(reach))
    _numbers(steps, n)[:] = (y + np.float32(2**14 + 0.5)).astype(np.int32) - 2**14


def differences(now: Address, before: Address, places: Address, values: Address, n: int, keep: int) -> np.int64:
    """Return how many numbers are not what they were before.

    places, values: where, and by how much. keep 1: before = now.
    """
    old = _numbers(before, n)
    change = _numbers(now, n) - old
    at = np.flatnonzero(change)
    _numbers(places, len(at))[:], _numbers(values, len(at))[:] = at, change[at]
    if keep:
        old[:] = _numbers(now, n)
    return np.int64(len(at))


def add_whole_rows(
    h: Address, start: Address, weights: Address, places: Address, values: Address, n: SupportsInt, units: int
) -> None:
    """Set h = start + values[0] * weights[places[0]] + values[1] * weights[places[1]] + ...; start may be h.

    weights: rows of int16; each of the n values fits 16 bits.
    """
    total = _numbers(start, units).copy()
    for place, value in zip(_numbers(places, int(n)), _numbers(values, int(n)), strict=True):
        total += value * _numbers(int(weights) + 2 * units * int(place), units, ctypes.c_int16).astype(np.int32)
    _numbers(h, units)[:] = total


def clip_sums(h: Address, sums: Address, shift: SupportsInt, low: SupportsInt, high: SupportsInt, units: int) -> None:
    """Set h = sums / 2**shift, rounded, from `low` to `high`."""
    half = (1 << int(shift)) >> 1
    _numbers(h, units)[:] = np.clip((_numbers(sums, units) + np.int32(half)) >> np.int32(shift), int(low), int(high))


def dot_whole(h: Address, weights: Address, units: int) -> np.int64:
    """Return the product of two rows, int64; weights are int16, and no product of two numbers leaves 32 bits."""
    return np.int64(_numbers(h, units).astype(np.int64) @ _numbers(weights, units, ctypes.c_int16))


def _numbers(address: Address, n: int, kind: Kind = ctypes.c_int32) -> np.ndarray:
    return np.ctypeslib.as_array((kind * n).from_address(int(address)))


# --- compiled --------------------------------------------------------------------------------------------------------
def _load(builder: Builder, address: Value, kind: ir.Type, offset: Value, align: int = 4) -> Value:
    return builder.load(builder.inttoptr(builder.add(address, offset), kind.as_pointer()), align=align)


def _store(builder: Builder, value: Value, address: Value, offset: Value) -> None:
    builder.store(value, builder.inttoptr(builder.add(address, offset), value.type.as_pointer()), align=4)


def _filled(builder: Builder, value: Value, kind: ir.Type) -> Value:
    """Return a vector of the same number eight times."""
    nothing = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(nothing, value, INT32(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(WHOLE, [0] * LANES))


def _cut(
    builder: Builder, compare: Callable[[str, Value, Value], Value], value: Value, low: Value, high: Value
) -> Value:
    value = builder.select(compare(">", value, low), value, low)
    return builder.select(compare("<", value, high), value, high)


@intrinsic(prefer_literal=True)
def _whole_inputs(typingctx: Typing, steps: Type, x: Type, fine: Type, reach: Type, n: Literal) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        steps, x, fine, reach = args[:4]
        times, high = (_filled(builder, value, FLOATS) for value in (fine, reach))
        low, zero = builder.fneg(high), ir.Constant(FLOATS, [0.0] * LANES)
        up, down = ir.Constant(FLOATS, [2**14 + 0.5] * LANES), ir.Constant(WHOLE, [2**14] * LANES)
        with cgutils.for_range_slice(builder, INT64(0), INT64(4 * n.literal_value), INT64(4 * LANES)) as (at, _):
            y = builder.fmul(_load(builder, x, FLOATS, at), times)
            y = builder.select(builder.fcmp_ordered("==", y, y), y, zero)
            y = _cut(builder, builder.fcmp_ordered, y, low, high)
            _store(builder, builder.sub(builder.fptosi(builder.fadd(y, up), WHOLE), down), steps, at)
        return context.get_dummy_value()

    return types.void(ADDRESS, ADDRESS, types.float32, types.float32, n), codegen


@intrinsic(prefer_literal=True)
def _differences(
    typingctx: Typing, now: Type, before: Type, places: Type, values: Type, n: Literal, keep: Literal
) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        now, before, places, values = args[:4]
        found = cgutils.alloca_once_value(builder, INT64(0))  # bytes of the places that were written
        with cgutils.for_range_slice(builder, INT64(0), INT64(4 * n.literal_value), INT64(4 * LANES)) as (at, _):
            fresh = _load(builder, now, WHOLE, at)
            change = builder.sub(fresh, _load(builder, before, WHOLE, at))
            changed = builder.icmp_signed("!=", change, ir.Constant(WHOLE, [0] * LANES))
            some = builder.icmp_unsigned("!=", builder.bitcast(changed, ir.IntType(LANES)), ir.IntType(LANES)(0))
            with builder.if_then(some):
                if keep.literal_value:
                    _store(builder, fresh, before, at)
                first, to = builder.trunc(builder.lshr(at, INT64(2)), INT32), builder.load(found)
                for lane in range(LANES):  # no branch: it would be mispredicted too often
                    _store(builder, builder.add(first, INT32(lane)), places, to)
                    _store(builder, builder.extract_element(change, INT32(lane)), values, to)
                    counts = builder.zext(builder.extract_element(changed, INT32(lane)), INT64)
                    to = builder.add(to, builder.shl(counts, INT64(2)))
                builder.store(to, found)
        return builder.lshr(builder.load(found), INT64(2))

    return types.int64(ADDRESS, ADDRESS, ADDRESS, ADDRESS, n, keep), codegen


@intrinsic(prefer_literal=True)
def _add_whole_rows(
    typingctx: Typing, h: Type, start: Type, weights: Type, places: Type, values: Type, n: Type, units: Literal
) -> Intrinsic:
    size = units.literal_value

    def block(builder: Builder, args: Values, first: int, vectors: int) -> None:
        h, start, weights, places, values, n = args[:6]
        sums = [cgutils.alloca_once(builder, WHOLE) for _ in range(vectors)]
        for v, total in enumerate(sums):
            builder.store(_load(builder, start, WHOLE, INT64(4 * (first + LANES * v))), total)
        with cgutils.for_range(builder, n) as loop:
            at = builder.shl(loop.index, INT64(2))
            # a product of two numbers of 16 bits is one instruction, one of 32 bits is two
            value = builder.sext(builder.trunc(_load(builder, values, INT32, at), INT16), INT32)
            filled = _filled(builder, value, WHOLE)
            place = builder.sext(_load(builder, places, INT32, at), INT64)
            row = builder.add(weights, builder.mul(place, INT64(2 * size)))
            for v, total in enumerate(sums):
                weight = _load(builder, row, SHORT, INT64(2 * (first + LANES * v)), 2)
                product = builder.mul(filled, builder.sext(weight, WHOLE))
                builder.store(builder.add(builder.load(total), product), total)
        for v, total in enumerate(sums):
            _store(builder, builder.load(total), h, INT64(4 * (first + LANES * v)))

    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        for first in range(0, size, LANES * AT_ONCE):
            block(builder, args, first, min(AT_ONCE, (size - first) // LANES))
        return context.get_dummy_value()

    return types.void(ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, types.int64, units), codegen


@intrinsic(prefer_literal=True)
def _clip_sums(typingctx: Typing, h: Type, sums: Type, shift: Type, low: Type, high: Type, units: Literal) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        h, sums, shift, low, high = args[:5]
        half = _filled(builder, builder.lshr(builder.shl(INT32(1), shift), INT32(1)), WHOLE)
        shift, low, high = (_filled(builder, value, WHOLE) for value in (shift, low, high))
        with cgutils.for_range_slice(builder, INT64(0), INT64(4 * units.literal_value), INT64(4 * LANES)) as (at, _):
            z = builder.ashr(builder.add(_load(builder, sums, WHOLE, at), half), shift)
            _store(builder, _cut(builder, builder.icmp_signed, z, low, high), h, at)
        return context.get_dummy_value()

    return types.void(ADDRESS, ADDRESS, types.int32, types.int32, types.int32, units), codegen


@intrinsic(prefer_literal=True)
def _dot_whole(typingctx: Typing, h: Type, weights: Type, units: Literal) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        wide = ir.VectorType(INT64, LANES)
        total = cgutils.alloca_once_value(builder, ir.Constant(wide, [0] * LANES))
        with cgutils.for_range_slice(builder, INT64(0), INT64(units.literal_value), INT64(LANES)) as (at, _):
            left = _load(builder, args[0], WHOLE, builder.shl(at, INT64(2)))
            right = _load(builder, args[1], SHORT, builder.shl(at, INT64(1)), 2)
            product = builder.mul(left, builder.sext(right, WHOLE))
            builder.store(builder.add(builder.load(total), builder.sext(product, wide)), total)
        lanes = builder.load(total)
        found = INT64(0)
        for lane in range(LANES):
            found = builder.add(found, builder.extract_element(lanes, INT32(lane)))
        return found

    return types.int64(ADDRESS, ADDRESS, units), codegen


@overload(whole_inputs, prefer_literal=True)
def _whole_inputs_compiled(steps, x, fine, reach, n):
    return lambda steps, x, fine, reach, n: _whole_inputs(types.uint64(steps), types.uint64(x), fine, reach, n)


@overload(differences, prefer_literal=True)
def _differences_compiled(now, before, places, values, n, keep):
    def compiled(now, before, places, values, n, keep):
        return _differences(
            types.uint64(now), types.uint64(before), types.uint64(places), types.uint64(values), n, keep
        )

    return compiled


@overload(add_whole_rows, prefer_literal=True)
def _add_whole_rows_compiled(h, start, weights, places, values, n, units):
    def compiled(h, start, weights, places, values, n, units):
        _add_whole_rows(
            types.uint64(h), types.uint64(start), types.uint64(weights), types.uint64(places), types.uint64(values),
            types.int64(n), units,
        )  # fmt: skip

    return compiled


@overload(clip_sums, prefer_literal=True)
def _clip_sums_compiled(h, sums, shift, low, high, units):
    def compiled(h, sums, shift, low, high, units):
        _clip_sums(types.uint64(h), types.uint64(sums), types.int32(shift), types.int32(low), types.int32(high), units)

    return compiled


@overload(dot_whole, prefer_literal=True)
def _dot_whole_compiled(h, weights, units):
    return lambda h, weights, units: _dot_whole(types.uint64(h), types.uint64(weights), units)
