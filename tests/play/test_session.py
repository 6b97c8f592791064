"""Who sits where, and a game from its start to its end: dice, taking back, refusals."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from at_the_board import (
    LooseEnds,
    PlainTicTacToe,
    answers,
    dialogue_of,
    finish,
    judge_of,
    session_of,
)
from toys import CoinRace, TreeGame

from evallearn.agents import RandomAgent
from evallearn.core.game import CHANCE, Action, Game
from evallearn.errors import GameError, IllegalAction, SpecError
from evallearn.games.tic_tac_toe import TicTacToe
from evallearn.play.seats import judge_evaluator, make_agent, people, take_seats
from evallearn.play.session import Session


# --- seats ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "seats"),
    [("first", {0}), ("Second", {1}), ("2", {1}), ("both", {0, 1}), ("all", {0, 1}), ("none", set()), ("1, 2", {0, 1})],
)
def test_you_names_seats(text: str, seats: set[int]) -> None:
    assert people(text, TicTacToe()) == seats


def test_you_at_a_seat_that_is_not_there_is_told() -> None:
    for text in ("third", "3", "0", "", "²", "first,x"):
        with pytest.raises(SpecError, match="tic_tac_toe has 2 players; give first, 1, second, 2, several with commas"):
            people(text, TicTacToe())
    assert people("third", LooseEnds()) == {2}


def test_opponents_take_the_free_seats_in_order() -> None:
    game = LooseEnds()
    a, b = make_agent("random", game), make_agent("zero@depth=1", game)
    assert take_seats(game, {1}, [a, b]) == (a, None, b)
    assert take_seats(game, {1}, [a]) == (a, None, a)
    assert take_seats(game, {0, 1, 2}, []) == (None, None, None)
    with pytest.raises(SpecError, match="2 opponents for 3 seats of loose_ends: give --opponent once for all of them"):
        take_seats(game, set(), [a, b])
    with pytest.raises(SpecError, match="--opponent has no seat left in loose_ends"):
        take_seats(game, {0, 1, 2}, [a])


def test_a_game_without_features_or_rules_can_be_played() -> None:
    tree = TreeGame()
    session = session_of(tree, None, "zero@depth=2", judge=judge_of(tree), seed=1)
    told = answers(dialogue_of(session), "1")
    assert "1 is not minimax-optimal (proven), worth +2: 1 given away\nbetter: 0, worth +3; then 0" in told
    assert session.is_over


def test_the_judge_thinks_with_the_opponents_eval() -> None:
    game = PlainTicTacToe()
    seats = take_seats(game, {0}, [make_agent("handwritten:squares", game)])
    assert judge_evaluator(game, seats).name == "squares"
    assert judge_evaluator(game, (None, make_agent("random", game))).name == "lines"


# --- sessions -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("game", [CoinRace(), PlainTicTacToe()], ids=repr)
def test_the_same_seed_and_moves_give_the_same_game(game: Game) -> None:
    played = [finish(session_of(game, None, "random", seed=seed)) for seed in (1, 1, 2, 3, 4, 5)]
    assert played[0] == played[1]
    assert len({tuple(actions) for actions in played}) > 1


def test_new_games_have_new_dice() -> None:
    session = session_of(CoinRace(), None, None, seed=1)
    games = [session, session.next(), session.next().next(), session.next().next().next()]
    assert len({tuple(finish(game)) for game in games}) > 1


def test_undo_goes_back_to_the_persons_last_choice_and_the_dice_stay() -> None:
    session = session_of(CoinRace(), None, "random", seed=4)
    while session.step():
        pass
    before, choice = session.state, len(session.plies)
    session.play(0)
    while session.step():
        pass
    after = session.state
    assert [ply.player for ply in session.undo()] == [0, CHANCE, 1, CHANCE]
    assert (session.state, len(session.plies)) == (before, choice)
    session.play(0)
    while session.step():
        pass
    assert session.state == after
    session.undo()
    with pytest.raises(GameError, match="there is no move of yours to take back"):
        session.undo()


def test_a_session_refuses_what_is_not_to_be_played() -> None:
    game = PlainTicTacToe()
    with pytest.raises(GameError, match="the game is over in tic_tac_toe position 'XXXOO....': start from another"):
        session_of(game, None, None, start=game.from_text("XXXOO...."))
    session = session_of(game, "random", None)
    with pytest.raises(IllegalAction, match="no person is to move"):
        session.play(0)
    session = session_of(game, None, None, judge=judge_of(game))
    with pytest.raises(IllegalAction, match="illegal action 99"):
        session.play(99)
    assert session.plies == []


def test_forced_moves_are_not_judged() -> None:
    game = PlainTicTacToe()
    session = session_of(game, None, None, judge=judge_of(game), start=game.from_text("XXOOOXX.."))
    assert session.play(7).verdict is not None
    assert session.play(8).verdict is None
    assert [len(session.verdicts(player)) for player in (0, 1)] == [0, 1]


# --- engines that keep a board of their own --------------------------------------------------------------------------
class Follower(RandomAgent):
    """Writes down what it is told before each of its moves."""

    follows = True

    def __init__(self, game: Game) -> None:
        super().__init__(game, "follower")
        self.told: list[list[Action]] = []

    def begin(self, opening: Sequence[Action]) -> None:
        self.told.append(list(opening))


def test_follower_is_told_all_moves_also_after_one_was_taken_back() -> None:
    game = TicTacToe()
    agent = Follower(game)
    session = Session(game, (None, agent))
    session.play(4)
    session.step()
    session.undo()
    session.play(0)
    session.step()
    assert agent.told == [[4], [0]]
    with pytest.raises(
        GameError, match=r"follower follows .* cannot begin in 'X\.\.\.\.\.\.\.\.': start from the initial"
    ):
        Session(game, (None, agent), start=game.from_text("X........"))
