"""Games that are ended early: off by default, reported when used."""

from __future__ import annotations

import pytest

from evallearn import get_game
from evallearn.agents import RandomAgent, parse_agent
from evallearn.arena import Adjudication, MatchSettings, play_match
from evallearn.arena.adjudication import Watch
from evallearn.arena.records import replay
from evallearn.core.search import SearchResult
from evallearn.errors import SpecError
from evallearn.games.connect_four import ConnectFour

C4 = ConnectFour()


def said(value: float, player: int, depth: int = 1) -> SearchResult:
    return SearchResult(0, value, player, depth, 1, (), False, 0.0)


def test_text_and_back() -> None:
    for text in ("plies=300", "win=0.95x6", "plies=40,win=1x2,draw=0.02x12"):
        assert str(Adjudication.from_text(text)) == text
    assert str(Adjudication()) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown adjudication rule ''.*write for example plies=300"),
        ("wins=1x2", "unknown adjudication rule 'wins': did you mean 'win'"),
        ("plies=0", "adjudication 'plies=0': give a number of plies of 1 or more"),
        ("plies=x", "adjudication 'plies=x': give a number of plies"),
        ("win=2x3", "adjudication 'win=2x3': give a share of 0 to 1, x, and a number of moves"),
        ("draw=0.1", "adjudication 'draw=0.1': give a share of 0 to 1, x"),
        ("win=1x2,win=1x3", "win is given twice: give it once"),
    ],
)
def test_senseless_rules_are_refused(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Adjudication.from_text(text)


def test_games_without_winners_are_refused() -> None:
    pacman = get_game("pacman")
    config = MatchSettings(pairs=1, adjudication=Adjudication(plies=10))
    with pytest.raises(SpecError, match="adjudication 'plies=10': only two-player games of win and loss .* pacman"):
        play_match(pacman, RandomAgent(pacman), RandomAgent(pacman), config)


def test_a_win_needs_both_sides_to_agree_for_as_long_as_asked() -> None:
    watch = Watch(Adjudication(win=(0.9, 3)), best=1.0)
    assert watch.saw(said(0.95, 0)) is None
    assert watch.saw(said(-0.95, 1)) is None
    assert watch.saw(said(0.5, 0)) is None
    watch = Watch(Adjudication(win=(0.9, 3)), best=3.0)
    assert watch.saw(said(2.8, 1)) is None
    assert watch.saw(said(-2.8, 0)) is None
    assert watch.saw(said(2.8, 1)) == ("win=0.9x3", -1.0)


def test_who_does_not_look_says_nothing() -> None:
    watch = Watch(Adjudication(draw=(0.1, 2)), best=1.0)
    assert [watch.saw(said(0.0, p, depth=0)) for p in (0, 1, 0, 1)] == [None] * 4
    assert watch.saw(said(0.05, 0)) is None
    assert watch.saw(said(-0.05, 1)) == ("draw=0.1x2", 0.0)


def test_a_match_counts_the_games_that_were_ended_early() -> None:
    agents = parse_agent("handwritten:threats@depth=4", C4), parse_agent("handwritten:lines@depth=3", C4)
    plain = play_match(C4, *agents, MatchSettings(pairs=20, seed=1), keep_games=True)
    assert plain.adjudicated == {}
    rules = Adjudication.from_text("win=0.5x2,plies=20")
    short = play_match(C4, *agents, MatchSettings(pairs=20, seed=1, adjudication=rules), keep_games=True)
    assert set(short.adjudicated) == {"win=0.5x2", "plies=20"}
    ended = [r for r in short.records if r.end]
    assert len(ended) == sum(short.adjudicated.values())
    assert all(r.end.startswith("adjudicated: ") for r in ended)
    assert max(len(r.actions) for r in short.records) <= 20
    assert sum(short.moves) < sum(plain.moves)


def test_a_game_that_ends_by_the_rules_is_not_adjudicated() -> None:
    """Won on the very ply on which it would have been called a draw."""
    ttt = get_game("tic_tac_toe")
    agents = parse_agent("handwritten:lines@depth=9", ttt), RandomAgent(ttt)
    config = MatchSettings(pairs=30, opening_plies=2, seed=1, adjudication=Adjudication(plies=5))
    found = play_match(ttt, *agents, config, keep_games=True)
    assert any(len(r.actions) == 5 and not r.end and r.utilities != (0, 0) for r in found.records)
    for record in found.records:
        replay(ttt, record)
