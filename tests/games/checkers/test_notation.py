"""Checkers in text: FEN, moves, histories, PDN; the ballots and Tinsley's games."""

from __future__ import annotations

import csv
import gzip
from functools import partial
from pathlib import Path

import playing
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evallearn.errors import BadNotation, GameError, IllegalAction
from evallearn.games.checkers import Checkers
from evallearn.games.checkers.moves import State, encode, is_drawn, play
from evallearn.games.checkers.notation import INITIAL, fen, find_move
from evallearn.games.checkers.pdn import PdnGame, read_pdn, write_pdn

GAME = Checkers()
random_game = partial(playing.random_game, GAME)
REFERENCE = Path(__file__).resolve().parents[4] / "shared/reference/checkers"
needs_reference = pytest.mark.skipif(not REFERENCE.exists(), reason="../shared/reference is absent")
HUNDREDS = settings(max_examples=200)


# --- positions -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(3))
def test_texts_read_back(seed):
    for s, a in random_game(seed):
        assert GAME.from_text(GAME.to_text(s)) == s
        assert GAME.from_text(fen(s)) == State(*s[:5])
        if a is not None:
            assert GAME.action_from_text(s, GAME.action_to_text(s, a)) == a


def test_history_is_written_as_moves():
    s = GAME.from_text("B:WK32:BK1,9:H4 moves 1-6 32-27 6-1")
    assert (s.clock, len(s.history)) == (7, 3)
    assert GAME.to_text(s) == "B:WK32:BK1,9:H4 moves 1-6 32-27 6-1"
    assert GAME.to_text(State(*s[:5])) == "W:WK27:BK1,9:H7"
    assert GAME.to_text(GAME.from_text("B:WK32:BK1,9:H4 moves 1-6 32-27 9-13")) == "W:WK27:BK6,13"


@pytest.mark.parametrize(
    "text",
    [
        "B:W21-32:B1-12",
        "b:b1-12:w21-32.",
        " B : W 21-32 : B 1-12 . ",
        "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12:H0:F1",
        "",
        "B:W21-32:B1-12 moves",
    ],
)
def test_fen_is_read_as_programs_write_it(text):
    assert GAME.from_text(text) == GAME.initial()


def test_kings_are_marked():
    s = GAME.from_text("W:WK1-3,30:BK32")
    assert (fen(s), s.kings.bit_count()) == ("W:WK1,K2,K3,30:BK32", 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("start", "expected a draughts FEN such as W:W17,22,K29:B1,2, or moves such as 11-15"),
        ("X:W30:B1", "expected a draughts FEN"),
        ("B:W30", "expected a draughts FEN"),
        ("B:W30:B1:X2", "'X2' is no part of a FEN"),
        ("B:W30:B1:B2", "'B2' comes twice"),
        ("B:W33:B1", "'33' is no square or range; squares are 1..32"),
        ("B:W0:B1", "'0' is no square"),
        ("B:W30,:B1", "'' is no square"),
        ("B:W30-21:B1", "'30-21' is no square or range"),
        ("B:W30:B1,1", "square 1 holds two pieces"),
        ("B:WK7:B1,7", "square 7 holds two pieces"),
        ("B:W3:B1", "a man of White stands on 3, where it is a king: write K3"),
        ("B:W30:B29", "a man of Black stands on 29"),
        ("B:W20-32:B1", "White has 13 pieces; 12 are the most"),
        ("B:W30:B1:H", "'' is no number of plies or moves"),
        ("B:W30:B1:F-1", "'-1' is no number of plies or moves"),
        ("B:W30:B1 moves 1-9", "move 1: illegal move 1-9 in checkers position 'B:W30:B1'; legal: 1-5 1-6"),
        ("11-15 11-16", "move 2: illegal move 11-16"),
        ("11-15 e4", "move 2: 'e4' is no move"),
        ("B:WK32:BK1:H79 moves 1-6 32-27", "move 2: the game is over in checkers position"),
        ("٣-٤", "expected a draughts FEN"),
    ],
)
def test_bad_notation_names_what_is_wrong(text, message):
    playing.refuses(GAME, text, message)


