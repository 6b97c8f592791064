"""The linear trainer against scikit-learn in memory, known weights, awkward data, and a flat memory curve."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

from evallearn.errors import DataError, SpecError
from evallearn.evaluators import load_evaluator, save
from evallearn.train import ArrayStream, LinearFitter, measure
from evallearn.train.fit.newton import solve_ridge

METHODS = ("ridge", "logistic")
ONE = {"weights": [[0.8, -0.05, 3.0]], "bias": [0.2]}
TWO = {"weights": [[0.8, -0.05, 3.0], [-0.4, 0.1, 0.0]], "bias": [0.2, -0.3]}


def in_memory(records):
    """(standardised features, scale, mean) of the whole matrix."""
    scaler = StandardScaler().fit(records["features"].astype(float))
    return scaler.transform(records["features"].astype(float)), scaler.scale_, scaler.mean_


# --- oracles -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("alpha", [0.01, 1.0, 1000.0])
def test_ridge_equals_sklearn_on_the_full_matrix(make_records, alpha):
    records = make_records(3000, **ONE, draws=0.2)
    got = LinearFitter(method="ridge", alpha=alpha).fit(ArrayStream(**records, test_share=0.0, batch_rows=701))
    z, scale, mean = in_memory(records)
    oracle = Ridge(alpha=alpha).fit(z, records["outcome"])
    np.testing.assert_allclose(got.weights_[0] / got.scale_, oracle.coef_ / scale, rtol=1e-8)
    np.testing.assert_allclose(got.bias_[0] / got.scale_, oracle.intercept_ - oracle.coef_ / scale @ mean, rtol=1e-8)


def test_ridge_scale_minimises_the_log_loss(make_records):
    stream = ArrayStream(**make_records(5000, **TWO), test_share=0.0)
    got = LinearFitter(method="ridge").fit(stream)
    assert got.scale_ > 1.0  # predictions of least squares are timid once they are squashed
    base = measure(got.predict, stream, "train").log_loss
    for factor in (0.95, 1.05):
        changed = clone(got).fit(stream)
        changed.weights_, changed.bias_ = changed.weights_ * factor, changed.bias_ * factor
        assert measure(changed.predict, stream, "train").log_loss > base


@pytest.mark.parametrize("alpha", [0.1, 1.0, 100.0])
def test_logistic_equals_sklearn_on_the_full_matrix(make_records, alpha):
    records = make_records(3000, **ONE, draws=0.2)
    got = LinearFitter(alpha=alpha).fit(ArrayStream(**records, test_share=0.0, batch_rows=701))
    z, scale, mean = in_memory(records)
    # A draw is two rows of half a weight, one won and one lost.
    twice = np.vstack([z, z]), np.repeat([1, 0], len(z))
    q = (1 + records["outcome"]) / 2
    oracle = LogisticRegression(C=1 / alpha, tol=1e-10, max_iter=1000).fit(*twice, np.concatenate([q, 1 - q]))
    np.testing.assert_allclose(got.weights_[0], oracle.coef_[0] / scale / 2, rtol=1e-4)
    np.testing.assert_allclose(got.bias_[0], (oracle.intercept_[0] - oracle.coef_[0] / scale @ mean) / 2, rtol=1e-4)


def test_ridge_phases_equal_sklearn_on_the_residuals(make_records):
    records = make_records(2000, **TWO)
    got = LinearFitter(method="ridge", phase_alpha=50.0).fit(ArrayStream(**records, test_share=0.0))
    z, scale, _ = in_memory(records)
    common = Ridge(alpha=1.0).fit(z, records["outcome"])
    rest = records["outcome"] - common.predict(z)
    for k in range(2):
        rows = records["phase"] == k
        own = Ridge(alpha=50.0, fit_intercept=False).fit(np.c_[z[rows], np.ones(rows.sum())], rest[rows])
        np.testing.assert_allclose(got.weights_[k] / got.scale_, (common.coef_ + own.coef_[:-1]) / scale, rtol=1e-7)


def test_solve_ridge_answers_the_normal_equations():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 6))
    x[:, 2] = x[:, 1]  # a Gram without full rank
    gram, target = x.T @ x, x.T @ rng.normal(size=50)
    expected = np.linalg.solve(gram + 0.5 * np.eye(6), target)
    np.testing.assert_allclose(solve_ridge(gram, target, np.full(6, 0.5)), expected, atol=1e-10)
    expected = np.linalg.solve(gram + 0.5 * np.diag([1, 1, 1, 1, 1, 0]), target)
    np.testing.assert_allclose(solve_ridge(gram, target, np.array([0.5] * 5 + [0.0])), expected, atol=1e-10)


# --- learning ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", METHODS)
def test_known_weights_are_recovered_in_each_phase(make_records, method):
    weights, bias = np.array([[0.3, -0.02, 1.0], [-0.2, 0.03, 0.0]]), np.array([0.1, -0.1])
    stream = ArrayStream(**make_records(200_000, weights, bias))
    got = LinearFitter(method=method, phase_alpha=1.0).fit(stream)
    np.testing.assert_allclose(got.weights_ * [1, 10, 0.1], weights * [1, 10, 0.1], atol=0.03)
    np.testing.assert_allclose(got.bias_ + got.weights_ @ [5.0, -20.0, 0.3], bias, atol=0.03)
    metrics = measure(got.predict, stream)
    assert metrics.log_loss < metrics.baseline_log_loss - 0.02
    assert metrics.calibration_error < 0.03


@pytest.mark.parametrize("method", METHODS)
def test_a_phase_without_records_takes_the_common_weights(make_records, method):
    records = make_records(2000, **ONE)
    empty = LinearFitter(method=method).fit(ArrayStream(**{**records, "n_phases": 3}))
    alone = LinearFitter(method=method).fit(ArrayStream(**records))
    assert empty.phase_records_[1:].tolist() == [0, 0]
    for k in range(3):
        np.testing.assert_allclose(empty.weights_[k], alone.weights_[0], rtol=2e-2)
    np.testing.assert_array_equal(empty.weights_[1], empty.weights_[2])


@pytest.mark.parametrize("method", METHODS)
def test_a_phase_with_few_records_stays_near_the_others(make_records, method):
    records = make_records(5000, np.repeat(ONE["weights"], 2, 0), [0.2, 0.2], phase_shares=[0.999, 0.001])
    records["outcome"][records["phase"] == 1] = 1.0  # and all of one outcome
    got = LinearFitter(method=method).fit(ArrayStream(**records, test_share=0.0))
    assert 1 <= got.phase_records_[1] <= 15
    np.testing.assert_allclose(got.weights_[1], got.weights_[0], rtol=0.2)


@pytest.mark.parametrize("method", METHODS)
def test_constant_features_get_no_weight_and_no_warning(make_records, method):
    records = make_records(1000, **TWO)
    records["features"][:, 1] = 1e6 / 3
    got = LinearFitter(method=method).fit(ArrayStream(**records))
    assert got.weights_[:, 1].tolist() == [0.0, 0.0]
    assert got.constant_features_ == ("b",)
    assert np.isfinite(got.bias_).all()


@pytest.mark.parametrize("method", METHODS)
def test_perfectly_predictable_outcomes_stay_finite(method):
    x = np.linspace(-1, 1, 400)[:, None]
    stream = ArrayStream(np.hstack([x, x, -x]), np.sign(x[:, 0]), game=np.arange(400))
    got = LinearFitter(method=method, alpha=1e-3).fit(stream)
    assert np.isfinite(got.weights_).all()
    assert measure(got.predict, stream, "train").sign_accuracy > 0.99


@pytest.mark.parametrize("method", METHODS)
def test_same_records_give_the_same_bytes_whatever_the_batches(make_records, method):
    records = make_records(5000, **TWO)
    a, b, c = (LinearFitter(method=method).fit(ArrayStream(**records, batch_rows=n)) for n in (5000, 5000, 99))
    assert a.weights_.tobytes() == b.weights_.tobytes()
    assert a.bias_.tobytes() == b.bias_.tobytes()
    np.testing.assert_allclose(c.weights_, a.weights_, rtol=1e-7)


def test_a_step_that_overshoots_is_halved():
    """A phase that contradicts the common weights starts where the loss is nearly straight: Newton leaps too far."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 1)).astype(np.float32)
    phase = (np.arange(4000) < 200).astype(int)
    y = np.sign(x[:, 0] + 0.1 * rng.normal(size=4000)) * np.where(phase == 1, -1, 1)
    got = LinearFitter(phase_alpha=1e-3, alpha=1e-3).fit(
        ArrayStream(x, y, game=np.arange(4000), phase=phase, test_share=0.0)
    )
    z = StandardScaler().fit_transform(x.astype(float))
    common = LogisticRegression(C=1e3, tol=1e-10, max_iter=1000).fit(z, y)
    rows, prior = phase == 1, np.r_[common.coef_[0], common.intercept_]
    theta = np.r_[got.weights_[1] * x.std(), got.bias_[1] + got.weights_[1] @ x.mean(axis=0)] * 2
    design = np.c_[z[rows], np.ones(200)]
    slope = design.T @ ((1 + y[rows]) / 2 - 1 / (1 + np.exp(-design @ theta))) - 1e-3 * (theta - prior)
    np.testing.assert_allclose(slope, 0.0, atol=1e-3)  # the top of the hill, and it is convex: the only one
    assert got.weights_[1] < -1 < 1 < got.weights_[0]


