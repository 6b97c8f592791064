"""Connect Four: rules, notation, features, both backends."""

from __future__ import annotations

import csv
import gzip
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import playing
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallearn.errors import BadNotation, IllegalAction
from evallearn.games.connect_four import ConnectFour
from evallearn.games.connect_four.game import BOARD, LINES, State, has_four

GAME = ConnectFour()
random_game = partial(playing.random_game, GAME)
perft = partial(playing.perft, GAME)
REFERENCE = Path(__file__).resolve().parents[4] / "shared/reference/connect_four"
needs_reference = pytest.mark.skipif(not REFERENCE.exists(), reason="../shared/reference is absent")


def features(text: str, player: int = 0) -> dict[str, float]:
    """The features that are not 0."""
    values = GAME.features(GAME.from_text(text), player)
    return {name: value for name, value in zip(GAME.feature_names, values, strict=True) if value}


def test_perft_equals_published_counts():
    assert [perft(GAME.initial(), depth) for depth in range(1, 7)] == [7, 49, 343, 2401, 16807, 117649]


def test_there_are_69_lines():
    assert len(set(LINES)) == 69
    assert all(line & ~BOARD == 0 and line.bit_count() == 4 for line in LINES)


def test_actions_come_centre_first():
    assert GAME.actions(GAME.initial()) == (3, 2, 4, 1, 5, 0, 6)
    assert GAME.actions(GAME.from_text("333333")) == (3, 4, 1, 5, 0, 6)


@pytest.mark.parametrize("text", ["1212121", "1122334", "12233434474", "43322121611"])
def test_four_in_a_row_ends_the_game(text):
    s = GAME.from_text(text)
    winner = (len(text) + 1) & 1
    assert GAME.is_terminal(s)
    assert GAME.actions(s) == ()
    assert (GAME.utility(s, winner), GAME.utility(s, 1 - winner)) == (1.0, -1.0)


def test_full_board_is_a_draw():
    s = GAME.from_text(DRAWN)
    assert s.mask == BOARD
    assert GAME.is_terminal(s)
    assert (GAME.utility(s, 0), GAME.utility(s, 1)) == (0.0, 0.0)


DRAWN = "121212212121" + "343434434343" + "565656656565" + "777777"
"""Columns filled in pairs, X and O swapped half way up: no line of four anywhere."""


@pytest.mark.parametrize(
    ("position", "action", "message"),
    [
        ("777777", 6, 'illegal action 7 in connect_four position "777777": column 7 is full; legal: 1 2 3 4 5 6'),
        ("1212121", 3, 'illegal action 4 in connect_four position "1212121": the game is over; legal: none'),
        ("", 7, 'illegal action 7 in connect_four position "": actions are 0..6, written 1..7; legal: 1 2 3 4 5 6 7'),
        ("", "4", "illegal action '4' in connect_four position"),
    ],
)
def test_illegal_actions_say_why(position, action, message):
    with pytest.raises(IllegalAction) as error:
        GAME.result(GAME.from_text(position), action)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("seed", range(20))
def test_texts_read_back(seed):
    for s, a in random_game(seed):
        text = GAME.to_text(s)
        assert set(text) <= set("1234567")
        assert GAME.from_text(text) == s
        assert GAME.from_text(GAME._squares(s)) == s
        if a is not None:
            assert GAME.action_from_text(s, GAME.action_to_text(s, a)) == a


def test_board_form_is_read_from_the_top():
    text = "." * 28 + "...O..." + "...XX.."
    assert GAME.from_text(text) == GAME.from_text("445")
    assert GAME.from_text(f" {text.lower()}\n") == GAME.from_text("445")


def test_state_that_no_play_reaches_is_shown_as_squares():
    s = State(own=0b10, mask=0b11)  # X on top of O, yet X moves first
    assert GAME.to_text(s) == "." * 28 + "X......" + "O......"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("448", "character 3 is '8'; expected column digits 1..7, or 42 characters"),
        ("4 4", "character 2 is ' '"),
        ("X" * 41, "character 1 is 'X'"),
        ("4444444", 'move 7: illegal action 4 in connect_four position "444444": column 4 is full'),
        ("12121213", "the game is over"),
        ("." * 35 + "XX.....", "has 2 X and 0 O: expected as many X as O, or one more"),
        ("." * 35 + "O......", "has 0 X and 1 O"),
        ("." * 28 + "X......" + ".O.....", "a stone in column 1 stands on an empty square"),
        ("." * 28 + "X......" + "O......", "no order of play leads to it"),
        ("." * 14 + ".OX...." * 4, "no order of play leads to it"),
    ],
)
def test_bad_notation_names_what_is_wrong(text, message):
    playing.refuses(GAME, text, message)


