"""From a data set to an Eval and what it is worth on games that were held out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evallearn.data import Dataset
from evallearn.errors import SpecError
from evallearn.evaluators import FeatureEval
from evallearn.protocols import Game
from evallearn.train import measure, predictor

Move = Callable[[int, int], None]
"""move(done, total): how far a step has come."""


def fit_evaluator(
    method: str,
    dataset: Dataset,
    game: Game,
    *,
    seed: int,
    made: dict[str, Any],
    alpha: float | None = None,
    taper: bool = False,
    on_progress: Move = lambda done, total: None,
) -> tuple[FeatureEval, dict[str, Any]]:
    """Learn by `method` (mlp, or one of the linear trainer's) and measure on the games that were held out.

    alpha, taper: of the linear methods; alpha=None is the trainer's own. The details tell which features were dropped.
    """
    evaluator: FeatureEval
    details: dict[str, Any] = {}
    if method == "mlp":
        _refuse_linear_options(alpha, taper)
        from evallearn.train import MlpTrainer

        net = MlpTrainer(seed=seed).fit(dataset, on_epoch=lambda epoch, of, train, test: on_progress(epoch, of))
        evaluator = net.evaluator(game, made)
        details["history"] = net.history_
    else:
        from evallearn.train import LinearEvalTrainer

        trainer = LinearEvalTrainer(method=method, taper=taper, seed=seed)
        linear = (trainer if alpha is None else trainer.set_params(alpha=alpha)).fit(dataset)
        evaluator = linear.evaluator(game, made)
        details |= {"dropped": list(linear.dropped_), "constant": list(linear.constant_features_)}
    metrics = measure(predictor(evaluator), dataset).to_json()
    summary = ("log_loss", "baseline_log_loss", "brier", "sign_accuracy", "calibration_error", "n_records")
    evaluator.made |= {"seed": seed, "method": method, "metrics": {k: metrics[k] for k in summary}}
    return evaluator, {**details, "metrics": metrics}


def _refuse_linear_options(alpha: float | None, taper: bool) -> None:
    for name, given in (("alpha", alpha is not None), ("taper", taper)):
        if given:
            raise SpecError(f"method 'mlp' knows no {name}: leave it out, or choose a linear method such as logistic")
