"""The methods of the linear trainer against scikit-learn in memory; its manners; what it refuses, and how."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import ElasticNet, Lasso
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from evallearn.errors import DataError, SpecError
from evallearn.train import ArrayStream, Batch, LinearFitter, measure
from evallearn.train.fit.linear import FIT
from evallearn.train.fit.methods import METHODS
from evallearn.train.fit.sparse import noise_level
from evallearn.train.fit.stream import summarise

ONE = {"weights": [[0.8, -0.05, 3.0]], "bias": [0.2]}
TWO = {"weights": [[0.8, -0.05, 3.0], [-0.4, 0.1, 0.0]], "bias": [0.2, -0.3]}


class Frame:
    """As much of a DataFrame as the trainer asks for."""

    columns = ("a", "b", "c")

    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.x, dtype)

    def __len__(self):
        return len(self.x)


def arrays(make_records, n=1000, draws=0.2):
    records = make_records(n, **ONE, draws=draws)
    return records["features"], records["outcome"]


# --- oracles -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("method", "l1_ratio"), [("lasso", 1.0), ("elasticnet", 0.3)])
def test_selection_equals_sklearn_on_the_full_matrix(make_records, method, l1_ratio):
    records = make_records(3000, **ONE, draws=0.2)
    stream = ArrayStream(**records, test_share=0.0, batch_rows=701)
    trainer = LinearFitter(method=method, alpha=5.0, l1_ratio=0.3, relax=False)
    got, level = trainer.fit(stream), 5.0 * noise_level(summarise(stream))
    scaler = StandardScaler().fit(records["features"].astype(float))
    z = scaler.transform(records["features"].astype(float))
    kind = Lasso(level, tol=1e-10) if method == "lasso" else ElasticNet(level / l1_ratio, l1_ratio=l1_ratio, tol=1e-10)
    oracle = kind.fit(z, records["outcome"])
    np.testing.assert_allclose(got.weights_[0] / got.scale_, oracle.coef_ / scaler.scale_, rtol=1e-4)
    intercept = oracle.intercept_ - oracle.coef_ / scaler.scale_ @ scaler.mean_
    np.testing.assert_allclose(got.bias_[0] / got.scale_, intercept, rtol=1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tapered", [False, True])
def test_every_method_beats_a_constant_and_repeats_itself(make_records, method, tapered):
    stream = ArrayStream(**make_records(4000, **TWO, draws=0.2))
    a, b = (LinearFitter(method=method, tapered=tapered).fit(stream) for _ in range(2))
    metrics = measure(a.predict, stream)
    assert metrics.log_loss < metrics.baseline_log_loss - 0.02
    assert (a.weights_.tobytes(), a.bias_.tobytes()) == (b.weights_.tobytes(), b.bias_.tobytes())
    assert a.score(stream) == -metrics.log_loss


@pytest.mark.parametrize("method", METHODS)
def test_two_phases_tapered_are_two_phases(make_records, method):
    """Two points always lie on a line; only the way of pooling differs, and many records drown it."""
    stream = ArrayStream(**make_records(20_000, **TWO, draws=0.2))
    free, straight = (LinearFitter(method=method, tapered=t, phase_alpha=1.0).fit(stream) for t in (False, True))
    scales = [1.0, 10.0, 0.1]
    np.testing.assert_allclose(straight.weights_ * scales, free.weights_ * scales, atol=0.02)


def test_taper_of_one_phase_changes_nothing(make_records):
    stream = ArrayStream(**make_records(500, **ONE))
    for method in METHODS:
        plain, tapered = (LinearFitter(method=method, tapered=t).fit(stream) for t in (False, True))
        assert plain.weights_.tobytes() == tapered.weights_.tobytes()


def test_ordinal_is_another_name_of_wdl_and_without_draws_of_logistic(make_records):
    assert FIT["ordinal"] is FIT["wdl"]
    stream = ArrayStream(**make_records(1000, **TWO))
    got, plain = (LinearFitter(method=m).fit(stream) for m in ("ordinal", "logistic"))
    assert got.weights_.tobytes() == plain.weights_.tobytes()
    assert got.draw_margin_ == 0.0


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_feature_is_dropped_by_name(make_records, method):
    records = make_records(1000, **TWO, draws=0.1)
    records["features"][:, 1] = 7.0
    got = LinearFitter(method=method).fit(ArrayStream(**records))
    assert got.constant_features_ == ("b",)
    assert "b" in got.dropped_
    assert "b" not in got.selected_
    assert got.weights_[:, 1].tolist() == [0.0, 0.0]


def test_the_eval_tells_what_was_dropped_and_which_settings(make_records, toy):
    records = make_records(2000, [[0.8, -0.08, 0.0]] * 2, [0.0, 0.0])
    got = LinearFitter(method="lasso", alpha=4.0, tied=[("a", "b")]).fit(ArrayStream(**records))
    made = got.evaluator(toy).metadata
    assert made["dropped"] == ["c"]
    assert made["settings"]["tied"] == [("a", "b")]


# --- manners -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", METHODS)
def test_arrays_are_a_stream_of_one_phase(make_records, method):
    x, y = arrays(make_records)
    stream = ArrayStream(x, y, game=np.arange(len(x)), test_share=0.0)
    from_arrays, from_stream = LinearFitter(method=method).fit(x, y), LinearFitter(method=method).fit(stream)
    assert from_arrays.weights_.tobytes() == from_stream.weights_.tobytes()
    np.testing.assert_array_equal(from_arrays.predict(x), from_stream.predict(x, np.zeros(len(x), int)))
    assert from_arrays.score(x, y) == -measure(from_stream.predict, stream, "train").log_loss


def test_column_names_of_a_frame_are_taken(make_records):
    x, y = arrays(make_records)
    assert LinearFitter(tied=[("a", "-c")]).fit(Frame(x), y).feature_names_ == ("a", "b", "c")


def test_grid_search_and_pipelines_work(make_records):
    x, y = arrays(make_records)
    search = GridSearchCV(LinearFitter(), {"method": ["ridge", "logistic", "wdl"], "alpha": [0.1, 1e4]}, cv=3)
    assert search.fit(x, y).best_params_["alpha"] == 0.1
    assert search.best_score_ < 0.0  # minus a log loss
    pipeline = make_pipeline(StandardScaler(), LinearFitter(method="lasso", tied=[("x0", "x1")]))
    assert cross_val_score(pipeline, x, y, cv=3).mean() > -0.69
    assert pipeline.fit(x, y).predict(x).shape == (len(x),)


def test_every_setting_survives_a_clone():
    given = {"method": "sgd", "alpha": 2.0, "phase_alpha": 3.0, "l1_ratio": 0.1, "relax": False, "tapered": True,
             "tied": [("a", "b")], "epochs": 7, "seed": 8, "max_iter": 9, "tol": 0.1}  # fmt: skip
    assert clone(LinearFitter(**given)).get_params() == given
    assert set(given) == set(LinearFitter().get_params())


def test_partial_fit_learns_batch_by_batch(make_records, toy):
    stream = ArrayStream(**make_records(60_000, **TWO, draws=0.2), batch_rows=6000)
    online = LinearFitter(method="sgd")
    for b in stream.batches("train"):
        assert online.partial_fit(b, n_phases=2, feature_names=("a", "b", "c")) is online
    at_once = LinearFitter().fit(stream)
    assert online.score(stream) > at_once.score(stream) - 0.003
    assert online.n_records_ == at_once.n_records_
    assert online.evaluator(toy).metadata["records"] == online.n_records_


def test_partial_fit_takes_arrays_and_ties(make_records):
    x, y = arrays(make_records)
    got = LinearFitter(method="sgd", tied=[("x0", "-x2")]).partial_fit(x, y).partial_fit(x, y)
    assert got.n_records_ == 2 * len(x)
    assert got.weights_[0, 0] == -got.weights_[0, 2] != 0.0


def test_fit_begins_anew_and_partial_fit_goes_on(make_records):
    x, y = arrays(make_records)
    fresh, used = LinearFitter(method="sgd"), LinearFitter(method="sgd").partial_fit(x, y)
    assert used.fit(x, y).weights_.tobytes() == fresh.fit(x, y).weights_.tobytes()
    before, checksum = used.weights_.copy(), used.data_checksum_
    assert used.partial_fit(x[:10], y[:10]).n_records_ == len(x) + 10
    assert 0.0 < np.abs(used.weights_ / before - 1.0).max() < 0.1
    assert used.data_checksum_ != checksum


# --- refusals ------------------------------------------------------------------------------------------------------
def test_settings_that_do_not_work_are_refused(make_records):
    stream = ArrayStream(**make_records(300, **ONE))
    for settings, message in (
        ({"l1_ratio": 0.0}, r"l1_ratio=0.0: give a number above 0, at most 1"),
        ({"epochs": 0}, "epochs=0: give a whole number from 1 to"),
        ({"tied": [("a",)]}, r"tied=\('a',\) ties nothing: name two features or more"),
        ({"tied": ["ab"]}, "tied='ab' ties nothing"),
        ({"tied": [("a", "bb")]}, "unknown feature in tied 'bb': did you mean 'b'"),
        ({"tied": [("a", "b"), ("b", "c")]}, "feature 'b' is tied twice: write all .* in one tuple"),
        (
            {"method": "lasso", "alpha": 1e6},
            r"alpha=1e\+06 drops every feature: give an alpha below [\d.]+, or use .*ridge",
        ),
    ):
        with pytest.raises(SpecError, match=message):
            LinearFitter(**settings).fit(stream)


def test_the_largest_alpha_that_a_refusal_names_is_the_largest(make_records):
    stream = ArrayStream(**make_records(300, **ONE))
    with pytest.raises(SpecError) as refusal:
        LinearFitter(method="lasso", alpha=1e6).fit(stream)
    largest = float(str(refusal.value).split("below ")[1].split(",")[0])
    assert LinearFitter(method="lasso", alpha=largest * 0.99).fit(stream).selected_


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_features_that_are_no_numbers_are_named(make_records, method, bad):
    records = make_records(300, **ONE)
    records["features"][123, 1] = bad
    for tied in (None, [("a", "b")]):
        message = f"feature 'b' is {bad} in a train record of game 12: correct the feature function"
        with pytest.raises(DataError, match=message):
            LinearFitter(method=method, tied=tied).fit(ArrayStream(**records, test_share=0.0))


@pytest.mark.parametrize("method", METHODS)
def test_one_outcome_no_records_or_only_constants_are_refused(method):
    x, y, trainer = np.arange(12.0).reshape(6, 2), [1, -1] * 3, LinearFitter(method=method)
    for features, outcome, message in (
        (x, np.ones(6), "column 'outcome' is 1 in all 6 training records.*generate more games"),
        (x[:0], np.ones(0), "the train split holds no records: generate some games first"),
        (np.ones((6, 2)), y, r"every feature is constant in all 6 training records \(x0, x1\): correct the feature"),
        (x, [2, -1] * 3, "column 'outcome' is 2.0 in a train record of game 0: divide it by the utility of a win"),
        (x, [1, -1], r"outcome has shape \(2,\), features have 6 rows"),
        (x[0], y, r"features have shape \(2,\): give one row per record"),
    ):
        with pytest.raises(DataError, match=message):
            trainer.fit(features, outcome)
        assert not hasattr(trainer, "weights_")


def test_a_failed_fit_leaves_what_was_learned(make_records):
    x, y = arrays(make_records)
    got = LinearFitter().fit(x, y)
    before = got.weights_.copy()
    with pytest.raises(DataError):
        got.fit(x * np.nan, y)
    np.testing.assert_array_equal(got.weights_, before)


def test_partial_fit_refuses_what_it_cannot_learn_from(make_records):
    x, y = arrays(make_records)
    with pytest.raises(SpecError, match="method 'ridge' cannot learn batch by batch: use method 'sgd', or fit"):
        LinearFitter(method="ridge").partial_fit(x, y)
    with pytest.raises(DataError, match=r"partial_fit was given a ndarray without outcomes: give a Batch, or \(X, y\)"):
        LinearFitter(method="sgd").partial_fit(x)
    started = LinearFitter(method="sgd").partial_fit(x, y)
    with pytest.raises(DataError, match="3 feature names for 2 columns"):
        started.partial_fit(x[:, :2], y)
    wrong = Batch(x, np.ones(len(x), np.int64), y, np.arange(len(x)))
    with pytest.raises(DataError, match="column 'phase' is 1 .* there are 1 phases"):
        started.partial_fit(wrong)


def test_predictions_need_a_fit_and_the_same_features(make_records):
    x, y = arrays(make_records)
    with pytest.raises(NotFittedError):
        LinearFitter(method="wdl").predict_wdl(x)
    got = LinearFitter().fit(x, y)
    with pytest.raises(DataError, match=r"features have shape \(1000, 2\), the trainer was fitted on 3 features"):
        got.predict(x[:, :2])
    with pytest.raises(SpecError, match="method 'logistic' knows no draws: fit with method 'wdl'"):
        got.predict_wdl(x)
    with pytest.raises(DataError, match=r"fit was given a ndarray without outcomes: call fit\(stream\) or fit\(X, y\)"):
        got.fit(x)
