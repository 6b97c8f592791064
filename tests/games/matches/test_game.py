"""Matches: rules, parameters, notation, features, both backends, the exact solution."""

from __future__ import annotations

import random
from functools import partial
from itertools import product

import playing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallearn import check_game, get_game
from evallearn.errors import BadNotation, GameError, IllegalAction, SpecError
from evallearn.games.matches import Matches
from evallearn.games.matches.game import State, pack, unpack
from evallearn.games.matches.solver import closed_form, lost_positions, mover_wins

GAME = Matches()
random_game = partial(playing.random_game, GAME)
STRANGE = [
    "",
    " ",
    "²",
    "٣",
    "9" * 5000,
    "3\x00",
    "3-\n5",
    "\ud800",
    "-",
    "3--5",
    "-3",
    "+3",
    "3.0",
    "1e2",
    "０",
    "None",
]


def any_position(rng: random.Random, most: int = 255) -> State:
    piles = [rng.randint(0, most) for _ in range(rng.randint(1, 8))]
    return State(pack(piles), rng.choice([1, 2, 3, rng.randint(1, 255)]), rng.randint(0, 1))


def texts(s: State) -> list[str]:
    return [GAME.action_to_text(s, a) for a in GAME.actions(s)]


# --- rules -----------------------------------------------------------------------------------------------------------
def test_a_move_takes_one_to_k_matches_from_one_pile():
    s = GAME.from_text("1-0-5/k=3/second")
    assert texts(s) == ["1:1", "3:1", "3:2", "3:3"]
    after = [GAME.to_text(GAME.result(s, a)) for a in GAME.actions(s)]
    assert after == ["0-0-5/k=3/first", "1-0-4/k=3/first", "1-0-3/k=3/first", "1-0-2/k=3/first"]


def test_whoever_takes_the_last_match_loses():
    s = GAME.from_text("0-2-0/k=3/second")
    s = GAME.result(s, GAME.action_from_text(s, "2:2"))
    assert GAME.is_terminal(s)
    assert GAME.actions(s) == ()
    assert (GAME.utility(s, 0), GAME.utility(s, 1)) == (1.0, -1.0)


def test_perft_of_the_smallest_games():
    assert [playing.perft(Matches("4", 1), Matches("4", 1).initial(), depth) for depth in range(1, 6)] == [
        1,
        1,
        1,
        1,
        0,
    ]
    # 2-2 with k = 2: to 1-2 or 2-1 (3 moves each), 0-2 or 2-0 (2 each); the ten lead to 0-2, 1-1, 1-0 and the like
    game = Matches("2-2", 2)
    assert [playing.perft(game, game.initial(), depth) for depth in range(1, 5)] == [4, 10, 12, 6]


@pytest.mark.parametrize(
    ("position", "action", "shown", "message"),
    [
        ("3-5-7/k=3/first", 3, "1:4", "a move takes 1 to 3; legal: 1:1..3 2:1..3 3:1..3"),
        ("2-0-1/k=3/first", 2, "1:3", "pile 1 has 2; legal: 1:1..2 3:1"),
        ("2-0-1/k=3/first", 255, "2:1", "pile 2 has 0; legal: 1:1..2 3:1"),
        ("2-0-1/k=3/first", 7 * 255, "8:1", "there is no pile 8; legal: 1:1..2 3:1"),
        ("0-0-0/k=3/first", 0, "1:1", "the game is over; legal: none"),
        ("1-0-0/k=3/first", 2040, "2040", "actions are 0..2039, written pile:count; legal: 1:1"),
        ("1-0-0/k=3/first", -1, "-1", "actions are 0..2039, written pile:count; legal: 1:1"),
        ("1-0-0/k=3/first", "1:1", "'1:1'", "actions are 0..2039, written pile:count; legal: 1:1"),
    ],
)
def test_illegal_actions_say_why(position, action, shown, message):
    with pytest.raises(IllegalAction) as error:
        GAME.result(GAME.from_text(position), action)
    assert str(error.value) == f'illegal action {shown} in matches position "{position}": {message}'


# --- parameters ------------------------------------------------------------------------------------------------------
def test_parameters_set_the_first_position_and_the_name():
    game = get_game("matches,piles=3-4-5,k=2")
    assert game.name == "matches,piles=3-4-5,k=2"
    assert game.to_text(game.initial()) == "3-4-5/k=2/first"
    assert get_game(game.name).initial() == game.initial()
    assert Matches((3, 4, 5), 2).name == Matches(" 3-4-5 ", "2").name == game.name


