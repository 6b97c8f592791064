"""The command `evallearn recipes`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import click
from rich.box import SIMPLE
from rich.table import Table

from evallearn.cli.common import GAME, json_option, out, report
from evallearn.core.game import Game
from evallearn.core.settings import Settings
from evallearn.registry import get_game
from evallearn.runs.recipe import Recipe, recipe_names
from evallearn.runs.stage_settings import HIDDEN


@click.command(name="recipes")
@click.argument("name", required=False, metavar="[NAME|FILE]")
@click.option("--game", type=GAME, default="connect_four", help="The game for which its fields are shown.")
@json_option
def command(name: str | None, game: Game, json_to: str | None) -> None:
    """List the recipes of `evallearn learn`, or print one, NAME, with all its fields and their help.

    What is printed is a recipe, too: keep it as a file, change it, and name it by --recipe FILE.toml.

    Example: evallearn recipes linear
    """
    if name is None:
        known = {n: Recipe.load(n, get_game("connect_four")).help for n in recipe_names()}
        report({"recipes": known}, json_to, lambda: out.print(overview(known)))
        return
    recipe = Recipe.load(name, game)
    figures = {"name": recipe.name, "help": recipe.help, "settings": recipe.flat()}
    report(figures, json_to, lambda: print("\n".join(lines(recipe))))


def overview(known: dict[str, str]) -> Table:
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), show_header=False)
    for name, help in known.items():
        table.add_row(name, help)
    return table


def lines(recipe: Recipe) -> Iterator[str]:
    """Yield a recipe as TOML, with all its fields and their help: a file to change."""
    yield f"help = {json.dumps(recipe.help)}"
    for stage in recipe.stages:
        yield f'\n[[stage]]\nverb = "{stage.verb}"'
        same = f"schedule.games = {getattr(stage, 'games', None)} "  # what the stage says by itself
        yield from (line for line in fields_of(stage) if not line.startswith(same))
    yield "\n[ladder]"
    yield from fields_of(recipe.ladder)


def fields_of(settings: Settings, prefix: str = "") -> Iterator[str]:
    """Yield a line for every field; one that is not given is a comment."""
    for name, known in settings.known().items():
        if name not in HIDDEN:
            value, key = getattr(settings, name), prefix + name.rstrip("_")
            text = f"# {key}: {known.auto}" if value is None else f"{key} = {toml(value)}"
            yield f"{text:<36}  # {known.help}"
    for f in fields(settings):  # type: ignore[arg-type]  # they are dataclasses
        inner: Any = getattr(settings, f.name)
        if f.name == "model":
            yield f'model.kind = "{inner.kind}"'
        if isinstance(inner, Settings):
            yield from fields_of(inner, "" if f.name == "learning" else f"{f.name}.")


def toml(value: Any) -> str:
    """Return a value as it stands in TOML."""
    return json.dumps(list(value) if isinstance(value, tuple) else value)
