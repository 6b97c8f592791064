"""evallearn bench"""

from __future__ import annotations

from typing import Any

import click
from rich.table import Table

from evallearn.bench import SUITES, bench_search
from evallearn.cli.common import console, json_option, out, report
from evallearn.errors import unknown

ROWS = {
    "compiled": "evallearn, compiled, no table",
    "compiled_table": "evallearn, compiled, table",
    "plain": "evallearn, plain Python",
    "openspiel": "OpenSpiel alpha_beta_search",
}


@click.command(name="bench")
@click.argument("games", nargs=-1)
@json_option
def command(games: tuple[str, ...], json_to: str | None) -> None:
    """Nodes per second of alpha-beta with a linear Eval: compiled, plain Python, and OpenSpiel if it is installed.

    CPU time, one core, the same positions and depth, the best of several runs.

    OpenSpiel comes with: pip install 'evallearn[bench]'

    Example: evallearn bench othello
    """
    known = {suite.game: suite for suite in SUITES}
    for name in games:
        if name not in known:
            raise unknown("game to bench", name, known)
    found = []
    for name in games or known:
        console.print(f"{name} ...", style="dim")
        found.append(bench_search(known[name]))
    report({"bench": found}, json_to, lambda: show(found))


def show(found: list[dict[str, Any]]) -> None:
    for figures in found:
        table = Table("search", "depth", "nodes", "CPU s", "nodes/s", "compiled is", title=figures["game"])
        speed = figures["compiled"]["nodes_per_second"]
        for key, title in ROWS.items():
            row = figures[key]
            if row is None:
                table.add_row(title, "-", "-", "-", "not installed", "")
                continue
            table.add_row(
                title,
                str(row["depth"]),
                f"{row['nodes']:,}",
                f"{row['seconds']:.3f}",
                f"{row['nodes_per_second']:,.0f}",
                f"{speed / row['nodes_per_second']:,.1f} x",
            )
        out.print(table)
