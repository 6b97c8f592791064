"""The evaluators: linear and neural on named features, pattern tables on the board; and their files."""

from evallearn.evaluators.bounded import BoundedEval
from evallearn.evaluators.features import FeatureEval, feature_hash
from evallearn.evaluators.files import load_evaluator, read_header, save, verified_header
from evallearn.evaluators.linear import LinearEval, heuristic
from evallearn.evaluators.net import NetEval
from evallearn.evaluators.patterns import PatternEval
from evallearn.evaluators.plain import FunctionEval
from evallearn.evaluators.quantised import QuantisedNet, quantise
from evallearn.evaluators.solved import SolvedEval
from evallearn.evaluators.zoo import hardest, read_card, zoo_file, zoo_names

__all__ = [
    "BoundedEval",
    "FeatureEval",
    "FunctionEval",
    "LinearEval",
    "NetEval",
    "PatternEval",
    "QuantisedNet",
    "SolvedEval",
    "feature_hash",
    "hardest",
    "heuristic",
    "load_evaluator",
    "quantise",
    "read_card",
    "read_header",
    "save",
    "verified_header",
    "zoo_file",
    "zoo_names",
]