# --- the evaluator ---------------------------------------------------------------------------------------------------
def test_evaluator_predicts_what_the_trainer_does_and_survives_its_file(make_records, toy, tmp_path):
    records = make_records(2000, **TWO)
    got = LinearFitter().fit(ArrayStream(**records))
    path = save(got.evaluator(toy, {"command": "test"}), tmp_path / "x.safetensors")
    evaluator = load_evaluator(path, toy)
    x, phase = records["features"][:20], records["phase"][:20]
    ours = [evaluator.evaluate((tuple(f), k), 0) for f, k in zip(x.tolist(), phase.tolist(), strict=True)]
    np.testing.assert_allclose(got.predict(x, phase), ours, atol=1e-5)
    assert evaluator.metadata["data_checksum"] == got.data_checksum_
    assert evaluator.metadata["settings"]["method"] == "logistic"
    assert evaluator.metadata["command"] == "test"


def test_evaluator_refuses_another_games_features(make_records, toy):
    records = make_records(500, **TWO)
    renamed = LinearFitter().fit(ArrayStream(**{**records, "feature_names": ("a", "x", "c")}))
    with pytest.raises(DataError, match=r"feature 1 that was learned from is 'x', that of toy v1 is 'b': generate"):
        renamed.evaluator(toy)
    phases = LinearFitter().fit(ArrayStream(**{**records, "n_phases": 4}))
    with pytest.raises(DataError, match="fitted on 4 phases, toy has 2"):
        phases.evaluator(toy)


