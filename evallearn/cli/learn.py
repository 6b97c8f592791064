"""The command `evallearn learn`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.box import SIMPLE
from rich.table import Table

from evallearn.cli.common import (
    GAME,
    Steps,
    console,
    json_option,
    out,
    progress_bars,
    report,
    setting_options,
    show_alarms,
    show_constant,
    workers_option,
)
from evallearn.core.files import file_name
from evallearn.core.game import Game
from evallearn.report import write_report
from evallearn.runs import LearnConfig, Run, choose_config, learn
from evallearn.runs.budget import HOW_TO_COMPILE


@click.command(name="learn")
@click.argument("game", type=GAME)
@click.option(
    "--run",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the run.  [default: runs/GAME-seedN]",
)
@setting_options(LearnConfig)
@workers_option
@json_option
def command(game: Game, folder: Path | None, workers: int, json_to: str | None, **settings: Any) -> None:
    """Run the whole loop on GAME: self-play, records, a linear and a neural evaluator, fair matches, a report.

    The same command resumes what was interrupted. Where a game has no compiled rules, numbers that are not given suit
    its speed: the run takes ten minutes at most.

    Example: evallearn learn connect_four
    """
    config = LearnConfig(**settings)
    folder = folder or Path("runs") / f"{file_name(game.name)}-seed{config.seed}"
    ctx = click.get_current_context()
    given = [name for name in settings if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT]
    with progress_bars() as steps:
        run = Run(game, folder, config, workers, steps.step)
        if game.rules is None:
            run = suited(run, given, steps)
        result = learn(run)
    write_report(result, folder / "report.html")
    report(result, json_to, lambda: show(result))


def suited(run: Run, given: list[str], steps: Steps) -> Run:
    """Return the run of a game without compiled rules with numbers that suit its speed.

    It is printed what the run does, and how long it takes.
    """
    game = run.game
    console.print(
        f"{game.name} has no compiled rules, which makes it about 100 times slower; {HOW_TO_COMPILE}", style="bold"
    )
    with steps.step(f"speed of {game.name}"):
        choice = choose_config(game, run.folder, run.config, given, run.workers)
    run = replace(run, config=choice.config, measured=choice.measured)
    if choice.measured is not None:
        console.print(planned(run, choice.measured))
        console.print(f"with these numbers, and without a measurement: {run.command}")
    return run


def planned(run: Run, measured: Mapping[str, Any]) -> str:
    """Return how long a run takes and what it does, in two lines."""
    config, minutes = run.config, math.ceil(measured["seconds"] / 60)
    return (
        f"takes about {minutes} min; processes: {measured['workers']}, each at "
        f"{measured['speed']['positions_per_second']:,.0f} positions a second\n"
        f"generations: {config.generations}, each of {config.games:,} games at depth {config.depth}; matches: "
        f"{config.match_pairs:,} openings at depth {config.match_depth}, a fifth of them at "
        f"{config.match_milliseconds:g} ms a move"
    )


def show(result: dict[str, Any]) -> None:
    show_generations(result)
    for title, rows in (("equal depth", result["ladder"]), ("equal time", result["equal_time"])):
        columns = ("agent", "Elo", "95 %", "games", "distinct", "W/D/L")
        table = Table(*columns, title=f"{result['game']}, {title}", box=SIMPLE, padding=(0, 1, 0, 0))  # 80 columns
        for row in sorted(rows, key=lambda r: -r["elo"]):
            interval = f"{row['low']:+.0f} to {row['high']:+.0f}" if row["games"] else "reference"
            counts = f"{row['wins']}/{row['draws']}/{row['losses']}" if row["games"] else ""
            games = (str(row["games"]), str(row["distinct_games"])) if row["games"] else ("", "")
            table.add_row(row["name"], f"{row['elo']:+.0f}", interval, *games, counts)
        out.print(table)
    if result["stopped"]:
        out.print(result["stopped"])
    out.print(f"{result['records']:,} records, {sum(result['seconds'].values()):.0f} s; 0 Elo is {result['reference']}")
    show_constant(result["fits"].get("linear", {}).get("constant", []))
    show_alarms(result["alarms"])
    out.print(f"report: {result['files']['report']}")


def show_generations(result: dict[str, Any]) -> None:
    """Print what each generation learned: against its incumbent, and against the reference."""
    columns = ("generation", "records", "gate: Elo", "95 %", "", "Elo", "log loss")
    table = Table(*columns, title=f"{result['game']}, generations", box=SIMPLE, padding=(0, 1, 0, 0))
    for g in result["generations"]:
        gate, loss = g["gate"], g.get("log_loss")
        table.add_row(
            str(g["generation"]),
            f"{g.get('records', 0):,}",
            f"{gate['elo']:+.0f}",
            f"{gate['low']:+.0f} to {gate['high']:+.0f}",
            "promoted" if g["promoted"] else "not promoted",
            f"{g['elo']:+.0f}",
            "" if loss is None else f"{loss:.4f}",
        )
    out.print(table)
