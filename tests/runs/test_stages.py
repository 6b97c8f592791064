"""Gates: who takes whose place, when a run ends early, what is told; and runs without records."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from evallearn import LinearEval, get_game, heuristic
from evallearn.agents import SearchAgent
from evallearn.core.digest import weights_mark
from evallearn.core.search import Limits
from evallearn.data import Dataset, RecordSettings, generate_records
from evallearn.evaluators import load_evaluator
from evallearn.report import render
from evallearn.runs import Recipe, Run, fit_evaluator, learn, stages
from evallearn.runs.ladder import Reference
from evallearn.runs.result import Row, weights_of
from evallearn.runs.stages import Course, run_stages

GAME = get_game("tic_tac_toe")
MET = replace(Row.reference("b", "depth=1"), low=-1.0, high=1.0, games=2)


class Scripted(Run):
    """A run whose gates end as they are told to; nothing is played."""

    def __init__(self, los: list[float], **settings: Any) -> None:
        given = {"gate.generations": len(los), **{f"gate.{k}": v for k, v in settings.items()}}
        super().__init__(GAME, Path("nowhere"), Recipe.load("online", GAME, given))
        self.los = los
        self.asked: list[tuple[str, str, int | None]] = []

    def match(self, a: Any, b: Any, pairs: int, title: str, *, kind: str = "match", seed: int | None = None) -> Row:
        self.asked.append((a.name, b.name, seed))
        los = self.los[int(kind.partition("-")[2])] if kind.startswith("gate") else 0.5
        return replace(MET, name=a.name, opponent=b.evaluator.name, los=los)

    def keep(self, evaluator: Any, name: str) -> None: ...


def named(name: str) -> LinearEval:
    zero = LinearEval.zero(GAME)
    return LinearEval(GAME, zero.weights, zero.bias, {"name": name})


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Any:
    """ran(los, **settings): the run, and how it went."""

    def learned_by(course: Course, stage: Any, name: str) -> LinearEval:
        course.facts |= {"games": 100, "generator": course.previous.name if course.previous else "zero"}
        return named(name)

    monkeypatch.setattr(stages, "learned_by", learned_by)

    def run_it(los: list[float], **settings: Any) -> tuple[Scripted, Course]:
        run = Scripted(los, **settings)
        by_hand = heuristic(GAME, "lines")
        course = Course(run, Reference(run.agent(by_hand, run.limits(1)), []))
        run_stages(course)
        return run, course

    return run_it


def test_only_who_is_surely_better_takes_the_incumbents_place(ran: Any) -> None:
    _, found = ran([0.99, 0.95, 0.96, 0.1])
    assert [g.promoted for g in found.generations] == [True, False, True, False]
    assert [g.generator for g in found.generations] == ["zero", "linear-0", "linear-0", "linear-2"]
    assert [g.gate.opponent for g in found.generations] == ["zero", "linear-0", "linear-0", "linear-2"]
    assert (found.learned["linear"].name, found.number, found.stopped) == ("linear-2", 3, None)


def test_the_first_takes_the_place_of_no_knowledge_in_any_case(ran: Any) -> None:
    _, found = ran([0.01, 0.5])
    assert [g.promoted for g in found.generations] == [True, False]


def test_with_a_gate_of_one_half_any_lead_will_do(ran: Any) -> None:
    _, found = ran([0.9, 0.51, 0.5], promote_above=0.5)
    assert [g.promoted for g in found.generations] == [True, True, False]


def test_a_run_ends_when_generations_in_a_row_bring_nothing(ran: Any) -> None:
    _, found = ran([1.0, 0.5, 1.0, 0.5, 0.5, 1.0], patience=2)
    assert len(found.generations) == 5
    assert found.stopped == "stopped after 5 generations: 2 in a row brought no better evaluator"
    assert ran([1.0, 0.5, 0.5], patience=2)[1].stopped is None


def test_every_gate_has_openings_of_its_own_and_the_ladder_others(ran: Any) -> None:
    run, _ = ran([1.0, 1.0, 0.5])
    gates, ladder = [s for _, _, s in run.asked if s is not None], [s for _, _, s in run.asked if s is None]
    assert len(set(gates)) == 3
    assert len(ladder) == 3
    assert run.seed not in gates


def test_weights_without_records_have_no_spreads() -> None:
    told = weights_of(heuristic(GAME, "lines"), None)
    assert told.spread == []
    assert "Shown are the raw weights" in render({"game": "tic_tac_toe", "weights": told.to_json()})


def test_the_page_shows_gates_and_why_a_run_ended(ran: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    number = count()
    for name in ("elo_curve", "gate_plot"):
        monkeypatch.setattr(f"evallearn.report.plots.{name}", lambda *a: f"<svg>{next(number)}</svg>")
    _, found = ran([1.0, 0.5, 0.5, 1.0], patience=2)
    generations = [g.to_json() for g in found.generations]
    result = {"generations": generations, "champion": 3, "stopped": found.stopped}
    page = render(result)
    assert "1 of 3 took their incumbent's place" in page.replace("&#x27;", "'")
    assert "The run stopped after 3 generations: 2 in a row brought no better evaluator." in page
    assert page.count("not promoted</span>") == 2
    assert page.count("<svg") == 2


# --- without a gate --------------------------------------------------------------------------------------------------
TWO = """
help = "Two generations, the second from the games of both."
[[stage]]
verb = "generate"
player = "handwritten:lines"
games = 30
nodes = 20
opening_plies = 3
seed_offset = 0
[[stage]]
verb = "fit"
[[stage]]
verb = "generate"
games = 20
nodes = 20
opening_plies = 3
seed_offset = 1000
[[stage]]
verb = "fit"
target = "blend"
outcome_share = 0.2
tapered = true
generations = 2
"""


def test_stages_are_what_a_script_would_do(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO)
    result = learn("tic_tac_toe", tmp_path / "two.toml", seed=3, folder=tmp_path / "run")
    player: Any = heuristic(GAME, "lines")
    folders = [tmp_path / "0", tmp_path / "1"]
    for number, (folder, games, seed) in enumerate(zip(folders, (30, 20), (3, 1003), strict=True)):
        agent = SearchAgent(GAME, player, Limits(nodes=20), random_ties=True)
        settings = RecordSettings(games=games, seed=seed, opening_plies=3, epsilon=0.02)
        generate_records(folder, GAME, [agent] * 2, settings)
        more: Any = {"target": "blend", "outcome_share": 0.2, "tapered": True} if number else {}
        dataset = Dataset(folders[: number + 1], game=GAME)
        player, _ = fit_evaluator("logistic", dataset, GAME, seed=3, metadata={}, **more)
    found = load_evaluator(result.files["linear"], GAME)
    assert isinstance(found, LinearEval)
    assert found.weights.tobytes() == player.weights.tobytes()
    assert {p.stem for p in (tmp_path / "run/evaluators").iterdir()} == {"linear-0", "linear"}
    assert (result.games, result.ladder, result.generations, result.champion) == (50, [], [], None)
    assert "linear" in result.fits


def test_every_evaluator_and_all_records_have_a_place_of_their_own(tmp_path: Path) -> None:
    play, fit = '{ verb = "generate", games = 30, depth = 1 }', '{ verb = "fit", method = "METHOD" }'
    fits = [fit.replace("METHOD", method) for method in ("logistic", "ridge", "sgd")]
    gate = '{ verb = "gate", generations = 2, pairs = 2, depth = 1 }'
    stages = [play, *fits, play, play, *fits[:2], gate, fits[2]]
    (tmp_path / "own.toml").write_text(f'help = "x"\nstage = [{", ".join(stages)}]\n')
    result = learn("tic_tac_toe", tmp_path / "own.toml", folder=tmp_path / "run")
    files = sorted((tmp_path / "run/evaluators").iterdir())
    marks = {weights_mark(load_evaluator(path, GAME)) for path in files}
    assert (len(files), len(marks)) == (12, 11)  # the last one stands by its name alone, too
    assert len(list((tmp_path / "run").glob("generation-*"))) == 6
    assert learn("tic_tac_toe", tmp_path / "own.toml", folder=tmp_path / "run") == result
