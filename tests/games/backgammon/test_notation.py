"""Backgammon in text: position ids, plays, the board."""

from __future__ import annotations

import random
import re

import playing
import pytest
from backgammon_positions import position, random_state, side
from hypothesis import given, settings
from hypothesis import strategies as st
from playing import random_game

from evallearn.errors import BadNotation, IllegalAction
from evallearn.games.backgammon import Backgammon
from evallearn.games.backgammon.moves import NO_DICE, START, Side, State
from evallearn.games.backgammon.notation import BASE64

GAME = Backgammon()
START_ID = "4HPwATDgc/ABMA"


# --- positions -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "s"),
    [
        (START_ID, State(START, START, NO_DICE, 0)),
        (START_ID + ":31", State(START, START, (3, 1), 0)),
        (START_ID + " O", State(START, START, NO_DICE, 1)),
        (START_ID + ":66 O", State(START, START, (6, 6), 1)),
        (START_ID + " opening", GAME.initial()),
        # the player not on roll comes first: a one, 25 zeros, 24 zeros, 15 ones for the bar, and zeros to the end
        ("AQAAAAAA/P8BAA", State(side("bar:15"), side("1"), NO_DICE, 0)),
        ("AQAAAAAAAAAAAA", State(side(""), side("1"), NO_DICE, 0)),
    ],
)
def test_positions_are_written_and_read(text, s):
    assert GAME.to_text(s) == text
    assert GAME.from_text(text) == s


@pytest.mark.parametrize("text", [" {}:31 O\n", "{}:13 o", "{}:3-1 O", "{}:3,1\tO"])
def test_positions_are_read_forgivingly(text):
    assert GAME.from_text(text.format(START_ID)) == State(START, START, (3, 1), 1)


def test_positions_of_games_read_back():
    states = [s for seed in range(3) for s, _ in random_game(GAME, seed)]
    states += [random_state(random.Random(seed)) for seed in range(100)]
    assert all(GAME.from_text(GAME.to_text(s)) == s for s in states)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the id '' has 0 characters; expected 14"),
        (START_ID[1:], "has 13 characters"),
        ("4HPwATDgc/ABM=", "'=' is no character of an id; expected A-Z, a-z, 0-9, + and /"),
        ("4HPwATDgc/ABM²", "'²' is no character of an id"),
        ("4HPwATDgc/ABMB", "the id has more than 80 bits; expected A, Q, g or w as its last character"),
        ("4P8fAAACAAAAAA", "the player not on roll has 16 checkers; expected at most 15"),
        ("AQAAgP9/AAAAAA", "the player on roll has 16 checkers"),
        ("/////////////w", "the player not on roll has 80 checkers"),
        ("AQAABAAAAAAAgA", "the id goes on after the bars of both players"),
        ("ABgAAIABAAAAAA", "both players have checkers on point 13 of the player on roll; move one"),
        ("AAAAAAAAAAAAAA", "both players have borne off all checkers; only the winner can"),
        (START_ID + ":", "the dice are ''; expected two digits 1..6, as in 4HPwATDgc/ABMA:31"),
        (START_ID + ":37", "the dice are '37'"),
        (START_ID + ":٣1", "the dice are '٣1'"),
        (START_ID + ":cAgAAAAAAAAA", "the dice are 'cAgAAAAAAAAA'"),  # a match id
        (START_ID + " Z", "'Z' follows the id; expected X or O, who is on roll, or opening"),
        (START_ID + " X O", "'X O' follows the id"),
        ("AQAAAAAAAAAAAA:31", "the game is over, so there are no dice; leave :31 out"),
        (START_ID + ":31 opening", "opening is only the starting position before its first roll; leave it out"),
        ("AQAAAAAA/P8BAA opening", "opening is only the starting position"),
    ],
)
def test_bad_notation_names_what_is_wrong(text, message):
    playing.refuses(GAME, text, message)


@given(
    st.one_of(
        st.text(),
        st.characters().map(lambda c: START_ID + c),
        st.text(BASE64, min_size=14, max_size=14),
        st.text("AQgw", min_size=14, max_size=14),
        st.lists(st.sampled_from([START_ID, ":31", ":", " ", "O", "x", "opening", "\0", "²", "\ud800"])).map("".join),
    )
)
@settings(max_examples=200)
def test_any_text_is_a_position_or_bad_notation(text):
    playing.reads_or_refuses(GAME, text)


# --- plays -----------------------------------------------------------------------------------------------------------
def read(s: State, text: str) -> str:
    """The play that is understood."""
    return GAME.action_to_text(s, GAME.action_from_text(s, text))


