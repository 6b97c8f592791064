"""Monte Carlo searches of games and toys, each built once: `from simulations import built`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from toys import DoubleMove
from walkers import Walkers

from evallearn import get_game, heuristic
from evallearn.core.game import Game

BACKENDS = ("python", "compiled")


@lru_cache
def game_of(name: str) -> Game:
    toys: dict[str, type[Game]] = {"walkers": Walkers, "double_move": DoubleMove}
    return toys[name]() if name in toys else get_game(name)


@lru_cache
def built(kind: type, name: str, backend: str, *options: tuple[str, Any]) -> Any:
    """A search of a game; the option eval=True is its last heuristic."""
    game, settings = game_of(name), dict(options)
    if settings.pop("eval", False):
        settings["evaluator"] = heuristic(game, list(game.heuristics)[-1])
    return kind(game, backend=backend, **settings)
