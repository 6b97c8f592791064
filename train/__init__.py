"""From records to an Eval. Trainers know no game: they see features, phases and outcomes, and stream them.

scikit-learn and torch are imported when a trainer is asked for, not here: `import evallearn.train` stays cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evallearn.data.dataset import Batch
from evallearn.train.fit.metrics import CalibrationBin, Metrics, measure, predictor
from evallearn.train.fit.stream import ArrayStream, RecordStream

if TYPE_CHECKING:
    from evallearn.train.fit.linear import LinearEvalTrainer
    from evallearn.train.fit.net import MlpTrainer
    from evallearn.train.neural import NeuralTrainer
    from evallearn.train.online_trainer import OnlineTrainer
    from evallearn.train.patterns import PatternTrainer

__all__ = [
    "ArrayStream",
    "Batch",
    "CalibrationBin",
    "LinearEvalTrainer",
    "Metrics",
    "MlpTrainer",
    "NeuralTrainer",
    "OnlineTrainer",
    "PatternTrainer",
    "RecordStream",
    "measure",
    "predictor",
]


def __getattr__(name: str) -> Any:
    if name == "LinearEvalTrainer":
        from evallearn.train.fit.linear import LinearEvalTrainer

        return LinearEvalTrainer
    if name == "MlpTrainer":
        from evallearn.train.fit.net import MlpTrainer

        return MlpTrainer
    if name == "NeuralTrainer":
        from evallearn.train.neural import NeuralTrainer

        return NeuralTrainer
    if name == "OnlineTrainer":
        from evallearn.train.online_trainer import OnlineTrainer

        return OnlineTrainer
    if name == "PatternTrainer":
        from evallearn.train.patterns import PatternTrainer

        return PatternTrainer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
