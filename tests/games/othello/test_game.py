"""Othello: rules, passes, notation, features, both backends."""

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
from evallearn.games.othello import Othello
from evallearn.games.othello.cells import COUNT_NAMES, DISC_CLASSES, FEW_CLASSES
from evallearn.games.othello.discs import flippable, squares, stable
from evallearn.games.othello.game import PASS, State

GAME = Othello()
random_game = partial(playing.random_game, GAME)
perft = partial(playing.perft, GAME)
REFERENCE = Path(__file__).resolve().parents[4] / "shared/reference/othello"
needs_reference = pytest.mark.skipif(not REFERENCE.exists(), reason="../shared/reference is absent")
PASS_NEXT = "e6f6d3e7e8d8g6f8"
"""After these eight moves Black has no move, White has two: e3 and g5."""
WIPE_OUT = "e6f4e3f6g5d6e7f5c5"
"""The shortest game: Black takes all discs with his fifth move."""


def position(black: str, white: str, player: int = 0) -> State:
    """A position by the names of its squares."""
    own, opp = (black, white) if player == 0 else (white, black)
    return State(squares(own), squares(opp), player)


def features(s: State, player: int = 0) -> dict[str, float]:
    """The features that are not 0."""
    return {name: value for name, value in zip(GAME.feature_names, GAME.features(s, player), strict=True) if value}


def test_perft_equals_published_counts():
    assert [perft(GAME.initial(), depth) for depth in range(1, 7)] == [4, 12, 56, 244, 1396, 8200]


def test_the_first_moves_are_the_known_four():
    s = GAME.initial()
    assert [GAME.action_to_text(s, a) for a in GAME.actions(s)] == ["d3", "c4", "f5", "e6"]


def test_a_pass_is_forced_without_a_move():
    s = GAME.from_text(PASS_NEXT)
    assert GAME.actions(s) == (PASS,)
    assert not GAME.is_terminal(s)
    after = GAME.result(s, PASS)
    assert after == State(s.opp, s.own, 1)
    assert [GAME.action_to_text(after, a) for a in GAME.actions(after)] == ["e3", "g5"]


def test_transcripts_may_leave_passes_out():
    without, *others = (GAME.from_text(PASS_NEXT + end) for end in ("e3", "passe3", " PASS E3"))
    assert others == [without, without]
    assert GAME.from_text(PASS_NEXT).player == 0  # nothing follows, so Black has still to pass


def test_the_game_ends_when_neither_can_move():
    s = GAME.from_text(WIPE_OUT)
    assert GAME.is_terminal(s)
    assert (s.own, s.opp.bit_count(), s.player) == (0, 13, 1)
    assert (GAME.utility(s, 0), GAME.utility(s, 1)) == (1.0, -1.0)
    apart = position("a1 h8", "c5")
    assert GAME.is_terminal(apart)
    assert GAME.actions(apart) == ()


def test_equal_discs_are_a_draw():
    s = position("a1 a2", "h7 h8", player=1)
    assert GAME.is_terminal(s)
    assert (GAME.utility(s, 0), GAME.utility(s, 1)) == (0.0, 0.0)


def test_a_move_flips_in_all_eight_directions():
    white = "c3 d3 e3 c4 e4 c5 d5 e5"
    s = GAME.result(position("b2 d2 f2 b4 f4 b6 d6 f6", white), 27)  # d4
    assert (s.own, s.opp.bit_count()) == (0, 17)


@pytest.mark.parametrize(
    ("text", "action", "message"),
    [
        ("", 27, "illegal action d4 in"),
        ("", 0, "a1 flips nothing; legal: d3 c4 f5 e6"),
        ("", PASS, "a pass is allowed only without a move; legal: d3 c4 f5 e6"),
        ("", 65, "illegal action 65 in"),
        ("", -1, "actions are 0..63 (a1, b1, .. h8) and 64 (pass)"),
        (PASS_NEXT, 20, "e3 flips nothing; legal: pass"),
        (WIPE_OUT, 0, "the game is over; legal: none"),
        (WIPE_OUT, PASS, "the game is over; legal: none"),
    ],
)
def test_illegal_actions_say_why(text, action, message):
    s = GAME.from_text(text)
    with pytest.raises(IllegalAction) as error:
        GAME.result(s, action)
    assert message in str(error.value)
    assert f'othello position "{GAME.to_text(s)}"' in str(error.value)


