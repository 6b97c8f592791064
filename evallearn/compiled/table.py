# mypy: allow-untyped-defs, allow-untyped-calls
"""The transposition table: one NumPy array of 16-byte entries, two to a bucket.

A kernel sees only its address and its mask (two numbers of the search's record): an array argument would cost the
recursion seven words.

An entry is a key and a word of data. The first of a bucket keeps the deepest position of the running search, the second
the latest. Each search has an age; what another age left counts as empty (unless a search keeps its table), so searches
do not depend on each other, and nothing is cleared until the ages are used up.

The key is stored xor the data: if two threads write an entry at once, the halves do not fit together and nobody
believes them (Hyatt & Mann, "A lock-less transposition-table implementation", 2002).
"""

from __future__ import annotations

from typing import SupportsInt
from weakref import WeakValueDictionary

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from evallearn.compiled.bits import float_of_word, jitable, u64, word_of_float
from evallearn.compiled.codegen import Address, Builder, Intrinsic, Signature, Target, Type, Typing, Value, Values

ENTRY = np.dtype([("check", "u8"), ("word", "u8")])
_NUMBA_ENTRY = numba.from_dtype(ENTRY)
_alive: WeakValueDictionary[int, np.recarray] = WeakValueDictionary()
"""address -> entries, for kernels that run uncompiled."""

EXACT, LOWER, UPPER = 1, 2, 3
LOWEST_DEPTH, MOST_ACTIONS, AGES = -7, 1 << 15, 127
"""What fits into an entry: depths from here to 120, actions below, ages from 1."""
NOTHING, ONE = u64(0), u64(1)
# The data, from the lowest bit: value (32), action (15), depth (7), bound (2), proven (1), age (7).
ACTION, DEPTH, BOUND, PROVEN, AGE = u64(32), u64(47), u64(54), u64(56), u64(57)
LOW_15, LOW_7, LOW_2 = u64(2**15 - 1), u64(127), u64(3)


class Table:
    """2**bits entries."""

    def __init__(self, bits: int) -> None:
        self.words = np.zeros(2 << max(bits, 1), np.uint64)
        """Its memory: as words it is cleared twenty times as fast as by entries."""
        self.entries = self.words.view(ENTRY).view(np.recarray)
        self.address: int = self.entries.ctypes.data
        self.mask = (len(self.entries) - 1) & ~1  # of the first in a bucket
        self.age = 0
        _alive[self.address] = self.entries

    def new_age(self) -> int:
        """Return the age of the search that begins now."""
        self.age += 1
        if self.age > AGES:
            self.words.fill(0)
            self.age = 1
        return self.age


@jitable
def pack(value, action, depth, bound, proven, age):
    """Return the data of an entry. depth must not be below LOWEST_DEPTH."""
    word = word_of_float(value) | (u64(action) << ACTION) | (u64(depth - LOWEST_DEPTH) << DEPTH)
    return word | (u64(bound) << BOUND) | (u64(proven) << PROVEN) | (u64(age) << AGE)


@jitable
def value_of(data):
    return float_of_word(data)


@jitable
def action_of(data):
    return np.int64((data >> ACTION) & LOW_15)


@jitable
def depth_of(data):
    return np.int64((data >> DEPTH) & LOW_7) + LOWEST_DEPTH


@jitable
def bound_of(data):
    return np.int64((data >> BOUND) & LOW_2)


@jitable
def is_proven(data):
    return (data >> PROVEN) & ONE != NOTHING


@jitable
def age_of(data):
    return np.int64(data >> AGE)


@jitable
def find(address, mask, key, age):
    """Return the data stored for `key` in this age (0: in any), or NOTHING."""
    place = key & mask
    for i in range(2):
        entry = entry_at(address, place + u64(i))
        data = entry.word
        if entry.check ^ data == key and data != NOTHING and (age == 0 or age_of(data) == age):
            return data
    return NOTHING


@jitable
def store(address, mask, key, data):
    """Keep the data for `key`: in the first place if nothing deeper of the same age is there, else in the second."""
    place = key & mask
    first = entry_at(address, place)
    there = first.word
    other = first.check ^ there != key
    if other and there != NOTHING and age_of(there) == age_of(data):
        second = entry_at(address, place + ONE)
        if depth_of(there) > depth_of(data):
            second.word = data
            second.check = key ^ data
            return
        second.word = there
        second.check = first.check
    first.word = data
    first.check = key ^ data


def entry_at(address: Address, place: SupportsInt) -> np.record:
    """Return entry number `place` of the table at `address`."""
    entry: np.record = _alive[int(address)][int(place)]
    return entry


@intrinsic
def _record_at(typingctx: Typing, address: Type) -> Intrinsic:
    """Return the record at `address`: a Numba record *is* a pointer to its bytes."""

    def codegen(context: Target, builder: Builder, signature: Signature, args: Values) -> Value:
        return builder.inttoptr(args[0], context.get_value_type(_NUMBA_ENTRY))

    return _NUMBA_ENTRY(types.uint64), codegen


@overload(entry_at)
def _entry_at(address, place):
    return lambda address, place: _record_at(address + place * np.uint64(16))
