"""Pacman: positions, moves and boards as text."""

from __future__ import annotations

import playing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallearn import get_game
from evallearn.errors import BadNotation, GameError, IllegalAction, SpecError
from evallearn.games.pacman.game import EAST, NORTH, SOUTH, STOP, WEST, Pacman
from evallearn.games.pacman.state import MAZES, Ghost, State

GAME = Pacman()
ROOM = "%%%%%%%/%{}%/%%%%%%%"
"""A corridor of five cells, b2 to f2."""


def test_text_tells_everything():
    text = "%%%%%%%/%P.o--%/%%%%%%% ghosts=f2W!13@e2,e2- score=-3 moves=97 turn=1"
    s = GAME.from_text(text)
    assert s.ghosts == (Ghost(12, WEST, 13, 11), Ghost(11, STOP, 0, 11))
    assert (s.pacman, s.food, s.capsules, s.score, s.moves, s.turn, s.caught) == (8, 1 << 9, 1 << 10, -3, 97, 1, 0)
    assert GAME.to_text(s) == text


def test_mazes_are_read_as_they_are_drawn():
    drawn = "\n %%%%%%%\n %p.O G%\n %%%%%%%\n"
    assert GAME.from_text(drawn) == GAME.from_text("%%%%%%%/%P.o-G%/%%%%%%%")
    assert GAME.to_text(GAME.from_text(drawn)) == "%%%%%%%/%P.o--%/%%%%%%% ghosts=f2- score=0 moves=100 turn=0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "0 rows; expected 3 or more, such as %%%%%/%P.G%/%%%%%"),
        ("P.G", "0 rows; expected 3 or more"),
        ("%%%%/%PG%", "2 rows"),
        ("%" * 27 + "/%P.G" + "-" * 22 + "%/" + "%" * 27, "27 x 3 cells; at most 26 columns and 128 cells fit"),
        ("/".join(["%" * 12, *["%P.G%%%%%%%%"] * 9, "%" * 12]), "12 x 11 cells; at most"),
        ("%%%%%/%P.G%%/%%%%%", "row 2 has 6 cells, row 1 has 5: make them equal"),
        ("%%%%%/%P²G%/%%%%%", "'²' in row 2; expected % . o P G or - for nothing"),
        ("%%%%%/%P.G-/%%%%%", "row 2 has '-' at its edge: enclose the maze in walls, %"),
        ("%%-%%/%P.G%/%%%%%", "row 1 has '-' at its edge"),
        ("%%%%%/%-.G%/%%%%%", "0 Pacmen; draw one P"),
        ("%%%%%%/%PP.G%/%%%%%%", "2 Pacmen; draw one P"),
        ("%%%%%/%P.-%/%%%%%", "0 ghosts; expected 1 to 4, drawn as G or listed as ghosts=b2N,c3-"),
        ("%%%%%%%%%/%P.GGGGG%/%%%%%%%%%", "5 ghosts; expected 1 to 4"),
        ("%%%%%/%P.G%/%%%%% ghosts=d2-", "ghosts are both drawn and listed: keep one of them"),
        ("%%%%%/%P.-%/%%%%% ghosts=d2", "ghost 'd2'; expected cell, heading (N E S W -), !moves scared, @start"),
        ("%%%%%/%P.-%/%%%%% ghosts=d1-", "a ghost at d1, which is a wall or outside: put it on a free cell"),
        ("%%%%%/%P.-%/%%%%% ghosts=d2-@z9", "a ghost at z9, which is a wall or outside"),
        ("%%%%%/%P.-%/%%%%% ghosts=d2-!41", "ghost 'd2-!41' is scared for 41 moves; a capsule lasts 40"),
        ("%%%%%/%P.G%/%%%%% lives=3", "'lives=3' after the rows; expected ghosts= score= moves= turn= or caught"),
        ("%%%%%/%P.G%/%%%%% moves", "'moves' after the rows"),
        ("%%%%%/%P.G%/%%%%% moves=1 moves=2", "moves= is given twice: drop one"),
        ("%%%%%/%P.G%/%%%%% moves=201", "moves=201: expected a whole number from 0 to 200"),
        ("%%%%%/%P.G%/%%%%% turn=2", "turn=2: expected a whole number from 0 to 1"),
        ("%%%%%/%P.G%/%%%%% score=٣", "score=٣: expected a whole number from -4096 to 4096"),
        ("%%%%%%%/%P.G%.%/%%%%%%%", "Pacman cannot get to what lies at f2: open a way or take it away"),
        ("%%%%%/%P.G%/%%%%% caught", "caught, but no ghost that could do it is on Pacman's cell: drop 'caught'"),
        ("%%%%%/%P.-%/%%%%% ghosts=b2W!3 caught", "caught, but no ghost"),
        ("%%%%%/%P.G%/%%%%% score=4000", "the score could become 3400 to 4510, and -4096 to 4096 is allowed: use less"),
        ("%%%%%/%P.G%/%%%%% score=-3500", "the score could become -4100 to -2990"),
    ],
)
def test_bad_notation_names_what_is_wrong(text, message):
    playing.refuses(GAME, text, message)