@pytest.mark.parametrize(
    ("own", "opp", "dice", "text", "expected"),
    [
        ("8:3 6:5", "bar", (3, 1), "6/5 8/5", "8/5 6/5"),
        ("8:3 6:5", "bar", (3, 1), " 8 / 5,6/5; ", "8/5 6/5"),
        ("8:3 6:5", "bar", (3, 1), "8-5 6-5", "8/5 6/5"),
        ("8:3 6:5", "bar", (3, 1), "8/7/4", "8/4"),
        ("8:3 6:5", "bar", (3, 1), "8/5 5/4", "8/4"),
        ("8:3 6:5", "5", (3, 1), "8/5 6/5", "8/5* 6/5"),
        ("8:3 6:5", "bar", (2, 2), "8/4(2)", "8/4(2)"),
        ("8:3 6:5", "bar", (2, 2), "8/6 8/6 6/4(2)", "8/4(2)"),
        ("8:3 6:5", "bar", (2, 2), "8/4 8/4", "8/4(2)"),
        ("8:3 6:5", "4", (2, 2), "8/4(2)", "8/4*(2)"),
        ("bar 8:3", "21", (4, 3), "BAR/21* 8/5", "bar/21* 8/5"),
        ("bar 8:3", "21", (4, 3), "25/21 8/5", "bar/21* 8/5"),
        ("6:3 5", "24", (6, 5), "6/OFF 5/Off", "6/off 5/off"),
        ("6:3 5", "24", (6, 5), "6/0 5/0", "6/off 5/off"),
        ("6:3", "24", (6, 6), "6/off(3)", "6/off(3)"),
        ("24 23:2", "18 15", (6, 3), "24/15", "24/15*"),  # over 21, which hits only at the end
        ("24 23:2", "18 15", (6, 3), "24/18/15", "24/18*/15*"),
        ("24 23:2", "18 15", (6, 3), "24/21/15*", "24/15*"),
        ("24", "18 21:2", (6, 3), "24/15", "24/18*/15"),  # the only way
        ("13", "7:2 8:2", (6, 5), "pass", "(no play)"),
        ("13", "7:2 8:2", (6, 5), "(No Play)", "(no play)"),
        ("13", "7:2 8:2", (6, 5), "cannot move", "(no play)"),
    ],
)
def test_plays_are_read_forgivingly(own, opp, dice, text, expected):
    assert read(position(own, opp, dice), text) == expected


@pytest.mark.parametrize(
    ("own", "opp", "dice", "text", "kind", "message"),
    [
        ("8:3 6:5", "bar", (3, 1), "", BadNotation, "is empty; expected moves such as 8/5, bar/21*"),
        ("8:3 6:5", "bar", (3, 1), "8/5 x", BadNotation, "cannot read 'x'; expected moves such as 8/5"),
        ("8:3 6:5", "bar", (3, 1), "8/5 ٦/5", BadNotation, "cannot read '٦/5'"),
        ("8:3 6:5", "bar", (3, 1), "8", BadNotation, "cannot read '8'"),
        ("8:3 6:5", "bar", (3, 1), "8/5(9)", BadNotation, "cannot read '(9)'"),
        ("8:3 6:5", "bar", (3, 1), "5/8", BadNotation, "'5/8' does not go down; a checker moves from the bar (25)"),
        ("8:3 6:5", "bar", (3, 1), "26/25", BadNotation, "'26/25' does not go down"),
        ("24", "18 21", (6, 3), "24/15", BadNotation, "may be 24/18*/15 or 24/21*/15: write the points where it hits"),
        ("8:3 6:5", "bar", (3, 1), "8/6 6/4", IllegalAction, "8/6 is 2 pips, and the dice are 3 and 1; legal: 8/7"),
        ("8:3 6:5", "5:2", (3, 1), "8/5/4", IllegalAction, "the opponent holds point 5"),
        ("8:3 6:5", "bar", (3, 1), "8/5", IllegalAction, "is not legal; legal: "),
        ("8:3 6:5", "bar", (3, 1), "8/5* 6/5", IllegalAction, "is not legal"),
        ("8:3 6:5", "bar", (3, 1), "pass", IllegalAction, "a move is possible; legal: "),
        ("13", "7:2 8:2", (6, 5), "13/8", IllegalAction, "the opponent holds point 8; legal: (no play)"),
    ],
)  # fmt: skip
def test_plays_that_cannot_be_are_explained(own, opp, dice, text, kind, message):
    s = position(own, opp, dice)
    with pytest.raises(kind) as error:
        GAME.action_from_text(s, text)
    assert message in str(error.value)
    assert f"backgammon play {text!r} in position {GAME.to_text(s)!r}" in str(error.value)


