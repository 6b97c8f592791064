"""Random games on our boards and on OpenSpiel's side by side: same moves, same ends, same returns."""

from __future__ import annotations

import random

import pytest

from evallearn.games.connect_four import ConnectFour
from evallearn.games.othello import Othello
from evallearn.games.tic_tac_toe import TicTacToe

pyspiel = pytest.importorskip("pyspiel")


@pytest.mark.parametrize(
    ("game", "name", "games"),
    [(TicTacToe(), "tic_tac_toe", 200), (ConnectFour(), "connect_four", 60), (Othello(), "othello", 30)],
)
def test_openspiel_agrees(game, name, games):
    theirs = pyspiel.load_game(name)  # it numbers squares and columns as we do, and its pass is 64 too
    rng = random.Random(7)
    for _ in range(games):
        s, t = game.initial(), theirs.new_initial_state()
        while not t.is_terminal():
            assert not game.is_terminal(s)
            assert sorted(game.actions(s)) == t.legal_actions()
            assert game.to_play(s) == t.current_player()
            a = rng.choice(game.actions(s))
            s = game.result(s, a)
            t.apply_action(a)
        assert game.is_terminal(s)
        assert [game.utility(s, 0), game.utility(s, 1)] == t.returns()