# --- manners -------------------------------------------------------------------------------------------------------
def test_clone_and_params_work_as_in_sklearn(make_records):
    a = LinearFitter(method="ridge", alpha=3.0)
    b = clone(a).set_params(alpha=4.0)
    assert b.get_params() == {**a.get_params(), "alpha": 4.0}
    assert b.fit(ArrayStream(**make_records(500, **ONE))) is b
    assert not hasattr(clone(b), "weights_")
    with pytest.raises(NotFittedError):
        a.predict(np.zeros((1, 3)), np.zeros(1, int))


def test_settings_that_do_not_work_are_refused(make_records):
    stream = ArrayStream(**make_records(100, **ONE))
    with pytest.raises(SpecError, match="unknown method 'rigde': did you mean 'ridge'"):
        LinearFitter(method="rigde").fit(stream)
    with pytest.raises(SpecError, match=r"alpha=0: give a number above 0"):
        LinearFitter(alpha=0).fit(stream)
    with pytest.raises(SpecError, match=r"max_iter=0: give"):
        LinearFitter(max_iter=0).fit(stream)


def test_too_few_passes_are_told(make_records):
    with pytest.warns(ConvergenceWarning, match=r"still moved by .* after max_iter=1 passes: raise max_iter"):
        LinearFitter(max_iter=1).fit(ArrayStream(**make_records(500, **ONE)))


def test_a_stream_that_cannot_be_read_twice_is_refused(make_records):
    stream = ArrayStream(**make_records(500, **ONE))
    once = stream.batches("train")
    stream.batches = lambda split: once
    with pytest.raises(DataError, match="records at first and 0 in a later pass"):
        LinearFitter().fit(stream)


MEMORY = """
    import numpy as np
    from evallearn.train import Batch, LinearFitter

    class Synthetic:
        n_features, n_phases, feature_names, checksum = 10, 3, tuple("abcdefghij"), "synthetic"

        def __init__(self, n):
            self.n = n

        def batches(self, split):
            for i in range(0, self.n, 50_000):
                rng = np.random.default_rng(i)
                x = rng.random((50_000, 10), dtype=np.float32)
                y = np.where(rng.random(50_000) < x[:, 0], 1, -1).astype(np.float32)
                yield Batch(x, np.arange(50_000) // 20 % 3, y, (np.arange(50_000) + i) // 60)

    def peak():  # of this process alone; ru_maxrss would begin with that of pytest
        return int(next(l for l in open("/proc/self/status") if "VmHWM" in l).split()[1]) / 1024

    for n in SIZES:
        fitted = LinearFitter(method=METHOD).fit(Synthetic(n))
        assert fitted.n_records_ == n
        print(peak())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("method", "sizes"),
    [
        pytest.param("ridge", (300_000, 1_200_000), marks=pytest.mark.long),
        pytest.param("logistic", (150_000, 600_000), marks=pytest.mark.long),
        pytest.param("lasso", (300_000, 1_200_000), marks=pytest.mark.long),
        pytest.param("wdl", (150_000, 600_000), marks=pytest.mark.long),
        pytest.param("sgd", (150_000, 600_000), marks=pytest.mark.long),
    ],
)
def test_memory_does_not_grow_with_the_records(method, sizes):
    code = textwrap.dedent(MEMORY).replace("METHOD", repr(method)).replace("SIZES", repr(sizes))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    small, large = map(float, done.stdout.split())
    assert large - small < 5.0, f"peak {small:.0f} MB with {sizes[0]} records, {large:.0f} MB with {sizes[1]}"
