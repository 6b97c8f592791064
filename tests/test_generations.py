"""Gates: who takes whose place, when a run ends early, what is told; and runs without records."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from evallearn import LinearEval, get_game
from evallearn.core.evaluator import Evaluator
from evallearn.report import render
from evallearn.runs import LearnConfig, Run
from evallearn.runs.generations import History, agent, evolve
from evallearn.runs.loop import fit_neural
from evallearn.runs.summary import fits, weights

GAME = get_game("tic_tac_toe")


class Scripted(Run):
    """A run whose gates end as they are told to; nothing is played."""

    def __init__(self, los: list[float], **settings: Any) -> None:
        super().__init__(GAME, Path("nowhere"), LearnConfig(**{"generations": len(los), **settings}))
        self.los = los
        self.asked: list[tuple[str, str, int | None]] = []

    def candidate(self, generation: int, incumbent: Evaluator) -> Any:
        return named(f"linear-{generation}"), {"games": 100, "generator": incumbent.name}

    def match(self, a: Any, b: Any, pairs: int, title: str, *, kind: str = "match", seed: int | None = None) -> Any:
        self.asked.append((a.name, b.name, seed))
        los = self.los[int(kind.partition("-")[2])] if kind.startswith("gate") else 0.5
        row = {"elo": 1.0, "low": 0.0, "high": 2.0, "los": los, "name": a.name, "opponent": b.evaluator.name}
        return row | dict.fromkeys(("games", "distinct_games", "wins", "draws", "losses"), 2)


def named(name: str) -> LinearEval:
    zero = LinearEval.zero(GAME)
    return LinearEval(GAME, zero.weights, zero.bias, {"name": name})


def ran(los: list[float], **settings: Any) -> tuple[Scripted, History]:
    run = Scripted(los, **settings)
    reference = agent(run, LinearEval.from_heuristic(GAME, "lines"))
    return run, evolve(run, reference)


def test_only_who_is_surely_better_takes_the_incumbents_place() -> None:
    _, found = ran([0.99, 0.95, 0.96, 0.1])
    assert [g["promoted"] for g in found.generations] == [True, False, True, False]
    assert [g["generator"] for g in found.generations] == ["zero", "linear-0", "linear-0", "linear-2"]
    assert [g["gate"]["opponent"] for g in found.generations] == ["zero", "linear-0", "linear-0", "linear-2"]
    assert (found.champion.name, found.best, found.last, found.stopped) == ("linear-2", 2, 3, None)


def test_the_first_takes_the_place_of_no_knowledge_in_any_case() -> None:
    _, found = ran([0.01, 0.5])
    assert [g["promoted"] for g in found.generations] == [True, False]


def test_with_a_gate_of_one_half_any_lead_will_do() -> None:
    _, found = ran([0.9, 0.51, 0.5], gate=0.5)
    assert [g["promoted"] for g in found.generations] == [True, True, False]


def test_a_run_ends_when_generations_in_a_row_bring_nothing() -> None:
    _, found = ran([1.0, 0.5, 1.0, 0.5, 0.5, 1.0], patience=2)
    assert len(found.generations) == 5
    assert found.stopped == "stopped after 5 generations: 2 in a row brought no better Eval"
    assert ran([1.0, 0.5, 0.5], patience=2)[1].stopped is None


def test_every_gate_has_openings_of_its_own_and_the_ladder_others() -> None:
    run, _ = ran([1.0, 1.0, 0.5])
    gates, ladder = [s for _, _, s in run.asked if s is not None], [s for _, _, s in run.asked if s is None]
    assert len(set(gates)) == 3
    assert len(ladder) == 3
    assert run.config.seed not in gates


def test_a_run_without_records_has_neither_a_neural_eval_nor_spreads(tmp_path: Path) -> None:
    run = Run(GAME, tmp_path, LearnConfig())
    assert run.dataset(2) is None
    assert fit_neural(run, 2) is None
    assert fits(run, "handwritten:lines", {}, 2, None) == {}
    told = weights(LinearEval.from_heuristic(GAME, "lines"), None)
    assert "spread" not in told
    assert "Shown are the raw weights" in render({"game": "tic_tac_toe", "weights": told})


def test_the_page_shows_gates_and_why_a_run_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    number = count()
    for name in ("elo_curve", "gate_plot"):
        monkeypatch.setattr(f"evallearn.report.plots.{name}", lambda *a: f"<svg>{next(number)}</svg>")
    _, found = ran([1.0, 0.5, 0.5, 1.0], patience=2)
    result = {"generations": found.generations, "champion": found.best, "stopped": found.stopped}
    page = render(result)
    assert "1 of 3 took their incumbent's place" in page.replace("&#x27;", "'")
    assert "The run stopped after 3 generations: 2 in a row brought no better Eval." in page
    assert page.count("not promoted</span>") == 2
    assert page.count("<svg") == 2
