"""Two evaluators that meet one ply ahead: seats swapped, the same dice, no advantage to anybody."""

from __future__ import annotations

import math

import numpy as np
import pytest
from toys import Takeaway

from evallearn.arena.quick_match import quick_match
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE
from evallearn.core.rng import SplitMix64
from evallearn.errors import SpecError
from evallearn.evaluators import LinearEval, heuristic
from evallearn.registry import get_game

TTT, PIG = get_game("tic_tac_toe"), get_game("pig,target=12")


def hand(game, name: str) -> LinearEval:
    return heuristic(game, name)


def against(game) -> LinearEval:
    """The opposite of the first heuristic: it plays to lose."""
    e = hand(game, next(iter(game.heuristics)))
    return LinearEval(game, -e.weights, -e.bias)


def plain_points(a: Evaluator, b: Evaluator, pair: int, seed: int, opening: int) -> float:
    """The mean of the two games of a pair, slowly."""
    game, points = a.game, 0.0
    for seat in (0, 1):
        rng, s, left = SplitMix64.of_game(seed, pair), game.initial(), opening
        while not game.is_terminal(s):
            player = game.to_play(s)
            if player == CHANCE:
                chances = game.chances(s)
                s = game.result(s, chances[rng.index(chances)][0])
            elif left:
                actions, left = game.actions(s), left - 1
                s = game.result(s, actions[int(rng.uniform() * len(actions))])
            else:
                e = a if player == seat else b
                s = game.result(s, max(game.actions(s), key=lambda x: e.evaluate(game.result(s, x), player)))
        points += game.utility(s, seat) / 2
    return points


@pytest.mark.parametrize(("game", "opening"), [(TTT, 3), (PIG, 0)], ids=str)
def test_quick_match_equals_games_in_plain_python(game, opening):
    a, b = hand(game, next(iter(game.heuristics))), against(game)
    found = quick_match(a, b, pairs=12, seed=4, opening_plies=opening)
    wanted = np.array([plain_points(a, b, pair, 4, opening) for pair in range(12)])
    assert found.points == pytest.approx(wanted.mean())
    assert found.standard_error == pytest.approx(wanted.std(ddof=1) / math.sqrt(12))
    assert found.games == 24


@pytest.mark.parametrize(("game", "opening"), [(TTT, 3), (PIG, 0)], ids=str)
def test_an_eval_against_itself_is_exactly_even(game, opening):
    e = hand(game, next(iter(game.heuristics)))
    found = quick_match(e, e, pairs=50, opening_plies=opening)
    assert (found.points, found.standard_error, found.games) == (0.0, 0.0, 100)


def test_swapped_evals_swap_the_points_and_the_better_one_wins():
    a, b = hand(TTT, next(iter(TTT.heuristics))), against(TTT)
    there, back = (quick_match(x, y, pairs=40, seed=2, opening_plies=2) for x, y in ((a, b), (b, a)))
    assert there.points == -back.points > 0.2
    assert there.standard_error == back.standard_error > 0
    assert quick_match(a, b, pairs=40, seed=3, opening_plies=2) != there


def test_evals_that_cannot_meet_are_refused():
    plain = heuristic(Takeaway(), "pile")
    for a, b in ((plain, plain), (hand(TTT, "lines"), plain), (hand(TTT, "lines"), hand(PIG, "hold20"))):
        with pytest.raises(SpecError, match="cannot meet: both must be evaluators of one game on the compiled backend"):
            quick_match(a, b, pairs=2)


@pytest.mark.parametrize(("name", "n"), [("2048", 1), ("three_player_connect", 3)])
def test_a_quick_match_is_between_two(name, n):
    e = hand(get_game(name), next(iter(get_game(name).heuristics)))
    with pytest.raises(SpecError, match=f"a quick match has two players, {name} {n}: play a match"):
        quick_match(e, e, pairs=2)


def test_one_pair_is_too_few():
    e = hand(TTT, "lines")
    with pytest.raises(SpecError, match="pairs=1 tell nothing of the error: give 2 or more"):
        quick_match(e, e, pairs=1)
