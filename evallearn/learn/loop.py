"""The whole loop: self-play -> records -> fit -> match, generation after generation, then the ladder."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from evallearn import __version__
from evallearn.agents import RandomAgent, SearchAgent, parse_evaluator
from evallearn.atomic import write_json
from evallearn.data import Dataset
from evallearn.evaluators import FeatureEval, load_evaluator
from evallearn.learn.run import Run, read_object, reversed_row
from evallearn.protocols import Evaluator, Limits
from evallearn.train import measure, predictor
from evallearn.workers import keep_workers


def learn(run: Run) -> dict[str, Any]:
    """Do all of it; returns (and writes as result.json) what the report shows."""
    with keep_workers():
        return _learn(run)


def _learn(run: Run) -> dict[str, Any]:
    run.open()
    game, config = run.game, run.config
    depth = Limits(depth=config.match_depth)
    reference, rows = find_reference(run, depth)
    rival = reference.name.partition("@")[0]
    evaluator: Evaluator = parse_evaluator("zero", game)
    generations, last = [], config.generations - 1
    for generation in range(config.generations):
        played = run.selfplay(generation, evaluator)
        name = "linear" if generation == last else f"linear-{generation}"
        # The first generation knows nothing: its games teach the next one, and are then left behind.
        evaluator, fitted = run.fit(name, list(range(min(generation, 1), generation + 1)), "logistic")
        row = run.match(
            SearchAgent(game, evaluator, depth, name=f"{name}@{depth}"), reference, config.match_pairs,
            f"match {name} - {rival}",
        )  # fmt: skip
        losses = {k: fitted["metrics"][k] for k in ("log_loss", "baseline_log_loss")}
        curve = {k: row[k] for k in ("elo", "low", "high")}
        generations.append(
            {"generation": generation, **{k: v for k, v in played.items() if k != "seconds"}, **curve, **losses}
        )
        if generation == last:
            rows.append(row)
    neural, _ = run.fit("neural", list(range(min(last, 1), last + 1)), "mlp")
    rows.append(
        run.match(SearchAgent(game, neural, depth, name=f"neural@{depth}"), reference, config.match_pairs,
                  f"match neural - {rival}")
    )  # fmt: skip
    timed = equal_time(run, {"linear": evaluator, "neural": neural}, reference)
    result = summarise(run, rival, rows, timed, generations)
    write_json(run.folder / "result.json", result)
    return result


def find_reference(run: Run, limits: Limits) -> tuple[SearchAgent, list[dict[str, Any]]]:
    """The best hand-written heuristic, by matches among them; and the ladder's rows of the others and of random."""
    game = run.game
    names = [f"handwritten:{h}" for h in game.heuristics] or ["zero"]
    agents = {n: SearchAgent(game, parse_evaluator(n, game), limits, name=f"{n}@{limits}") for n in names}
    best = names[0]

    def row(a: str, b: str) -> dict[str, Any]:
        return run.match(agents[a], agents[b], run.config.match_pairs, f"match {a} - {b}")

    for name in names[1:]:
        if row(best, name)["score"] < 0.5:
            best = name
    rows = [run.match(RandomAgent(game), agents[best], max(1, run.config.match_pairs // 5), f"match random - {best}")]
    for name in names:
        if name != best:
            later = names.index(name) > names.index(best)
            rows.append(reversed_row(row(best, name)) if later else row(name, best))
    rows.append({"name": best, "elo": 0.0, "low": 0.0, "high": 0.0, "score": 0.5, "games": 0, "distinct_games": 0,
                 "wins": 0, "draws": 0, "losses": 0, "limit": str(limits)})  # fmt: skip
    return agents[best], rows


def equal_time(run: Run, learned: dict[str, Evaluator], reference: SearchAgent) -> list[dict[str, Any]]:
    """The learned Evals against the reference with the same time for each move."""
    limits = Limits(seconds=run.config.match_milliseconds / 1000)
    name = reference.name.partition("@")[0]
    opponent = SearchAgent(run.game, reference.evaluator, limits, name=f"{name}@{limits}")
    pairs = max(1, run.config.match_pairs // 5)
    return [
        run.match(
            SearchAgent(run.game, e, limits, name=f"{n}@{limits}"), opponent, pairs, f"match {n} - {name}, equal time"
        )
        for n, e in learned.items()
    ]


def summarise(
    run: Run, reference: str, rows: list[dict[str, Any]], timed: list[dict[str, Any]], generations: list[dict[str, Any]]
) -> dict[str, Any]:
    """The result of the run, in plain JSON types."""
    found = {p.stem: read_object(p) for p in sorted((run.folder / "steps").glob("*.json"))}
    steps = {name: step for name, step in found.items() if step is not None and "seconds" in step}
    last = run.config.generations - 1
    dataset = Dataset([run.records(g) for g in range(min(last, 1), last + 1)], game=run.game)
    linear = load_evaluator(run.folder / "evaluators" / "linear.safetensors", run.game)
    by_hand = parse_evaluator(reference, run.game)
    assert isinstance(by_hand, FeatureEval)
    fits = {name: steps[f"fit-{name}"] for name in ("linear", "neural")}
    fits[reference] = {"metrics": measure(predictor(by_hand), dataset).to_json()}
    files = {name: str(run.folder / "evaluators" / f"{name}.safetensors") for name in ("linear", "neural")}
    files |= {"result": str(run.folder / "result.json"), "report": str(run.folder / "report.html")}
    tensors = linear.tensors()
    return {
        "evallearn": __version__,
        "game": run.game.name,
        "run": str(run.folder),
        "seed": run.config.seed,
        "command": run.command,
        "settings": {**asdict(run.config), "random_plies": run.opening_plies},
        "records": sum(g["records"] for g in generations),
        "seconds": {name: step["seconds"] for name, step in steps.items()},
        "files": files,
        "reference": reference,
        "ladder": sorted(rows, key=lambda r: r["elo"]),
        "equal_time": timed,
        "generations": generations,
        "fits": fits,
        "weights": {
            "features": list(run.game.feature_names),
            "weights": tensors["weights"].tolist(),
            "bias": tensors["bias"].tolist(),
            "spread": feature_spread(dataset),
        },
    }


def feature_spread(dataset: Dataset) -> list[float]:
    """The standard deviation of each feature in the records."""
    n, total, squares = 0, np.zeros(dataset.n_features), np.zeros(dataset.n_features)
    for batch in dataset.batches("train"):
        x = batch.features.astype(np.float64)
        n, total, squares = n + len(x), total + x.sum(axis=0), squares + (x**2).sum(axis=0)
    spread: list[float] = np.sqrt(np.maximum(squares / n - (total / n) ** 2, 0)).tolist()
    return spread
