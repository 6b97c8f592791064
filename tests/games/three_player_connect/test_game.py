"""Three-player Connect: rules, notation, features, both backends."""

from __future__ import annotations

import random
from functools import cache, partial
from itertools import count, product

import numpy as np
import playing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallearn.errors import BadNotation, IllegalAction
from evallearn.games.lines import threats
from evallearn.games.three_player_connect import ThreePlayerConnect
from evallearn.games.three_player_connect import rules as lower
from evallearn.games.three_player_connect.game import BOARD, LINES, State, has_four, stones

GAME = ThreePlayerConnect()
random_game = partial(playing.random_game, GAME)
EMPTY_ROW = "." * 9


def grid(text: str) -> dict[tuple[int, int], str]:
    """{(column, row): mark}, row 0 at the bottom."""
    return {(i % 9, 5 - i // 9): mark for i, mark in enumerate(text) if mark != "."}


def scan(text: str) -> set[str]:
    """The marks with four in a row, by walking from every stone into every direction."""
    cells = grid(text)
    steps = [(dc, dr) for dc in (-1, 0, 1) for dr in (-1, 0, 1) if (dc, dr) != (0, 0)]
    return {
        mark
        for (c, r), mark in cells.items()
        for dc, dr in steps
        if all(cells.get((c + i * dc, r + i * dr)) == mark for i in range(4))
    }


def word(squares: list[tuple[int, int]]) -> int:
    return sum(1 << (7 * c + r) for c, r in squares)


@cache
def drawn_game() -> list[tuple[State, int | None]]:
    """The first random game that fills the board."""
    return next(
        played for seed in count() if len(played := random_game(seed)) == 55 and not has_four(played[-1][0].last)
    )


# --- rules -----------------------------------------------------------------------------------------------------------
def test_perft_counts_nine_columns_until_one_is_full():
    assert [playing.perft(GAME, GAME.initial(), depth) for depth in range(1, 5)] == [9, 81, 729, 6561]
    assert playing.perft(GAME, GAME.from_text("55555"), 2) == 81 - 1  # only 5 after 5 is missing


def test_there_are_99_lines():
    assert len(set(LINES)) == 99
    assert all(line & ~BOARD == 0 and line.bit_count() == 4 for line in LINES)


def test_actions_come_centre_first():
    assert GAME.actions(GAME.initial()) == (4, 3, 5, 2, 6, 1, 7, 0, 8)
    assert GAME.actions(GAME.from_text("444444")) == (4, 5, 2, 6, 1, 7, 0, 8)


def test_players_move_in_turn():
    s = GAME.initial()
    for player in (0, 1, 2, 0):
        assert GAME.to_play(s) == player
        s = GAME.result(s, player)
    assert GAME.to_text(s) == 4 * EMPTY_ROW + "X........" + "XOZ......"


@pytest.mark.parametrize(
    ("moves", "winner"),
    [("1231231231", 0), ("12312312392", 1), ("123123123983", 2), ("1982983984", 0), ("91892893874", 1)],
)
def test_winner_gets_one_and_the_others_lose_a_half(moves, winner):
    s = GAME.from_text(moves)
    assert GAME.is_terminal(s)
    assert GAME.actions(s) == ()
    assert [GAME.utility(s, p) for p in range(3)] == [1.0 if p == winner else -0.5 for p in range(3)]


def test_full_board_is_a_draw():
    s = drawn_game()[-1][0]
    assert stones(s) == BOARD
    assert GAME.is_terminal(s)
    assert [GAME.utility(s, p) for p in range(3)] == [0.0, 0.0, 0.0]
    assert GAME.board(s).endswith("\na draw")


def floors_have_four(stones_here: int) -> bool:
    """What both backends say."""
    answer = has_four(stones_here)
    assert lower.has_four(np.uint64(stones_here)) == answer
    return answer


def test_every_line_is_found_on_both_backends_and_none_runs_over_the_edge():
    for c, r, (dc, dr) in product(range(9), range(6), ((1, 0), (0, 1), (1, 1), (1, -1))):
        squares = [(c + i * dc, r + i * dr) for i in range(4)]
        on_board = [(x, y) for x, y in squares if 0 <= x < 9 and 0 <= y < 6]
        assert floors_have_four(word(on_board)) == (len(on_board) == 4)


def test_fours_of_random_boards_are_those_of_a_line_scan():
    rng = random.Random(0)
    for _ in range(500):
        squares = [(c, r) for c in range(9) for r in range(6) if rng.random() < 0.42]
        text = "".join("X" if (i % 9, 5 - i // 9) in squares else "." for i in range(54))
        assert floors_have_four(word(squares)) == (scan(text) == {"X"})


def test_games_end_exactly_where_a_line_scan_finds_a_four():
    winners = set()
    for seed in range(40):
        for s, a in random_game(seed):
            fours = scan(GAME.to_text(s))
            assert (a is None) == (bool(fours) or stones(s) == BOARD)
            for player, mark in enumerate("XOZ"):
                if fours:
                    assert GAME.utility(s, player) == (1.0 if {mark} == fours else -0.5)
            winners |= fours
    assert winners == {"X", "O", "Z"}


@pytest.mark.parametrize(
    ("position", "action", "message"),
    [
        ("777777", 6, "column 7 is full; legal: 1 2 3 4 5 6 8 9"),
        ("1231231231", 3, "the game is over; legal: none"),
        ("", 9, "actions are 0..8, written 1..9; legal: 1 2 3 4 5 6 7 8 9"),
        ("", "4", "actions are 0..8, written 1..9"),
    ],
)
def test_illegal_actions_say_why(position, action, message):
    s = GAME.from_text(position)
    with pytest.raises(IllegalAction) as error:
        GAME.result(s, action)
    shown = repr(action) if action in (9, "4") else action + 1
    start = f'illegal action {shown} in three_player_connect position "{GAME.to_text(s)}": {message}'
    assert str(error.value).startswith(start)


# --- text ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(10))
def test_texts_read_back(seed):
    moves = ""
    for s, a in random_game(seed):
        assert GAME.from_text(GAME.to_text(s)) == s
        assert GAME.from_text(moves) == s
        if a is not None:
            assert GAME.action_from_text(s, GAME.action_to_text(s, a)) == a
            moves += GAME.action_to_text(s, a)


def test_board_form_is_read_from_the_top():
    text = 4 * EMPTY_ROW + "....Z...." + "....XOX.."
    s = GAME.from_text("5657")
    assert GAME.to_text(s) == text
    for form in (f" {text.lower()}\n", "/".join(text[i : i + 9] for i in range(0, 54, 9)), " ".join(text)):
        assert GAME.from_text(form) == s


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("550", "character 3 is '0'; expected column digits 1..9, or 54 characters X, O, Z or . from the top left"),
        ("5 5", "character 2 is ' '"),
        ("5²", "character 2 is '²'"),
        ("٣", "character 1 is '٣'"),
        ("5\x005", "character 2 is '\\x00'"),
        ("\ud800", "character 1 is '\\ud800'"),
        ("X" * 53, "character 1 is 'X'"),
        ("5555555", "move 7: illegal action 5 in three_player_connect position"),
        ("12312312312", "move 11: illegal action 2 in three_player_connect position"),
        (
            5 * EMPTY_ROW + "XX.......",
            "it has 2 X, 0 O, 0 Z; expected as many of each, but that X, or X and O, may have",
        ),
        (5 * EMPTY_ROW + "XZ.......", "it has 1 X, 0 O, 1 Z"),
        (5 * EMPTY_ROW + "XXOO.....", "it has 2 X, 2 O, 0 Z"),
        (4 * EMPTY_ROW + "X........" + ".O.......", "a stone in column 1 stands on an empty square"),
        (4 * EMPTY_ROW + "OOZ......" + "XXXXOOZZZ", "someone has four in a row who did not move last"),
        (3 * EMPTY_ROW + "OOOO....." + "ZZZZ....." + "XXXX.....", "someone has four in a row"),
    ],
)
def test_bad_notation_names_what_is_wrong(text, message):
    playing.refuses(GAME, text, message)


def test_two_fours_apart_are_refused():
    # 8 X, 7 O and 7 Z: X moved last, but no stone of column 1 belongs to both fours
    text = 2 * EMPTY_ROW + "X.......X" + "X.......X" + "XOOZOZOZX" + "XZZOZOZOX"
    with pytest.raises(BadNotation, match="no last move can have made all these fours"):
        GAME.from_text(text)


@settings(max_examples=200)
@given(st.one_of(st.text(), st.text("123456789", max_size=54), st.text("XOZ.", min_size=54, max_size=54)))
def test_any_text_is_a_position_or_bad_notation(text):
    playing.reads_or_refuses(GAME, text)


@settings(max_examples=200)
@given(st.text())
def test_any_move_text_is_an_action_or_refused(text):
    try:
        a = GAME.action_from_text(GAME.initial(), text)
    except BadNotation:
        return
    assert text.strip() == str(a + 1)


def test_unknown_action_text_is_refused():
    with pytest.raises(BadNotation, match="no legal action '0'"):
        GAME.action_from_text(GAME.initial(), "0")


def test_board_shows_rows_columns_and_movers():
    empty = [f"{row} . . . . . . . . ." for row in (6, 5, 4, 3)]
    expected = [*empty, "2 . . . . Z . . . .", "1 . . . . X O X . .", "  1 2 3 4 5 6 7 8 9", "O to move, then Z"]
    assert GAME.board(GAME.from_text("5657")).splitlines() == expected
    assert GAME.board(GAME.from_text("1231231231")).endswith("\nX has won")


# --- features and backends -------------------------------------------------------------------------------------------
def features(text: str, player: int) -> dict[str, float]:
    """The features that are not 0."""
    values = GAME.features(GAME.from_text(text), player)
    return {name: value for name, value in zip(GAME.feature_names, values, strict=True) if value}


def test_features_of_known_positions():
    assert features("", 0) == {"to_move": 1}
    assert features("", 1) == {}
    assert features("5", 0) == {"centre": 1}
    assert features("5", 1) == {"to_move": 1}
    assert features("145", 2) == {"centre": 1}
    assert features("145", 1) == {"inner": 1}
    # X, O and Z have three in columns 1, 2 and 3, each with row 4 to win; X is to move.
    assert features("123123123", 0) == {
        "open_twos": 1, "next_open_twos": 1, "last_open_twos": 1,  # rows 2 to 5
        "open_threes": 1, "next_open_threes": 1, "last_open_threes": 1,
        "threats": 1, "next_threats": 1, "last_threats": 1,
        "playable_threats": 1, "next_playable_threats": 1, "last_playable_threats": 1,
        "to_move": 1, "wins_now": 1,
    }  # fmt: skip
    assert features("123123123", 1)["last_wins_now"] == 1  # X moves right before O
    assert features("123123123", 2)["next_wins_now"] == 1  # and right after Z


def test_each_player_sees_own_next_and_last():
    rng = random.Random(7)
    names = GAME.feature_names
    for s, a in (ply for seed in range(5) for ply in random_game(seed)):
        if a is None or rng.random() < 0.7:
            continue
        mover = GAME.to_play(s)
        counts = [threats(side, stones(s), LINES).bit_count() for side in s]
        for player in range(3):
            seen = dict(zip(names, GAME.features(s, player), strict=True))
            i = (player - mover) % 3
            assert seen["threats"] == counts[i]
            assert seen["next_threats"] == counts[(i + 1) % 3]
            assert seen["last_threats"] == counts[(i + 2) % 3]


def test_wins_now_means_that_a_move_wins():
    for seed in range(10):
        for s, a in random_game(seed):
            if a is not None:
                wins = any(has_four(GAME.result(s, b).last) for b in GAME.actions(s))
                values = dict(zip(GAME.feature_names, GAME.features(s, GAME.to_play(s)), strict=True))
                assert values["wins_now"] == wins


def test_backends_agree_on_random_games():
    for seed in range(6):
        for s, _ in random_game(seed):
            playing.compare_backends(GAME, s)


def test_keys_are_distinct():
    seen = {s for seed in range(50) for s, _ in random_game(seed)}
    keys = {int(GAME.rules.key(State(*map(np.uint64, s)))) for s in seen}
    assert len(keys) == len(seen)


def test_phases_cover_the_game():
    positions = [s for s, _ in drawn_game()]
    assert [GAME.phase(positions[n]) for n in (0, 13, 14, 27, 28, 41, 42, 54)] == [0, 0, 1, 1, 2, 2, 3, 3]
