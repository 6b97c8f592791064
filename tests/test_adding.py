"""Adding is small: a game, a search, a target and a model are a file or none, one line of a registry and one test."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from added.game import TwentyOne
from added.model import HashedModel, HashedOptions
from added.search import Greedy

from evallearn import Limits, check_game, get_game, heuristic, parse_agent
from evallearn.data import Dataset, RecordSettings, generate_records
from evallearn.games import GAMES
from evallearn.runs import Recipe, fit_evaluator
from evallearn.runs.models import MODELS
from evallearn.runs.stage_settings import SelfPlay
from evallearn.search.registry import SEARCHES
from evallearn.train.selfplay.trainer import SelfPlayTrainer
from evallearn.train.targets import TARGETS, Target

HERE = Path(__file__).parent
TTT = get_game("tic_tac_toe")


def test_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES, "twenty_one", "added.game:TwentyOne")
    game = get_game("twenty_one")
    assert isinstance(game, TwentyOne)
    assert check_game(game, games=3).positions > 20
    by_hand = parse_agent("handwritten:four@depth=3", game)
    assert by_hand.choose(game.from_text("15/1"), 1).action == 2  # leaves four


def test_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SEARCHES, "greedy", Greedy)  # type: ignore[arg-type]  # a Mapping to its readers
    agent = parse_agent("greedy:handwritten:lines@depth=1", TTT)
    assert agent.choose(TTT.from_text("XX.OO...."), 1).action == 2
    assert Greedy(TTT, heuristic(TTT, "lines")).search(TTT.from_text("XX.OO...."), Limits(depth=1)).exact


def test_target(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    generate_records(tmp_path, TTT, ["handwritten:lines@depth=2"] * 2, RecordSettings(games=60, opening_plies=2))
    dataset = Dataset(tmp_path, game=TTT)
    monkeypatch.setitem(TARGETS, "cautious", Target(backup="search", lambda_=0.0, outcome_share=0.9))
    found, expected = (
        fit_evaluator("ridge", dataset, TTT, seed=1, metadata={}, target=target, outcome_share=share)[0].tensors()
        for target, share in (("cautious", None), ("blend", 0.9))
    )
    assert found["weights"].tobytes() == expected["weights"].tobytes()


def test_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(MODELS, "hashed", HashedOptions)
    path = tmp_path / "own.toml"
    path.write_text('help = "x"\n[[stage]]\nverb = "selfplay"\ngames = 9\nmodel = { kind = "hashed", size = 1024 }\n')
    (stage,) = Recipe.load(path, TTT).stages
    assert isinstance(stage, SelfPlay)
    model = stage.model.build(TTT, None, 1)
    assert isinstance(model, HashedModel)
    training = SelfPlayTrainer(model).fit(games=20_000)
    assert len(model.weights) == 1024
    assert np.count_nonzero(model.weights) > 100
    assert training.evaluator.evaluate(TTT.from_text("XX.OO...."), 0) > 0.3


def test_pages_say_how_many_lines_each_took() -> None:
    page = (HERE.parent / "CONTRIBUTING.md").read_text()
    for name in ("game", "search", "model"):
        lines = len((HERE / "added" / f"{name}.py").read_text().splitlines())
        found = re.search(rf"`tests/added/{name}.py` \((\d+) lines\)", page)
        assert found is not None, name
        assert int(found[1]) == lines
