"""Generation after generation: learn from the incumbent's games, play a match against it, take its place or not.

candidate    what a generation learns, from games of the incumbent
gate         a match, candidate against incumbent, on openings of its own
promoted     the match has made it sure enough that the candidate is better (LearnConfig.gate)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from evallearn.agents import SearchAgent, parse_evaluator
from evallearn.core.evaluator import Evaluator
from evallearn.evaluators import FeatureEval
from evallearn.runs.run import Run

INTERVAL = ("elo", "low", "high")
GATE = (*INTERVAL, "los", "opponent", "games", "distinct_games", "wins", "draws", "losses")


@dataclass(frozen=True)
class History:
    """All generations that were run, and the evaluator that nobody replaced."""

    champion: FeatureEval
    row: dict[str, Any]
    """Its match against the best hand-written heuristic."""
    generations: list[dict[str, Any]]
    stopped: str | None
    """Why the run ended before its last generation; None if it did not."""

    @property
    def best(self) -> int:
        """The generation of the champion."""
        return max(int(g["generation"]) for g in self.generations if g["promoted"])

    @property
    def last(self) -> int:
        """The last generation that was run."""
        return int(self.generations[-1]["generation"])


def evolve(run: Run, reference: SearchAgent) -> History:
    """Run the generations, each measured against its incumbent and against the same reference."""
    incumbent: Evaluator = parse_evaluator("zero", run.game)
    generations: list[dict[str, Any]] = []
    champion = None
    for generation in range(run.config.generations):
        candidate, facts = run.candidate(generation, incumbent)
        gate = play_gate(run, generation, candidate, incumbent)
        row = measure_strength(run, candidate, reference)
        # There must be something to keep, so the first one takes the place of the zero evaluator in any case.
        promoted = generation == 0 or gate["los"] > run.config.gate
        told = {"promoted": promoted, **{k: row[k] for k in INTERVAL}, "gate": {k: gate[k] for k in GATE}}
        generations.append({"generation": generation, **facts, **told})
        if promoted:
            incumbent, champion = candidate, (candidate, row)
        if idle(generations) >= run.config.patience:
            break
    assert champion is not None
    return History(*champion, generations, early_end(run, generations))


def play_gate(run: Run, generation: int, candidate: Evaluator, incumbent: Evaluator) -> dict[str, Any]:
    """Play the match that decides.

    Its openings are drawn for this generation alone: a candidate that is lucky with some openings keeps no
    advantage in the next gate, nor in the ladder, whose openings are others.
    """
    a, b = (agent(run, e) for e in (candidate, incumbent))
    title = f"gate {generation}: {candidate.name} - {incumbent.name}"
    seed = run.config.seed * 1000 + 1 + generation
    return run.match(a, b, run.config.match_pairs, title, kind=f"gate-{generation}", seed=seed)


def measure_strength(run: Run, evaluator: Evaluator, reference: SearchAgent) -> dict[str, Any]:
    """Play the evaluator against the reference, at equal depth."""
    title = f"match {evaluator.name} - {reference.name.partition('@')[0]}"
    return run.match(agent(run, evaluator), reference, run.config.match_pairs, title)


def agent(run: Run, evaluator: Evaluator) -> SearchAgent:
    """Return the evaluator as a player of the run's matches."""
    limits = run.match_limits
    return SearchAgent(run.game, evaluator, limits, name=f"{evaluator.name}@{limits}")


def idle(generations: list[dict[str, Any]]) -> int:
    """Count the generations in a row, up to the last, that brought nothing."""
    return len(list(takewhile(lambda g: not g["promoted"], reversed(generations))))


def early_end(run: Run, generations: list[dict[str, Any]]) -> str | None:
    """Say why there are fewer generations than were asked for."""
    if len(generations) == run.config.generations:
        return None
    return f"stopped after {len(generations)} generations: {idle(generations)} in a row brought no better Eval"