def test_default_parameters_keep_the_bare_name():
    assert GAME.name == Matches("3-5-7", "3").name == Matches([3, 5, 7]).name == "matches"
    assert Matches(k=4).name == "matches,piles=3-5-7,k=4"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"piles": "3,4"}, "matches: piles='3,4' cannot be read; write numbers with dashes, as in piles=3-5-7"),
        ({"piles": ()}, "matches: piles=() cannot be read"),
        ({"piles": 7}, "matches: piles=7 cannot be read"),
        ({"piles": [1.0]}, "matches: piles=[1.0] cannot be read"),
        ({"piles": "3-0"}, "matches: piles='3-0' has a pile of 0; give 1 to 255 matches"),
        ({"piles": "256"}, "matches: piles='256' has a pile of 256; give 1 to 255 matches"),
        ({"piles": "-".join("1" * 9)}, "matches: piles='1-1-1-1-1-1-1-1-1' has 9 piles; give 1 to 8"),
        ({"k": 0}, "matches: k=0 cannot be; give a whole number of 1 to 255, as in k=3"),
        ({"k": "256"}, "matches: k='256' cannot be"),
        ({"k": True}, "matches: k=True cannot be"),
        ({"k": 2.0}, "matches: k=2.0 cannot be"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(SpecError) as error:
        Matches(**parameters)
    assert str(error.value).startswith(message)


@settings(max_examples=200)
@given(st.one_of(st.text(), st.sampled_from(STRANGE), st.text("0123456789-", max_size=12), st.integers()))
def test_any_parameter_is_taken_or_refused(value):
    for parameter in ("piles", "k"):
        try:
            game = Matches(**{parameter: value})
        except SpecError:
            continue
        assert Matches(**dict(setting.split("=") for setting in game.name.split(",")[1:])).initial() == game.initial()


@pytest.mark.parametrize(("piles", "k", "plies"), [("1", 1, 0), ("2", 1, 1), ("2", 2, 0), ("3-5-7", 3, 2), ("9", 3, 2)])
def test_no_opening_ends_the_game(piles, k, plies):
    assert Matches(piles, k).opening_plies == plies


# --- text ------------------------------------------------------------------------------------------------------------
def test_texts_read_back():
    rng = random.Random(1)
    for _ in range(300):
        s = any_position(rng)
        assert GAME.from_text(GAME.to_text(s)) == s
        for a in rng.sample(GAME.actions(s), min(20, len(GAME.actions(s)))):
            assert GAME.action_from_text(s, GAME.action_to_text(s, a)) == a


def test_positions_are_read_in_several_forms():
    expected = State(pack((3, 4, 5)), 2, 1)
    for text in ("3-4-5/k=2/second", " 3-4-5 k=2 second\n", "3-4-5 / K=2 / SECOND", "03-4-5-0/k=2/second"):
        assert GAME.from_text(text) == expected
    assert GAME.from_text("3-4-5") == State(pack((3, 4, 5)), 3, 0)
    assert Matches(k=9).from_text("3-4-5/second") == State(pack((3, 4, 5)), 9, 1)


def test_empty_piles_keep_their_place_in_the_text():
    assert GAME.to_text(GAME.from_text("3")) == "3-0-0/k=3/first"
    assert GAME.to_text(GAME.from_text("0-0-0-0-1-0")) == "0-0-0-0-1/k=3/first"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, "expected piles, k and who is to move, as in 3-5-7/k=3/first") for text in STRANGE if text != "3.0"),
        ("3-5-7/k=3/third", "expected piles, k and who is to move"),
        ("3-5-7/k=3/ſecond", "expected piles, k and who is to move"),
        ("-".join("1" * 9), "9 piles; give 1 to 8"),
        ("3-256", "a pile of 256; give 0 to 255 matches"),
        ("3-5/k=0", "k is 0; give 1 to 255"),
        ("3-5/k=256", "k is 256; give 1 to 255"),
    ],
)
def test_bad_positions_are_named(text, message):
    playing.refuses(GAME, text, message)


@settings(max_examples=200)
@given(st.one_of(st.text(), st.text("0123456789-/k= firstecond", max_size=30)))
def test_any_text_is_a_position_or_bad_notation(text):
    playing.reads_or_refuses(GAME, text)


def test_moves_are_read_as_people_write_them():
    s = GAME.initial()
    for text in ("1:2", " 1 : 2 ", "1 2", "2 from 1", "take 2 from pile 1", "Take 2 matches FROM 1", "2 from pile 1"):
        assert GAME.action_to_text(s, GAME.action_from_text(s, text)) == "1:2"
    assert GAME.action_from_text(s, "take 1 match from 3") == GAME.action_from_text(s, "3:1")


@pytest.mark.parametrize("text", [*STRANGE, "12", "1:2:3", "2 of 1", "1;2", "1:²", "take 1:2"])
def test_unreadable_moves_are_bad_notation(text):
    with pytest.raises(BadNotation) as error:
        GAME.action_from_text(GAME.initial(), text)
    assert str(error.value).startswith(
        f"matches move {text!r} in position '3-5-7/k=3/first': write pile:count, as in 1:2"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("4:1", "there is no pile 4"),
        ("0:1", "there is no pile 0"),
        ("9 from 1", "a move takes 1 to 3"),
        ("1:0", "a move"),
    ],
)
def test_readable_moves_may_be_illegal(text, why):
    with pytest.raises(IllegalAction, match=why):
        GAME.action_from_text(GAME.initial(), text)


