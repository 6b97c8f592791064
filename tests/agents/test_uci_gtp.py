"""Engines that speak UCI and GTP: fake ones, and real ones where they are installed."""

from __future__ import annotations

import os
import shutil
import signal
from typing import Any

import pytest
from agents.fakes import CHESS, OTHELLO, PYTHON, TTT, gtp, heard, last_moves, play, uci

from evallearn.agents import GtpAgent, parse_agent
from evallearn.agents.uci import PAWNS_PER_RAW
from evallearn.core.search import Limits
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import EngineError, SpecError
from evallearn.evaluators.squash import BOUND, squash
from evallearn.games.backgammon import Backgammon
from evallearn.games.three_player_connect import ThreePlayerConnect


# --- uci -------------------------------------------------------------------------------------------------------------
def test_a_uci_engine_is_told_the_position_and_the_limits() -> None:
    agent = uci("cp 80", "bestmove e2e4 ponder e7e5", "@depth=4,nodes=900", ",skill level=3,Hash=,timeout=5")
    found = agent.choose(CHESS.from_text("startpos moves g1f3 g8f6 f3g1 f6g8"), 0)
    assert heard(agent) == [
        "uci",
        "setoption name Skill Level value 3",
        "setoption name Hash",
        "isready",
        "ucinewgame",
        "isready",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves g1f3 g8f6 f3g1 f6g8",
        "go depth 4 nodes 900",
    ]
    assert found.value == pytest.approx(squash(0.8 / PAWNS_PER_RAW))
    assert (found.depth, found.nodes, found.player) == (4, 222, 0)
    s, texts = CHESS.initial(), []
    for a in found.pv:
        texts.append(CHESS.action_to_text(s, a))
        s = CHESS.result(s, a)
    assert texts == ["e4", "e5", "Nf3"]  # the rest of the line cannot be played


def test_by_time_a_uci_engine_keeps_its_memory() -> None:
    agent = uci("cp 80", "bestmove e2e4", "@time=0.0001")
    agent.choose(CHESS.initial(), 0)
    said = heard(agent)
    assert said[-2:] == [f"position fen {CHESS.to_text(CHESS.initial())}", "go movetime 1"]
    assert "ucinewgame" not in said


@pytest.mark.parametrize(("score", "value"), [("mate 3", BOUND), ("mate -2", -BOUND), ("cp -400", -9 / 11)])
def test_scores_become_values(score: str, value: float) -> None:
    assert uci(score, "bestmove e2e4").choose(CHESS.initial(), 0).value == pytest.approx(value)


@pytest.mark.parametrize("best", ["bestmove e2e5", "bestmove (none)", "bestmove 0000", "bestmove"])
def test_a_uci_engine_without_a_legal_move_is_told(best: str) -> None:
    with pytest.raises(EngineError, match="which is no legal move, in chess position 'rnbqkbnr/"):
        uci("cp 1", best).choose(CHESS.initial(), 0)


def test_a_move_other_than_the_lines_first_is_a_line_of_its_own() -> None:
    found = uci("cp 1", "bestmove a2a3").choose(CHESS.initial(), 0)
    assert found.pv == (found.action,)


def test_uci_refusals() -> None:
    with pytest.raises(SpecError, match="uci engines play chess, not othello: use gtp:PROGRAM or cmd:PROGRAM"):
        parse_agent("uci:stockfish@depth=1", OTHELLO, trust=FULL_TRUST)
    with pytest.raises(SpecError, match="unknown option of .* 'Hsah': did you mean 'Hash'"):
        uci("cp 1", "bestmove e2e4", options=",Hsah=3").prepare()


# --- gtp -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", ["plain", "games", "implicit"])
def test_a_gtp_engine_plays_whole_games(mode: str) -> None:
    agent = gtp(mode)
    expected = last_moves(OTHELLO)
    assert "pass" in expected  # or the test is none of passes
    assert play(OTHELLO, agent) == expected == play(OTHELLO, agent)


def test_a_gtp_engine_hears_what_it_did_not_play() -> None:
    agent = gtp("games")
    opening = [OTHELLO.action_from_text(OTHELLO.initial(), "f5")]
    agent.begin(opening)
    s = OTHELLO.result(OTHELLO.initial(), opening[0])
    mine = agent.choose(s, 0).action
    agent.played(s, mine)
    agent.played(s, mine)  # told by both seats
    s = OTHELLO.result(s, mine)
    theirs = OTHELLO.actions(s)[0]
    agent.played(s, theirs)
    s = OTHELLO.result(s, theirs)
    agent.choose(s, 0)
    said, texts = heard(agent), [OTHELLO.action_to_text(s, a) for a in (mine, theirs)]
    assert said[:5] == ["list_commands", "set_game Othello", "boardsize 8", "clear_board", "play b f5"]
    assert said[5:] == ["genmove w", f"play b {texts[1]}", "genmove w"]
    assert agent.choose(s, 0).action in OTHELLO.actions(s)  # a fresh one is told the whole game
    assert heard(agent)[3:] == ["clear_board", "play b f5", f"play w {texts[0]}", f"play b {texts[1]}", "genmove w"]


