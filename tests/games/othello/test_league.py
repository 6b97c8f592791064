"""The league of published 1-ply players: what it reads, what a board is worth to a player, what it refuses."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from playing import random_game
from scripts import benchmark

from evallearn.evaluators import PatternEval, heuristic, save
from evallearn.evaluators.layout import Layout
from evallearn.games.othello import Othello
from evallearn.games.othello.rules import State

GAME = Othello()
WEIGHTS = np.random.default_rng(0).normal(size=64).round(3)


@pytest.fixture
def league() -> ModuleType:
    return benchmark("othello_league")


def boards() -> list[State]:
    """Positions after a move."""
    return [State(*map(np.uint64, GAME.encode(s))) for s, _ in random_game(GAME, 1)][1:-1:4]


def value(league: ModuleType, after: State, player: object) -> float:
    return league.board_value.py_func(after, player.arrays, np.zeros(GAME.n_cells, np.int32))  # type: ignore[attr-defined]


def squares(word: np.uint64) -> list[int]:
    return [i for i in range(64) if int(word) >> i & 1]


def test_a_counter_adds_the_squares_of_the_one_who_moved_and_subtracts_the_others(league, tmp_path):
    path = tmp_path / "mine.wpc"
    path.write_text(" ".join(map(str, WEIGHTS)))
    player = league.read_counter(path)
    assert player.name == "mine"
    for s in boards():
        expected = WEIGHTS[squares(s.opp)].sum() - WEIGHTS[squares(s.own)].sum()
        assert value(league, s, player) == pytest.approx(expected)


@pytest.mark.parametrize("mode", ["BOARD_INVERSION", "VALUE_NEGATION"])
def test_tuples_of_both_modes_see_white_as_published(league, tmp_path, mode):
    """The digits are white 0, empty 1, black 2; White turns the board around, or takes the least value."""
    path = tmp_path / "pair.ntuple"
    path.write_text(f"# pair mode={mode}\n1\n2 1\n27 28\n{' '.join(map(str, range(9)))}\n")
    player = league.read_ntuple(path)
    for s in boards():
        white_moved = int(s.player) == 0
        black, white = (s.own, s.opp) if white_moved else (s.opp, s.own)
        digits = [2 if i in squares(black) else 0 if i in squares(white) else 1 for i in (27, 28)]
        index = 3 * digits[0] + digits[1]
        if white_moved:
            index = 8 - index if mode == "BOARD_INVERSION" else -index
        assert value(league, s, player) == index


def test_our_eval_is_worth_the_same_in_the_league(league):
    layout = Layout.of(GAME, GAME.pattern_sets["classic"])
    weights = np.random.default_rng(1).normal(0, 0.1, (layout.n_groups, layout.entries))
    evaluator = PatternEval.from_weights(layout, weights, {"name": "ours"})
    player = league.of_eval(evaluator)
    plain = [s for s, _ in random_game(GAME, 1)][1:-1:4]
    for s, words in zip(plain, boards(), strict=True):
        assert np.tanh(value(league, words, player)) == pytest.approx(evaluator.evaluate(s, 1 - GAME.to_play(s)))


def test_absent_reference_data_are_named(league, capsys):
    league.REFERENCE = Path("nowhere")
    assert league.main(["SWH"]) == 0
    assert "nowhere is not there: nothing was measured" in capsys.readouterr().out


def test_unknown_players_and_other_evals_are_refused(league, tmp_path, capsys):
    league.REFERENCE = tmp_path
    assert league.main(["SHW"]) == 2
    assert "unknown player or file 'SHW'" in capsys.readouterr().err
    path = tmp_path / "linear.safetensors"
    save(heuristic(GAME, "mobility"), path)
    assert league.main([str(path)]) == 2
    assert "linear.safetensors is a linear evaluator, and this league plays only patterns" in capsys.readouterr().err