@settings(max_examples=200)
@given(st.one_of(st.text(), st.text("0123456789: fromtakepil", max_size=20)))
def test_any_move_text_is_an_action_or_refused(text):
    try:
        a = GAME.action_from_text(GAME.initial(), text)
    except (BadNotation, IllegalAction):
        return
    assert a in GAME.actions(GAME.initial())


def test_board_shows_piles_counts_and_mover():
    lines = GAME.board(GAME.from_text("3-0-7/k=3/second")).splitlines()
    assert lines[:3] == ["1 (3) |||", "2 (0)", "3 (7) ||||| ||"]
    assert lines[3] == "second to move: take 1 to 3 from one pile; the last match loses"
    assert GAME.board(GAME.from_text("0")).endswith("\nsecond took the last match: first has won")
    assert GAME.board(GAME.from_text("255")).splitlines()[0] == "1 (255) " + "||||| " * 12 + "..."


# --- features and backends -------------------------------------------------------------------------------------------
def features(text: str, player: int = 0) -> list[float]:
    return list(GAME.features(GAME.from_text(text), player))


def test_features_of_known_positions():
    # to_move, odd matches, odd piles, odd ones, nim sum, piles, big piles, matches / 16; residues 3 1 3
    assert features("3-5-7/k=3") == [1, 1, 1, 1, 1, 3, 2, 15 / 16]
    assert features("3-5-7/k=3", player=1) == [-1, -1, -1, -1, -1, -3, -2, -15 / 16]
    assert features("4-4/k=3") == [1, -1, -1, -1, -1, 2, 0, 0.5]  # residues 0 0
    assert features("4-5/k=3") == [1, 1, -1, 1, 1, 2, 0, 9 / 16]  # residues 0 1


@pytest.mark.parametrize(("text", "phase"), [("3-5-7/k=3", 0), ("4-5/k=3", 1), ("2", 0), ("2/k=1", 1), ("0", 1)])
def test_the_last_phase_has_no_big_residue(text, phase):
    assert GAME.phase(GAME.from_text(text)) == phase


def test_nim_heuristic_knows_the_value():
    rng = random.Random(2)
    nim = GAME.heuristics["nim"].weights
    for s in (any_position(rng) for _ in range(300)):
        if not GAME.is_terminal(s):
            seen = dict(zip(GAME.feature_names, GAME.features(s, s.player), strict=True))
            assert (sum(w * seen[name] for name, w in nim[GAME.phase(s)].items()) > 0) == closed_form(s)


def test_backends_agree_on_any_position():
    rng = random.Random(3)
    for _ in range(40):
        playing.compare_backends(GAME, any_position(rng, most=12))
    playing.compare_backends(GAME, State(pack([255] * 8), 255, 1))  # max_actions of them


@pytest.mark.parametrize("game", [Matches("1", 1), Matches("40-1-2-30-1-1-1-255", 255)], ids=lambda g: g.name)
def test_contract_is_kept_for_other_parameters(game):
    assert check_game(game, games=3).backends == ("python", "compiled")


def test_no_game_is_longer_than_max_plies():
    full = sum(unpack(pack([255] * 8)))
    assert GAME.rules.max_plies == full == 2040


# --- the exact solution ----------------------------------------------------------------------------------------------
def test_closed_form_equals_the_table_everywhere():
    for k in range(1, 8):
        lost = lost_positions((6, 6, 7, 9), k)
        for piles in product(range(7), range(7), range(8), range(10)):
            assert closed_form(State(pack(piles), k, 0)) == (piles not in lost)


def test_closed_form_equals_the_search_on_a_thousand_random_positions():
    rng = random.Random(4)
    for _ in range(1000):
        s = State(pack([rng.randint(0, 5) for _ in range(rng.randint(1, 4))]), rng.randint(1, 7), rng.randint(0, 1))
        assert mover_wins(s) == closed_form(s), GAME.to_text(s)


def test_misere_nim_by_hand():
    def wins(text: str) -> bool:
        return mover_wins(GAME.from_text(text))

    assert not wins("1")
    assert wins("1-1")
    assert not wins("2-2/k=9")  # as in normal play ...
    assert wins("1-1/k=9")  # ... but for ones
    assert not wins("1-2-3/k=9")
    assert wins("3-5-7/k=9")
    assert wins("4/k=3")  # one is left
    assert not wins("5/k=3")


def test_table_refuses_what_it_cannot_hold():
    with pytest.raises(GameError, match="has 16777216 positions, the table holds 300000: use closed_form"):
        mover_wins(GAME.from_text("255-255-255"))
