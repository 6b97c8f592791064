"""Every opponent that `evallearn play --help` names, in every game that it can play."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from agents.fakes import ENGINES, PYTHON
from at_the_board import PlainTicTacToe, answers, judge_of

from evallearn import LinearEval, get_game, save
from evallearn.agents import Agent, RandomAgent
from evallearn.agents.describe import ENGINES as PROTOCOLS
from evallearn.cli import run
from evallearn.core.game import Game, State
from evallearn.core.search import Limits, SearchResult
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import EngineError, SearchError
from evallearn.evaluators import zoo_names
from evallearn.play import Dialogue, Session, seats
from evallearn.play.seats import default_limits, make_agent
from evallearn.registry import game_names
from evallearn.search import SEARCHES

FEW = Limits(nodes=40, seconds=0.05)
"""In place of play's own limits, for speed: of the same kinds."""


def opponents(game: Game) -> list[str]:
    """Every form of an agent, as --help names them, that the game may meet."""
    named = ["random", "zero", *(f"handwritten:{h}" for h in game.heuristics)]
    named += [f"zoo:{name}" for name in zoo_names(game.name)]
    return [*named, "mcts", "flat", *(f"{search}:zero" for search in SEARCHES)]


def moves_or_refuses(text: str, game: Game) -> None:
    """One move of that opponent; a search may refuse the game, but then before the first board."""
    session = Session(game, tuple([make_agent(text, game, trust=FULL_TRUST)] * game.n_players), seed=1)
    if refusal(session):
        assert text.partition(":")[0] in SEARCHES, text
        return
    while (ply := session.step()) is not None and ply.thought is None:
        pass
    assert ply is not None, text
    assert ply.player in range(game.n_players)


