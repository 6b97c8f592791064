"""What features are worth, why an evaluator says what it says, and signs that something went wrong.

explain      one position: what each feature does to its value
worth        one data set: weights with intervals, what is lost without a feature, which others carry the same
advice       what follows from that, in words
alarms       signs that something went wrong on the way from games to an evaluator
"""

from evallearn.insight.advice import carriers, cautions, redundant
from evallearn.insight.alarms import Alarm, alarms_about, check_alarms
from evallearn.insight.evidence import Evidence, Sample, gather
from evallearn.insight.explain import Explanation, Part, explain
from evallearn.insight.resampling import Interval
from evallearn.insight.sources import Kept, dataset_of, feature_means
from evallearn.insight.worth import FeatureStudy, FeatureWorth, Study

__all__ = [
    "Alarm",
    "Evidence",
    "Explanation",
    "FeatureStudy",
    "FeatureWorth",
    "Interval",
    "Kept",
    "Part",
    "Sample",
    "Study",
    "alarms_about",
    "carriers",
    "cautions",
    "check_alarms",
    "dataset_of",
    "explain",
    "feature_means",
    "gather",
    "redundant",
]
