"""Tic-tac-toe: rules, notation, features, both backends."""

from __future__ import annotations

from functools import partial

import numpy as np
import playing
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallearn.errors import BadNotation, IllegalAction
from evallearn.games.tic_tac_toe import TicTacToe

GAME = TicTacToe()
random_game = partial(playing.random_game, GAME)
perft = partial(playing.perft, GAME)


def features(text: str, player: int = 0) -> dict[str, float]:
    return dict(zip(GAME.feature_names, GAME.features(GAME.from_text(text), player), strict=True))


def test_perft_equals_published_counts():
    published = [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    assert [perft(GAME.initial(), depth) for depth in range(1, 10)] == published


def test_utility_is_seen_by_the_named_player():
    won = GAME.from_text("XXXOO....")
    assert (GAME.utility(won, 0), GAME.utility(won, 1)) == (1.0, -1.0)
    lost = GAME.from_text("XX.OOOX..")
    assert (GAME.utility(lost, 0), GAME.utility(lost, 1)) == (-1.0, 1.0)
    drawn = GAME.from_text("XOXXOOOXX")
    assert GAME.is_terminal(drawn)
    assert (GAME.utility(drawn, 0), GAME.utility(drawn, 1)) == (0.0, 0.0)
    assert GAME.actions(won) == GAME.actions(lost) == GAME.actions(drawn) == ()


@pytest.mark.parametrize(
    ("position", "action", "message"),
    [
        (
            "XO.......",
            0,
            'illegal action 1 in tic_tac_toe position "XO.......": square 1 is taken; legal: 3 4 5 6 7 8 9',
        ),
        ("XXXOO....", 8, 'illegal action 9 in tic_tac_toe position "XXXOO....": the game is over; legal: none'),
        (
            "XOXOX.O..",
            9,
            'illegal action 9 in tic_tac_toe position "XOXOX.O..": actions are 0..8, written 1..9; legal: 6',
        ),
        ("XOXOX.O..", "a", "illegal action 'a' in tic_tac_toe"),
    ],
)
def test_illegal_actions_say_why(position, action, message):
    with pytest.raises(IllegalAction) as error:
        GAME.result(GAME.from_text(position), action)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("seed", range(50))
def test_texts_read_back(seed):
    for s, a in random_game(seed):
        assert GAME.from_text(GAME.to_text(s)) == s
        if a is not None:
            assert GAME.action_from_text(s, GAME.action_to_text(s, a)) == a


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected nine characters"),
        ("X.O", "expected nine characters"),
        ("X.O.Z....", "expected nine characters"),
        ("XX.......", "has 2 X and 0 O: expected as many X as O, or one more"),
        ("O........", "has 0 X and 1 O"),
        ("XXXOOO...", "X is to move and has three in a row already"),
        ("OOOXX.XX.", "O is to move and has three in a row already"),
    ],
)
def test_bad_notation_names_what_is_wrong(text, message):
    playing.refuses(GAME, text, message)


@given(st.one_of(st.text(), st.text("XO.xo", min_size=9, max_size=9)))
def test_any_text_is_a_position_or_bad_notation(text):
    playing.reads_or_refuses(GAME, text)


def test_unknown_action_text_is_refused():
    with pytest.raises(BadNotation, match="legal: 2 3"):
        GAME.action_from_text(GAME.from_text("X........"), "1")


def test_features_of_known_positions():
    # X in a corner keeps row 1 and column 1; O in the centre keeps row 2, column 2 and the other diagonal.
    assert features("X...O....") == {"centre": -1, "corners": 1, "open_ones": -1, "open_twos": 0, "wins_now": 0}
    # Both have an open two; X is to move.
    assert features("XX.OO....") == {"centre": -1, "corners": 1, "open_ones": -1, "open_twos": 0, "wins_now": 1}
    assert features("XX.OO....", player=1)["wins_now"] == -1
    # O is to move and has no two; ones: column 1 for X, row 2 and a diagonal for O.
    assert features("XX..O....") == {"centre": -1, "corners": 1, "open_ones": -1, "open_twos": 1, "wins_now": 0}


def test_keys_are_distinct():
    seen = {s for seed in range(300) for s, _ in random_game(seed)}
    keys = {int(GAME.rules.key(GAME.rules.State(*map(np.uint64, s)))) for s in seen}
    assert len(keys) == len(seen)


def test_board_shows_squares_and_mover():
    rows = [" X | 2 | 3", " 4 | O | 6", " 7 | 8 | 9\nX to move"]
    assert GAME.board(GAME.from_text("X...O....")) == "\n---+---+---\n".join(rows)
    assert GAME.board(GAME.from_text("XXXOO....")).endswith("\nX has won")
    assert GAME.board(GAME.from_text("XOXXOOOXX")).endswith("\na draw")
