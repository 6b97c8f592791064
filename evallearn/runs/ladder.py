"""The whole run: the reference, the stages, the ladder, what is written at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evallearn.agents import RandomAgent, SearchAgent, parse_evaluator
from evallearn.core.digest import weights_mark
from evallearn.core.evaluator import Evaluator
from evallearn.core.json_shapes import ALL, has_shape
from evallearn.core.search import Limits
from evallearn.data import Dataset
from evallearn.evaluators import FeatureEval
from evallearn.insight import alarms_about
from evallearn.runs.fitting import Move
from evallearn.runs.result import Row
from evallearn.runs.run import Run


@dataclass(frozen=True)
class Reference:
    """The best hand-written heuristic, and the ladder's rows of the others and of random."""

    agent: SearchAgent
    rows: list[Row]

    @property
    def name(self) -> str:
        return self.agent.name.partition("@")[0]

    def meet(self, run: Run, evaluator: Evaluator) -> Row:
        """Play an evaluator against the reference, at equal depth."""
        ladder = run.recipe.ladder
        player = run.agent(evaluator, run.limits(ladder.depth))
        return run.match(player, self.agent, ladder.pairs, f"match {evaluator.name} - {self.name}")


def find_reference(run: Run) -> Reference:
    """Find the best hand-written heuristic by matches."""
    game, pairs, limits = run.game, run.recipe.ladder.pairs, run.limits(run.recipe.ladder.depth)
    names = [f"handwritten:{h}" for h in game.baselines] or ["zero"]
    agents = {n: SearchAgent(game, parse_evaluator(n, game), limits, name=f"{n}@{limits}") for n in names}
    best = names[0]

    def row(a: str, b: str) -> Row:
        return run.match(agents[a], agents[b], pairs, f"match {a} - {b}")

    for name in names[1:]:
        if row(best, name).score < 0.5:
            best = name
    rows = [run.match(RandomAgent(game), agents[best], max(1, pairs // 5), f"match random - {best}")]
    for name in names:
        if name != best:
            later = names.index(name) > names.index(best)
            rows.append(row(best, name).reversed() if later else row(name, best))
    return Reference(agents[best], [*rows, Row.reference(best, str(limits))])


def equal_time(run: Run, learned: Mapping[str, Evaluator], reference: Reference) -> list[Row]:
    """Play the learned evaluators against the reference with the same time for each move."""
    ladder, name = run.recipe.ladder, reference.name
    limits = Limits(seconds=ladder.milliseconds / 1000)
    opponent = SearchAgent(run.game, reference.agent.evaluator, limits, name=f"{name}@{limits}")
    pairs = max(1, ladder.pairs // 5)
    return [
        run.match(
            SearchAgent(run.game, e, limits, name=f"{n}@{limits}"), opponent, pairs, f"match {n} - {name}, equal time"
        )
        for n, e in learned.items()
    ]


def find_alarms(run: Run, learned: Mapping[str, FeatureEval], dataset: Dataset | None) -> list[dict[str, str]] | None:
    """Return signs of errors in the records or the evaluators; None where there are no records to check."""
    if dataset is None:
        return None
    of = {name: weights_mark(e) for name, e in learned.items()}

    def work(move: Move) -> dict[str, Any]:
        return {"of": of, "alarms": alarms_about(dataset, learned)}

    def whole(found: dict[str, Any]) -> bool:
        return found.get("of") == of and has_shape(found, {"alarms": [{ALL: str}]})

    found: list[dict[str, str]] = run.once("alarms", "alarms", work, whole)["alarms"]
    return found
