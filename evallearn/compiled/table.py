"""The transposition table: one NumPy array of 16-byte entries.

A kernel sees only its address and its mask (two numbers of the search's record): an array argument would cost the
recursion seven words. Each search salts its keys, so entries of earlier searches never match and nothing is cleared.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic, overload

ENTRY = np.dtype([("key", "u8"), ("value", "f4"), ("depth", "i1"), ("flag", "u1"), ("action", "i2")])
_NUMBA_ENTRY = numba.from_dtype(ENTRY)
_alive: dict[int, Any] = {}
"""address -> entries, for kernels that run uncompiled."""


class Table:
    """2**bits entries; always replaced."""

    def __init__(self, bits: int) -> None:
        self.entries: Any = np.zeros(1 << bits, ENTRY).view(np.recarray)
        self.address: int = self.entries.ctypes.data
        _alive[self.address] = self.entries

    def __del__(self) -> None:
        _alive.pop(getattr(self, "address", 0), None)


def table_entry(address: Any, mask: Any, key: Any) -> Any:
    """The entry where `key` belongs (it may hold another key)."""
    return _alive[int(address)][int(key) & int(mask)]


@intrinsic
def _entry_at(typingctx: Any, address: Any) -> Any:
    """A Numba record *is* a pointer to its bytes."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(_NUMBA_ENTRY))

    return _NUMBA_ENTRY(types.uint64), codegen


@overload(table_entry)
def _table_entry(address, mask, key):  # type: ignore[no-untyped-def]  # Numba compares the bare signatures
    return lambda address, mask, key: _entry_at(address + (key & mask) * np.uint64(16))
