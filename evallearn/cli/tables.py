"""The command `evallearn tables`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import click
from rich.table import Table

from evallearn.cli.common import GAME, console, json_option, out, progress_bars, report
from evallearn.core.game import Game
from evallearn.core.json_shapes import Json
from evallearn.errors import GameError, SpecError

if TYPE_CHECKING:
    from evallearn.games.checkers.table import Counts, Ending


@click.command(name="tables")
@click.argument("game", type=GAME)
@click.option(
    "--pieces", type=click.IntRange(2, 4), show_default="4",
    help="Checkers: all positions with up to so many pieces.",
)  # fmt: skip
@click.option(
    "--out", "path", type=click.Path(path_type=Path), show_default="where evaluators and verdicts look for it",
    help="The file to write.",
)  # fmt: skip
@json_option
def command(game: Game, pieces: int | None, path: Path | None, json_to: str | None) -> None:
    """Build an endgame table. Evaluators consult it: SolvedEval, or an agent as solved:FILE.

    Checkers: who wins every position with few pieces, by retrograde analysis, checked and counted; the values are those
    of perfect play without the rules that end long games in a draw.

    Backgammon: what every position is worth when all checkers are home; exact with up to six checkers on either side.

    Example: evallearn tables checkers --pieces 3 --out checkers-3.table
    """
    name = game.name.partition(",")[0]
    if name not in MAKERS:
        raise SpecError(f"{game.name} has no endgame table: the games that have one are {', '.join(MAKERS)}")
    MAKERS[name](pieces, path, json_to)


def check_out(path: Path, load: Callable[[Path], object]) -> None:
    """Refuse to overwrite what is no table."""
    if path.is_dir():
        raise SpecError(f"--out {path} is a folder: name a file in it")
    if path.exists():
        try:
            load(path)
        except GameError:
            raise SpecError(f"--out {path} is there already and is no endgame table: choose another name") from None


# --- backgammon ------------------------------------------------------------------------------------------------------
def backgammon(pieces: int | None, path: Path | None, json_to: str | None) -> None:
    """Build both bear-off tables, in one file."""
    from evallearn.games.backgammon import bearoff

    if pieces is not None:
        raise SpecError(f"--pieces {pieces}: the tables of backgammon have one size: leave it out")
    path = path or bearoff.default_path()
    check_out(path, bearoff.load)
    start = perf_counter()
    bearoff.save(bearoff.build(), path)
    figures = {
        "game": "backgammon",
        "seconds": perf_counter() - start,
        "file": str(path),
        "bytes": path.stat().st_size,
        "sides": bearoff.N_SIDES,
        "exact_pairs": bearoff.N_FEW**2,
    }
    report(figures, json_to, lambda: show_bearoff(figures))


def show_bearoff(figures: Json) -> None:
    out.print(
        f"{figures['sides']:,} sides of up to 15 checkers: the chances of every number of rolls; "
        f"{figures['exact_pairs']:,} pairs of up to 6: exact"
    )
    console.print(f"{figures['seconds']:.1f} s to build", style="dim")
    out.print(f"{figures['file']}: {figures['bytes']:,} bytes")


# --- checkers --------------------------------------------------------------------------------------------------------
def checkers(pieces: int | None, path: Path | None, json_to: str | None) -> None:
    """Build the table of so many pieces."""
    from evallearn.games.checkers import table as checkers_table

    pieces = pieces or checkers_table.MAX_PIECES
    path = path or checkers_table.default_path(pieces)
    check_out(path, checkers_table.load_table)
    start = perf_counter()
    with progress_bars() as bars, bars.step(f"endings of {pieces} pieces") as move:
        table = checkers_table.build_table(pieces, move)
    built = perf_counter() - start
    if wrong := table.contradictions():
        raise GameError(f"{wrong} values contradict the moves of checkers: please report this as a bug")
    path, counted = checkers_table.save_table(table, path), table.counts()
    figures = {
        "game": "checkers",
        "pieces": pieces,
        "seconds": built,
        "seconds_with_check": perf_counter() - start,
        "file": str(path),
        "bytes": path.stat().st_size,
        "endings": [
            dict(zip(("men", "kings", "opposing_men", "opposing_kings"), ending, strict=True)) | counts._asdict()
            for ending, counts in counted.items()
        ],
    }
    report(figures, json_to, lambda: show(figures, pieces, counted))


def show(figures: Json, most: int, counted: Mapping[Ending, Counts]) -> None:
    """Print the positions by the number of pieces, with either player to move."""
    found = Table("pieces", "positions", "won", "drawn", "lost", title="for the player to move")
    for pieces in range(2, most + 1):
        of_these = [counts for ending, counts in counted.items() if sum(ending) == pieces]
        counts = [2 * sum(each) for each in zip(*of_these, strict=True)]  # the other half is mirrored
        found.add_row(str(pieces), *(f"{n:,}" for n in (sum(counts), *counts)))
    out.print(found)
    console.print(
        f"{figures['seconds']:.1f} s to build, {figures['seconds_with_check']:.1f} s with the check", style="dim"
    )
    out.print(f"{figures['file']}: {figures['bytes']:,} bytes")


MAKERS: dict[str, Callable[[int | None, Path | None, str | None], None]] = {
    "backgammon": backgammon,
    "checkers": checkers,
}
