"""Agents as short texts: every form, what is refused, and what the refusals say."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import pytest
from at_the_board import PlainTicTacToe
from toys import CoinRace, TreeGame

from evallearn.agents import (
    DEFAULT_LIMITS,
    PlayoutAgent,
    RandomAgent,
    SearchAgent,
    default_limits,
    parse_agent,
    parse_evaluator,
    zero_evaluator,
)
from evallearn.agents.options import kind_of, search_options
from evallearn.core.game import Game
from evallearn.core.search import Limits
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import EvaluatorError, SearchError, SpecError
from evallearn.evaluators import LinearEval, heuristic, save
from evallearn.games.backgammon import Backgammon
from evallearn.games.checkers import Checkers
from evallearn.games.chess import Chess
from evallearn.games.othello import Othello
from evallearn.games.three_player_connect import ThreePlayerConnect
from evallearn.games.tic_tac_toe import TicTacToe
from evallearn.search import SEARCHES

TTT, OTHELLO = TicTacToe(), Othello()


class PlainChess(Chess):
    """Nothing to compile, for speed."""

    rules = None


class PlainCheckers(Checkers):
    """The same."""

    rules = None


def searching(text: str, game: Game, limits: Limits | None = None) -> SearchAgent:
    agent = parse_agent(text, game, limits, trust=FULL_TRUST)
    assert isinstance(agent, SearchAgent)
    return agent


# --- the forms -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "game"),
    [
        ("random", OTHELLO),
        ("zero@depth=4", OTHELLO),
        ("handwritten:positional@depth=4", OTHELLO),
        ("mcts@nodes=1000", OTHELLO),
        ("mcts:handwritten:mobility@nodes=500", OTHELLO),
        ("mcts,leaf=playout,exploration=1.0:zero@nodes=500", OTHELLO),
        ("flat@nodes=300,time=0.5", OTHELLO),
        ("paranoid:handwritten:lines@depth=3", ThreePlayerConnect()),
        ("maxn,ties=friendly,alliance=0-1:zero@depth=2", ThreePlayerConnect()),
        ("alphabeta,quiescence=0:handwritten:material@depth=4", Chess()),
        ("expectiminimax:handwritten:race@depth=2", Backgammon()),
        (f"cmd:{sys.executable} a@b.py --list=a,b@depth=2", OTHELLO),
        (f"cmd:{sys.executable} x.py,timeout=5@time=0.1", OTHELLO),
        (f"uci:{sys.executable},Skill Level=3,Hash=16@nodes=1000", Chess()),
        (f"gtp:{sys.executable} --level=2", OTHELLO),
    ],
)
def test_a_description_is_the_agents_name_and_travels(text: str, game: Game) -> None:
    agent: Any = parse_agent(text, game, trust=FULL_TRUST)
    assert agent.name == text
    other = parse_agent(agent.name, game, trust=FULL_TRUST)
    assert (type(other), other.name) == (type(agent), text)
    assert pickle.loads(pickle.dumps(agent)).name == text
    assert agent.follows is text.startswith("gtp")


def test_limits_come_from_the_text_the_caller_or_the_game() -> None:
    given = Limits(nodes=7)
    assert searching("zero@depth=3", OTHELLO, given).limits == Limits(depth=3)
    assert searching("zero", OTHELLO, given).limits == given
    assert searching("zero", OTHELLO).limits == DEFAULT_LIMITS == Limits(depth=4)
    assert searching("zero", Backgammon()).limits == Limits(depth=1) == default_limits(Backgammon())
    assert parse_agent("mcts", OTHELLO).name == "mcts@nodes=1000"
    assert parse_agent("mcts", OTHELLO, given).name == "mcts@nodes=7"
    assert parse_agent(f"cmd:{sys.executable}", OTHELLO, trust=FULL_TRUST).name == f"cmd:{sys.executable}@depth=4"
    assert (
        parse_agent(f"uci:{sys.executable}", Chess(), given, trust=FULL_TRUST).name == f"uci:{sys.executable}@nodes=7"
    )
    with pytest.raises(SearchError, match="mcts"):
        parse_agent("mcts", OTHELLO, Limits(depth=3))


def test_most_agents_need_not_be_told() -> None:
    agent = RandomAgent(TTT)
    agent.begin([0])
    agent.played(TTT.initial(), 0)
    agent.close()
    assert not agent.follows


@pytest.mark.parametrize(
    "text",
    [
        "mcts,backend=python@nodes=50",
        "flat,backend=python@nodes=30",
        "mcts,leaf=playout,solver=off,backend=python:zero@nodes=50",
    ],
)
def test_monte_carlo_agents_play_with_and_without_an_eval(text: str) -> None:
    game = PlainTicTacToe()
    agent: Any = parse_agent(text, game, trust=FULL_TRUST)
    found = [agent.choose(game.initial(), seed).action_values for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]  # each move draws anew
    assert pickle.loads(pickle.dumps(agent))._search is None


def test_playouts_upstairs_run_on_compiled_rules() -> None:
    agent: Any = parse_agent("flat,backend=python@nodes=30", TTT)
    assert agent.choose(TTT.initial(), 1).nodes == 30
    assert (agent._search.backend, type(agent._search.game).__name__) == ("python", "CompiledGame")


def test_a_named_search_plays_with_its_options() -> None:
    game = PlainTicTacToe()
    plain = searching("minimax:handwritten:lines@depth=3", game).choose(game.initial(), 0)
    pruned = searching("alphabeta,table=off:handwritten:lines@depth=3", game).choose(game.initial(), 0)
    usual = searching("handwritten:lines@depth=3", game).choose(game.initial(), 0)
    assert plain.value == pruned.value == usual.value
    assert plain.nodes > pruned.nodes
    agent: Any = searching("alphabeta,quiescence=3:zero", PlainCheckers())
    agent.prepare()
    assert agent._search.options.quiescence == 3
    assert PlayoutAgent(game, "flat", Limits(nodes=9)).name == "flat@nodes=9"


def test_the_usual_search_keeps_the_games_settings_when_it_is_named() -> None:
    agent: Any = searching("alphabeta,late_move_reductions=off:zero@depth=1", PlainChess())
    agent.prepare()
    assert (agent._search.options.quiescence, agent._search.options.late_move_reductions) == (10, False)


def test_zero_also_knows_games_without_features() -> None:
    game = TreeGame()
    agent = searching("zero@depth=2", game)
    assert agent.choose(game.initial(), 0).value == 3
    assert zero_evaluator(game).name == "zero"
    assert pickle.loads(pickle.dumps(agent)).choose(game.initial(), 0).value == 3
    with pytest.raises(EvaluatorError, match="has no features"):
        parse_evaluator("zero", game)  # to learn from


# --- options ---------------------------------------------------------------------------------------------------------
def test_options_are_those_of_the_constructor_that_a_text_can_say() -> None:
    assert {"leaf", "exploration", "solver", "max_nodes", "backend"} <= set(search_options("mcts"))
    assert {"threads", "table_bits", "quiescence", "null_move"} <= set(search_options("alphabeta"))
    assert all("is_cutoff" not in search_options(name) for name in SEARCHES)
    assert "usual" not in search_options("bestreply")
    text = kind_of(str)
    assert text is not None
    assert text.read("a text") == "a text"
    assert kind_of(int | str) is None


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("mcts,leaf=playout,exploration=1,playout_depth=8,solver=off:zero", (("playout", 1.0, 8, False))),
        ("mcts, leaf = eval ,exploration=0.5,playout_depth=1,solver=TRUE:zero", ("eval", 0.5, 1, True)),
    ],
)
def test_values_are_read_by_their_types(text: str, settings: tuple[Any, ...]) -> None:
    found = searching(f"{text}@nodes=1", TTT).settings
    assert tuple(found[name] for name in ("leaf", "exploration", "playout_depth", "solver")) == settings


REFUSALS = {
    "mcts,leef=rollout@nodes=1": "unknown option of mcts 'leef': did you mean 'leaf'? known: backend, exploration",
    "mcts,leaf=x@nodes=1": "option leaf=x of mcts: give playout or eval",
    "mcts,solver=maybe@nodes=1": "option solver=maybe of mcts: give on or off",
    "mcts,max_nodes=many@nodes=1": "option max_nodes=many of mcts: give a whole number",
    "mcts,exploration=x@nodes=1": "option exploration=x of mcts: give a number",
    "maxn,alliance=0+1:zero": "option alliance=0+1 of maxn: give whole numbers with - between them, as 0-1",
    "mcts,leaf@nodes=1": "option 'leaf' of mcts: write it as NAME=VALUE",
    "mcts,leaf=eval,leaf=eval@nodes=1": "option 'leaf' of mcts is given twice: give it once",
    "alphabeta@depth=3": "agent 'alphabeta': alphabeta needs an evaluator: write alphabeta:zero or",
    "alphabeta,pvs=off:@depth=3": "write alphabeta,pvs=off:zero or alphabeta,pvs=off:handwritten:NAME",
    "mcts:handwriten:lines@nodes=1": "did you mean 'handwritten:lines'?",
    "mtcs:zero@nodes=1": "unknown agent 'mtcs:zero': did you mean 'mcts:zero'? known: alphabeta, ",
    "paranoyd,pruning=off:zero": "did you mean 'paranoid,pruning=off:zero'?",
    "usi:stockfish@depth=3": "did you mean 'uci:stockfish'?",
    "randm": "did you mean 'random'?",
    "xyzzy:plugh": "unknown agent 'xyzzy:plugh': known: alphabeta, ",
    "xyzzy": "or the path of a .safetensors file; a search in front, as mcts:zero or paranoid,pruning=off:zero; "
    "an engine as uci:PROGRAM, gtp:PROGRAM or cmd:PROGRAM; then @depth=4, @nodes=20000 or @time=0.1",
    "uci": "unknown agent 'uci'",
    "cmd:no-such-program@depth=1": "no program 'no-such-program' in PATH nor in /usr/games: install it, or give",
    "cmd:'a": 'command "\'a" cannot be read (No closing quotation): close its quotes',
    "cmd:@depth=1": "an engine without a program: name one, as in uci:stockfish@depth=3",
    f"cmd:{sys.executable},timeout=x": "option timeout=x of a cmd engine: give seconds above 0, as timeout=5",
    f"cmd:{sys.executable},timeout=0": "option timeout=0 of a cmd engine: give seconds above 0",
    f"cmd:{sys.executable},timeout=nan": "option timeout=nan of a cmd engine: give seconds above 0",
    f"cmd:{sys.executable},Hash=3": "option 'Hash' of a cmd engine: it takes timeout only; what else it should know",
    f"gtp:{sys.executable},Hash=3": "option 'Hash' of a gtp engine: it takes timeout, size, game only",
    f"cmd:{sys.executable},timeout=1,timeout=2": "is given twice: give it once",
    "solved:solved:zero": "evaluator 'solved:solved:zero': write solved: once",
    "bounded:solved:bounded:zero": "evaluator 'bounded:solved:bounded:zero': write bounded: once",
    "zoo:tic_tac_toe/x": "unknown evaluator in the zoo of tic_tac_toe 'tic_tac_toe/x'",
}


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals_name_the_remedy(text: str) -> None:
    with pytest.raises(SpecError) as raised:
        parse_agent(text, TTT, trust=FULL_TRUST)
    assert REFUSALS[text] in str(raised.value)


def test_a_search_that_cannot_play_the_game_is_refused_before_the_first_move() -> None:
    with pytest.raises(SearchError, match="alphabeta needs a two-player zero-sum game without chance"):
        parse_agent("alphabeta:zero@depth=1", CoinRace()).prepare()


# --- the zoo ---------------------------------------------------------------------------------------------------------
def test_shipped_evals_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evallearn.evaluators.zoo.zoo_folder", lambda: tmp_path)
    (tmp_path / "tic_tac_toe").mkdir()
    save(heuristic(TTT, "lines"), tmp_path / "tic_tac_toe" / "rows.safetensors")
    agent = searching("zoo:tic_tac_toe/rows@time=0.1", TTT)
    assert agent.name == "zoo:tic_tac_toe/rows@time=0.1"
    assert isinstance(agent.evaluator, LinearEval)
    assert searching("mcts:zoo:rows@nodes=9", TTT).search == "mcts"
    with pytest.raises(SpecError, match="unknown evaluator in the zoo of tic_tac_toe 'tic_tac_toe/rosw': did you mean"):
        parse_agent("zoo:tic_tac_toe/rosw", TTT)
    with pytest.raises(SpecError, match="did you mean 'zoo:tic_tac_toe/rows'"):
        parse_agent("zo:tic_tac_toe/rows", TTT)
