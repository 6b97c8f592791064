"""SplitMix64: the published numbers, and the same ones in plain Python, in arrays and inside kernels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from evallearn.compiled import rng as kernels
from evallearn.compiled.rng import mix64
from evallearn.core.rng import GOLDEN, MASK64, SplitMix64, drawn, scramble

words = st.integers(0, MASK64) | st.sampled_from([1 << i for i in range(64)])
VIGNA = [6457827717110365317, 3203168211198807973, 9817491932198370423]
"""From state 1234567, as the reference in C prints them."""
STEELE = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
"""From state 0."""
ODDS = ([0.1, 0.6, 0.3], [1 / 36] * 6 + [1 / 18] * 15, [1.0], [0.0, 1.0])
COUNTERS = np.dtype([("counter", "u8"), ("seed", "u8")])


@njit
def mixed(x):
    return mix64(x)


@njit
def in_kernel(word, odds):
    return kernels.unit(word), kernels.scaled(word, 7), kernels.drawn(word, odds, len(odds))


@njit
def numbers_of_game(box, number, found):
    kernels.begin_game(number, box[0])
    for i in range(len(found)):
        found[i] = kernels.uniform(box[0])


@pytest.mark.parametrize(("state", "published"), [(1234567, VIGNA), (0, STEELE)])
def test_the_words_are_those_of_splitmix64(state: int, published: list[int]) -> None:
    rng = SplitMix64()
    rng.state = state
    assert [rng.word() for _ in published] == published
    assert [int(mixed(np.uint64((state + i * GOLDEN) & MASK64))) for i in range(1, len(published) + 1)] == published


@given(words)
def test_a_word_is_scrambled_alike_everywhere(x: int) -> None:
    wanted, row = scramble(x), np.array([x, 0], np.uint64)
    assert int(mixed(np.uint64(x))) == int(mix64(x)) == int(mix64(np.uint64(x))) == wanted
    assert scramble(row).tolist() == [wanted, 0]
    assert row[0] == x
    assert scramble(row).dtype == np.uint64
    assert isinstance(mix64(x), np.uint64)
    assert [str(each.signature.return_type) for each in mixed.overloads.values()] == ["uint64"]


@given(st.lists(words, unique=True, max_size=200))
@settings(max_examples=25)
def test_scramble_is_a_bijection(xs: list[int]) -> None:
    assert len({scramble(x) for x in xs}) == len(xs)


@pytest.mark.parametrize("odds", ODDS, ids=len)
def test_kernels_draw_what_python_draws(odds: list[float]) -> None:
    for seed in range(200):
        ours = [SplitMix64(seed) for _ in range(4)]
        word = ours[0].word()
        found = in_kernel(np.uint64(word), np.array(odds))
        assert found == (ours[1].uniform(), ours[2].below(7), ours[3].index([(None, p) for p in odds]))
        assert found[2] == drawn(word, odds)


def test_games_have_numbers_of_their_own_in_kernels_too() -> None:
    box, seen = np.zeros(1, COUNTERS), set()
    box["seed"] = scramble(5)
    for number in (0, 1, 2**40):
        found, rng = np.zeros(9), SplitMix64.of_game(5, number)
        numbers_of_game(box, number, found)
        assert found.tolist() == [rng.uniform() for _ in found]
        assert ((found >= 0) & (found < 1)).all()
        seen.update(found)
    assert len(seen) == 27
    assert SplitMix64.of_game(5, 0).state == SplitMix64(5).state


def test_choices_are_uniform_and_rolls_as_likely_as_they_are() -> None:
    rng = SplitMix64(3)
    counts = np.bincount([rng.below(7) for _ in range(14_000)], minlength=7)
    assert np.abs(counts - 2000).max() < 5 * math.sqrt(2000)
    dice = [("a", 0.1), ("b", 0.6), ("c", 0.3)]
    rolls = np.bincount([rng.index(dice) for _ in range(10_000)], minlength=3)
    assert np.abs(rolls - np.array([1000, 6000, 3000])).max() < 5 * math.sqrt(2400)


def test_no_seed_is_seed_0() -> None:
    assert SplitMix64(None).state == SplitMix64(0).state != SplitMix64(1).state
