"""evallearn games"""

from __future__ import annotations

from typing import Any

import click
from rich.table import Table

from evallearn.cli.common import json_option, out, report
from evallearn.registry import game_names, get_game


@click.command(name="games")
@json_option
def command(json_to: str | None) -> None:
    """List the games, their features and hand-written heuristics.

    Example: evallearn games
    """
    games = [get_game(name) for name in game_names()]
    figures: dict[str, Any] = {
        "games": [
            {
                "name": g.name,
                "version": g.version,
                "players": g.n_players,
                "chance": g.has_chance,
                "features": list(g.feature_names),
                "phases": g.n_phases,
                "heuristics": {name: h.note for name, h in g.heuristics.items()},
            }
            for g in games
        ]
    }

    def people() -> None:
        table = Table("game", "features", "phases", "hand-written heuristics")
        for g in games:
            notes = "\n".join(f"{name}: {h.note}" for name, h in g.heuristics.items())
            table.add_row(g.name, ", ".join(g.feature_names), str(g.n_phases), notes)
        out.print(table)

    report(figures, json_to, people)
