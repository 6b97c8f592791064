"""The luck of the dice: both backends agree, and its mean is zero."""

from __future__ import annotations

import random
from typing import Any

import pytest

from evallearn import CHANCE, LinearEval, get_game, heuristic
from evallearn.errors import SearchError
from evallearn.search.dice.luck import Rolls


def rolls_due(name: str, n: int) -> list[Any]:
    """Positions of random games in which dice are due."""
    game, rng, found = get_game(name), random.Random(3), list[Any]()
    while len(found) < n:
        s = game.initial()
        while not game.is_terminal(s):
            if game.to_play(s) == CHANCE:
                found.append(s)
                outcomes = [o for o, _ in game.chances(s)]
                s = game.result(s, rng.choice(outcomes))
            else:
                s = game.result(s, rng.choice(game.actions(s)))
    return rng.sample(found, n)


@pytest.mark.parametrize("name", ["pig", pytest.param("backgammon", marks=pytest.mark.long)])
def test_both_backends_judge_alike_and_mean_luck_is_zero(name: str) -> None:
    game = get_game(name)
    evaluator = heuristic(game, list(game.heuristics)[-1])
    plain, compiled = Rolls(game, evaluator, backend="python"), Rolls(game, evaluator)
    for s in rolls_due(name, 12):
        expected, found = plain.values(s), compiled.values(s)
        assert list(found) == list(expected) == [o for o, _ in game.chances(s)]
        for outcome, (p, value) in expected.items():
            assert found[outcome] == (pytest.approx(p), pytest.approx(value, abs=1e-6))
        assert sum(p * compiled.luck(s, o) for o, p in game.chances(s)) == pytest.approx(0, abs=1e-6)


def test_a_good_roll_is_lucky_for_its_roller() -> None:
    game = get_game("pig")
    rolls = Rolls(game, heuristic(game, "race"))
    for player, sign in (("first", 1), ("second", -1)):
        s = game.from_text(f"40-40/turn=10/target=100/{player}/rolling")
        lucks = {game.action_to_text(s, o): rolls.luck(s, o) for o, _ in game.chances(s)}
        assert sign * lucks["1"] < 0 < sign * lucks["6"]


def test_games_without_dice_or_with_other_players_are_refused() -> None:
    for name in ("othello", "2048"):
        game = get_game(name)
        with pytest.raises(SearchError, match=f"two-player zero-sum games with dice; {name} is none"):
            Rolls(game, LinearEval.zero(game))
