"""The whole loop, from rules to a ladder. Each step leaves its result in the run's folder, so a rerun resumes."""

from evallearn.runs.budget import choose_config
from evallearn.runs.config import LearnConfig
from evallearn.runs.fitting import fit_evaluator
from evallearn.runs.loop import learn
from evallearn.runs.run import Run

__all__ = ["LearnConfig", "Run", "choose_config", "fit_evaluator", "learn"]