def test_long_lists_of_legal_plays_are_cut():
    with pytest.raises(IllegalAction, match=r"8/4 and 4 more$"):
        GAME.action_from_text(GAME.from_text(START_ID + ":31"), "24/off")


@pytest.mark.parametrize("text", ["31", "13", " 3-1", "3 1"])
def test_rolls_are_written_and_read(text):
    assert GAME.action_from_text(GAME.initial(), text) == 31
    assert GAME.action_to_text(GAME.initial(), 31) == "31"


def test_rolls_that_cannot_come_are_refused():
    with pytest.raises(BadNotation, match="backgammon dice '3': expected two digits 1..6, as in 31"):
        GAME.action_from_text(GAME.initial(), "3")
    with pytest.raises(IllegalAction, match="the first roll is no double"):
        GAME.action_from_text(GAME.initial(), "33")


def test_plays_of_any_arrangement_read_back_in_every_dress():
    for seed in range(60):
        rng = random.Random(seed)
        s = random_state(rng)
        texts = [GAME.action_to_text(s, a) for a in GAME.actions(s)]
        assert len(set(texts)) == len(texts)
        for a, text in rng.sample(list(zip(GAME.actions(s), texts, strict=True)), min(12, len(texts))):
            parts = re.findall(r"\S+", text) if a else [text]
            rng.shuffle(parts)
            assert GAME.action_from_text(s, ", ".join(parts).upper()) == a
            assert own_checkers_after(s, text.replace("*", "")) in (None, GAME.result(s, a).opp)


def own_checkers_after(s: State, text: str) -> Side | None:
    """None if the text is ambiguous."""
    try:
        return GAME.result(s, GAME.action_from_text(s, text)).opp
    except BadNotation:
        return None


CONTACT = GAME.from_text(START_ID + ":31")


@given(
    st.one_of(
        st.text(),
        st.text("0123456789/*()barof -,²\0"),
        st.lists(st.sampled_from(["8/5", "6/5", "bar/", "/off", "(2)", "*", " ", "99/1", "8/-1"])).map("".join),
    ),
    st.sampled_from([CONTACT, GAME.initial()]),
)  # fmt: skip
@settings(max_examples=200)
def test_any_text_is_a_play_or_refused(text, s):
    try:
        a = GAME.action_from_text(s, text)
    except (BadNotation, IllegalAction):
        return
    assert a in GAME.actions(s) or a in dict(GAME.chances(s))


# --- the board -------------------------------------------------------------------------------------------------------
def test_board_shows_points_bar_pips_dice_and_mover():
    assert GAME.board(GAME.from_text(START_ID + ":31")).splitlines() == [
        " +13-14-15-16-17-18------19-20-21-22-23-24-+  O: 167 pips, 0 off",
        " | X           O    |   | O              X |",
        " | X           O    |   | O              X |",
        " | X           O    |   | O                |",
        " | X                |   | O                |",
        " | X                |   | O                |",
        " |                  |BAR|                  |",
        " | O                |   | X                |",
        " | O                |   | X                |",
        " | O           X    |   | X                |",
        " | O           X    |   | X              O |",
        " | O           X    |   | X              O |",
        " +12-11-10--9--8--7-------6--5--4--3--2--1-+  X: 167 pips, 0 off",
        "X to move 3-1",
    ]


def test_board_is_numbered_as_the_mover_sees_it():
    lines = GAME.board(position("bar:2 6:7", "1:3 bar", player=1)).splitlines()
    assert lines[0] == " +12-11-10--9--8--7-------6--5--4--3--2--1-+  O: 92 pips, 6 off"
    assert lines[5] == " |                  | X | 7                |"
    assert lines[7] == " |                  | O |                  |"
    assert lines[8] == " |                  | O |                  |"
    assert lines[3] == " |                  |   | O              X |"
    assert lines[12] == " +13-14-15-16-17-18------19-20-21-22-23-24-+  X: 97 pips, 11 off"
    assert lines[13] == "O to roll"


@pytest.mark.parametrize(
    ("loser", "result"),
    [("1", "a game (1 point)"), ("1:15", "a gammon (2 points)"), ("24:15", "a backgammon (3 points)")],
)
def test_board_tells_who_has_won(loser, result):
    assert GAME.board(State(side(loser), side(""), NO_DICE, 0)).endswith(f"\nO has won {result}")
