"""The command `evallearn games`."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.table import Table

from evallearn.cli.common import GAME, json_option, out, report
from evallearn.core.game import Game
from evallearn.registry import game_names, get_game


@click.command(name="games")
@click.argument("game", type=GAME, required=False)
@json_option
def command(game: Game | None, json_to: str | None) -> None:
    """List the games; or tell of one what its evaluators see, its hand-written heuristics and its parameters.

    Example: evallearn games othello
    """
    games = [game] if game else [get_game(name) for name in game_names()]
    figures: dict[str, object] = {
        "games": [
            {
                "name": g.name,
                "version": g.version,
                "players": g.n_players,
                "chance": g.has_chance,
                "features": list(g.feature_names),
                "phases": g.n_phases,
                "heuristics": {name: h.note for name, h in g.heuristics.items()},
                "parameters": dict(g.parameters),
            }
            for g in games
        ]
    }
    report(figures, json_to, lambda: out.print(one(game) if game else overview(games)))


def overview(games: Sequence[Game]) -> Table:
    table = Table("game", "players", "chance", "features", "hand-written heuristics", "parameters")
    for g in games:
        counts = str(g.n_players), "yes" if g.has_chance else "", str(len(g.feature_names))
        table.add_row(g.name, *counts, ", ".join(g.heuristics), ", ".join(g.parameters))
    return table


def one(game: Game) -> Table:
    table = Table(game.name, "", show_header=True)
    table.add_row("features", ", ".join(game.feature_names))
    table.add_row("phases", str(game.n_phases))
    for name, heuristic in game.heuristics.items():
        table.add_row(f"heuristic {name}", heuristic.note)
    for name, what in game.parameters.items():
        table.add_row(f"parameter {name}", what)
    return table
