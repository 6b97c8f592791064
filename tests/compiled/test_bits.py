"""The bit tricks mean the same uncompiled and compiled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from evallearn.compiled import bits
from evallearn.compiled.bits import jitable, lowest_bit, popcount, u64
from evallearn.core.rng import MASK64

words = st.integers(0, MASK64) | st.sampled_from([1 << i for i in range(64)]) | st.just(MASK64)

"""The first call of a compiled function compiles it."""


@njit
def compiled_popcount(x):
    return popcount(x)


@njit
def compiled_lowest_bit(x):
    return lowest_bit(x)


@njit
def compiled_u64(x):
    return u64(x)


@given(words | st.just(0))
def test_popcount_is_the_same_on_both_backends(x):
    assert popcount(x) == popcount(np.uint64(x)) == compiled_popcount(np.uint64(x)) == bin(x).count("1")


@given(words.filter(bool))
def test_lowest_bit_is_the_same_on_both_backends(x):
    i = lowest_bit(x)
    assert i == lowest_bit(np.uint64(x)) == compiled_lowest_bit(np.uint64(x))
    assert x >> i & 1
    assert x & ((1 << i) - 1) == 0


@given(st.integers(-(2**63), 2**63 - 1))
def test_u64_of_a_signed_number_is_the_same_on_both_backends(x):
    assert u64(x) == compiled_u64(np.int64(x)) == x % 2**64
    assert isinstance(u64(x), np.uint64)


@given(words)
def test_u64_keeps_a_word(x):
    assert int(u64(x)) == int(u64(np.uint64(x))) == int(compiled_u64(np.uint64(x))) == x


def test_compiled_answers_have_types_that_stay_unsigned():
    assert compiled_u64.signatures
    word = np.uint64(1 << 63)
    for function in (compiled_popcount, compiled_lowest_bit, compiled_u64):
        function(word)
    assert str(compiled_u64.overloads[compiled_u64.signatures[-1]].signature.return_type) == "uint64"


def test_jitable_function_stays_a_plain_function():
    def double(x):
        return 2 * x

    assert jitable(double) is double
    assert double("ab") == "abab"

    @njit
    def caller(x):
        return double(x)

    assert caller(4) == 8


def test_jitable_marks_a_function_once(monkeypatch):
    marks = []
    monkeypatch.setattr(bits, "register_jitable", lambda **options: marks.append)

    def function(x):
        return x

    jitable(jitable(function))
    assert marks == [function]


def test_jitable_leaves_a_compiled_function_as_it_is():
    assert jitable(compiled_u64) is compiled_u64


def test_lowest_bit_of_zero_is_not_promised_but_does_not_hang():
    assert lowest_bit(0) == -1


@pytest.mark.parametrize("x", [np.int32(7), np.int64(7), np.uint8(7), 7])
def test_popcount_takes_any_integer(x):
    assert popcount(x) == compiled_popcount(x) == 3