@given(st.one_of(st.text(), st.text("1234567", max_size=42), st.text("XO.", min_size=42, max_size=42)))
def test_any_text_is_a_position_or_bad_notation(text):
    playing.reads_or_refuses(GAME, text)


def test_unknown_action_text_is_refused():
    with pytest.raises(BadNotation, match="no legal action '8'"):
        GAME.action_from_text(GAME.initial(), "8")


def test_features_of_known_positions():
    assert features("") == {}
    assert features("4") == {"centre": 1}
    # X and O have three in columns 1 and 2, each with row 4 (good for O) open; X is to move.
    assert features("121212") == {"first_even_4": 1, "second_even_4": -1, "wins_now": 1}
    assert features("121212", player=1) == {"first_even_4": -1, "second_even_4": 1, "wins_now": -1}
    # X has c1 d1 e1 with both ends open and playable: O, to move, is lost.
    # Open twos: X a1-d1 and d1-g1; O the rows a2-d2, b2-e2, c2-f2 and d2-g2 holds but one, so 2 - 3.
    threats = {"playable_threats": 2, "double_threat": 1}  # in row 1, which no row feature counts
    assert features("44335") == {"inner": 1, "open_twos": -1, "open_threes": 2, **threats}


def test_stacked_threats_are_seen():
    # X: a1 b1 c1 and a2 b2 c2, so d1 and d2, one above the other. O: a3 b3 c3, so d3, and g1 g2 f1.
    found = features("171127223633")
    assert found["stacked_threats"] == 1
    assert found["first_even_2"] == 1  # d2; d1 is playable
    assert found["second_odd_3"] == -1  # d3
    assert found["wins_now"] == 1
    assert found["playable_threats"] == 1


def test_keys_are_distinct():
    seen = {s for seed in range(200) for s, _ in random_game(seed)}
    keys = {int(GAME.rules.key(GAME.rules.State(*map(np.uint64, s)))) for s in seen}
    assert len(keys) == len(seen)


def test_phases_cover_the_game():
    phases = [GAME.phase(GAME.from_text(DRAWN[:n])) for n in (0, 10, 11, 21, 22, 32, 33, 42)]
    assert phases == [0, 0, 1, 1, 2, 2, 3, 3]


def test_board_shows_rows_columns_and_mover():
    empty = [f"{row} . . . . . . ." for row in (6, 5, 4, 3)]
    expected = [*empty, "2 . . . O . . .", "1 . . . X X . .", "  1 2 3 4 5 6 7", "O to move"]
    assert GAME.board(GAME.from_text("445")).splitlines() == expected
    assert GAME.board(GAME.from_text("1212121")).endswith("\nX has won")
    assert GAME.board(GAME.from_text(DRAWN)).endswith("\na draw")


@needs_reference
def test_reference_positions_are_read():
    with gzip.open(REFERENCE / "c4_8ply_67557.csv.gz", "rt") as file:
        for row in islice(csv.DictReader(file), 0, None, 200):
            s = GAME.from_text(row["moves"])
            assert s.mask.bit_count() == 8
            assert not GAME.is_terminal(s)
            assert GAME.from_text(GAME.to_text(s)) == s


@needs_reference
def test_immediate_wins_of_the_reference_are_seen_by_wins_now():
    wins_now = GAME.feature_names.index("wins_now")
    with (REFERENCE / "c4_allmoves_dev.csv").open() as file:
        for row in csv.DictReader(file):
            s = GAME.from_text(row["moves"])
            wins = any(has_four(GAME.result(s, a).own ^ GAME.result(s, a).mask) for a in GAME.actions(s))
            assert GAME.features(s, GAME.to_play(s))[wins_now] == wins
            full = {a for a in range(7) if row[f"m{a + 1}"] == ""}
            assert full == set(range(7)) - set(GAME.actions(s))
            # The exact score counts the stones left when the game is won: the most possible is a win at once.
            assert wins == (int(row["best"]) == (43 - s.mask.bit_count()) // 2)
