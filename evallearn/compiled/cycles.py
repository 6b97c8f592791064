"""A clock inside kernels."""

from __future__ import annotations

from time import perf_counter_ns

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from evallearn.compiled.codegen import Builder, Intrinsic, Signature, Target, Typing, Value, Values


def cycles() -> int:
    """Return the ticks of the processor's own counter: only shares of a time measured outside mean anything."""
    return perf_counter_ns()


@intrinsic
def _read_counter(typingctx: Typing) -> Intrinsic:
    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        function = builder.module.declare_intrinsic("llvm.readcyclecounter", fnty=ir.FunctionType(ir.IntType(64), []))
        return builder.call(function, [])

    return types.int64(), codegen


@overload(cycles)
def _cycles():  # type: ignore[no-untyped-def]  # Numba compares the bare signatures
    return lambda: _read_counter()
