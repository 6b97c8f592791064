"""What a run has found, as one JSON object: result.json, and what the report shows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from evallearn import __version__
from evallearn.agents import parse_evaluator
from evallearn.data import Dataset
from evallearn.evaluators import FeatureEval
from evallearn.runs.generations import History
from evallearn.runs.run import Run, read_run
from evallearn.train import measure, predictor

Rows = list[dict[str, Any]]


def summarise(run: Run, reference: str, rows: Rows, timed: Rows, history: History) -> dict[str, Any]:
    """Return the result of the run, in plain JSON types."""
    found = {p.stem: run.read_step(p) for p in sorted((run.folder / "steps").glob("*.json"))}
    steps = {name: step for name, step in found.items() if step is not None}
    dataset = run.dataset(history.last)
    measured = (read_run(run.folder) or {}).get("measured")
    return {
        "evallearn": __version__,
        "game": run.game.name,
        "run": str(run.folder),
        "seed": run.config.seed,
        "command": run.command,
        "settings": settings(run),
        **({"measured": measured} if measured else {}),
        "records": sum(g.get("records", 0) for g in history.generations),
        "seconds": {name: step["seconds"] for name, step in steps.items()},
        "files": files(run),
        "reference": reference,
        "ladder": sorted(rows, key=lambda r: r["elo"]),
        "equal_time": timed,
        "generations": history.generations,
        "champion": history.best,
        "stopped": history.stopped,
        "fits": fits(run, reference, steps, history.best, dataset),
        "weights": weights(history.champion, dataset),
    }


def settings(run: Run) -> dict[str, Any]:
    """Return the settings of the run, with what suits the game in the place of None."""
    depths = {name: run.limits(getattr(run.config, name)).depth for name in ("depth", "match_depth")}
    return {**asdict(run.config), **depths, "random_plies": run.opening_plies}


def files(run: Run) -> dict[str, str]:
    """Return the files that a reader of the run needs."""
    paths = {name: run.folder / "evaluators" / f"{name}.safetensors" for name in ("linear", "neural")}
    found = {name: str(path) for name, path in paths.items() if path.exists()}
    return found | {"result": str(run.folder / "result.json"), "report": str(run.folder / "report.html")}


def fits(
    run: Run, reference: str, steps: dict[str, dict[str, Any]], best: int, dataset: Dataset | None
) -> dict[str, Any]:
    """Return how well evaluators predict held-out games: those that were fitted, and the reference beside them."""
    named = {"linear": f"fit-linear-{best}", "neural": "fit-neural"}
    found = {name: steps[step] for name, step in named.items() if step in steps}
    by_hand = parse_evaluator(reference, run.game)
    if dataset is not None and isinstance(by_hand, FeatureEval):
        found[reference] = {"metrics": measure(predictor(by_hand), dataset).to_json()}
    return found


def weights(champion: FeatureEval, dataset: Dataset | None) -> dict[str, Any]:
    """Return the weights of the linear evaluator, and how much each feature varies in the records."""
    tensors = champion.tensors()
    spread = {} if dataset is None else {"spread": feature_spread(dataset)}
    return {
        "features": list(champion.game.feature_names),
        "weights": tensors["weights"].tolist(),
        "bias": tensors["bias"].tolist(),
        **spread,
    }


def feature_spread(dataset: Dataset) -> list[float]:
    """Return the standard deviation of each feature in the records."""
    n, total, squares = 0, np.zeros(dataset.n_features), np.zeros(dataset.n_features)
    for batch in dataset.batches("train"):
        x = batch.features.astype(np.float64)
        n, total, squares = n + len(x), total + x.sum(axis=0), squares + (x**2).sum(axis=0)
    spread: list[float] = np.sqrt(np.maximum(squares / n - (total / n) ** 2, 0)).tolist()
    return spread
