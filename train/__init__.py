"""Trainers: `fit` from records, which they stream and of whose game they know nothing; `selfplay` from games.

scikit-learn and torch are imported when a trainer is asked for, not here: `import evallearn.train` stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evallearn.data.dataset import Batch
from evallearn.train.fit.metrics import CalibrationBin, Metrics, measure, predictor
from evallearn.train.fit.stream import ArrayStream, RecordStream

if TYPE_CHECKING:
    from evallearn.train.fit.linear import LinearFitter
    from evallearn.train.fit.net import NetFitter
    from evallearn.train.models.linear import LinearModel
    from evallearn.train.models.net import NetModel
    from evallearn.train.models.patterns import PatternModel
    from evallearn.train.selfplay.settings import Rounds, Schedule, SelfPlaySettings
    from evallearn.train.selfplay.trainer import SelfPlayTrainer

__all__ = [
    "ArrayStream",
    "Batch",
    "CalibrationBin",
    "LinearFitter",
    "LinearModel",
    "Metrics",
    "NetFitter",
    "NetModel",
    "PatternModel",
    "RecordStream",
    "Rounds",
    "Schedule",
    "SelfPlaySettings",
    "SelfPlayTrainer",
    "measure",
    "predictor",
]


LAZY = {
    "LinearFitter": "fit.linear",
    "NetFitter": "fit.net",
    "NetModel": "models.net",
    "LinearModel": "models.linear",
    "PatternModel": "models.patterns",
    "Rounds": "selfplay.settings",
    "Schedule": "selfplay.settings",
    "SelfPlaySettings": "selfplay.settings",
    "SelfPlayTrainer": "selfplay.trainer",
}
"""Where what is imported on first use stands."""


def __getattr__(name: str) -> Any:
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"evallearn.train.{LAZY[name]}"), name)
