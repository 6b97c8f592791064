"""What is typed and what is answered."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from at_the_board import (
    PlainTicTacToe,
    answers,
    dialogue_of,
    judge_of,
    session_of,
)
from toys import Takeaway, TreeGame

from evallearn.errors import DataError, EvallearnError
from evallearn.games.tic_tac_toe import TicTacToe
from evallearn.play import Dialogue, Session
from evallearn.play.formatting import amount, columns, number


class Shouting(Takeaway):
    """Its moves are written like commands."""

    def action_to_text(self, s: tuple[int, int], a: int) -> str:
        return ("undo", "help me")[a - 1]


def test_a_legal_move_wins_over_a_command_and_a_slash_over_both() -> None:
    dialogue = dialogue_of(session_of(Shouting(), None, None))
    answers(dialogue, "undo", "help me")
    assert dialogue.session.state == (8, 0)
    assert "taken back: help me" in answers(dialogue, "/undo")
    assert "a move, such as undo" in answers(dialogue, "help")


def tic_tac_toe_dialogue(*seats: str | None) -> Dialogue:
    game = TicTacToe()
    return dialogue_of(session_of(game, *(seats or (None, "zero@depth=1")), judge=judge_of(game), seed=1))


def test_commands_answer() -> None:
    dialogue = tic_tac_toe_dialogue()
    assert "tic_tac_toe. first: you; second: zero@depth=1" in "\n".join(shown.text for shown in dialogue.open())
    assert dialogue.prompt == "you> "
    assert answers(dialogue, "moves") == "1  2  3  4  5  6  7  8  9"
    assert answers(dialogue, "hint").startswith("1 is best (proven), worth 0, a draw; then 5 ")
    assert "X to move" in answers(dialogue, " BOARD ")
    assert "5 is minimax-optimal (proven)" in answers(dialogue, " 5 ")
    assert answers(dialogue, "score") == (
        "your moves with a choice: 1 of 1 minimax-optimal, mean loss 0 (1 of the verdicts proven)"
    )
    assert answers(dialogue, "", "   ") == ""
    assert answers(dialogue, "?") == answers(dialogue, "help")
    assert "goodbye" in answers(dialogue, "exit")
    assert dialogue.done


def test_undo_can_go_back_to_the_start() -> None:
    dialogue = tic_tac_toe_dialogue(None, "zero@depth=1")
    answers(dialogue, "5")
    answers(dialogue, dialogue.session.legal()[0])
    answers(dialogue, "undo", "undo")
    assert dialogue.session.state == dialogue.session.start
    assert answers(dialogue, "undo") == "there is no move of yours to take back: play one first"


TOLD = {
    "10": "no legal action '10'; legal: 1 2 3 4 5 6 7 8 9",
    "unod": "'unod' is neither a legal move nor a command: did you mean undo? commands: help moves",
    "/x": "'/x' is neither a legal move nor a command: commands: help moves",
    "undo 3": "undo '3': undo stands alone",
    "save": "save '': name a file, as in save game.json",
    "load \0": "load '\\x00': name a file, as in load game.json",
    "load gone.json": "cannot read gone.json (No such file or directory): give the name of a saved game",
    "new third": "--you 'third': tic_tac_toe has 2 players",
}


@pytest.mark.parametrize("line", TOLD)
def test_what_cannot_be_done_is_told_and_nothing_is_lost(line: str) -> None:
    dialogue = tic_tac_toe_dialogue()
    answers(dialogue, "5", "undo")
    session, state = dialogue.session, dialogue.session.state
    assert TOLD[line] in answers(dialogue, line)
    assert (dialogue.session, dialogue.session.state) == (session, state)


def test_save_and_load_within_a_game() -> None:
    dialogue = tic_tac_toe_dialogue()
    answers(dialogue, "5")
    state = dialogue.session.state
    assert dialogue.unsaved
    assert "saved in my game.json" in answers(dialogue, "save 'my game.json'")
    assert not dialogue.unsaved
    answers(dialogue, dialogue.session.legal()[0])
    Path("bad.json").write_text("{}")
    assert "bad.json is no saved game" in answers(dialogue, "load bad.json")
    assert dialogue.session.state != state
    assert "loaded my game.json: 2 plies. first: you, second: zero@depth=1" in answers(dialogue, "load my game.json")
    assert dialogue.session.state == state
    assert "none was judged" in answers(dialogue, "score")


def test_new_changes_seats_and_keeps_the_opponent() -> None:
    dialogue = tic_tac_toe_dialogue()
    assert "new game. first: zero@depth=1; second: you" in answers(dialogue, "new second")
    assert len(dialogue.session.plies) == 1
    assert "first: you; second: you" in answers(dialogue, "new both")
    assert dialogue.prompt == "first> "
    assert "first: you; second: zero@depth=1" in answers(dialogue, "new first")
    assert "there is no opponent to sit there" in answers(tic_tac_toe_dialogue(None, None), "new first")


def test_the_only_move_is_played_by_an_empty_line() -> None:
    game = PlainTicTacToe()
    start = game.from_text("XXOOOXX..")
    dialogue = dialogue_of(session_of(game, None, None, judge=judge_of(game), start=start))
    assert "the only move is 9: an empty line plays it" in answers(dialogue, "8")
    told = answers(dialogue, "")
    assert told.startswith("9 is the only move\n")
    assert "a draw" in told
    assert "second's moves with a choice: 1 of 1 minimax-optimal" in told
    assert "first's moves: none yet that was a choice" in told
    assert dialogue.prompt == "over> "
    assert "9' cannot be played: the game is over" in answers(dialogue, "9")
    assert "none: the game is over" in answers(dialogue, "moves")
    assert "there is nothing to hint at" in answers(dialogue, "hint")
    assert "taken back: 9" in answers(dialogue, "undo")
    assert answers(dialogue, "9").startswith("9 is the only move\n")


def test_a_forced_move_gets_no_verdict_where_none_is_wanted() -> None:
    game = PlainTicTacToe()
    dialogue = dialogue_of(session_of(game, None, None, start=game.from_text("XXOOOXXO.")))
    assert "is the only move" not in answers(dialogue, "9")


def test_the_result_says_who_has_won() -> None:
    for seats, moves, told in (
        ((None, "random"), "1", "you have won: +1 to you, -1 to the machine"),
        ((None, None), "1", "first has won: +1 to first, -1 to second"),
    ):
        game = PlainTicTacToe()
        dialogue = dialogue_of(session_of(game, *seats, start=game.from_text(".XXOO....")))
        assert told in answers(dialogue, moves)
    tree = TreeGame((-3, 3))
    assert "the machine has won: -3 to you, +3 to the machine" in answers(
        dialogue_of(session_of(tree, None, "zero")), "0"
    )


def test_numbers_suit_the_game() -> None:
    game = TicTacToe()
    assert [number(game, v) for v in (1.0, 0.0, -0.0, -1.0, 0.25)] == ["+1", "0", "0", "-1", "+0.250"]
    assert [amount(game, v) for v in (2.0, 0.0001, 0.5)] == ["2", "less than 0.001", "0.500"]
    assert number(TreeGame(utility_range=(-4000.0, 4000.0)), 12.345) == "+12.3"


def test_columns_fit_the_width() -> None:
    assert columns(["a", "bb", "c", "d"], width=8) == "a   bb\nc   d"
    assert columns(["long" * 30]) == "long" * 30


def test_every_error_is_one_of_ours() -> None:
    """Whatever is typed, a sentence comes back."""
    rng = random.Random(1)
    alphabet = "0123456789 abcdehilmnopsuvwxz:/-?²٣\0\ud800é'\"~."
    dialogue = tic_tac_toe_dialogue()
    for _ in range(300):
        line = "".join(rng.choices(alphabet, k=rng.randint(0, 8)))
        if not line.strip().startswith(("save", "load", "quit", "exit", "q", "/q")):
            list(dialogue.answer(line))
    assert isinstance(dialogue.session, Session)
    assert issubclass(DataError, EvallearnError)