def test_taken_squares_are_named():
    with pytest.raises(IllegalAction, match="d4 is taken"):
        GAME.result(GAME.initial(), 27)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(n, marks=pytest.mark.long) for n in range(2, 10))])
def test_texts_read_back(seed):
    moves = ""
    for s, a in random_game(seed):
        assert GAME.from_text(GAME.to_text(s)) == s
        assert GAME.from_text(moves) == s
        if a is not None:
            assert GAME.action_from_text(s, GAME.action_to_text(s, a).upper()) == a
            moves += GAME.action_to_text(s, a)


def test_boards_may_use_other_marks():
    s = GAME.from_text("f5d6")
    text = GAME.to_text(s)
    for other in (text.replace("-", "."), text.replace("X", "*"), text.lower(), f"  {text}  ", text + "; G8:+18;"):
        assert GAME.from_text(other) == s


BOARD = GAME.to_text(GAME.initial())[:64]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOARD[1:] + " X", "has 63 squares: expected 64"),
        (BOARD[1:] + "Z X", "has 'Z' on it: expected 64"),
        (BOARD, "'' is to move; expected X or O"),
        (BOARD + " Z", "'Z' is to move"),
        (BOARD + " X O", "'X O' is to move"),
        ("f5d6z3", "move 3 is 'z3'; expected squares a1..h8 or pass"),
        ("f5d9", "move 2 is 'd9'"),
        ("f5f5", "move 2, f5, is not legal; legal: f4 d6 f6"),
        ("f5pass", "move 2, pass, is not legal; legal: f4 d6 f6"),
        (WIPE_OUT + "a1", "move 10, a1, is not legal; legal: none"),
    ],
)
def test_bad_notation_names_what_is_wrong(text, message):
    playing.refuses(GAME, text, message)


@given(
    st.one_of(
        st.text(),
        st.lists(st.sampled_from(["f5", "d6", "c3", "F4", "pass", " ", "h9"])).map("".join),
        st.text("XO-.*", min_size=64, max_size=64).map(lambda board: board + " X"),
    )
)
def test_any_text_is_a_position_or_bad_notation(text):
    playing.reads_or_refuses(GAME, text)


def test_unknown_action_text_is_refused():
    with pytest.raises(BadNotation, match="no legal action 'a1'"):
        GAME.action_from_text(GAME.initial(), "a1")


def test_features_of_the_first_positions():
    assert features(GAME.initial()) == {"parity": -1}
    # After f5 Black has e4 d5 e5 f5, White d4. Moves: c3 c4 d3 against d6 f4 f6. All five discs touch empty squares.
    # Empty neighbours: of d4 five, of Black's discs thirteen. 59 squares are empty and White is to move.
    expected = {"discs": 3, "frontier": 3, "potential_mobility": 5 - 13, "square_values": 3, "parity": -1}
    assert features(GAME.from_text("f5")) == expected
    assert features(GAME.from_text("f5"), player=1) == {name: -value for name, value in expected.items()}


def test_corner_squares_count_only_beside_an_empty_corner():
    near = features(position("b2 a2 b1", "d4"))
    assert (near["x_squares"], near["c_squares"]) == (1, 2)
    beside = features(position("a1 b2 a2 b1", "g2 h2"))
    assert (beside["corners"], beside["x_squares"], beside["c_squares"]) == (1, -1, -1)


def test_edges_and_square_values_of_known_positions():
    found = features(position("c1 a5", "d8"))
    assert found["edges"] == 1
    assert found["square_values"] == 2
    # A corner 16, a C-square -4, an X-square -6, an edge square 2, a ring square -1 and an inner square 1.
    assert features(position("a1 b1 b2 c1 c2 c3", ""))["square_values"] == 8


def test_frontier_and_mobility_of_a_known_position():
    # Black d3 touches empty squares, d4 in the middle of nine discs does not.
    white = "c3 e3 c4 e4 c5 d5 e5"
    found = features(position("d3 d4", white))
    assert found["frontier"] == 1 - 7
    assert found["discs"] == 2 - 7


