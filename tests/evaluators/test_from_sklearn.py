"""Fitted scikit-learn pipelines as evaluators: the same predictions, and a refusal of whatever is not linear."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.linear_model import (
    ARDRegression,
    BayesianRidge,
    ElasticNet,
    ElasticNetCV,
    HuberRegressor,
    Lasso,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from evallearn import get_game
from evallearn.errors import EvaluatorError
from evallearn.evaluators import LinearEval, load_evaluator, save
from evallearn.evaluators.from_sklearn import CLASSIFIERS, REGRESSORS
from evallearn.train import predictor

GAME = get_game("connect_four")
D = len(GAME.feature_names)
MODELS = [
    LinearRegression(), Ridge(), RidgeCV(), Lasso(alpha=0.01), LassoCV(cv=3), ElasticNet(alpha=0.01),
    ElasticNetCV(cv=3), SGDRegressor(random_state=0), HuberRegressor(max_iter=1000), BayesianRidge(), ARDRegression(),
    LogisticRegression(), SGDClassifier(loss="log_loss", random_state=0), RidgeClassifier(), RidgeClassifierCV(),
]  # fmt: skip
STEPS = [
    StandardScaler(), StandardScaler(with_mean=False), StandardScaler(with_std=False), MinMaxScaler((-2, 3)),
    MaxAbsScaler(), RobustScaler(), RobustScaler(with_centering=False), RobustScaler(with_scaling=False),
    SelectKBest(k=2), VarianceThreshold(), SelectFromModel(Ridge(), max_features=2, threshold=-np.inf), PCA(),
    PCA(2, whiten=True), TruncatedSVD(2), FunctionTransformer(), "passthrough", None,
]  # fmt: skip


def data(n=400):
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(n, D)) * np.linspace(0.5, 3, D) + np.linspace(-2, 4, D)).astype(np.float32)
    raw = (x - x.mean(axis=0)) @ np.linspace(-0.5, 0.5, D)
    return x, np.where(rng.random(n) < (1 + np.tanh(raw)) / 2, 1, -1)


X, Y = data()


def expected(model):
    """What the pipeline says, as the value of an evaluator."""
    if hasattr(model, "predict_proba"):
        p = model.predict_proba(X)
        return p[:, 1] - p[:, 0]
    return np.tanh(model.decision_function(X) if is_classifier(model) else model.predict(X))


def values(evaluator, phase=0):
    return predictor(evaluator)(X, np.full(len(X), phase))


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_every_model_predicts_the_same(model):
    pipeline = make_pipeline(StandardScaler(), model).fit(X, Y)
    for phase in range(GAME.n_phases):
        np.testing.assert_allclose(
            values(LinearEval.from_sklearn(pipeline, GAME), phase), expected(pipeline), atol=1e-5
        )


def test_every_model_is_tried():
    assert {type(m) for m in MODELS} == {*REGRESSORS, *CLASSIFIERS}


@pytest.mark.parametrize("step", STEPS, ids=str)
@pytest.mark.parametrize("model", [Ridge(), LogisticRegression()], ids=lambda m: type(m).__name__)
def test_every_step_is_folded(step, model):
    pipeline = Pipeline([("step", step), ("model", model)]).fit(X, Y)
    np.testing.assert_allclose(values(LinearEval.from_sklearn(pipeline, GAME)), expected(pipeline), atol=1e-5)


def test_chains_and_searches_are_unpacked():
    inner = make_pipeline(RobustScaler(), SelectKBest(k=3))
    chain = make_pipeline(MinMaxScaler(), inner, PCA(2), LogisticRegression())
    search = GridSearchCV(chain, {"logisticregression__C": [0.1, 1.0]}, cv=3).fit(X, Y)
    np.testing.assert_allclose(values(LinearEval.from_sklearn(search, GAME)), expected(search), atol=1e-5)


def test_a_model_alone_will_do_and_a_scale_sharpens_it():
    model = Ridge().fit(X, Y)
    assert np.abs(values(LinearEval.from_sklearn(model, GAME)) - expected(model)).max() < 1e-5
    sharper = values(LinearEval.from_sklearn(model, GAME, scale=2.0))
    np.testing.assert_allclose(sharper, np.tanh(2.0 * model.predict(X)), atol=1e-5)


def test_the_eval_survives_its_file(tmp_path):
    made = LinearEval.from_sklearn(make_pipeline(StandardScaler(), Ridge()).fit(X, Y), GAME, {"name": "mine"})
    read = load_evaluator(save(made, tmp_path / "x.safetensors"), GAME)
    assert isinstance(read, LinearEval)
    np.testing.assert_array_equal(read.weights, made.weights)
    assert (read.metadata["name"], read.metadata["trainer"]) == ("mine", "scikit-learn")
    assert "StandardScaler" in read.metadata["model"]


# --- refusals ------------------------------------------------------------------------------------------------------
THREE = np.resize([-1, 0, 1], len(Y))
REFUSED = [
    (make_pipeline(PolynomialFeatures(2), Ridge()), Y, r"step 'polynomialfeatures' \(Polynomial.*\) cannot be folded"),
    (
        make_pipeline(ColumnTransformer([("s", StandardScaler(), [0])]), Ridge()), Y,
        r"step 'columntransformer' \(ColumnTransformer\) cannot be folded.*use scalers, feature selectors or PCA",
    ),
    (
        make_pipeline(FunctionTransformer(np.sqrt), Ridge()), Y,
        r"step 'functiontransformer' .*compute other features in the game's features\(s, player\)",
    ),
    (make_pipeline(MinMaxScaler(clip=True), Ridge()), Y, r"\(MinMaxScaler\) clips, .*fit it with clip=False"),
    (
        make_pipeline(StandardScaler(), RandomForestRegressor(2)), Y,
        r"step 'randomforestregressor' \(RandomForestRegressor\) is no linear model.*end the pipeline with Ridge",
    ),
    (LogisticRegression(), THREE, r"LogisticRegression.* knows 3 classes \(-1, 0, 1\).*Fitter\(method='wdl'\)"),
    (SGDClassifier(), Y, "SGDClassifier.* has loss='hinge', which gives no probabilities: fit it with loss='log_loss'"),
    (LinearRegression(), np.c_[Y, Y], "LinearRegression.* predicts 2 targets, an evaluator has one value"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "y", "message"), REFUSED)
def test_what_cannot_be_folded_is_refused_by_name(model, y, message):
    with pytest.raises(EvaluatorError, match=message):
        LinearEval.from_sklearn(model.fit(np.abs(X), y), GAME)


@pytest.mark.parametrize(
    "model",
    [Ridge(), make_pipeline(StandardScaler(), Ridge()), GridSearchCV(Ridge(), {"alpha": [1.0]}), "Ridge", Ridge, 3],
)
def test_what_is_not_fitted_is_refused(model):
    with pytest.raises(EvaluatorError, match="not a fitted scikit-learn estimator: call pipeline.fit|reads no pickles"):
        LinearEval.from_sklearn(model, GAME)


@pytest.mark.parametrize("half_fitted", [0, 1])
def test_the_step_that_is_not_fitted_is_named(half_fitted):
    steps = [("scaler", StandardScaler()), ("model", Ridge())]
    steps[half_fitted][1].fit(X, Y)
    name = steps[1 - half_fitted][0]
    with pytest.raises(EvaluatorError, match=f"step '{name}' .* is not a fitted"):
        LinearEval.from_sklearn(Pipeline(steps), GAME)


def test_a_pickle_is_never_read(tmp_path):
    for given in (tmp_path / "model.pkl", "model.pkl", b"model.pkl"):
        with pytest.raises(
            EvaluatorError, match="model.pkl.*: evallearn reads no pickles.*give the fitted pipeline itself"
        ):
            LinearEval.from_sklearn(given, GAME)


def test_other_features_are_refused():
    with pytest.raises(
        EvaluatorError, match=rf"'Ridge' \(Ridge\) was fitted on 2 features, connect_four v1 has {D} \("
    ):
        LinearEval.from_sklearn(Ridge().fit(X[:, :2], Y), GAME)
    model = Ridge().fit(X, Y)
    model.feature_names_in_ = np.array(["odd", *GAME.feature_names[1:]])  # as a DataFrame would leave it
    with pytest.raises(
        EvaluatorError, match="was fitted on the columns odd, .*; first difference: odd: fit it on those"
    ):
        LinearEval.from_sklearn(model, GAME)
    model.feature_names_in_ = np.array(GAME.feature_names)
    assert LinearEval.from_sklearn(model, GAME)


def test_steps_that_do_not_fit_each_other_are_refused():
    pipeline = Pipeline([("scaler", StandardScaler().fit(X)), ("model", Ridge().fit(X[:, :2], Y))])
    with pytest.raises(
        EvaluatorError, match=rf"step 'model' \(Ridge\) was fitted on 2 columns, the step before .* gives {D}"
    ):
        LinearEval.from_sklearn(pipeline, GAME)


def test_a_scale_that_does_not_work_is_refused():
    for scale in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(EvaluatorError, match=r"scale=.* does not work: give a number above 0"):
            LinearEval.from_sklearn(Ridge().fit(X, Y), GAME, scale=scale)
