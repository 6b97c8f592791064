"""Where people with scripts stumble: what is handed in wrongly, what objects print, what `help` tells."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

import evallearn as ev
from evallearn.search.alphabeta.options import Options
from evallearn.train import ArrayStream

GAME: Any = ev.get_game("tic_tac_toe")
FOUR: Any = ev.get_game("connect_four")
ZERO: Any = ev.LinearEval.zero(GAME)
LIMITS = ev.Limits(depth=1)
FEW = ev.MatchSettings(pairs=2)


def anything(*arguments: Any) -> Any:
    """Return 0: a function where an evaluator or an agent is wanted."""
    return 0.0


def fitted(game: ev.Game, columns: int = 0) -> Any:
    """Return a trainer that was fitted to arrays, as wide as the game's features."""
    rng = np.random.default_rng(1)
    n = columns or len(game.feature_names)
    return ev.LinearFitter().fit(rng.normal(size=(50, n)), rng.choice([-1.0, 1.0], 50))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "function as evaluator": (
        lambda: ev.AlphaBeta(GAME, anything),
        "function as its evaluator: write FunctionEval(game, function)",
    ),
    "function as evaluator of max^n": (lambda: ev.MaxN(GAME, anything), "write FunctionEval(game, function)"),
    "function as evaluator of MCTS": (lambda: ev.MCTS(GAME, anything), "write FunctionEval(game, function)"),
    "function as evaluator of an agent": (lambda: ev.SearchAgent(GAME, anything), "write FunctionEval(game, function)"),
    "name as evaluator": (lambda: ev.AlphaBeta(GAME, "lines"), "given a str as its evaluator: write heuristic"),
    "name as game": (lambda: ev.AlphaBeta("othello", ZERO), "given 'othello' as its game: give get_game('NAME')"),
    "order of arguments": (lambda: ev.Minimax(ZERO, GAME), "given a LinearEval as its game: give get_game('NAME')"),
    "unknown option": (
        lambda: ev.AlphaBeta(GAME, ZERO, tabel=False),
        "unknown option of alphabeta 'tabel': did you mean",
    ),
    "number as limits": (lambda: ev.SearchAgent(GAME, ZERO, 4), "limits=4: give Limits(depth=4)"),
    "evaluator as text": (
        lambda: ev.parse_agent(ZERO, GAME),
        "is an evaluator, no agent: write SearchAgent(game, evaluator,",
    ),
    "evaluator as agent": (
        lambda: ev.play_match(GAME, ZERO, "random"),
        "an evaluator, no agent: write SearchAgent(game, evaluator,",
    ),
    "function as agent": (
        lambda: ev.play_match(GAME, anything, "random"),
        "SearchAgent(game, FunctionEval(game, function))",
    ),
    "list of agents": (
        lambda: ev.play_match(GAME, ["random", "random"], FEW),
        "a list is no agent: give an Agent, or a text",
    ),
    "terms in the wrong place": (
        lambda: ev.play_match(GAME, "random", "random", 5),
        "config=5: give MatchSettings(pairs=...)",
    ),
    "file as agent": (
        lambda: ev.play_match(GAME, "a.safetensors", "random"),
        "opens a file, which a text in a file may not: parse_agent(text, game, trust=evallearn.FULL_TRUST) allows it",
    ),
    "too few columns": (
        lambda: fitted(GAME, 2).evaluator(GAME),
        "fitted on 2 features, tic_tac_toe v1 computes 5: compute all of tic_tac_toe v1, in its order, and refit",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_handed_in_wrongly_is_told_what_to_write(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(ev.EvallearnError) as caught:
        call()
    assert message in str(caught.value)
    assert len(str(caught.value)) < 275


def test_texts_are_agents_wherever_agents_play(tmp_path: Path) -> None:
    assert ev.play_match(GAME, "random", "handwritten:lines@depth=1", FEW).games == 4
    assert ev.play_tournament(GAME, ["random", "zero@depth=1", ev.RandomAgent(GAME, "other")], FEW).names[0] == "random"
    assert ev.generate_records(tmp_path, GAME, ["random", "random"], ev.RecordSettings(games=3)).games == 3


@pytest.mark.parametrize("game", [GAME, ev.get_game("othello")], ids=lambda game: game.name)
def test_what_was_fitted_to_arrays_is_an_eval_of_every_phase(game: ev.Game) -> None:
    trainer = fitted(game)
    found = trainer.evaluator(game)
    assert found.weights.shape == (game.n_phases, len(game.feature_names))
    np.testing.assert_array_equal(found.weights, np.repeat(trainer.weights_, game.n_phases, 0).astype(np.float32))


def test_an_eval_from_a_pipeline_is_named_by_its_model() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(50, len(GAME.feature_names))), rng.choice([-1.0, 1.0], 50)
    for model in (Ridge(), LogisticRegression()):
        for fit in (model.fit(x, y), make_pipeline(model).fit(x, y)):
            assert ev.LinearEval.from_sklearn(fit, GAME).name == type(model).__name__


# --- what objects print ----------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("records")
    ev.generate_records(found, GAME, ["random", "random"], ev.RecordSettings(games=200))
    return found


PRINTED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "game": (lambda _: GAME, "<game tic_tac_toe v1>"),
    "Evaluator": (lambda _: ZERO, "<LinearEval 'zero' of tic_tac_toe>"),
    "function": (lambda _: ev.FunctionEval(GAME, anything), "<FunctionEval 'anything' of tic_tac_toe>"),
    "search": (
        lambda _: ev.AlphaBeta(GAME, ZERO, backend="python"),
        "<AlphaBeta of tic_tac_toe with <LinearEval 'zero' of tic_tac_toe>, python>",
    ),
    "search without evaluator": (lambda _: ev.MCTS(GAME, backend="python"), "<MCTS of tic_tac_toe, python>"),
    "paranoid": (lambda _: ev.Paranoid(GAME, ZERO, backend="python"), "<Paranoid of tic_tac_toe with"),
    "agent": (
        lambda _: ev.SearchAgent(GAME, ZERO, LIMITS),
        "SearchAgent(game=<game tic_tac_toe v1>, evaluator=<Linear",
    ),
    "result": (lambda _: ev.Minimax(GAME, ZERO).search(GAME.initial(), LIMITS), "SearchResult(action="),
    "manifest": (
        lambda folder: ev.generate_records(folder, GAME, ["random", "random"], ev.RecordSettings(games=200)),
        "<records of tic_tac_toe: 200 games, ",
    ),
    "records": (ev.Dataset, "<Dataset of tic_tac_toe: 200 games, "),
    "arrays": (
        lambda _: ArrayStream(np.zeros((3, 2)), np.zeros(3), game=np.arange(3)),
        "<ArrayStream of 3 records of 2 features>",
    ),
    "metrics": (
        lambda folder: ev.measure(anything_of_features, ev.Dataset(folder)),
        "Metrics(split='test', n_records=",
    ),
    "match": (lambda _: ev.play_match(GAME, "random", "random", FEW), "<match of tic_tac_toe: random won "),
    "tournament": (
        lambda _: ev.play_tournament(GAME, ["random", "zero@depth=1"], FEW),
        "<tournament of tic_tac_toe: ",
    ),
    "solution": (lambda _: ev.solve(GAME), "<Solution of tic_tac_toe: 5,478 positions>"),
    "rules": (lambda _: GAME.rules, "<rules of 9 actions on a state of 2 words>"),
    "check": (lambda _: ev.check_game(GAME), "CheckReport("),
}


