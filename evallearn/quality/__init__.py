"""How well an evaluator values positions, measured without playing a match."""

from evallearn.quality.assess import Quality as Quality
from evallearn.quality.assess import QualitySettings as QualitySettings
from evallearn.quality.assess import assess as assess
from evallearn.quality.assess import compare as compare
from evallearn.quality.make import fitting_depth as fitting_depth
from evallearn.quality.make import make_suite as make_suite
from evallearn.quality.make import reference_depth as reference_depth
from evallearn.quality.measure import measured as measured
from evallearn.quality.suite import Item as Item
from evallearn.quality.suite import Suite as Suite
from evallearn.quality.suite import read_suite as read_suite
from evallearn.quality.suite import write_suite as write_suite
from evallearn.quality.swing import swings as swings
from evallearn.quality.thrash import Stretch as Stretch
from evallearn.quality.thrash import Thrash as Thrash
from evallearn.quality.thrash import thrash as thrash