def test_history_that_is_not_one_of_play_is_refused():
    s = GAME.from_text("B:WK32:BK1")
    other = GAME.from_text("W:WK32:BK9:H1")
    with pytest.raises(BadNotation, match="no move leads from 'B:WK32:BK1' to 'W:WK32:BK9:H1'"):
        GAME.to_text(other._replace(history=(encode(s),)))


SQUARES = st.integers(1, 32).map(str)
FENS = st.builds(
    lambda mover, white, black, more: f"{mover}:W{','.join(white)}:B{','.join(black)}{more}",
    st.sampled_from("BW"),
    st.lists(st.builds("{}{}".format, st.sampled_from(["", "K"]), SQUARES), max_size=6),
    st.lists(st.builds("{}{}".format, st.sampled_from(["", "K"]), SQUARES), max_size=6),
    st.sampled_from(["", ".", ":H7", ":H3:F9", " moves 11-15", " moves 1-5"]),
)


@HUNDREDS
@given(st.one_of(st.text(), FENS, st.text("BWKHF:,-.0123456789 movesx")))
@example("\0")
@example("\ud800")
@example("B:W30:B1:H" + "9" * 5000)
@example("B:W²:B1")
@example("moves")
def test_any_text_is_a_position_or_bad_notation(text):
    playing.reads_or_refuses(GAME, text)


# --- moves -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text", ["11-15", " 11 - 15 ", "11x15", "11:15", "11-15!", "11X15?!", "11×15"])
def test_moves_are_read_in_many_hands(text):
    assert GAME.action_from_text(GAME.initial(), text) == 10 + 32 * 14


def test_captures_need_as_many_squares_as_leave_one_choice():
    s = GAME.from_text("W:W31:B26,27,18,19")  # two ways from 31 to 15
    assert GAME.action_from_text(s, "31x24x15") != GAME.action_from_text(s, "31x22x15")
    with pytest.raises(BadNotation, match="31x15 can be several moves .*: write 31x24x15 or 31x22x15"):
        GAME.action_from_text(s, "31x15")
    s = GAME.from_text("W:W26:B22,14,6")
    assert GAME.actions(s) == (GAME.action_from_text(s, "26x1"),)
    with pytest.raises(IllegalAction, match="illegal move 15x25"):
        GAME.action_from_text(GAME.from_text("B:W18,27:BK15,1"), "15x25")


@HUNDREDS
@given(st.one_of(st.text(), st.text("0123456789x-:! ", max_size=9)))
@example("²-٣")
def test_any_text_is_a_move_or_refused(text):
    try:
        a = GAME.action_from_text(GAME.initial(), text)
    except (BadNotation, IllegalAction):
        return
    assert a in GAME.actions(GAME.initial())


def test_action_of_another_position_has_a_text():
    assert GAME.action_to_text(GAME.initial(), 4095) == "4095"


# --- PDN -------------------------------------------------------------------------------------------------------------
EXAMPLE = r"""
[Event "A \"friendly\""]
[Black "Tinsley, M."]
[White "Chinook"]
[Result "1/2-1/2"]

% an escaped line with (((
{Opening} 1. 11-15 22-18 {forced {soon} 2. 15x22 25x18 (2... 26x17 {bad}
(3. 1-1 !?)) 3. 8-11! $1 29-25 ; to the
; end 
4. 4-8 1/2-1/2 {agreed}

[FEN "W:W31:B26,27,18,19."]
1. 31x22x15 2-0
"""


def test_pdn_is_read():
    first, second = read_pdn("\ufeff" + EXAMPLE.replace("\n", "\r\n"))
    assert first.tags == {"Event": 'A "friendly"', "Black": "Tinsley, M.", "White": "Chinook"}
    assert first.comments == {0: "Opening", 2: "forced {soon", 6: "to the end", 7: "agreed"}
    assert [fen(first.states()[-1]), first.result] == [
        fen(GAME.from_text("11-15 22-18 15x22 25x18 8-11 29-25 4-8")),
        "1/2-1/2",
    ]
    assert (second.result, second.start) == ("1-0", GAME.from_text("W:W31:B18,19,26,27"))
    assert fen(second.states()[-1]) == "B:W15:B19,27"


def test_pdn_reads_back():
    games = read_pdn(EXAMPLE)
    text = write_pdn(games)
    assert read_pdn(text) == games
    assert max(map(len, text.splitlines())) < 80
    assert '[FEN "W:W31:B18,19,26,27"]\n\n1. 31x22x15 1-0\n' in text
    assert read_pdn(write_pdn([PdnGame()])) == [PdnGame()]
    assert (read_pdn(""), write_pdn([])) == ([], "")


