"""The benchmark of backgammon: pubeval on both backends, what the figures count, what is refused or missing."""

from __future__ import annotations

import importlib.util
import json
import random
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from evallearn import get_game, parse_agent
from evallearn.agents import RandomAgent
from evallearn.core.game import CHANCE
from evallearn.errors import DataError
from evallearn.evaluators import LinearEval, save
from evallearn.games.othello import Othello

FOLDER = Path(__file__).resolve().parents[3] / "benchmarks"
GAME = get_game("backgammon")
START = "4HPwATDgc/ABMA"


@pytest.fixture
def scripts(monkeypatch) -> tuple[ModuleType, ModuleType]:
    """backgammon_strength.py and pubeval.py, which it imports from its own folder."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("backgammon_strength"), importlib.import_module("pubeval")


def made_up_weights() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(2, 122))


def decisions(n: int) -> list:
    """Positions with a choice, of random games down to the end."""
    found, chance = [], random.Random(5)
    s = GAME.initial()
    while len(found) < n:
        s = GAME.initial() if GAME.is_terminal(s) else s
        if GAME.to_play(s) == CHANCE:
            s = GAME.result(s, chance.choice(GAME.chances(s))[0])
        else:
            found.append(s)
            s = GAME.result(s, chance.choice(GAME.actions(s)))
    return found


# --- pubeval ---------------------------------------------------------------------------------------------------------
def test_pubeval_moves_alike_on_both_backends(scripts):
    _, pubeval = scripts
    weights = made_up_weights()
    agent = pubeval.PubevalAgent(GAME, weights)
    for s in decisions(300):
        assert agent.choose(s, 1).action == pubeval.plain_move(s, weights), GAME.to_text(s)


def test_games_by_the_kernel_are_those_move_by_move(scripts):
    _, pubeval = scripts
    weights, agent = made_up_weights(), parse_agent("handwritten:race@depth=1", GAME)
    points = pubeval.play_pairs(GAME, agent, weights, 3, 7)
    agent.search = "expectiminimax"  # the same moves, but no kernel for whole games
    assert pubeval.greedy_eval(agent) is None
    assert pubeval.play_pairs(GAME, agent, weights, 3, 7).tolist() == points.tolist()


def test_pubeval_against_itself_is_even(scripts):
    _, pubeval = scripts
    weights = made_up_weights()
    points = pubeval.play_pairs(GAME, pubeval.PubevalAgent(GAME, weights), weights, 2, 1)
    assert points.sum(axis=1).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("text", "message"), [("1 2 3", "holds 3 numbers: give 122"), ("1 x", "give 122 numbers")])
def test_weights_that_are_none_are_refused(scripts, tmp_path, text, message):
    (tmp_path / "WT.race").write_text(text)
    with pytest.raises(DataError, match=message):
        scripts[1].read_weights(tmp_path)


# --- the reference ---------------------------------------------------------------------------------------------------
def one_decision() -> dict:
    """The opening roll 3-1 with three equities; every other move costs a point."""
    s = GAME.from_text(f"{START}:31")
    equities = {"8/5 6/5": 0.2, "13/10 6/5": 0.0, "24/23 13/10": -0.1}
    candidates = []
    for a in GAME.actions(s):
        text = GAME.action_to_text(s, a)
        candidates.append([GAME.to_text(GAME.result(s, a))[:14], equities.get(text, -0.8), 2, 0.0])
    static = [0.5, 0.1, 0.0, 0.1, 0.0, 0.05]
    return {"id": START, "dice": [1, 3], "stratum": "contact", "cand": candidates, "s0": static, "s2": static}


def test_losses_are_equities_given_away(scripts):
    strength, _ = scripts
    row = one_decision()
    agent = parse_agent("handwritten:positional@depth=1", GAME)
    found = strength.losses(agent, [row, row], {"contact": 0.7, "race": 0.3})
    s = GAME.from_text(f"{START}:31")
    chosen = GAME.to_text(GAME.result(s, agent.choose(s, 1).action))[:14]
    worth = {c[0]: c[1] for c in row["cand"]}[chosen]
    assert found["millipoints"] == pytest.approx(1000 * (0.2 - worth))
    assert found["standard_error"] == 0.0
    best = found["strata"]["contact"]["best_move"]
    assert 0.1 < best["high"] - best["low"] < 1  # two decisions alike do not show that all are
    static = strength.static_errors(agent.evaluator, [row])
    assert static["s2"]["rmse"] == pytest.approx(abs(agent.evaluator.evaluate(GAME.from_text(START), 0) - 0.05))


def test_moves_that_the_reference_does_not_know_are_told(scripts):
    row = one_decision()
    row["cand"] = [[START, 0.0, 2, 0.0]]
    with pytest.raises(DataError, match="the reference does not know the move to"):
        scripts[0].loss_of(RandomAgent(GAME), row)


def test_damaged_decisions_are_told_with_their_line(scripts, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(one_decision()) + '\n{"id": 1}\n')
    with pytest.raises(DataError, match="rows.jsonl:2: no decision .*: get the file again"):
        scripts[0].read_decisions(path)


def test_pubeval_and_gnubg_lose_what_is_known(scripts):
    strength, _ = scripts
    if not strength.REFERENCE.is_dir():
        pytest.skip("no reference data")
    given = strength.arguments(["reference", "pubeval"])
    assert strength.reference(given)["millipoints"] == pytest.approx(36.1, abs=0.05)
    if importlib.util.find_spec("gnubg_nn"):
        given = strength.arguments(["reference", "gnubg:0"])
        assert strength.reference(given)["millipoints"] == pytest.approx(3.2, abs=0.05)


# --- what may be absent, and what is wrong ---------------------------------------------------------------------------
@pytest.mark.parametrize("what", ["reference", "pubeval"])
def test_absent_data_are_no_failure(scripts, monkeypatch, capsys, what):
    monkeypatch.setattr(scripts[0], "REFERENCE", Path("nowhere"))
    assert scripts[0].main([what, "handwritten:race"]) == 0
    assert "is not there: nothing was measured" in capsys.readouterr().out


def test_an_absent_package_is_no_failure(scripts, monkeypatch, capsys):
    monkeypatch.setattr(scripts[0], "find_spec", lambda name: None)
    assert scripts[0].main(["gnubg", "handwritten:race"]) == 0
    assert "gnubg-nn is not installed (pip install gnubg-nn): nothing was measured" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["handwritten:raze"], "did you mean 'race'?"),
        (["handwritten:race", "--games", "3"], "--games 3: give 4 or more"),
        (["handwritten:race@depth=1", "--depth", "2"], "and --depth 2: give one of the two limits"),
    ],
)
def test_bad_input_ends_with_2(scripts, monkeypatch, tmp_path, capsys, words, message):
    monkeypatch.setattr(scripts[0], "REFERENCE", tmp_path)
    (tmp_path / "pubeval").mkdir()
    for name in scripts[1].FILES:
        (tmp_path / "pubeval" / name).write_text("0 " * 122)
    assert scripts[0].main(["pubeval", *words]) == 2
    assert message in capsys.readouterr().err


def test_evals_of_other_games_are_refused(scripts, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(scripts[0], "needed", lambda name: tmp_path)
    monkeypatch.setattr(scripts[0], "read_weights", lambda folder: made_up_weights())
    path = save(LinearEval.zero(Othello()), tmp_path / "o.safetensors")
    assert scripts[0].main(["pubeval", str(path)]) == 2
    assert "is an evaluator of othello: this benchmark plays backgammon" in capsys.readouterr().err
