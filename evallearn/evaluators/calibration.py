"""Which squash suits the predictions of a regressor: measured on games that are held out.

A prediction of least squares is a value already. tanh makes it smaller (0.8 becomes 0.66), which keeps the order of
positions but spoils averages over dice; clip keeps it as it is. A scale, fitted to other games, may mend tanh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evallearn.core.json_shapes import JsonDict
from evallearn.errors import EvaluatorError
from evallearn.evaluators.squash import BOUND

SCALES = (0.05, 20.0)
"""Between which a scale is looked for: log odds of wins need about 1, utilities of rare wins more."""
REMEDY = "give a Dataset, or (features, outcome) with the outcomes from -1, the worst loss, to 1, the best win"


@dataclass(frozen=True)
class Calibration:
    """What was chosen, and the error that decided."""

    squash: str
    scale: float
    metadata: JsonDict
    """For the header of the file."""


def calibrate(weights: np.ndarray, bias: float, records: object, squashes: tuple[str, ...]) -> Calibration:
    """Return the squash of least squared error on held-out games; the scale of tanh is fitted to the others.

    records: a Dataset, or (features [n, n_features], outcome [n]) in the order in which they were played: of these the
    second half is held out.
    """
    (p, outcome), (held_out, truth), games = _split(weights, bias, records)
    tried: dict[str, tuple[str, float]] = {"clip": ("clip", 1.0), "tanh": ("tanh", 1.0)}
    tried["tanh, scaled"] = ("tanh", _fitted_scale(p, outcome))
    tried = {name: how for name, how in tried.items() if how[0] in squashes}
    errors = {name: _error(held_out, truth, *how) for name, how in tried.items()}
    best = min(errors, key=lambda name: errors[name])
    squash, scale = tried[best]
    metadata = {"chosen": best, "by": f"{len(truth)} held-out records{games}", "scale": scale, "rms_error": errors}
    return Calibration(squash, scale, metadata)


def _error(p: np.ndarray, outcome: np.ndarray, squash: str, scale: float) -> float:
    """Return the root mean squared error of the values."""
    values = np.tanh(scale * p) if squash == "tanh" else np.clip(scale * p, -BOUND, BOUND)
    return float(np.sqrt(np.mean((values - outcome) ** 2)))


def _fitted_scale(p: np.ndarray, outcome: np.ndarray) -> float:
    """Return the scale of tanh with the least squared error."""
    from scipy.optimize import minimize_scalar

    ends = np.log(SCALES)
    found = minimize_scalar(lambda x: _error(p, outcome, "tanh", float(np.exp(x))), bounds=ends, method="bounded")
    return float(np.exp(found.x))


# --- records ---------------------------------------------------------------------------------------------------------
Pairs = tuple[np.ndarray, np.ndarray]


def _split(weights: np.ndarray, bias: float, records: object) -> tuple[Pairs, Pairs, str]:
    """Return (predictions, outcomes) to fit, the same held out, and of how many games."""
    if hasattr(records, "batches"):
        fitted, held_out = (list(records.batches(split)) for split in ("train", "test"))
        if not (fitted and held_out):
            raise EvaluatorError(f"records hold out {sum(map(len, held_out))} of their positions: give more games")
        games = sum(len(np.unique(batch.game)) for batch in held_out)
        return _of_batches(weights, bias, fitted), _of_batches(weights, bias, held_out), f" of {games} games"
    p, outcome = _of_arrays(weights, bias, records)
    half = len(p) // 2
    return (p[:half], outcome[:half]), (p[half:], outcome[half:]), ""


def _of_batches(weights: np.ndarray, bias: float, batches: list[Any]) -> Pairs:
    if batches[0].features.shape[1] != len(weights):
        raise EvaluatorError(f"records have {batches[0].features.shape[1]} features, not {len(weights)}: {REMEDY}")
    p = np.concatenate([batch.features @ weights + bias for batch in batches])
    return p, np.concatenate([batch.outcome for batch in batches]).astype(float)


def _of_arrays(weights: np.ndarray, bias: float, records: Any) -> Pairs:
    try:
        x, outcome = (np.asarray(part, float) for part in records)
    except (TypeError, ValueError):
        raise EvaluatorError(f"records={type(records).__name__}: {REMEDY}") from None
    if x.shape != (len(outcome), len(weights)) or outcome.ndim != 1 or len(outcome) < 2:
        raise EvaluatorError(f"records of shapes {x.shape} and {outcome.shape}, with {len(weights)} features: {REMEDY}")
    if not (np.isfinite(x).all() and (np.abs(outcome) <= 1).all()):
        raise EvaluatorError(f"records hold a feature that is no number, or an outcome beyond -1 and 1: {REMEDY}")
    return x @ weights + bias, outcome
