"""What check_game says of a broken game: for the tests of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from toys import Takeaway

from evallearn.check import check_game
from evallearn.core.game import Game
from evallearn.errors import GameError

Method = Callable[..., Any]


def broken(base: type[Game] = Takeaway, **members: Any) -> Game:
    return type("Broken", (base,), members)()


def failures(game: Game) -> list[str]:
    with pytest.raises(GameError) as caught:
        check_game(game)
    return str(caught.value).splitlines()


def complains(game: Game, line: str) -> None:
    """Exactly one failure, and this one."""
    found = failures(game)
    assert len(found) == 1, found
    assert re.fullmatch(line, found[0]), found[0]


def raises(error: Exception) -> Method:
    def method(self: Game, *_: Any) -> Any:
        raise error

    return method


def constant(value: Any) -> Method:
    return lambda self, *_: value