def test_result_tag_counts_where_the_moves_name_none():
    (game,) = read_pdn('[Result "0-1"] [GameType "21,W,8"] 11-15 22-18')
    assert game.result == "0-1"
    assert game.tags == {"GameType": "21,W,8"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("11-15 11-15", "PDN game 1, after 1 plies: illegal move 11-15 in checkers position"),
        ("* 11-15 e4", "PDN game 2, after 1 plies: cannot read 'e4'; expected tags, moves such as 11-15"),
        ('[FEN "W:W1"]', "the FEN tag: checkers position 'W:W1': expected a draughts FEN"),
        ('[GameType "20"]', "GameType '20' is another game: English draughts has 21"),
        ("11-15 (22-18", "a variation does not end: add the missing )"),
        ("11-15 )", "a variation ends that did not begin: remove the )"),
        ("11-15 {", "cannot read '{'"),
        ("[Event]", "cannot read '[Event]'"),
        ("11-15 2-1", "'2-1' is no result; expected one of 1-0 0-1"),
    ],
)
def test_bad_pdn_names_the_game_and_the_ply(text, message):
    with pytest.raises(BadNotation) as error:
        read_pdn(text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (PdnGame(tags={"a b": "c"}), "PDN tag 'a b': a name has letters, digits and _ only"),
        (PdnGame(comments={0: "}"}), "PDN comment '}': a comment cannot hold a }"),
        (PdnGame(actions=(0,)), "illegal action 0 in checkers position"),
    ],
)
def test_games_that_pdn_cannot_hold_are_refused(game, message):
    with pytest.raises(GameError) as error:
        write_pdn([game])
    assert message in str(error.value)


TOKENS = st.sampled_from(
    ["11-15", "22-18", "15x22", "{x}", "(", ")", "1.", "*", "1-0", '[A "b"]', '[FEN "B:W30:B1"]', "$3", ";"]
)


@HUNDREDS
@given(st.one_of(st.text(), st.lists(TOKENS).map(" ".join), st.text('[]{}();"\\%*-x0123456789\n ')))
@example("\0\ud800²")
@example('[A "' + "\\" * 5000)
def test_any_text_is_pdn_or_bad_notation(text):
    try:
        games = read_pdn(text)
    except BadNotation:
        return
    assert read_pdn(write_pdn(games)) == games


# --- what people played ----------------------------------------------------------------------------------------------
@needs_reference
def test_all_ballots_lead_to_their_fen():
    with (REFERENCE / "checkers_3move_ballots.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 174
    for row in rows:
        assert GAME.to_text(GAME.from_text(row["moves"])) == row["fen_after"]


@needs_reference
@pytest.mark.long
def test_all_of_tinsleys_games_are_legal():
    with gzip.open(REFERENCE / "checkers_tinsley_games.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 576
    went_on = 0
    for row in rows:
        s, drawn = INITIAL, False
        for move in row["moves"].split():
            drawn |= is_drawn(s)
            s = play(s, find_move(s, move))
        went_on += drawn
    assert went_on == 2  # though the position was on the board for the third time: nobody claimed the draw


@needs_reference
def test_tinsleys_games_go_through_pdn():
    with gzip.open(REFERENCE / "checkers_tinsley_games.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))[:15]
    games = read_pdn("\n".join(f"{row['moves']} {row['result']}" for row in rows))
    assert [game.result for game in games] == [row["result"] for row in rows]
    assert read_pdn(write_pdn(games)) == games


@pytest.mark.parametrize(
    ("fen", "move", "why"),
    [
        ("W:W22:B11,18", "22x15", ": the jump goes on; legal: 22x15x8"),
        ("W:W22,30:B18", "30-26", ": something must be captured; legal: 22x15"),
        ("W:W22,30:B1", "30-31", "; legal: "),
    ],
)
def test_illegal_move_is_told_what_was_overlooked(fen, move, why):
    with pytest.raises(IllegalAction, match=f"illegal move {move} in checkers position '{fen}'{why}"):
        GAME.action_from_text(GAME.from_text(fen), move)
