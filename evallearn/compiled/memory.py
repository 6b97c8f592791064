"""Large tables for kernels: they get the address as a number, since an array inside a record is copied with it.

And `fetch`, for those that do not fit the caches: what will be needed soon is sent for while something else is done.
"""

from __future__ import annotations

import ctypes
from typing import SupportsInt

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from evallearn.compiled.codegen import Address, Builder, Intrinsic, Signature, Target, Type, Typing, Value, Values

READ, KEEP, DATA = 0, 3, 1
"""As LLVM numbers them: what a prefetch is for, how long it is to stay in the caches, and in which."""


def byte_at(address: Address, index: SupportsInt) -> int:
    """Return the signed byte number `index` of the memory at `address`, which somebody must keep alive."""
    return ctypes.c_int8.from_address(int(address) + int(index)).value


@intrinsic
def _load_byte(typingctx: Typing, address: Type) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        pointer = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        return builder.sext(builder.load(pointer), ir.IntType(64))

    return types.int64(types.uint64), codegen


@overload(byte_at)
def _byte_at(address, index):  # type: ignore[no-untyped-def]  # Numba compares the bare signatures
    return lambda address, index: _load_byte(types.uint64(address) + types.uint64(index))


def short_at(address: Address, index: SupportsInt) -> int:
    """Return the signed 16-bit number `index` of the memory at `address`, which somebody must keep alive."""
    return ctypes.c_int16.from_address(int(address) + 2 * int(index)).value


@intrinsic
def _load_short(typingctx: Typing, address: Type) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        pointer = builder.inttoptr(args[0], ir.IntType(16).as_pointer())
        return builder.sext(builder.load(pointer), ir.IntType(64))

    return types.int64(types.uint64), codegen


@overload(short_at)
def _short_at(address, index):  # type: ignore[no-untyped-def]  # Numba compares the bare signatures
    return lambda address, index: _load_short(types.uint64(address) + types.uint64(2) * types.uint64(index))


def float_at(address: Address, index: SupportsInt) -> float:
    """Return the float32 number `index` of the memory at `address`, as a float64.

    Somebody must keep the memory alive.
    """
    return ctypes.c_float.from_address(int(address) + 4 * int(index)).value


@intrinsic
def _load_float(typingctx: Typing, address: Type) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        pointer = builder.inttoptr(args[0], ir.FloatType().as_pointer())
        return builder.fpext(builder.load(pointer), ir.DoubleType())

    return types.float64(types.uint64), codegen


@overload(float_at)
def _float_at(address, index):  # type: ignore[no-untyped-def]  # Numba compares the bare signatures
    return lambda address, index: _load_float(types.uint64(address) + types.uint64(4) * types.uint64(index))


def fetch(array: np.ndarray, index: SupportsInt) -> None:
    """Send for the number `index` of a whole array, whatever its shape, and do not wait for it."""


@intrinsic
def _prefetch(typingctx: Typing, array: Type, index: Type) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        first = context.make_array(signature.args[0])(context, builder, args[0]).data
        what = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], what)
        where = builder.bitcast(builder.gep(first, [args[1]]), byte)
        builder.call(prefetch, [where, number(READ), number(KEEP), number(DATA)])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


@overload(fetch)
def _fetch(array, index):  # type: ignore[no-untyped-def]  # Numba compares the bare signatures
    return lambda array, index: _prefetch(array, index)
