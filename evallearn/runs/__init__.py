"""Runs: recipes, their stages, and a folder in which each step leaves its result, so that a rerun resumes."""

from evallearn.runs.fitting import fit_evaluator
from evallearn.runs.learning import learn
from evallearn.runs.recipe import Recipe
from evallearn.runs.result import LearnResult
from evallearn.runs.run import Run

__all__ = ["LearnResult", "Recipe", "Run", "fit_evaluator", "learn"]
