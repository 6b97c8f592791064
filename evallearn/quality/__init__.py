"""How well an evaluator values positions, measured without playing a match."""

from evallearn.quality.assess import Quality, QualitySettings, assess, compare
from evallearn.quality.figures import Figure
from evallearn.quality.make import fitting_depth, make_suite, reference_depth
from evallearn.quality.measure import Measured, PhaseErrors, measured
from evallearn.quality.suite import Item, Suite, read_suite, write_suite
from evallearn.quality.swing import Step, Swing, swings
from evallearn.quality.thrash import Stretch, Thrash, thrash

__all__ = [
    "Figure",
    "Item",
    "Measured",
    "PhaseErrors",
    "Quality",
    "QualitySettings",
    "Step",
    "Stretch",
    "Suite",
    "Swing",
    "Thrash",
    "assess",
    "compare",
    "fitting_depth",
    "make_suite",
    "measured",
    "read_suite",
    "reference_depth",
    "swings",
    "thrash",
    "write_suite",
]
