"""The transposition table of expectiminimax: one NumPy array of 32-byte entries.

As evallearn/compiled/table.py, but values are float64, because they are averages, and actions may be any 32-bit number.
"""

from __future__ import annotations

import ctypes
from typing import SupportsInt

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from evallearn.compiled.codegen import Address, Builder, Intrinsic, Signature, Target, Type, Typing, Value, Values

ENTRY = np.dtype(
    [("key", "u8"), ("value", "f8"), ("variance", "f8"), ("action", "i4"), ("depth", "i2"), ("flag", "i2")]
)
_NUMBA_ENTRY = numba.from_dtype(ENTRY)


class Table:
    """2**bits entries; always replaced."""

    def __init__(self, bits: int) -> None:
        self.entries = np.zeros(1 << bits, ENTRY).view(np.recarray)
        self.address: int = self.entries.ctypes.data


def table_entry(address: Address, mask: SupportsInt, key: SupportsInt) -> np.record:
    """Return the entry where `key` belongs (it may hold another key)."""
    place = int(address) + (int(key) & int(mask)) * ENTRY.itemsize
    here = (ctypes.c_char * ENTRY.itemsize).from_address(place)
    entry: np.record = np.frombuffer(memoryview(here), ENTRY).view(np.recarray)[0]
    return entry


@intrinsic
def _entry_at(typingctx: Typing, address: Type) -> Intrinsic:
    """Return the entry at `address`: a Numba record *is* a pointer to its bytes."""

    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        return builder.inttoptr(args[0], context.get_value_type(_NUMBA_ENTRY))

    return _NUMBA_ENTRY(types.uint64), codegen


@overload(table_entry)
def _table_entry(address, mask, key):  # type: ignore[no-untyped-def]  # Numba compares the bare signatures
    return lambda address, mask, key: _entry_at(address + (key & mask) * np.uint64(32))
