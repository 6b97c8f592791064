"""evallearn tables"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import click
from rich.table import Table

from evallearn.cli.common import GAME, console, json_option, out, progress_bars, report
from evallearn.errors import GameError, SpecError
from evallearn.protocols import Game


@click.command(name="tables")
@click.argument("game", type=GAME)
@click.option(
    "--pieces", type=click.IntRange(2, 4), default=4, show_default=True, help="All positions with up to so many pieces."
)
@click.option(
    "--out", "path", type=click.Path(path_type=Path), show_default="where the verdicts of play look for it",
    help="The file to write.",
)  # fmt: skip
@json_option
def command(game: Game, pieces: int, path: Path | None, json_to: str | None) -> None:
    """Build an endgame table: who wins every position with few pieces, by retrograde analysis, checked and counted.

    The values are those of perfect play without the rules that end long games in a draw.

    Example: evallearn tables checkers --pieces 3 --out checkers-3.table
    """
    if game.name != "checkers":
        raise SpecError(f"{game.name} has no endgame table: the game that has one is checkers")
    from evallearn.games.checkers import table as checkers_table

    path = path or checkers_table.default_path(pieces)
    if path.is_dir():
        raise SpecError(f"--out {path} is a folder: name a file in it")
    if path.exists():
        try:
            checkers_table.load_table(path)
        except GameError:
            raise SpecError(f"--out {path} is there already and is no endgame table: choose another name") from None
    start = perf_counter()
    with progress_bars() as bars, bars.step(f"endings of {pieces} pieces") as move:
        table = checkers_table.build_table(pieces, move)
    built = perf_counter() - start
    if wrong := table.contradictions():
        raise GameError(f"{wrong} values contradict the moves of {game.name}: please report this as a bug")
    path = checkers_table.save_table(table, path)
    figures = {
        "game": game.name,
        "pieces": pieces,
        "seconds": built,
        "seconds_with_check": perf_counter() - start,
        "file": str(path),
        "bytes": path.stat().st_size,
        "endings": [
            dict(zip(("men", "kings", "opposing_men", "opposing_kings"), ending, strict=True)) | counts._asdict()
            for ending, counts in table.counts().items()
        ],
    }
    report(figures, json_to, lambda: show(figures))


def show(figures: dict[str, Any]) -> None:
    """Positions by the number of pieces, with either player to move."""
    table = Table("pieces", "positions", "won", "drawn", "lost", title="for the player to move")
    names = ("men", "kings", "opposing_men", "opposing_kings")
    for pieces in range(2, figures["pieces"] + 1):
        rows = [row for row in figures["endings"] if sum(row[name] for name in names) == pieces]
        counts = [
            2 * sum(row[key] for row in rows) for key in ("wins", "draws", "losses")
        ]  # the other half is mirrored
        table.add_row(str(pieces), *(f"{n:,}" for n in (sum(counts), *counts)))
    out.print(table)
    console.print(
        f"{figures['seconds']:.1f} s to build, {figures['seconds_with_check']:.1f} s with the check", style="dim"
    )
    out.print(f"{figures['file']}: {figures['bytes']:,} bytes")
