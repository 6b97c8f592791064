"""check_game on bounds that a game does not keep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from narrowing import Narrowing

from evallearn import check_game
from evallearn.errors import GameError


class Broken(Narrowing):  # type: ignore[misc]  # the toy is not typed
    rules = None
    answers: Any = None

    def bounds(self, s: Any, player: int) -> Any:
        return type(self).answers(s, player)


CASES = {
    "bounds: widened from (-0.1, 0.1) to (-0.2, 0.2) to player 0 in": (
        lambda s, p: (-0.1 - s.level / 10, 0.1 + s.level / 10),
        "make them hold for every position that can follow",
    ),
    "bounds: gave (1.0, -1.0) to player 0 in": (lambda s, p: (1.0, -1.0), "give the lower one first, and no NaN"),
    "bounds: gave (0.0, 1.0) to player 0 in": (lambda s, p: (0.0, 1.0), "give each player the opposite"),
    "bounds: gave (0.0, 0.0) to player": (lambda s, p: (0.0, 0.0), "make them hold the utility of every end"),
    "bounds: raised ZeroDivisionError: division by zero in position": (
        lambda s, p: (1 / 0, 1.0),
        "answer (low, high) for every position",
    ),
}


@pytest.mark.parametrize("told", CASES)
def test_bounds_that_do_not_hold_are_told(told: str) -> None:
    answers, remedy = CASES[told]
    Broken.answers = staticmethod(answers)
    with pytest.raises(GameError) as error:
        check_game(Broken(), games=20)
    assert f"narrowing.{told}" in str(error.value)
    assert remedy in str(error.value)


def test_both_backends_must_have_them_and_agree() -> None:
    class Silent(Narrowing):  # type: ignore[misc]
        rules = replace(Narrowing().rules, bounds_mover=None)

    with pytest.raises(GameError, match=r"narrowing\.rules\.bounds_mover: is missing; give it"):
        check_game(Silent(), games=2)

    class Wider(Narrowing):  # type: ignore[misc]
        def bounds(self, s: Any, player: int) -> tuple[float, float]:
            low, high = super().bounds(s, player)
            return low - 1, high + 1

    with pytest.raises(GameError, match=r"narrowing\.rules\.bounds_mover: gave .*, plain .*; make both backends agree"):
        check_game(Wider(), games=2)