def refusal(session: Session) -> str:
    """Why the opponents cannot play this game; nothing if they can."""
    try:
        session.prepare()
    except SearchError as error:
        return str(error)
    return ""


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled, and nobody thinks for long."""
    for name in game_names():
        monkeypatch.setattr(type(get_game(name)), "rules", None)
    for limits in ("COMPILED_LIMITS", "PLAIN_LIMITS"):
        monkeypatch.setattr(seats, limits, FEW)


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("name", game_names())
def test_every_opponent_moves_by_the_limits_of_play_itself(name: str, tmp_path: Path) -> None:
    """Those that cannot play the game say so before the first board."""
    game = get_game(name)
    file = tmp_path / "own.safetensors"
    save(LinearEval.zero(game), file)
    for text in (*opponents(game), str(file)):
        moves_or_refuses(text, game)


@pytest.mark.long
@pytest.mark.parametrize("name", game_names())
def test_every_opponent_moves_on_the_compiled_backend(name: str) -> None:
    game = get_game(name)
    for text in opponents(game):
        moves_or_refuses(text, game)


@pytest.mark.parametrize("name", game_names())
def test_the_limits_of_play_suit_every_search(name: str) -> None:
    """Built as they come, the searches of the compiled backend, too; nothing is compiled yet."""
    game = get_game(name)
    for text in opponents(game):
        make_agent(text, game, trust=FULL_TRUST)


def test_help_names_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["play", "--help"]) == 0
    shown = capsys.readouterr().out
    forms = ["random", "zero", "handwritten:NAME", "zoo:NAME", ".safetensors", "SEARCH:EVAL", "minimax:zero"]
    assert all(form in shown for form in [*forms, *(f"{kind}:PROGRAM" for kind in PROTOCOLS)])


def typed(monkeypatch: pytest.MonkeyPatch, lines: Sequence[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_a_whole_game_against_minimax(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    typed(monkeypatch, ["2:2", ""])
    assert run(["play", "matches,piles=2-3,k=2", "--opponent", "minimax:zero", "--seed", "1"]) == 0
    told = capsys.readouterr().out
    assert "second: minimax:zero@depth=6" in told
    assert "2:2 is not minimax-optimal (proven), worth -1, a loss: 2 given away\nbetter: 1:1, worth +1, a win" in told
    assert "the machine plays 1:2   (it expects +1, a win in 2 plies; proven)" in told
    assert "\n2:1 is the only move\n" in told
    assert "the machine has won: -1 to you, +1 to the machine" in told


@pytest.mark.parametrize(
    ("limit", "opponent", "told"),
    [
        ("nodes=50", "minimax:zero", "minimax runs to a fixed depth; got nodes=50: give depth alone"),
        ("depth=2", "mcts", "mcts counts simulations: give nodes or time, not only depth=2"),
        ("depth=2", "flat:zero", "flat counts simulations: give nodes or time, not only depth=2"),
        ("depth=2", "minimax:zero@time=1", "minimax runs to a fixed depth; got time=1"),
    ],
)
def test_limits_that_a_search_cannot_keep_are_refused_before_the_first_board(
    limit: str, opponent: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["play", "tic_tac_toe", "--opponent", opponent, "--limit", limit]) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.out == ""


def test_a_search_that_cannot_play_the_game_is_told_before_the_first_board(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["play", "pig", "--opponent", "minimax:zero"]) == 2
    shown = capsys.readouterr()
    assert "pig rolls dice: use expectiminimax" in shown.err
    assert "first to move" not in shown.out


@pytest.mark.parametrize("search", SEARCHES)
def test_analyse_chooses_limits_that_suit_the_search(search: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyse", "toys:Takeaway", "--search", search]) == 0
    assert "best:" in capsys.readouterr().out


@pytest.mark.parametrize(("limit", "search"), [("--nodes=5", "minimax"), ("--depth=2", "mcts")])
def test_analyse_refuses_limits_before_it_shows_a_board(
    limit: str, search: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["analyse", "tic_tac_toe", "--search", search, limit]) == 2
    assert capsys.readouterr().out == ""


def test_minimax_looks_less_far_in_wider_games() -> None:
    names = "chess", "connect_four", "matches,piles=2-3,k=2"
    depths = {name: default_limits(get_game(name), "minimax").depth for name in names}
    assert depths == {"chess": 2, "connect_four": 4, "matches,piles=2-3,k=2": 6}


class Failing(Agent):
    """It fails at its first move."""

    name = "failing"

    def __init__(self, game: Game) -> None:
        self.game, self.asked = game, 0

    def choose(self, s: State, seed: int) -> SearchResult:
        self.asked += 1
        if self.asked == 1:
            raise EngineError("failing fell silent: wake it")
        return RandomAgent(self.game).choose(s, seed)


def test_a_game_whose_opponent_has_failed_goes_on() -> None:
    game = PlainTicTacToe()
    for way, plies in (("", 2), ("undo", 0)):
        dialogue = Dialogue(Session(game, (None, Failing(game)), judge=judge_of(game), seed=1), lambda text: None)  # type: ignore[arg-type, return-value]
        told = answers(dialogue, "5")
        assert "failing fell silent: wake it" in told
        assert "the move is not made: an empty line tries again, undo takes yours back" in told
        assert dialogue.prompt == "again> "
        answers(dialogue, way)
        assert (len(dialogue.session.plies), dialogue.prompt) == (plies, "you> ")


@pytest.mark.parametrize(
    ("name", "program"),
    [
        *((name, f"cmd:{PYTHON} {ENGINES}/fake_cmd.py good") for name in game_names()),
        ("chess", f"uci:{PYTHON} {ENGINES}/fake_uci.py 'cp 10' 'bestmove e2e4'"),
        ("othello", f"gtp:{PYTHON} {ENGINES}/fake_gtp.py othello good"),
    ],
)
def test_every_engine_moves_by_the_limits_of_play_itself(name: str, program: str) -> None:
    game = get_game(name)
    agent = make_agent(program, game, trust=FULL_TRUST)
    session = Session(game, tuple([agent] * game.n_players), seed=1)
    try:
        session.prepare()
        while (ply := session.step()) is not None and ply.thought is None:
            pass
        assert ply is not None
    finally:
        agent.close()
