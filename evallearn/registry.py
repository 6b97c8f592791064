"""Names -> things: the games that are shipped, a user's own game, an evaluator file and the game it belongs to."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from evallearn.core.game import Game
from evallearn.core.trust import NO_TRUST, Trust
from evallearn.errors import EvallearnError, SpecError, unknown
from evallearn.evaluators import FeatureEval, load_evaluator, read_header, zoo_file
from evallearn.games import GAMES


def game_names() -> list[str]:
    """Return the names of the games that are shipped."""
    return sorted(GAMES)


def get_game(name: str, *, trust: Trust = NO_TRUST) -> Game:
    """Return a shipped game by its name; parameters follow, as in `matches,piles=3-4-5,k=3`.

    With FULL_TRUST also your own as `module:Class`: the current folder is searched for the module, too, but only after
    everything that is installed.
    """
    if not isinstance(name, str):
        raise SpecError(f"get_game wants a name, got {name!r}: known: {', '.join(GAMES)}")
    reference, *settings = name.split(",")
    if ":" not in reference and reference not in GAMES:
        error = unknown("game", reference, GAMES)
        raise SpecError(f"{error}, or your own as module:Class")
    if reference not in GAMES:
        trust.require_module(name, reference.partition(":")[0])
        _look_here_last()
    return _build_game(GAMES.get(reference, reference), settings)


def _look_here_last() -> None:
    """Let a user's module be found in the current folder, which also worker processes then search."""
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def _build_game(reference: str, settings: Sequence[str]) -> Game:
    module_name, _, class_name = reference.partition(":")
    try:
        module = importlib.import_module(module_name.removesuffix(".py"))
    except Exception as error:  # whatever a user's module raises
        raise SpecError(
            f"cannot import {module_name!r} of {reference!r} ({type(error).__name__}: {error}): write module:Class, "
            "with the module in this folder or installed, and see that `python -c 'import module'` works"
        ) from error
    if not hasattr(module, class_name):
        games = [k for k, v in vars(module).items() if isinstance(v, type) and issubclass(v, Game) and v is not Game]
        where = getattr(module, "__file__", None) or "Python itself"
        raise unknown(f"class in module {module_name} ({where})", class_name, games)
    game = getattr(module, class_name)
    given = _parameters(getattr(game, "parameters", {}), settings, class_name)
    try:
        game = game(**given) if isinstance(game, type) else game
    except EvallearnError:
        raise
    except Exception as error:  # an abstract method that is missing, an __init__ that wants arguments
        raise SpecError(f"{reference} cannot be built as {class_name}() ({error}): complete the class") from error
    if not isinstance(game, Game):
        raise SpecError(f"{reference} is a {type(game).__name__}, not a game: subclass evallearn.Game")
    return game


def _parameters(known: Mapping[str, str], settings: Sequence[str], class_name: str) -> dict[str, str]:
    """Return `["k=3"]` as {"k": "3"}, if the game knows a parameter k."""
    given: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise SpecError(f"parameter {setting!r} of {class_name}: write it as NAME=VALUE; {_known(known)}")
        if key not in known:
            raise SpecError(f"{class_name} has no parameter {key!r}: {_known(known)}")
        if key in given:
            raise SpecError(f"parameter {key!r} of {class_name} is given twice: give it once")
        given[key] = value
    return given


def _known(parameters: Mapping[str, str]) -> str:
    return "; ".join(f"{k}: {what}" for k, what in parameters.items()) or "it has none"


def spec_of(game: Game) -> str:
    """Return the name from which `get_game` builds this game."""
    shipped = game.name.partition(",")[0] in GAMES
    return game.name if shipped else f"{type(game).__module__}:{type(game).__qualname__}"


def load(what: str | Path, game: Game | None = None) -> FeatureEval:
    """Load a shipped evaluator by its name, `othello/linear`, or one from a file.

    A file is a text that ends in .safetensors, or a Path.

    The game is found by the name in its header; hand in your own game if it is not shipped.
    """
    path = (
        Path(what) if isinstance(what, Path) or what.endswith(".safetensors") else zoo_file(what.removeprefix("zoo:"))
    )
    if game is None:
        name = read_header(path)["game"]
        if name.partition(",")[0] not in GAMES:
            raise SpecError(
                f"{path} is an evaluator of {name!r}, which is not shipped: call load(path, game=YourGame())"
            )
        game = get_game(name)
    return load_evaluator(path, game)
