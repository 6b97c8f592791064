"""From a data set to an Eval and what it is worth on games that were held out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evallearn.data import Dataset
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
    on_progress: Move = lambda done, total: None,
) -> tuple[FeatureEval, dict[str, Any]]:
    """Learn by `method` (ridge, logistic or mlp) and measure on the games that were held out."""
    evaluator: FeatureEval
    details: dict[str, Any] = {}
    if method == "mlp":
        from evallearn.train import MlpTrainer

        net = MlpTrainer(seed=seed).fit(dataset, on_epoch=lambda epoch, of, train, test: on_progress(epoch, of))
        evaluator = net.evaluator(game, made)
        details["history"] = net.history_
    else:
        from evallearn.train import LinearEvalTrainer

        evaluator = LinearEvalTrainer(method=method).fit(dataset).evaluator(game, made)
    metrics = measure(predictor(evaluator), dataset).to_json()
    summary = ("log_loss", "baseline_log_loss", "brier", "sign_accuracy", "calibration_error", "n_records")
    evaluator.made |= {"seed": seed, "method": method, "metrics": {k: metrics[k] for k in summary}}
    return evaluator, {**details, "metrics": metrics}
