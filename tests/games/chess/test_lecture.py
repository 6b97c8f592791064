"""Chess by the lecture's numbers: what they are, that both backends agree, and that nothing else changed for it."""

from __future__ import annotations

import json
import pickle
from itertools import islice
from pathlib import Path

import playing
import pytest

from evallearn import get_game
from evallearn.agents import parse_agent
from evallearn.arena.ladder import known_agents
from evallearn.cli import run
from evallearn.compiled.game import CompiledGame
from evallearn.core.game import Game, Heuristic
from evallearn.core.search import Limits
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import SpecError
from evallearn.evaluators import heuristic, load_evaluator, zoo_file
from evallearn.evaluators.features import feature_hash
from evallearn.games.chess import Chess
from evallearn.insight import explain
from evallearn.quality import Item, QualitySettings, Suite, assess
from evallearn.search import AlphaBeta

GAME, LECTURE = Chess(), get_game("chess,features=lecture")
OPEN = "4k1n1/8/8/8/8/8/8/2B1K3 w - - 0 1"
CLOSED = "4k1n1/8/8/p1p1p1p1/P1P1P1P1/8/8/2B1K3 w - - 0 1"
"""A bishop against a knight, without pawns and with four locked pairs."""


def parts(text: str) -> dict[str, float]:
    """{feature: what it adds, in pawns, to the player to move}, without what adds nothing."""
    found = explain(heuristic(GAME, "lecture"), GAME.from_text(text))
    assert found.raw == sum(p.effect for p in found.parts)
    return {p.name: p.effect for p in found.parts if p.effect}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", {"pawns": 1}),
        ("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", {"pawns": -1}),
        ("4k3/p7/8/8/8/8/P7/4K1N1 w - - 0 1", {"knights": 3}),
        ("4k3/p7/8/8/8/8/P7/4KB2 w - - 0 1", {"bishops": 3}),
        ("4k3/8/8/8/8/8/8/2B1KB2 w - - 0 1", {"bishops": 6, "bishop_pair": 0.5}),
        ("2b1kb2/8/8/8/8/8/8/2B1KB2 w - - 0 1", {}),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", {"rooks": 5}),
        ("4k3/8/8/8/8/8/8/3QK3 w - - 0 1", {"queens": 9}),
        (OPEN, {"bishops": 3, "knights": -3}),
        (CLOSED, {"bishops": 3, "knights": -3, "closed_knights": -4 / 8}),
        ("4k1n1/8/8/p3p3/P3P3/4p3/8/4K3 b - - 0 1", {"pawns": 1, "knights": 3, "closed_knights": 2 / 8}),
    ],
)  # fmt: skip
def test_the_lectures_numbers_in_pawns(text: str, expected: dict[str, float]) -> None:
    assert parts(text) == expected


def test_a_knight_is_worth_more_where_the_position_is_closed() -> None:
    evaluator = heuristic(GAME, "lecture")
    even, worse = (evaluator.evaluate(GAME.from_text(text), 0) for text in (OPEN, CLOSED))
    assert worse < even == 0


def test_explain_shows_them_at_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = "4k3/8/8/8/8/8/4P3/2B1KB2 w - - 0 1"
    assert run(["explain", "handwritten:lecture", text, "--game", "chess", "--json", "-"]) == 0
    figures = json.loads(capsys.readouterr().out)["evals"][0]
    assert (figures["raw"], figures["unit"]) == (7.5, 0.125)
    assert {p["name"]: p["weight"] for p in figures["parts"] if p["weight"]} == LECTURE.heuristics["lecture"].weights
    assert run(["explain", "handwritten:lecture", text, "--game", "chess"]) == 0
    told = capsys.readouterr().out
    assert "bishop pair (1 at +0.500 each): +0.500 for first" in told
    assert "The sum is +7.500; squashed: tanh(0.125 x +7.500) = +0.734." in told
    assert run(["explain", "handwritten:lecture", "handwritten:material", text, "--game", "chess"]) == 0
    assert " +0.125     |█     +0.120     |█" in capsys.readouterr().out  # side by side in one unit


# --- both backends ---------------------------------------------------------------------------------------------------
def test_backends_agree() -> None:
    for seed in range(3):
        for s, _ in islice(playing.random_game(CompiledGame(GAME), seed), seed, 120, 3):
            if not GAME.is_terminal(s):
                playing.compare_backends(LECTURE, s)
    for text in (OPEN, CLOSED, CLOSED.replace(" w ", " b ")):
        playing.compare_backends(LECTURE, LECTURE.from_text(text))


def test_the_compiled_eval_says_the_same() -> None:
    evaluator = heuristic(GAME, "lecture")
    states = [GAME.from_text(text) for text in (OPEN, CLOSED, CLOSED.replace(" w ", " b "))]
    found = evaluator.evaluate_batch(states, [0, 0, 0]).tolist()
    assert found == [evaluator.evaluate(s, 0) for s in states]


