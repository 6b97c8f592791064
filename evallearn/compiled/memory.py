"""Large tables for kernels: they get the address as a number, since an array inside a record is copied with it.

And `fetch`, for those that do not fit the caches: what will be needed soon is sent for while something else is done.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import SupportsInt

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from evallearn.compiled.codegen import Address, Builder, Intrinsic, Signature, Target, Type, Typing, Value, Values

READ, KEEP, DATA = 0, 3, 1
"""As LLVM numbers them: what a prefetch is for, how long it is to stay in the caches, and in which."""


def _loader(stored: ir.Type, answer: Type) -> Callable[[object], object]:
    """Return what loads a number of the type `stored` from an address, and widens it to `answer`."""

    @intrinsic
    def load(typingctx: Typing, address: Type) -> Intrinsic:
        def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
            widen = builder.fpext if answer is types.float64 else builder.sext
            number = builder.load(builder.inttoptr(args[0], stored.as_pointer()))
            return widen(number, context.get_value_type(answer))

        return answer(types.uint64), codegen

    loader: Callable[[object], object] = load
    return loader


_load_byte = _loader(ir.IntType(8), types.int64)
_load_short = _loader(ir.IntType(16), types.int64)
_load_float = _loader(ir.FloatType(), types.float64)


def byte_at(address: Address, index: SupportsInt) -> int:
    """Return the signed byte number `index` of the memory at `address`, which somebody must keep alive."""
    return ctypes.c_int8.from_address(int(address) + int(index)).value


@overload(byte_at)
def _byte_at(address, index):  # type: ignore[no-untyped-def]  # Numba compares the bare signatures
    return lambda address, index: _load_byte(types.uint64(address) + types.uint64(index))


def short_at(address: Address, index: SupportsInt) -> int:
    """Return the signed 16-bit number `index` of the memory at `address`, which somebody must keep alive."""
    return ctypes.c_int16.from_address(int(address) + 2 * int(index)).value


@overload(short_at)
def _short_at(address, index):  # type: ignore[no-untyped-def]  # Numba compares the bare signatures
    return lambda address, index: _load_short(types.uint64(address) + types.uint64(2) * types.uint64(index))


def float_at(address: Address, index: SupportsInt) -> float:
    """Return the float32 number `index` of the memory at `address`, as a float64.

    Somebody must keep the memory alive.
    """
    return ctypes.c_float.from_address(int(address) + 4 * int(index)).value


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
