"""A fitted scikit-learn pipeline as weights: every linear step before the model is folded into them.

Each step turns a row x into x A + c; so does their chain, and a linear model on top of it is linear in the features.
What is no such step is refused: the evaluator would not be what the pipeline is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
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
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from evallearn.core.game import Game
from evallearn.core.json_shapes import JsonDict
from evallearn.errors import EvaluatorError, unknown
from evallearn.evaluators.calibration import calibrate
from evallearn.evaluators.squash import SQUASHES

REGRESSORS = (
    LinearRegression, Ridge, RidgeCV, Lasso, LassoCV, ElasticNet, ElasticNetCV, SGDRegressor, HuberRegressor,
    BayesianRidge, ARDRegression,
)  # fmt: skip
CLASSIFIERS = (LogisticRegression, SGDClassifier, RidgeClassifier, RidgeClassifierCV)
Affine = tuple[np.ndarray, np.ndarray]
"""(A [n_in, n_out], c [n_out]): x becomes x A + c."""


def linear_weights(model: BaseEstimator, game: Game) -> Affine:
    """Return (weights [n_features], bias []) of the pipeline before it is squashed. Raises EvaluatorError.

    A classifier's is half its log odds, so that tanh gives P(win) - P(loss); a regressor's is its prediction.
    """
    steps = _steps(model)
    for name, step in steps:
        _check_fitted(name, step)
    _check_features(steps, game)
    a, c = np.eye(len(game.feature_names)), np.zeros(len(game.feature_names))
    for name, step in steps[:-1]:
        _check_width(name, step, a.shape[1])
        by, plus = _fold(name, step, a.shape[1])
        a, c = a @ by, c @ by + plus
    _check_width(*steps[-1], a.shape[1])
    coefficients, constant = _model(*steps[-1])
    return a @ coefficients, c @ coefficients + constant


def model_name(model: BaseEstimator) -> str:
    """Return the name of the last step's class: every pipeline is a Pipeline."""
    return type(_steps(model)[-1][1]).__name__


def squash_of(
    model: BaseEstimator, game: Game, weights: np.ndarray, bias: float, squash: str | None, records: object
) -> tuple[str, float, JsonDict]:
    """Return (squash, by what the weights are multiplied, what the file says of that choice)."""
    if squash is not None and squash not in SQUASHES:
        raise unknown("squash", squash, SQUASHES)
    if _has_probabilities(_steps(model)[-1][1]):
        if squash == "clip" or records is not None:
            raise EvaluatorError(
                f"{type(model).__name__} gives probabilities, which tanh turns into P(win) - P(loss) exactly: leave "
                "out squash and records, or fit a regressor on the outcome"
            )
        return "tanh", 1.0, {}
    if records is not None:
        found = calibrate(weights, bias, records, tuple(SQUASHES) if squash is None else (squash,))
        return found.squash, found.scale, {"calibration": found.metadata}
    if squash is None and game.has_chance:
        why = "a game of chance, where values are averaged; not measured"
        return "clip", 1.0, {"calibration": {"chosen": "clip", "by": why}}
    return squash or "tanh", 1.0, {}


def _has_probabilities(model: BaseEstimator) -> bool:
    """Return True for a classifier with probabilities.

    RidgeClassifier has none: it is least squares on -1 and 1, so that its score is a value, not log odds.
    """
    return isinstance(model, LogisticRegression | SGDClassifier)


def _steps(model: BaseEstimator) -> list[tuple[str, BaseEstimator]]:
    """Return the named steps, pipelines within pipelines unpacked, without those that do nothing."""
    if isinstance(model, str | bytes) or hasattr(model, "__fspath__"):
        raise EvaluatorError(
            f"from_sklearn was given {model!r}: evallearn reads no pickles, they run whatever is in them; "
            "give the fitted pipeline itself"
        )
    found: list[tuple[str, BaseEstimator]] = []
    for name, step in _named(model):
        if isinstance(step, Pipeline) or hasattr(step, "best_estimator_"):
            found += [(f"{name}.{inner}", part) for inner, part in _steps(step)]
        elif step is not None and step != "passthrough":
            found.append((name, step))
    return found


def _named(model: BaseEstimator) -> list[tuple[str, BaseEstimator]]:
    if isinstance(model, Pipeline):
        return list(model.steps)
    if hasattr(model, "best_estimator_"):  # a grid search
        return [("best_estimator_", model.best_estimator_)]
    return [(type(model).__name__, model)]


def _check_fitted(name: str, step: BaseEstimator) -> None:
    try:
        check_is_fitted(step)
    except (NotFittedError, TypeError):
        raise EvaluatorError(
            f"step {name!r} ({type(step).__name__}) is not a fitted scikit-learn estimator: "
            "call pipeline.fit(X, y) first"
        ) from None