def anything_of_features(features: np.ndarray, phase: np.ndarray) -> np.ndarray:
    """Return 0 for every record."""
    return np.zeros(len(features))


@pytest.mark.parametrize("name", PRINTED)
def test_objects_print_what_they_are_in_a_line_or_three(name: str, folder: Path) -> None:
    make, begins = PRINTED[name]
    printed = repr(make(folder))
    assert printed.startswith(begins), printed
    assert " at 0x" not in printed
    assert len(printed) < 500


# --- what help tells -------------------------------------------------------------------------------------------------
def test_help_of_alphabeta_names_its_options_and_where_they_are_explained() -> None:
    told = inspect.getdoc(ev.AlphaBeta.__init__) or ""
    assert f"{Options.__module__}.{Options.__qualname__}" in told
    assert [f.name for f in fields(Options) if f.name not in told] == []


def test_every_public_function_and_class_has_help() -> None:
    things = [(name, getattr(ev, name)) for name in ev.__all__]
    silent = [n for n, thing in things if (inspect.isclass(thing) or inspect.isfunction(thing)) and not thing.__doc__]
    assert silent == []


def test_every_public_name_stands_in_the_page_for_scripts() -> None:
    page = (Path(__file__).parents[1] / "docs" / "python.md").read_text()
    results = {"Agent", "Analysis", "CheckReport", "Evaluator", "FULL_TRUST", "Search", "check_plan", "named_search"}
    known = set(re.findall(r"\w+", page)) | results
    assert [name for name in ev.__all__ if name not in known] == []
