"""What an @intrinsic is handed and hands back: names for readers, since neither Numba nor llvmlite has types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import SupportsInt, TypeAlias

from llvmlite import ir
from numba.core import base, types, typing

Builder: TypeAlias = ir.IRBuilder
Literal: TypeAlias = types.IntegerLiteral
Signature: TypeAlias = typing.Signature
Target: TypeAlias = base.BaseContext
Type: TypeAlias = types.Type
Typing: TypeAlias = typing.Context
Value: TypeAlias = ir.Value
Values: TypeAlias = Sequence[Value]
Intrinsic: TypeAlias = tuple[Signature, Callable[[Target, Builder, Signature, Values], Value]]
"""The signature, and what writes the code."""
Address: TypeAlias = SupportsInt
"""Where memory begins that somebody must keep alive: `a.ctypes.data`; in kernels uint64."""
