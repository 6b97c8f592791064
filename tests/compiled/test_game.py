"""The compiled game says what the plain one says."""

from __future__ import annotations

import numpy as np
import pytest
import toys

from evallearn.compiled.game import CompiledGame
from evallearn.errors import GameError


def test_draw_is_plus_zero_to_both_players():
    from evallearn.registry import get_game

    game = CompiledGame(get_game("tic_tac_toe"))
    draw = game.from_text("XOXXOOOXX")
    assert game.is_terminal(draw)
    assert [str(game.utility(draw, p)) for p in (0, 1)] == ["0.0", "0.0"]


def test_features_of_the_other_player_are_the_negative_and_never_minus_zero():
    game = CompiledGame(toys.DoubleMove())
    s = toys.Pile(12, 0)
    assert [str(x) for x in game.features(s, 1)] == ["0.0", "-3.0", "0.0"]


def test_illegal_action_is_refused_by_the_plain_game():
    game = CompiledGame(toys.DoubleMove())
    with pytest.raises(GameError, match="illegal action 7 in double_move position '12:0'"):
        game.result(game.initial(), 7)


def test_perft_of_a_negative_depth_is_refused():
    game = CompiledGame(toys.DoubleMove())
    with pytest.raises(GameError, match="perft depth -1: give 0 or more"):
        game.perft(game.initial(), -1)
    assert game.perft(game.initial(), 0) == 1


def test_recursive_kernel_keeps_one_signature_whatever_it_is_asked():
    game = CompiledGame(toys.DoubleMove())
    for depth in (1, np.int32(2), np.int64(3), 10):
        game.perft(game.initial(), depth)
    game.result(game.initial(), np.int32(1))
    assert len(game.kernels.perft.signatures) <= 1
    assert len(game.kernels.count.signatures) <= 1
    assert len(game.kernels.advance.signatures) == 1
