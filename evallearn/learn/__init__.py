"""The whole loop, from rules to a ladder. Each step leaves its result in the run's folder, so a rerun resumes."""

from evallearn.learn.budget import choose_config
from evallearn.learn.config import LearnConfig
from evallearn.learn.fitting import fit_evaluator
from evallearn.learn.loop import learn
from evallearn.learn.run import Run

__all__ = ["LearnConfig", "Run", "choose_config", "fit_evaluator", "learn"]