VALID = [GAME.to_text(s) for maze in MAZES for s, _ in playing.random_game(Pacman(maze=maze), 1)[::9]]
PIECES = st.one_of(st.text(max_size=4), st.text("%.oPG-/ =ghostscremvun0123456789,!@NESWab\n", max_size=6))


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A position's text of which a piece has become another."""
    text, piece = draw(st.sampled_from(VALID)), draw(PIECES)
    at = draw(st.integers(0, len(text)))
    return text[:at] + piece + text[at + draw(st.integers(0, 3)) :]


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(), damaged()))
def test_any_text_is_a_position_or_bad_notation(text):
    try:
        s = GAME.from_text(text)
    except BadNotation:
        return
    assert GAME.from_text(GAME.to_text(s)) == s
    assert GAME.decode(GAME.encode(s)) == s
    if not GAME.is_terminal(s):
        playing.compare_backends(GAME, s)


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text(), damaged()), st.one_of(st.integers(), st.text(max_size=5)))
def test_any_parameter_makes_a_game_or_is_refused(maze, moves):
    try:
        game = Pacman(maze=maze, moves=moves)
    except SpecError:
        return
    assert get_game(game.name).initial() == game.initial()


@pytest.mark.parametrize(
    ("text", "action"),
    [
        *((" North\n", NORTH), ("N", NORTH), ("up", NORTH), ("e", EAST), ("RIGHT", EAST), ("s", SOUTH)),
        *(("down", SOUTH), ("w", WEST), ("left", WEST), ("stop", STOP), ("stay", STOP), (".", STOP)),
    ],
)
def test_usual_names_of_moves_are_read(text, action):
    s = GAME.from_text("%%%%%/%%-%%/%-P-%/%G.%%/%%%%%")
    assert GAME.action_from_text(s, text) == action


def test_other_action_texts_say_what_is_wrong():
    with pytest.raises(BadNotation, match="pacman: 'jump' is no move; expected one of north east south west stop"):
        GAME.action_from_text(GAME.initial(), "jump")
    with pytest.raises(IllegalAction, match="a wall is there; legal: east west stop"):
        GAME.action_from_text(GAME.initial(), "north")


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=6))
def test_any_action_text_is_an_action_or_refused(text):
    try:
        assert GAME.action_from_text(GAME.initial(), text) in GAME.actions(GAME.initial())
    except GameError:
        return


def corridor(cells: str, rest: str) -> State:
    return GAME.from_text(f"{ROOM.format(cells)} {rest}")


def test_board_shows_the_maze_and_who_is_to_move():
    s = corridor("P.o--", "ghosts=f2W!13@e2,e2- score=-3 moves=97 turn=1")
    picture = ["   abcdefg", " 1 %%%%%%%", " 2 %P.o21%", " 3 %%%%%%%"]
    status = ["score -3, 97 moves left, ghost 1 scared for 13 moves", "ghost 1 to move: west"]
    assert GAME.board(s).splitlines() == picture + status
    caught = GAME.board(corridor("P.---", "ghosts=b2W caught"))
    assert " 2 %X.   %" in caught
    assert caught.endswith("\nPacman is caught")
    assert GAME.board(GAME.result(corridor("P.---", "ghosts=f2-"), EAST)).endswith("\nPacman has won")
    assert GAME.board(corridor("P.---", "ghosts=f2- moves=0")).endswith("\nno moves are left")
    assert GAME.board(GAME.initial()).endswith("\nPacman to move: east west stop")