def _check_features(steps: list[tuple[str, BaseEstimator]], game: Game) -> None:
    ours = tuple(game.feature_names)
    for name, step in steps:
        n = getattr(step, "n_features_in_", len(ours))
        names = tuple(getattr(step, "feature_names_in_", ours))
        if n != len(ours):
            raise EvaluatorError(
                f"step {name!r} ({type(step).__name__}) was fitted on {n} features, {game.name} v{game.version} has "
                f"{len(ours)} ({', '.join(ours)}): fit it on those, in this order"
            )
        if names != ours:
            odd = next(a for a, b in zip(names, ours, strict=True) if a != b)
            raise EvaluatorError(
                f"step {name!r} ({type(step).__name__}) was fitted on the columns {', '.join(names)}, {game.name} "
                f"v{game.version} has {', '.join(ours)}; first difference: {odd}: fit it on those, in this order"
            )
        return  # the first step says what goes in


def _check_width(name: str, step: BaseEstimator, n: int) -> None:
    """Refuse a step of another width than the one before it: steps fitted one by one may not fit each other."""
    width = getattr(step, "n_features_in_", n)
    if width != n:
        raise EvaluatorError(
            f"step {name!r} ({type(step).__name__}) was fitted on {width} columns, the step before it gives {n}: "
            "fit the pipeline as a whole"
        )


# --- steps ---------------------------------------------------------------------------------------------------------
def _fold(name: str, step: BaseEstimator, n: int) -> Affine:
    if getattr(step, "clip", False):
        raise EvaluatorError(
            f"step {name!r} ({type(step).__name__}) clips, which no weight can do: fit it with clip=False"
        )
    if isinstance(step, StandardScaler):
        return _scaled(n, minus=step.mean_ if step.with_mean else None, by=step.scale_)
    if isinstance(step, RobustScaler):
        return _scaled(n, minus=step.center_, by=step.scale_)
    if isinstance(step, MaxAbsScaler):
        return _scaled(n, by=step.scale_)
    if isinstance(step, MinMaxScaler):
        return np.diag(step.scale_), np.asarray(step.min_, float)
    if isinstance(step, SelectorMixin):
        return np.eye(n)[:, step.get_support()], np.zeros(int(step.get_support().sum()))
    if isinstance(step, PCA | TruncatedSVD):
        return _projected(step)
    if isinstance(step, FunctionTransformer) and step.func is None:
        return np.eye(n), np.zeros(n)
    raise EvaluatorError(
        f"step {name!r} ({type(step).__name__}) cannot be folded into weights: use scalers, feature selectors or PCA "
        "before the model, and compute other features in the game's features(s, player)"
    )


def _scaled(n: int, minus: ArrayLike | None = None, by: ArrayLike | None = None) -> Affine:
    """Return the affine map of x to (x - minus) / by."""
    inverse = np.ones(n) if by is None else 1.0 / np.asarray(by, float)
    return np.diag(inverse), np.zeros(n) if minus is None else -np.asarray(minus, float) * inverse


def _projected(step: PCA | TruncatedSVD) -> Affine:
    a = np.asarray(step.components_, float).T
    if getattr(step, "whiten", False):
        a = a / np.sqrt(np.maximum(step.explained_variance_, np.finfo(float).eps))
    mean = getattr(step, "mean_", None)
    return a, np.zeros(a.shape[1]) if mean is None else -mean @ a


# --- the model -----------------------------------------------------------------------------------------------------
def _model(name: str, model: BaseEstimator) -> Affine:
    """Return (coefficients [n], constant []) of the last step, before they are squashed."""
    kind = f"step {name!r} ({type(model).__name__})"
    if not isinstance(model, REGRESSORS + CLASSIFIERS):
        raise EvaluatorError(
            f"{kind} is no linear model that evallearn can fold: end the pipeline with Ridge, Lasso, ElasticNet, "
            "LinearRegression, SGDRegressor, LogisticRegression, SGDClassifier(loss='log_loss') or RidgeClassifier"
        )
    if is_classifier(model) and len(model.classes_) != 2:
        raise EvaluatorError(
            f"{kind} knows {len(model.classes_)} classes ({', '.join(map(str, model.classes_))}), "
            "an evaluator has one value: fit it on wins and losses only, or use LinearFitter(method='wdl')"
        )
    if isinstance(model, SGDClassifier) and model.loss != "log_loss":
        raise EvaluatorError(
            f"{kind} has loss={model.loss!r}, which gives no probabilities: fit it with loss='log_loss'"
        )
    coefficients, constant = np.atleast_2d(np.asarray(model.coef_, float)), np.ravel(model.intercept_)
    if len(coefficients) != 1:
        raise EvaluatorError(
            f"{kind} predicts {len(coefficients)} targets, an evaluator has one value: fit it on the outcome"
        )
    factor = 0.5 if _has_probabilities(model) else 1.0
    return factor * coefficients[0], factor * np.asarray(constant[0], float)
