"""The command `evallearn learn`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE
from rich.table import Table

from evallearn.cli.common import (
    GAME,
    Steps,
    console,
    in_range,
    json_option,
    out,
    progress_bars,
    report,
    show_alarms,
    show_constant,
    workers_option,
)
from evallearn.core.game import Game
from evallearn.core.settings import GAMES, MINUTES, SEED
from evallearn.errors import SpecError
from evallearn.report import write_report
from evallearn.runs.budget import HOW_TO_COMPILE
from evallearn.runs.curve import Point, events_of
from evallearn.runs.learning import finish, run_folder, suited
from evallearn.runs.recipe import Recipe
from evallearn.runs.result import LearnResult
from evallearn.runs.run import Run
from evallearn.runs.stage_settings import Gate, Generate


@click.command(name="learn")
@click.argument("game", type=GAME)
@click.option(
    "--recipe", default="linear", show_default=True, metavar="NAME|FILE", help="What to do: see `evallearn recipes`."
)
@click.option("--games", type=in_range(GAMES), help="Games of every stage that plays.  [default: what the recipe says]")
@click.option("--minutes", type=in_range(MINUTES), help="Time that the run may take, shared by its stages.")
@click.option("--set", "settings", multiple=True, metavar="STAGE.FIELD=VALUE", help="Change a field of the recipe.")
@click.option("--seed", type=in_range(SEED), default=1, show_default=True, help="Same seed, same evaluators.")
@click.option(
    "--run",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the run.  [default: runs/GAME-seedN, with the name of the recipe unless it is linear]",
)
@click.option("--tensorboard", is_flag=True, help="Write TensorBoard event files of self-play into the run's folder.")
@workers_option
@json_option
def command(
    game: Game,
    recipe: str,
    games: int | None,
    minutes: float | None,
    settings: tuple[str, ...],
    seed: int,
    folder: Path | None,
    tensorboard: bool,
    workers: int,
    json_to: str | None,
) -> None:
    """Learn an evaluator for GAME by a recipe: games, fits, matches, a report.

    The same command resumes what was interrupted. Where a game has no compiled rules, numbers that are not given suit
    its speed: the run takes ten minutes at most.

    Example: evallearn learn connect_four
    """
    more = {k: v for k, v in (("games", games), ("minutes", minutes)) if v is not None}
    found = Recipe.load(recipe, game, {**more, **assignments(settings)})
    place = folder or run_folder(game, found, seed)
    if tensorboard:
        events_of(place / "events")
    with progress_bars() as steps:
        run = Run(game, place, found, seed, workers, steps.step, on_point=tell_point, tensorboard=tensorboard)
        result = finish(told_and_suited(run, steps))
    write_report(result.to_json(), place / "report.html")
    report(result.to_json(), json_to, lambda: show(result))


def assignments(settings: Iterable[str]) -> dict[str, str]:
    """Return {STAGE.FIELD: VALUE}."""
    found = {}
    for text in settings:
        key, sign, value = text.partition("=")
        if not sign or not value:
            raise SpecError(f"--set {text!r}: give STAGE.FIELD=VALUE, as in generate.games=500")
        found[key] = value
    return found


def told_and_suited(run: Run, steps: Steps) -> Run:
    """Return the run with numbers that suit the speed of the game; print what it does, and how long that takes."""
    game = run.game
    if game.rules is None:
        console.print(
            f"{game.name} has no compiled rules, which makes it about 100 times slower; {HOW_TO_COMPILE}", style="bold"
        )
    if game.rules is None or "minutes" in run.recipe.given:
        with steps.step(f"speed of {game.name}"):
            run = suited(run)
    if run.measured is not None:
        console.print(planned(run))
        console.print(f"with these numbers, and without a measurement: {run.command}")
    return run


def planned(run: Run) -> str:
    """Return how long a run takes and what it does, in some lines."""
    measured: Any = run.measured
    lines = [
        f"takes about {math.ceil(measured['seconds'] / 60)} min; processes: {measured['workers']}, each at "
        f"{measured['speed']['positions_per_second']:,.0f} positions a second"
    ]
    for stage in run.recipe.stages:
        if isinstance(stage, Generate):
            deep = f"{stage.nodes:,} nodes" if stage.nodes else f"depth {stage.depth}"
            lines.append(f"{stage.called}: {stage.games:,} games at {deep}")
        if isinstance(stage, Gate):
            lines.append(
                f"{stage.called}: generations: {stage.generations}; matches: {stage.pairs:,} openings at depth "
                f"{stage.depth}"
            )
    if run.recipe.ladder.pairs:
        ladder = run.recipe.ladder
        lines.append(
            f"ladder: {ladder.pairs:,} openings at depth {ladder.depth}, a fifth of them at {ladder.milliseconds:g} ms "
            "a move"
        )
    return "\n".join(lines)


def tell_point(point: Point) -> None:
    console.print(sentence(point))


def sentence(point: Point) -> str:
    """Return a point of a learning curve in a line."""
    words = [f"{point.games:>11,} games {point.seconds:7.0f} s  {point.games_per_second:6,.0f} games/s"]
    words.append(f"loss {point.loss:.4f}")
    for met, name in ((point.last, "the last measurement"), (point.fixed, "the opponent")):
        if met is not None:
            words.append(f"{met.points:+.3f} ± {met.standard_error:.3f} against {name}")
    return "  ".join(words)


def show(result: LearnResult) -> None:
    if result.generations:
        show_generations(result)
    for title, rows in (("equal depth", result.ladder), ("equal time", result.equal_time)):
        if not rows:
            continue
        columns = ("agent", "Elo", "95 %", "games", "distinct", "W/D/L")
        table = Table(*columns, title=f"{result.game}, {title}", box=SIMPLE, padding=(0, 1, 0, 0))  # 80 columns
        for row in sorted(rows, key=lambda r: -r.elo):
            interval = f"{row.low:+.0f} to {row.high:+.0f}" if row.games else "reference"
            counts = f"{row.wins}/{row.draws}/{row.losses}" if row.games else ""
            games = (str(row.games), str(row.distinct_games)) if row.games else ("", "")
            table.add_row(row.name, f"{row.elo:+.0f}", interval, *games, counts)
        out.print(table)
    for name, curve in result.curves.items():
        if curve.points:
            opponent = f"; the opponent is {curve.opponent}, both look one ply ahead" if curve.opponent else ""
            out.print(f"{name}: {sentence(curve.points[-1]).strip()}{opponent}")
    if result.stopped:
        out.print(result.stopped)
    zero = f"; 0 Elo is {result.reference}" if result.reference else ""
    out.print(f"{result.records:,} records, {sum(result.seconds.values()):.0f} s{zero}")
    show_constant(result.fits.get("linear", {}).get("constant", []))
    if result.alarms is not None:
        show_alarms(result.alarms)
    for name, path in result.files.items():
        if name != "result":
            out.print(f"{name}: {path}")


def show_generations(result: LearnResult) -> None:
    """Print what each generation learned: against its incumbent, and against the reference."""
    columns = ("generation", "records", "gate: Elo", "95 %", "", "Elo", "log loss")
    table = Table(*columns, title=f"{result.game}, generations", box=SIMPLE, padding=(0, 1, 0, 0))
    for g in result.generations:
        gate = g.gate
        table.add_row(
            str(g.generation),
            f"{g.records:,}",
            f"{gate.elo:+.0f}",
            f"{gate.low:+.0f} to {gate.high:+.0f}",
            "promoted" if g.promoted else "not promoted",
            "" if g.elo is None else f"{g.elo:+.0f}",
            "" if g.log_loss is None else f"{g.log_loss:.4f}",
        )
    out.print(table)
