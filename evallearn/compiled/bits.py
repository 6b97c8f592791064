"""Bit tricks that mean the same uncompiled and compiled.

Uncompiled they are ordinary Python on integers; inside a kernel each is one machine instruction.
Kernels must keep words unsigned: `uint64 & 0x7E` silently becomes a signed number in Numba, so every constant that
meets a word is built with `u64` at module level.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import SupportsFloat, SupportsInt, TypeVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload, register_jitable

from evallearn.compiled.codegen import Builder, Intrinsic, Signature, Target, Type, Typing, Value, Values
from evallearn.core.rng import MASK64

F = TypeVar("F", bound=Callable[..., object])
_marked: set[object] = set()


def jitable(function: F) -> F:
    """Mark a plain function as compilable.

    It stays a plain function: it runs, debugs and counts for coverage.
    """
    if function not in _marked and not hasattr(function, "py_func"):  # once: Numba would try each mark in turn
        register_jitable(no_cfunc_wrapper=True)(function)  # C never calls it; one for Python Numba leaves out itself
        _marked.add(function)
    return function


def u64(x: SupportsInt) -> np.uint64:
    """Return x as an unsigned 64-bit word."""
    return np.uint64(int(x) & MASK64)


def popcount(x: SupportsInt) -> int:
    """Return how many bits are set."""
    return int(x).bit_count()


def lowest_bit(x: SupportsInt) -> int:
    """Return the index of the lowest set bit; x must not be 0."""
    x = int(x)
    return int((x & -x).bit_length() - 1)


def word_of_float(x: SupportsFloat) -> np.uint64:
    """Return the 32 bits of a float32, in a word."""
    return np.uint64(np.float32(x).view(np.uint32))


def float_of_word(x: SupportsInt) -> np.float32:
    """Return the float32 that the lower 32 bits are."""
    return np.uint32(int(x) & 0xFFFFFFFF).view(np.float32)


@overload(u64, inline="always")
def _u64(x):  # type: ignore[no-untyped-def]  # Numba compares the bare signatures
    return lambda x: np.uint64(x)


@intrinsic
def _ctpop(typingctx: Typing, x: Type) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        return builder.call(builder.module.declare_intrinsic("llvm.ctpop", [ir.IntType(64)]), args)

    return types.uint64(types.uint64), codegen


@intrinsic
def _cttz(typingctx: Typing, x: Type) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        word, flag = ir.IntType(64), ir.IntType(1)
        function = builder.module.declare_intrinsic("llvm.cttz", [word], ir.FunctionType(word, [word, flag]))
        return builder.call(function, [args[0], ir.Constant(flag, 1)])

    return types.uint64(types.uint64), codegen


@overload(popcount)
def _popcount(x):  # type: ignore[no-untyped-def]  # Numba compares the bare signatures
    return lambda x: np.int64(_ctpop(np.uint64(x)))


@overload(lowest_bit)
def _lowest_bit(x):  # type: ignore[no-untyped-def]  # Numba compares the bare signatures
    return lambda x: np.int64(_cttz(np.uint64(x)))


@intrinsic
def _float_to_word(typingctx: Typing, x: Type) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        return builder.zext(builder.bitcast(args[0], ir.IntType(32)), ir.IntType(64))

    return types.uint64(types.float32), codegen


@intrinsic
def _word_to_float(typingctx: Typing, x: Type) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        return builder.bitcast(builder.trunc(args[0], ir.IntType(32)), ir.FloatType())

    return types.float32(types.uint64), codegen


@overload(word_of_float)  # Numba knows scalar.view too, but compiles all of its strings with it
def _word_of_float(x):  # type: ignore[no-untyped-def]  # Numba compares the bare signatures
    return lambda x: _float_to_word(np.float32(x))


@overload(float_of_word)
def _float_of_word(x):  # type: ignore[no-untyped-def]  # Numba compares the bare signatures
    return lambda x: _word_to_float(np.uint64(x))
