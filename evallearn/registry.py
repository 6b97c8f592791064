"""Names -> things: the games that are shipped, a user's own game, an evaluator file and the game it belongs to."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

from evallearn.errors import SpecError, unknown
from evallearn.evaluators import FeatureEval, load_evaluator, read_header
from evallearn.protocols import Game

GAMES = {
    "connect_four": "evallearn.games.connect_four:ConnectFour",
    "othello": "evallearn.games.othello:Othello",
    "tic_tac_toe": "evallearn.games.tic_tac_toe:TicTacToe",
}


def game_names() -> list[str]:
    """The games that are shipped."""
    return sorted(GAMES)


def get_game(name: str) -> Game:
    """A shipped game by its name, or your own as `module:Class`."""
    if ":" in name:
        return _import_game(name)
    if name not in GAMES:
        error = unknown("game", name, GAMES)
        raise SpecError(f"{error}, or your own as module:Class")
    return _import_game(GAMES[name])


def _import_game(reference: str) -> Game:
    module_name, _, class_name = reference.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # a user's module beside them, as `python -m` would find it
    try:
        module = importlib.import_module(module_name.removesuffix(".py"))
    except ModuleNotFoundError as error:
        raise SpecError(
            f"cannot import {module_name!r} of {reference!r} ({error}): write module:Class, "
            "with the module in this folder or installed"
        ) from None
    except ValueError:
        raise SpecError(f"{reference!r} names no module: write module:Class") from None
    if not hasattr(module, class_name):
        games = [k for k, v in vars(module).items() if isinstance(v, type) and issubclass(v, Game) and v is not Game]
        raise unknown(f"class in module {module_name}", class_name, games)
    game = getattr(module, class_name)
    game = game() if isinstance(game, type) else game
    if not isinstance(game, Game):
        raise SpecError(f"{reference} is a {type(game).__name__}, not a game: subclass evallearn.Game")
    return game


def load(path: str | Path, game: Game | None = None) -> FeatureEval:
    """The Eval in the file. The game is found by the name in its header; hand in your own game if it is not shipped."""
    if game is None:
        name = read_header(path)["game"]
        if name not in GAMES:
            raise SpecError(f"{path} is an Eval of {name!r}, which is not shipped: call load(path, game=YourGame())")
        game = get_game(name)
    return load_evaluator(path, game)