@pytest.mark.parametrize(
    ("discs", "expected"),
    [
        ("", 0),
        ("d4 e5", 0),
        ("c1 d1 e1", 0),  # an edge without a corner can still be flipped
        ("a1", 1),
        ("a1 b1 a2", 3),
        ("a1 b1 a2 b2", 3),  # b2 is open on the diagonal a3-c1
        ("a1 b1 c1 a2 b2", 5),
        ("a1 b1 c1 d1 e1 f1 g1 h1", 8),
        ("h8 h7 g8", 3),
        ("h1 a2", 1),  # a2 follows h1 in the word, not on the board
    ],
)
def test_stable_discs_grow_from_the_corners(discs, expected):
    assert stable(squares(discs)).bit_count() == expected
    assert features(position(discs, "")).get("stability", 0) == expected


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 1))
def test_compiled_backend_equals_plain_backend_on_any_board(discs, colours, fewer, player):
    """Boards from the ends of the range too: full ones, empty ones, all edges."""
    discs &= fewer | colours
    playing.compare_backends(GAME, State(discs & colours, discs & ~colours, player))


def test_keys_depend_on_the_discs_alone():
    rules = GAME.rules
    words = {s[:2] for seed in range(30) for s, _ in random_game(seed)}
    keys = {int(rules.key(rules.State(np.uint64(own), np.uint64(opp), np.uint64(0)))) for own, opp in words}
    assert len(keys) == len(words)
    for own, opp in islice(words, 50):
        one, other = (rules.State(np.uint64(own), np.uint64(opp), np.uint64(player)) for player in (0, 1))
        assert rules.key(one) == rules.key(other)


def test_phases_cover_the_game():
    counts = (4, 10, 11, 21, 22, 32, 33, 43, 44, 54, 55, 64)
    assert [GAME.phase(State((1 << n) - 1, 0, 0)) for n in counts] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def test_board_shows_coordinates_moves_and_mover():
    lines = GAME.board(GAME.initial()).splitlines()
    assert lines[0] == "  a b c d e f g h"
    assert lines[3:7] == ["3 . . . * . . . .", "4 . . * O X . . .", "5 . . . X O * . .", "6 . . . . * . . ."]
    assert lines[-1] == "X (Black) 2, O (White) 2: X to move"
    assert GAME.board(GAME.from_text(WIPE_OUT)).endswith("X (Black) 13, O (White) 0: the game is over")


@needs_reference
def test_human_games_replay_to_their_scores():
    with gzip.open(REFERENCE / "othello_wthor_games.csv.gz", "rt") as file:
        for row in islice(csv.DictReader(file), 60):
            s = GAME.from_text(row["moves"])
            black, white = (s.own, s.opp) if s.player == 0 else (s.opp, s.own)
            assert GAME.is_terminal(s)
            lead = black.bit_count() - white.bit_count()
            empties = 64 - (black | white).bit_count()  # tournament scores give the empty squares to the winner
            assert lead + empties * ((lead > 0) - (lead < 0)) == int(row["black_minus_white"])


@needs_reference
def test_endgame_boards_list_exactly_the_legal_moves():
    for path in sorted(REFERENCE.glob("othello_fforum-*.obf")):
        for line in filter(str.strip, path.read_text().splitlines()):
            s = GAME.from_text(line)
            listed = {part.split(":")[0].strip().lower() for part in line.split(";")[1:] if ":" in part}
            assert listed == {GAME.action_to_text(s, a) for a in GAME.actions(s)}


# --- the cells of pattern tables ----------------------------------------------------------------------------------
def test_cells_count_discs_moves_and_safe_discs():
    """White flips both discs of Black by g4, Black by c4 the disc on d4 and not that in the corner."""
    s = position("e4 f4", "d4 a8", player=1)
    assert [GAME.cell_name(c) for c in range(64, GAME.n_cells)] == list(COUNT_NAMES)
    assert len(GAME.cells(s, 1)) == GAME.n_cells
    assert GAME.cells(s, 1)[64:] == (DISC_CLASSES[2], DISC_CLASSES[2], 1, 1, 1, 0)
    assert GAME.cells(s, 0)[64:] == (DISC_CLASSES[2], DISC_CLASSES[2], 1, 1, 0, 1)


def test_classes_ascend_and_are_finest_for_few():
    for classes in (DISC_CLASSES, FEW_CLASSES):
        assert list(classes) == sorted(classes)
        assert set(classes) == set(range(GAME.cell_values))
    assert [DISC_CLASSES[n] for n in (1, 2, 9, 10, 11, 64)] == [0, 1, 8, 9, 9, 15]


def test_flippable_discs_are_those_that_a_move_turns():
    for s, _ in random_game(5):
        turned = {a: GAME.result(s, a) for a in GAME.actions(s) if a != PASS}
        found = 0
        for after in turned.values():
            found |= s.opp & ~after.own
        assert flippable(s.own, s.opp) == found