@pytest.mark.long
def test_a_search_answers_the_same_on_both_backends() -> None:
    s = GAME.from_text("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/6N1 w - - 0 1")
    evaluator = heuristic(GAME, "lecture")
    plain, fast = (AlphaBeta(GAME, evaluator, backend=f).search(s, Limits(depth=3)) for f in ("python", "compiled"))
    assert (plain.action, plain.value, plain.pv, plain.nodes) == (fast.action, fast.value, fast.pv, fast.nodes)


def test_the_compiled_game_shows_the_other_view_too() -> None:
    s = GAME.from_text(CLOSED)
    seen = CompiledGame(GAME).seen_as(LECTURE.name)
    assert list(seen.features(s, 0)) == list(LECTURE.features(s, 0)) == [0, -1, 1, 0, 0, 0, -4]
    assert heuristic(CompiledGame(GAME), "lecture").game.name == LECTURE.name


# --- an agent like any other -----------------------------------------------------------------------------------------
def test_it_plays_chess_by_its_plain_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    s = GAME.from_text("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1")
    agent = parse_agent("alphabeta,backend=python:handwritten:lecture@depth=1", GAME)
    assert GAME.action_to_text(s, agent.choose(s, seed=1).action) == "exd5"
    assert any(name.startswith("handwritten:lecture@") for name in known_agents(GAME, Limits(depth=1), tmp_path))
    for other in ("material", "positional"):
        assert parse_agent(f"handwritten:{other}@depth=1", LECTURE).name == f"handwritten:{other}@depth=1"
    assert run(["games", "chess"]) == 0
    assert "heuristic lecture" in capsys.readouterr().out


def test_quality_measures_it_on_a_suite_of_chess() -> None:
    """By positions in which a queen can be taken, and nothing else wins."""
    texts = ("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", "4k3/8/8/8/3p4/4Q3/8/4K3 b - - 0 1")
    states = [GAME.from_text(text) for text in texts]
    taken = [max(GAME.noisy_actions(s)) for s in states]
    items = [
        Item(state=s, player=s.position.player, value=0.9, values={b: 0.9 if a == b else -0.9 for b in GAME.actions(s)})
        for s, a in zip(states, taken, strict=True)
    ]
    suite, settings = Suite(GAME, tuple(items), "by hand"), QualitySettings(swing_depth=0, games=0)
    found = assess(heuristic(GAME, "lecture"), suite, settings).measured
    assert found.agreement is not None
    assert found.agreement.value == 1.0


def test_engines_of_chess_play_it_whatever_an_eval_sees() -> None:
    with pytest.raises(SpecError, match="no program 'no-such-engine' in PATH"):  # and not: uci engines play chess
        parse_agent("uci:no-such-engine", LECTURE, trust=FULL_TRUST)


@pytest.mark.parametrize("game", [GAME, LECTURE], ids=["chess", "lecture"])
def test_a_game_in_a_worker_sees_the_same(game: Game) -> None:
    other = pickle.loads(pickle.dumps(game))
    s = game.from_text(CLOSED)
    assert other.features(s, 0) == game.features(s, 0)
    assert other.rules.features_mover is game.rules.features_mover


def test_nothing_else_changed_for_it() -> None:
    """Shipped files go on loading, and Elo figures keep their baseline."""
    assert (GAME.name, GAME.version, len(GAME.feature_names)) == ("chess", 3, 236)
    assert feature_hash(GAME) == "f5d3bd908855"
    assert load_evaluator(zoo_file("linear", "chess"), GAME).game.name == "chess"
    assert GAME.baselines == ("material", "positional")
    assert LECTURE.baselines == ("lecture",)
    assert next(iter(GAME.heuristics)) == "material"
    assert list(GAME.heuristics)[-1] == "positional"


def test_unknown_features_are_refused() -> None:
    with pytest.raises(SpecError, match="unknown chess features 'lectur': did you mean 'lecture'"):
        get_game("chess,features=lectur")


def test_a_unit_scales_the_weights_and_nothing_else() -> None:
    class Halves(Chess):
        heuristics = {  # noqa: RUF012
            "whole": Heuristic({"pawns": 0.25}, "By hand."),
            "half": Heuristic({"pawns": 0.5}, "By hand.", unit=0.5),
        }

    game = Halves()
    whole, half = (heuristic(game, name) for name in game.heuristics)
    assert (whole.weights == half.weights).all()
    s = game.from_text("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    assert [explain(e, s).parts[0].weight for e in (whole, half)] == [0.25, 0.5]
    assert [explain(e, s).raw for e in (whole, half)] == [0.25, 0.5]
    assert explain(whole, s).value == explain(half, s).value
