"""check_game on games that say wrongly what is won already, or say it on one backend only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from harvest import CROP, Harvest

from evallearn import check_game
from evallearn.compiled.bits import jitable
from evallearn.core.rules import Rules
from evallearn.errors import GameError
from evallearn.games.twenty_forty_eight import TwentyFortyEight
from evallearn.games.twenty_forty_eight.rules import RULES


class Wrong(Harvest):
    answers: Any = None

    def won(self, s: Any, player: int) -> Any:
        return type(self).answers(s, player)


CASES = {
    "won: fell from 0.0 to -12.0 to player 0 in": (lambda s, p: -s.left, "tell only what no later move takes away"),
    "won: fell from 12.0 to 1": (lambda s, p: float(s.left) if s.left else 0.0, "tell only what no later move"),
    "won: gave 0.0 to player": (lambda s, p: 0.0, "make it the utility there"),
    "won: gave 12.0 to player 0 in": (lambda s, p: CROP, "leave something to come: less than 12.0"),
    "won: fell from 0.0 to nan to player 0": (lambda s, p: float("nan"), "tell only what no later move takes away"),
    "won: raised ZeroDivisionError: division by zero in": (lambda s, p: 1 / 0, "answer a number for every position"),
    "won: raised TypeError": (lambda s, p: None, "answer a number for every position"),
}


@pytest.mark.parametrize("told", CASES)
def test_points_that_are_not_won_for_certain_are_told(told: str) -> None:
    answers, remedy = CASES[told]
    Wrong.answers = staticmethod(answers)
    with pytest.raises(GameError) as error:
        check_game(Wrong(), games=5)
    assert f"harvest.{told}" in str(error.value)
    assert remedy in str(error.value)


def test_points_that_only_add_up_are_won() -> None:
    assert check_game(Harvest(), games=5).backends == ("python",)


def test_a_zero_sum_game_has_nothing_won() -> None:
    class ZeroSum(Harvest):
        zero_sum = True
        utility_range = (-float(CROP), float(CROP))

        def utility(self, s: Any, player: int) -> float:
            return super().utility(s, player) - super().utility(s, 1 - player)

    with pytest.raises(GameError, match=r"harvest\.won: is for games .*, and zero_sum is True; leave it out, or"):
        check_game(ZeroSum(), games=2)


@jitable
def four_more(s, player):  # type: ignore[no-untyped-def]  # Numba infers it
    return float(s.score) + 4.0


def with_rules(rules: Rules) -> TwentyFortyEight:
    class Other(TwentyFortyEight):
        @property
        def rules(self) -> Rules:
            return rules

    return Other()


@pytest.mark.parametrize(
    ("won_player", "line"),
    [
        (None, r"2048\.rules\.won_player: is missing; give it"),
        (four_more, r"2048\.rules\.won_player: gave \[4\.0\], plain \[0\.0\] in .*; make both backends agree"),
    ],
)
def test_both_backends_must_say_it_and_agree(won_player: Any, line: str) -> None:
    with pytest.raises(GameError, match=line):
        check_game(with_rules(replace(RULES, won_player=won_player)), games=1, every=40)


def test_rules_of_a_game_that_does_not_accumulate_have_none() -> None:
    class Silent(TwentyFortyEight):
        def has(self, hook: str) -> bool:
            return hook != "won" and super().has(hook)

    with pytest.raises(GameError, match=r"2048\.rules\.won_player: is not for such a game; leave it out"):
        check_game(Silent(), games=1, every=40)