def test_a_gtp_engine_whose_move_was_not_played_starts_over() -> None:
    agent = gtp("plain", TTT)
    agent.begin(())
    s = TTT.initial()
    agent.choose(s, 0)
    agent.played(s, TTT.actions(s)[0])
    s = TTT.result(s, TTT.actions(s)[0])
    assert agent.choose(s, 0).action == TTT.actions(s)[-1]
    said = heard(agent)
    assert said.count("clear_board") == 2
    assert "boardsize 8" not in said


def test_gtp_refusals() -> None:
    s = OTHELLO.initial()
    with pytest.raises(EngineError, match="answered 'resign', which is no legal move, in othello"):
        gtp("resign").choose(s, 0)
    with pytest.raises(EngineError, match="refused 'genmove b' .'I am lost'. in othello"):
        gtp("lost").choose(s, 0)
    with pytest.raises(EngineError, match="refused 'boardsize 9' .'unacceptable size'. at its start"):
        gtp("plain", options=",size=9").prepare()
    with pytest.raises(EngineError, match="refused 'set_game Hex'"):
        gtp("plain", options=",game=Hex").prepare()
    with pytest.raises(EngineError, match="was not told how othello position .* came about: call begin"):
        gtp("plain").choose(OTHELLO.result(s, OTHELLO.actions(s)[0]), 0)
    with pytest.raises(SpecError, match="limits @depth=2 of gtp:.*: GTP has no such command; leave them out"):
        parse_agent(f"gtp:{PYTHON}@depth=2", OTHELLO, trust=FULL_TRUST)
    with pytest.raises(SpecError, match="two-player games without dice; backgammon rolls dice: use cmd:PROGRAM"):
        parse_agent(f"gtp:{PYTHON}", Backgammon(), trust=FULL_TRUST)
    with pytest.raises(SpecError, match="three_player_connect has 3 players: use cmd:PROGRAM"):
        parse_agent(f"gtp:{PYTHON}", ThreePlayerConnect(), trust=FULL_TRUST)


def test_limits_for_everybody_are_not_for_gtp() -> None:
    agent = parse_agent(f"gtp:{PYTHON}", OTHELLO, Limits(depth=3), trust=FULL_TRUST)
    assert isinstance(agent, GtpAgent)
    assert agent.limits is None


# --- real ones, where they are installed -----------------------------------------------------------------------------
def installed(program: str) -> str:
    if not shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/games"):
        pytest.skip(f"{program} is not installed")
    return program


@pytest.mark.parametrize(
    ("program", "options"), [("stockfish", ",Threads=1,Hash=16"), ("gnuchess", " --uci"), ("gnuchess", " -u")]
)
def test_a_real_chess_engine_plays_and_repeats_itself(program: str, options: str) -> None:
    agent = parse_agent(f"uci:{installed(program)}{options}@depth=3", CHESS, trust=FULL_TRUST)
    mate = CHESS.from_text("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")
    found = agent.choose(mate, 0)
    assert CHESS.action_to_text(mate, found.action) == "Ra8#"
    assert found.value > 0.9
    first, second = play(CHESS, agent, plies=10), play(CHESS, agent, plies=10)
    assert first == second
    assert len(first) == 10


def test_a_real_othello_engine_plays() -> None:
    agent = parse_agent(f"gtp:{installed('gtp-rhino')} --level=1 --book=0", OTHELLO, trust=FULL_TRUST)
    assert len(play(OTHELLO, agent)) >= 50  # to the end; it draws among equal moves, so that games differ


def test_a_real_engine_that_is_killed_is_told() -> None:
    agent: Any = parse_agent(f"uci:{installed('stockfish')}@depth=2", CHESS, trust=FULL_TRUST)
    agent.prepare()
    os.kill(agent._process.pid, signal.SIGKILL)
    with pytest.raises(EngineError, match="was ended by signal 9 in chess position"):
        agent.choose(CHESS.initial(), 0)
    assert agent.choose(CHESS.initial(), 0).action in CHESS.actions(CHESS.initial())
    agent.close()
