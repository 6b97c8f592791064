"""What an agent expects, in words: values, mates, how sure that is, and what everybody gets."""

from __future__ import annotations

import pytest
from at_the_board import LooseEnds, PlainTicTacToe, judge_of, session_of

from evallearn import Limits, get_game
from evallearn.agents import SearchAgent
from evallearn.core.game import Game
from evallearn.play.formatting import certainty, format_value, hint_text, ply_text, verdict_text
from evallearn.play.seats import make_evaluator
from evallearn.play.session import Session


@pytest.mark.parametrize(
    ("game", "value", "proven", "plies", "words"),
    [
        ("chess", 1.0, True, 1, "+1, mate in 1"),
        ("chess", 1.0, True, 5, "+1, mate in 3"),
        ("chess", -1.0, True, 4, "-1, mated in 2"),
        ("chess", 1.0, True, None, "+1, a win"),
        ("chess", 0.0, True, 1, "0, a draw"),
        ("chess", 1.0, False, None, "+1"),
        ("connect_four", 1.0, True, 1, "+1, a win in 1 ply"),
        ("connect_four", -1.0, True, 6, "-1, a loss in 6 plies"),
        ("connect_four", -1.0, True, None, "-1, a loss"),
        ("connect_four", 0.25, True, 3, "+0.250"),
        ("backgammon", 1.0, True, 1, "+1"),
    ],
)
def test_proven_value_says_how_it_ends(game: str, value: float, proven: bool, plies: int | None, words: str) -> None:
    assert format_value(get_game(game), value, proven, plies) == words


def test_estimate_says_how_far_it_looked() -> None:
    assert certainty(True, 4) == "proven"
    assert certainty(False, 4) == certainty(False, 4, 4) == "estimated, depth 4"
    assert certainty(False, 4, 5) == "estimated, depth 5, not finished"


def said(game: Game, text: str, agent: str) -> str:
    """What an agent on every seat plays there, and expects."""
    session = session_of(game, *[agent] * game.n_players, start=game.from_text(text))
    ply = session.step()
    assert ply is not None
    return ply_text(session, ply)


def test_agent_that_wins_at_once_does_not_call_it_an_estimate() -> None:
    assert said(PlainTicTacToe(), "XX.OO....", "zero@depth=2") == (
        "first plays 3   (it expects +1, a win in 1 ply; proven)"
    )
    assert "(it expects -1, a loss in 2 plies; proven)" in said(PlainTicTacToe(), "XO.XX...O", "zero@depth=4")


@pytest.mark.parametrize("depth", [2, pytest.param(4, marks=pytest.mark.long)])
def test_mate_on_the_board_is_proven_by_the_settings_with_which_agents_play_chess(depth: int) -> None:
    game = get_game("chess")
    mate = game.from_text("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4")
    settings = {"backend": "python"} if depth == 2 else {}
    agent = SearchAgent(game, make_evaluator("handwritten:material", game), Limits(depth=depth), settings=settings)
    session = Session(game, (agent, None), start=mate)
    ply = session.step()
    assert ply is not None
    assert ply_text(session, ply) == "the machine plays Qxf7#   (it expects +1, mate in 1; proven)"


def test_expectation_is_told_to_every_player_where_there_are_three() -> None:
    game = LooseEnds()
    session = session_of(game, None, "zero@depth=1", "zero@depth=1", start=game.from_text("X........"))
    ply = session.step()
    assert ply is not None
    assert ply_text(session, ply).endswith(
        "(it expects +0.250; +0.250 to you, +0.250 to second, +0.250 to third; estimated, depth 1)"
    )
    won = said(game, "X.XO.O...", "zero@depth=1")
    assert won.endswith("(it expects +1, a win in 1 ply; -0.500 to first, +1 to second, -0.500 to third; proven)"), won


def test_verdicts_and_hints_say_how_soon() -> None:
    game = PlainTicTacToe()
    judge = judge_of(game)
    for text, move, words in (
        ("XX.OO....", "3", "3 is minimax-optimal (proven), worth +1, a win in 1 ply"),
        ("XO..X...O", "4", "4 is minimax-optimal (proven), worth +1, a win in 3 plies"),
        ("XO..X...O", "8", "8 is not minimax-optimal (proven), worth 0, a draw: 1 given away\n"
                           "better: 4, worth +1, a win in 3 plies; then "),
    ):  # fmt: skip
        s = game.from_text(text)
        told = verdict_text(game, s, judge.judge(s, game.action_from_text(s, move)))
        assert told.startswith(words), told
    s = game.from_text("XO..X...O")
    assert hint_text(judge, s).startswith("4 is best (proven), worth +1, a win in 3 plies; then ")
