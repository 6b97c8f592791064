"""Games through other eyes: evaluators that see backgammon differently play the same game."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evallearn import get_game
from evallearn.agents import parse_agent
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import EvaluatorError, SearchError, SpecError
from evallearn.evaluators import LinearEval, load_evaluator, save
from evallearn.search import Expectiminimax

RICH, RAW = get_game("backgammon"), get_game("backgammon,features=tesauro")


def test_a_game_is_seen_through_other_eyes_if_only_a_view_differs() -> None:
    assert RICH.plays == RAW.plays == ("backgammon", frozenset())
    assert RICH.seen_as(RAW.name).feature_names == RAW.feature_names
    assert RAW.seen_as("backgammon").feature_names == RICH.feature_names
    assert RICH.seen_as("backgammon") is RICH
    assert RICH.seen_as("pig") is RICH
    five, seven = get_game("matches,piles=5"), get_game("matches,piles=7")
    assert five.plays != seven.plays
    assert five.seen_as(seven.name) is five
    with pytest.raises(SpecError, match="unknown backgammon features 'teasuro': did you mean 'tesauro'"):
        RICH.seen_as("backgammon,features=teasuro")


@pytest.mark.parametrize("backend", ["python", pytest.param("compiled", marks=pytest.mark.long)])
def test_a_file_of_another_view_loads_and_searches(backend: str, tmp_path: Path) -> None:
    raw = LinearEval(RAW, np.zeros((3, 198)), np.zeros(3))
    path = save(raw, tmp_path / "raw.safetensors")
    found = load_evaluator(path, RICH)
    assert found.game.name == RAW.name
    assert Expectiminimax(RICH, found, backend="python").game is RICH
    agent = parse_agent(f"expectiminimax,backend={backend}:{path}@depth=1", RICH, trust=FULL_TRUST)
    s = RICH.from_text("4HPwATDgc/ABMA:31")
    assert agent.choose(s, seed=1).action in RICH.actions(s)
    with pytest.raises(EvaluatorError, match="is an evaluator of backgammon,features=tesauro, not of pig"):
        load_evaluator(path, get_game("pig"))


def test_an_eval_of_other_rules_is_still_refused() -> None:
    other = LinearEval.zero(get_game("pig"))
    with pytest.raises(SearchError, match="evaluator is of pig, not of backgammon: choose another"):
        Expectiminimax(RICH, other)
