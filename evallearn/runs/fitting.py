"""From a data set to an evaluator and what it is worth on games that were held out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evallearn.core.game import Game
from evallearn.data import Dataset
from evallearn.errors import SpecError
from evallearn.evaluators import FeatureEval
from evallearn.train import measure, predictor
from evallearn.train.fit.record_targets import first_stream, quiet_scale
from evallearn.train.leaves import QuietStream
from evallearn.train.targets import RECORD_TARGETS, TARGETS, check_target

NET_METHOD = "net"
METHODS = ("logistic", "ridge", "sgd", "lasso", "elasticnet", "wdl", NET_METHOD)
Move = Callable[[int, int], None]
"""move(done, total): how far a step has come."""


def fit_evaluator(
    method: str,
    dataset: Dataset,
    game: Game,
    *,
    seed: int,
    metadata: dict[str, Any],
    alpha: float | None = None,
    tapered: bool = False,
    target: str = "outcome",
    outcome_share: float | None = None,
    on_progress: Move = lambda done, total: None,
) -> tuple[FeatureEval, dict[str, Any]]:
    """Learn by `method` (net, or one of the linear trainer's) and measure on the games that were held out.

    alpha, tapered, target, outcome_share: of the linear methods; alpha=None is the trainer's own, outcome_share=None
    that of the target (train/targets.py). The details hold the features that were dropped and, of texel, the scale K.
    """
    refuse_online(target, outcome_share)
    evaluator: FeatureEval
    details: dict[str, Any] = {}
    if method == NET_METHOD:
        refuse_linear_options(alpha, tapered, target)
        from evallearn.train import NetFitter

        net = NetFitter(seed=seed).fit(dataset, on_epoch=lambda epoch, of, train, validation: on_progress(epoch, of))
        evaluator = net.evaluator(game, metadata)
        details["history"] = net.history_
    else:
        from evallearn.train import LinearFitter

        trainer = LinearFitter(method=method, tapered=tapered, seed=seed)
        if alpha is not None:
            trainer.set_params(alpha=alpha)
        linear = trainer.fit(first_stream(target, dataset, outcome_share))
        if TARGETS[target].learn_at == "quiet":  # what was learned so far says which exchanges are good
            quiet = QuietStream(dataset, linear.evaluator(game))
            details["k"] = quiet_scale(quiet)
            linear = trainer.fit(quiet)
        evaluator = linear.evaluator(game, metadata)
        details |= {"dropped": list(linear.dropped_), "constant": list(linear.constant_features_)}
    metrics = measure(predictor(evaluator), dataset).to_json()
    summary = ("log_loss", "baseline_log_loss", "brier", "sign_accuracy", "calibration_error", "n_records")
    evaluator.metadata |= {
        "seed": seed,
        "method": method,
        "target": target,
        "metrics": {k: metrics[k] for k in summary},
    }
    return evaluator, {**details, "metrics": metrics}


def refuse_online(target: str, outcome_share: float | None) -> None:
    """Refuse targets of evaluators that learn while they play: records cannot teach those."""
    check_target(target, outcome_share)
    if not TARGETS[target].is_from_records:
        raise SpecError(
            f"target {target!r} learns while it plays, not from records: use `evallearn learn GAME --recipe online "
            f"--set selfplay.target={target}`, or one of {', '.join(RECORD_TARGETS)}"
        )


def refuse_linear_options(alpha: float | None, tapered: bool, target: str) -> None:
    """Refuse for a net what only linear evaluators know."""
    for name, given in (
        ("penalty", alpha is not None),
        ("tapered", tapered),
        (f"target {target}", target != "outcome"),
    ):
        if given:
            raise SpecError(f"method 'net' knows no {name}: leave it out, or choose a linear method such as logistic")
