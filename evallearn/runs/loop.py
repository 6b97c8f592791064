"""The whole loop: the best hand-written heuristic, generations of learning, a neural evaluator, then the ladder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evallearn.agents import RandomAgent, SearchAgent, parse_evaluator
from evallearn.core.checked import write_checked
from evallearn.core.digest import weights_mark
from evallearn.core.evaluator import Evaluator
from evallearn.core.locks import hold_folder
from evallearn.core.search import Limits
from evallearn.core.shapes import ALL, has_shape
from evallearn.core.workers import keep_workers
from evallearn.evaluators import FeatureEval
from evallearn.insight import alarms_about
from evallearn.runs.fitting import Move
from evallearn.runs.generations import evolve, measure_strength
from evallearn.runs.rows import reversed_row
from evallearn.runs.run import Run
from evallearn.runs.summary import summarise


def learn(run: Run) -> dict[str, Any]:
    """Run every step; return (and write as result.json) what the report shows. Raises DataError for a folder in use."""
    with hold_folder(run.folder), keep_workers():
        return _learn(run)


def _learn(run: Run) -> dict[str, Any]:
    run.open()
    reference, rows = find_reference(run, run.match_limits)
    history = evolve(run, reference)
    run.keep(history.champion, "linear")
    rows.append({**history.row, "name": "linear"})
    learned: dict[str, FeatureEval] = {"linear": history.champion}
    neural = fit_neural(run, history.last)
    if neural is not None:
        rows.append(measure_strength(run, neural, reference))
        learned["neural"] = neural
    timed = equal_time(run, learned, reference)
    alarms = find_alarms(run, learned, history.last)
    result = summarise(run, reference.name.partition("@")[0], rows, timed, history) | {"alarms": alarms}
    write_checked(run.folder / "result.json", result)
    return result


def fit_neural(run: Run, last: int) -> FeatureEval | None:
    """Fit a neural evaluator to the records that taught the last generation; None if it learned without any."""
    if run.dataset(last) is None:
        return None
    return run.fit("neural", run.kept(last), "mlp")[0]


def find_alarms(run: Run, learned: Mapping[str, FeatureEval], last: int) -> list[dict[str, str]]:
    """Return signs of errors in the records or the evaluators; nothing where there are no records to check."""
    dataset, of = run.dataset(last), {name: weights_mark(e) for name, e in learned.items()}
    if dataset is None:
        return []

    def work(move: Move) -> dict[str, Any]:
        return {"of": of, "alarms": alarms_about(dataset, learned)}

    def whole(found: dict[str, Any]) -> bool:
        return found.get("of") == of and has_shape(found, {"alarms": [{ALL: str}]})

    found: list[dict[str, str]] = run.once("alarms", "alarms", work, whole)["alarms"]
    return found


def find_reference(run: Run, limits: Limits) -> tuple[SearchAgent, list[dict[str, Any]]]:
    """Find the best hand-written heuristic by matches; return it, and the ladder's rows of the others and of random."""
    game = run.game
    names = [f"handwritten:{h}" for h in game.baselines] or ["zero"]
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


def equal_time(run: Run, learned: Mapping[str, Evaluator], reference: SearchAgent) -> list[dict[str, Any]]:
    """Play the learned evaluators against the reference with the same time for each move."""
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
