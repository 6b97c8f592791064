"""Streams of records: the split by game, the checks, and the sums of one pass."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallearn.data.dataset import Batch, is_test
from evallearn.errors import DataError, SpecError
from evallearn.train.fit.stream import TILE, ArrayStream, by_group, check_same_length, checked, summarise


def stream(n=1000, **changes):
    rng = np.random.default_rng(1)
    arguments = {
        "features": rng.normal(size=(n, 2)),
        "outcome": np.where(rng.random(n) < 0.5, 1, -1),
        "game": np.arange(n) // 7,
        "feature_names": ("mobility", "corners"),
        **changes,
    }
    return ArrayStream(**arguments)


def column(s, split, name):
    return np.concatenate([getattr(b, name) for b in s.batches(split)])


def test_split_never_divides_a_game():
    s = stream(7000, test_share=0.3)
    train, test = set(column(s, "train", "game")), set(column(s, "test", "game"))
    assert not train & test
    assert train | test == set(range(1000))
    assert 250 < len(test) < 350


def test_split_depends_on_the_seed_and_on_nothing_else():
    a, b, c = stream(seed=1), stream(seed=1, batch_rows=13), stream(seed=2)
    assert np.array_equal(column(a, "test", "game"), column(b, "test", "game"))
    assert not np.array_equal(column(a, "test", "game"), column(c, "test", "game"))


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**63), st.floats(0, 1, exclude_max=True))
def test_is_test_takes_any_number_and_is_a_function(game, seed, share):
    twice = is_test(seed, np.array([game, game]), share)
    assert twice[0] == twice[1]


def test_batches_keep_the_order_and_can_be_read_again():
    s = stream(batch_rows=100, test_share=0.0)
    assert [len(b) for b in s.batches("train")] == [100] * 10
    assert np.array_equal(column(s, "train", "game"), np.arange(1000) // 7)
    assert np.array_equal(column(s, "train", "features"), column(s, "train", "features"))


def test_checksum_follows_the_records():
    assert stream().checksum == stream().checksum
    assert len({stream().checksum, stream(seed=5).checksum, stream(game=np.arange(1000)).checksum}) == 3


@pytest.mark.parametrize("n", [1, TILE - 1, TILE, TILE + 1, 3 * TILE + 5])
@pytest.mark.parametrize("extra", [0, 1])
def test_design_is_the_same_in_tiles_as_row_by_row(n, extra):
    s = stream(1000)
    summary, x = summarise(s), column(s, "train", "features")[:n]
    z = summary.design(x, extra)
    assert z[:, : -1 - extra].tobytes() == ((x.astype(np.float64) - summary.mean) * summary.inverse_scale).tobytes()
    assert (z[:, -1 - extra :] == 1.0).all()


def test_by_group_finds_every_row_once():
    group = np.array([3, 0, 3, 1, 0])
    assert {k: rows.tolist() for k, rows in by_group(group, 5)} == {0: [1, 4], 1: [3], 3: [0, 2]}


@settings(max_examples=30)
@given(st.integers(2, 200), st.integers(1, 4), st.integers(1, 50), st.integers(0, 100))
def test_summary_equals_the_sums_over_the_whole_matrix(n, phases, batch_rows, seed):
    rng = np.random.default_rng(seed)
    x = (rng.normal(size=(n, 3)) * [1, 100, 1e-3] + [1e4, 0, 7]).astype(np.float32)
    y, phase = np.resize([1.0, -1.0, 0.0], n), rng.integers(0, phases, n)
    summary = summarise(
        ArrayStream(x, y, phase=phase, n_phases=phases, game=np.zeros(n), test_share=0.0, batch_rows=batch_rows)
    )
    z = summary.design(x)
    assert summary.n_records == n
    np.testing.assert_allclose(summary.mean, x.astype(float).mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(1 / summary.inverse_scale, x.astype(float).std(axis=0), rtol=1e-6)
    for k in range(phases):
        rows = phase == k
        assert summary.phase_records[k] == rows.sum()
        np.testing.assert_allclose(summary.gram[k], z[rows].T @ z[rows], atol=1e-5 * n)
        np.testing.assert_allclose(summary.target[k], z[rows].T @ y[rows], atol=1e-5 * n)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_feature_that_is_not_finite_is_named(value):
    x = np.zeros((1000, 2))
    x[500, 1] = value
    with pytest.raises(DataError, match=rf"feature 'corners' is {value} in a train record of game 71: correct"):
        summarise(stream(features=x, test_share=0.0))


@pytest.mark.parametrize("value", [1.5, -2.0, np.nan])
def test_an_outcome_outside_the_range_is_refused(value):
    y = np.ones(1000)
    y[9] = value
    with pytest.raises(DataError, match=r"column 'outcome' is .* of game 1: divide it by the utility of a win"):
        summarise(stream(outcome=y, test_share=0.0))


@pytest.mark.parametrize("value", [-1, 3])
def test_a_phase_outside_the_range_is_refused(value):
    phase = np.zeros(1000)
    phase[9] = value
    with pytest.raises(
        DataError, match=f"column 'phase' is {value} in a train record of game 1, but there are 3 phases"
    ):
        summarise(stream(phase=phase, n_phases=3, test_share=0.0))


@pytest.mark.parametrize("outcome", [1.0, 0.0, -1.0])
def test_one_outcome_only_is_refused(outcome):
    with pytest.raises(DataError, match=f"'outcome' is {outcome:g} in all 1000 training records.*more games"):
        summarise(stream(outcome=np.full(1000, outcome), test_share=0.0))


def test_an_empty_data_set_is_refused():
    with pytest.raises(DataError, match="the train split holds no records: generate some games first"):
        summarise(stream(n=0))


def test_an_empty_batch_is_passed_over():
    class Gaps(ArrayStream):
        def batches(self, split):
            for b in super().batches(split):
                yield Batch(b.features[:0], b.phase[:0], b.outcome[:0], b.game[:0])
                yield b

    s = Gaps(np.eye(2), np.array([1, -1]), game=np.arange(2), test_share=0.0)
    assert summarise(s).n_records == 2


def test_a_batch_of_the_wrong_shape_is_refused():
    class Wrong(ArrayStream):
        def batches(self, split):
            yield Batch(np.zeros((4, 3)), np.zeros(4), np.zeros(4), np.zeros(4))

    s = Wrong(np.eye(2), np.ones(2), game=np.arange(2))
    with pytest.raises(DataError, match=r"a batch of 4 test records has features \(4, 3\).*expected \(4, 2\)"):
        list(checked(s, "test"))


def test_a_stream_of_changing_length_is_refused():
    with pytest.raises(DataError, match="gave 5 records at first and 0 in a later pass: batches"):
        check_same_length(0, 5)


def test_array_stream_refuses_what_does_not_fit():
    with pytest.raises(DataError, match=r"features have shape \(1000,\): give one row per record"):
        stream(features=np.zeros(1000))
    with pytest.raises(DataError, match="1 feature names for 2 columns"):
        stream(feature_names=("a",))
    with pytest.raises(DataError, match=r"game has shape \(3,\), features have 1000 rows: give one game per row"):
        stream(game=np.zeros(3))
    with pytest.raises(DataError, match=r"test_share=1.0: give the share of games"):
        stream(test_share=1.0)
    with pytest.raises(SpecError, match="unknown split 'tset': did you mean 'test'"):
        list(stream().batches("tset"))


def test_importing_train_loads_neither_torch_nor_sklearn():
    code = "import sys, evallearn.train; print({'torch', 'sklearn', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_train_exports_its_names():
    import evallearn.train as train

    assert all(getattr(train, name) for name in train.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Trainer'"):
        _ = train.Trainer
