"""Tournaments and the ladder: every pairing once, one rating list, nothing played twice."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evallearn import get_game
from evallearn.agents import parse_agent
from evallearn.arena import MatchSettings, Sprt, TournamentResult, play_match, play_tournament
from evallearn.arena.ladder import answer, known_agents, learned_files
from evallearn.arena.ratings import Rating
from evallearn.arena.tournament import kind_of, pairings
from evallearn.core.search import Limits
from evallearn.errors import SpecError
from evallearn.evaluators import LinearEval, save
from evallearn.games.connect_four import ConnectFour
from evallearn.report import render_tournament
from evallearn.report.formatting import stopped_words

C4 = ConnectFour()
CONFIG = MatchSettings(pairs=8, seed=2)
NAMES = ["random", "handwritten:lines@depth=1", "handwritten:threats@depth=1"]


def agents(*names: str) -> list[Any]:
    return [parse_agent(n, C4) for n in names]


def without_clock(result: TournamentResult) -> dict[str, Any]:
    data = result.to_json()
    for match in data["matches"]:
        for key in ("seconds", "seconds_per_move"):
            del match[key]
    return data


def test_everybody_meets_everybody_or_the_first() -> None:
    assert pairings(4) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert pairings(4, gauntlet=True) == [(0, 1), (0, 2), (0, 3)]


def test_round_robin_rates_all_and_the_best_by_hand_is_zero(tmp_path: Path) -> None:
    seen: list[int] = []
    found = play_tournament(
        C4, agents(*NAMES), CONFIG, folder=tmp_path, on_progress=lambda number, tally: seen.append(number)
    )
    assert seen == [0] * 8 + [1] * 8 + [2] * 8
    assert [m.names for m in found.matches] == [(NAMES[0], NAMES[1]), (NAMES[0], NAMES[2]), (NAMES[1], NAMES[2])]
    assert found.ratings[-1].name == "random"
    assert found.anchor in NAMES[1:]
    zero = next(r for r in found.ratings if r.name == found.anchor)
    assert zero.elo == 0
    assert found.ratings[0] == zero
    again = play_tournament(C4, agents(*NAMES), CONFIG, folder=tmp_path, workers=2)
    assert without_clock(again) == without_clock(found)
    assert len(list(tmp_path.iterdir())) == 3
    files = {p: p.read_bytes() for p in tmp_path.rglob("sets.jsonl")}
    more = play_tournament(C4, agents(*NAMES, "zero@depth=1"), CONFIG, folder=tmp_path, anchor="random")
    assert len(more.matches) == 6
    assert all(p.read_bytes() == data for p, data in files.items())  # those were not played again
    assert next(r.elo for r in more.ratings if r.name == "random") == 0


def test_gauntlet_is_only_the_first_against_the_others() -> None:
    found = play_tournament(C4, agents(*NAMES), CONFIG, gauntlet=True)
    assert len(found.matches) == 2
    assert len(found.ratings) == 3


@pytest.mark.parametrize(
    ("names", "anchor", "message"),
    [
        (["random"], None, "a tournament of 1 agents: give two or more different ones"),
        (["random", "random"], None, "a tournament of random is given twice: give two or more different ones"),
        (["random", "zero@depth=1"], "zero", "anchor 'zero' does not take part: give one of random, zero@depth=1"),
    ],
)
def test_senseless_tournaments_are_refused(names: list[str], anchor: str | None, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        play_tournament(C4, agents(*names), CONFIG, anchor=anchor)


# --- the ladder ------------------------------------------------------------------------------------------------------
def test_known_agents_are_all_there_and_copies_count_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evallearn.evaluators.zoo.zoo_folder", lambda: tmp_path / "no zoo")
    mine = LinearEval(C4, np.full((C4.n_phases, len(C4.feature_names)), 0.1))
    save(mine, tmp_path / "a" / "evaluators" / "linear.safetensors")
    save(LinearEval.zero(C4), tmp_path / "a" / "evaluators" / "linear-0.safetensors")
    save(LinearEval.zero(get_game("tic_tac_toe")), tmp_path / "b" / "other.safetensors")
    shutil.copy(tmp_path / "a" / "evaluators" / "linear.safetensors", tmp_path / "b" / "copy.safetensors")
    (tmp_path / "b" / "broken.safetensors").write_text("nonsense")
    assert [p.name for p in learned_files(C4, tmp_path)] == ["linear.safetensors", "copy.safetensors"]
    found = known_agents(C4, Limits(depth=2), tmp_path)
    kinds = [kind_of(name) for name in found]
    assert kinds == ["random", "zero", "handwritten", "handwritten", "learned", "search"]
    assert all(agent.name == name for name, agent in found.items())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("random", "random"), ("zero@depth=2", "zero"), ("handwritten:lines@depth=2", "handwritten"),
        ("runs/x/evaluators/linear.safetensors@nodes=200", "learned"), ("zoo:othello/patterns@time=0.1", "learned"),
        ("mcts@nodes=5", "search"), ("mcts,leaf=playout:zero@nodes=5", "search"), ("uci:stockfish@depth=3", "engine"),
        ("gtp:grhino", "engine"), ("cmd:python3 x.py", "engine"), ("mcts:runs/linear.safetensors@nodes=5", "search"),
    ],
)  # fmt: skip
def test_kinds_of_agents(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_answer_says_who_is_ahead_and_when_nobody_knows() -> None:
    def row(name: str, elo: float, width: float) -> Rating:
        return Rating(name, elo, elo - width, elo + width, los_next=None, score=0.5, pairs=1)

    by_hand, linear = row("handwritten:x@depth=4", 0, 0), "runs/linear.safetensors@depth=4"
    assert answer([row(linear, 50, 20), by_hand]) == (
        f"Learned beats hand-written: {linear} is +50 Elo (95 %: +30 to +70) over handwritten:x@depth=4."
    )
    assert answer([by_hand, row(linear, -50, 20)]).startswith("Hand-written is still ahead: ")
    assert answer([row(linear, 10, 20), by_hand]).startswith("Learned and hand-written cannot be told apart: ")
    assert answer([by_hand]) == "No learned evaluator takes part: evallearn learn makes some."
    assert answer([row(linear, 10, 20)]) == "No hand-written heuristic takes part: the game has none."


# --- sequential test -------------------------------------------------------------------------------------------------
def test_match_stops_when_the_sprt_has_decided_whatever_the_workers() -> None:
    a, b = agents("handwritten:threats@depth=3", "zero@depth=1")
    config = MatchSettings(pairs=500, seed=2, sprt=Sprt(0, 50))
    one, two = (play_match(C4, a, b, config, workers=n) for n in (1, 2))
    assert one.sprt is not None
    assert one.sprt.decision == "H1"
    assert one.elo.pairs < 200
    assert {k: v for k, v in one.to_json().items() if not k.startswith("seconds")} == {
        k: v for k, v in two.to_json().items() if not k.startswith("seconds")
    }
    worse = play_match(C4, b, a, config)
    assert worse.sprt is not None
    assert worse.sprt.decision == "H0"
    assert play_match(C4, a, b, MatchSettings(pairs=2, seed=2, sprt=Sprt(0, 50))).sprt.decision is None  # type: ignore[union-attr]  # it has one


def test_tournament_with_an_sprt_says_that_its_ratings_are_not_corrected() -> None:
    players = agents("handwritten:threats@depth=2", "zero@depth=1", "random")
    found = play_tournament(C4, players, MatchSettings(pairs=60, seed=2, sprt=Sprt(0, 100)))
    assert found.stopped_by_sprt == 3
    data = found.to_json()
    assert data["stopped_by_sprt"] == 3
    warning = "An SPRT stopped 3 of 3 matches. The ratings are not corrected for the stop: they lie too far apart."
    assert stopped_words(data) == warning
    assert warning in render_tournament(data)
    plain = play_tournament(C4, players, MatchSettings(pairs=5, seed=2))
    assert plain.stopped_by_sprt == 0
    assert "SPRT stopped" not in render_tournament(plain.to_json())
