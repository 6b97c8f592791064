"""What features are worth, why an evaluator says what it says, and signs that something went wrong.

explain      one position: what each feature does to its value
worth        one data set: weights with intervals, what is lost without a feature, which others carry the same
advice       what follows from that, in words
alarms       signs that something went wrong on the way from games to an evaluator
"""

from evallearn.insight.advice import carriers as carriers
from evallearn.insight.advice import cautions as cautions
from evallearn.insight.advice import redundant as redundant
from evallearn.insight.alarms import alarms_about as alarms_about
from evallearn.insight.alarms import check_alarms as check_alarms
from evallearn.insight.evidence import Evidence as Evidence
from evallearn.insight.evidence import Sample as Sample
from evallearn.insight.evidence import gather as gather
from evallearn.insight.explain import explain as explain
from evallearn.insight.resampling import Interval as Interval
from evallearn.insight.sources import Kept as Kept
from evallearn.insight.sources import dataset_of as dataset_of
from evallearn.insight.sources import feature_means as feature_means
from evallearn.insight.worth import FeatureStudy as FeatureStudy
from evallearn.insight.worth import FeatureWorth as FeatureWorth
from evallearn.insight.worth import Study as Study
