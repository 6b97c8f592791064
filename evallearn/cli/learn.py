"""evallearn learn"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE
from rich.table import Table

from evallearn.atomic import file_name
from evallearn.cli.common import (
    GAME,
    in_range,
    json_option,
    out,
    progress_bars,
    report,
    show_alarms,
    show_constant,
    workers_option,
)
from evallearn.learn import LearnConfig, Run, learn
from evallearn.protocols import Game
from evallearn.report import write_report
from evallearn.train.targets import TARGETS

HELP = {
    "seed": "Same seed, same records, Evals and matches.",
    "generations": "Rounds of self-play, at most.",
    "patience": "Stop after so many generations in a row without a better Eval.",
    "gate": "How sure a match must be that a candidate is better; 0.5: any lead will do.",
    "target": f"What a position should be worth: {', '.join(TARGETS)}.",
    "blend": "With target blend: the share of the outcome, the rest being what the search said.",
    "trace": "With td and tdleaf: lambda, how far what happens later reaches back.",
    "rate": "Steps of an Eval that learns while it plays: constant, decay or coherence.",
    "alpha": "Its step: the part of an error taken away; by default what suits the target.",
    "games": "Games per generation.",
    "depth": "Plies that self-play looks ahead; by default what suits the game.",
    "exploration": "Share of random actions in self-play.",
    "random_plies": "Random plies that open each game; by default what suits the game.",
    "match_depth": "Plies that both sides of a match look ahead; by default what suits the game.",
    "match_pairs": "Openings per match, each played twice.",
    "match_milliseconds": "Time per move of the matches at equal time.",
}


def config_options(f: Any) -> Any:
    """Every field of LearnConfig is an option."""
    for field in reversed(fields(LearnConfig)):
        allowed = LearnConfig.RANGES.get(field.name)
        option = click.option(
            f"--{field.name.replace('_', '-')}",
            type=str if allowed is None else in_range(allowed),
            default=field.default,
            show_default=field.default is not None,
            help=HELP[field.name],
        )
        f = option(f)
    return f


@click.command(name="learn")
@click.argument("game", type=GAME)
@click.option(
    "--run",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the run.  [default: runs/GAME-seedN]",
)
@config_options
@workers_option
@json_option
def command(game: Game, folder: Path | None, workers: int, json_to: str | None, **settings: Any) -> None:
    """The whole loop on GAME: self-play, records, a linear and a neural Eval, fair matches, a report.

    The same command resumes what was interrupted.

    Example: evallearn learn connect_four
    """
    config = LearnConfig(**settings)
    folder = folder or Path("runs") / f"{file_name(game.name)}-seed{config.seed}"
    with progress_bars() as steps:
        result = learn(Run(game, folder, config, workers, steps.step))
    write_report(result, folder / "report.html")
    report(result, json_to, lambda: show(result))


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
    """What each generation learned: against its incumbent, and against the reference."""
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
