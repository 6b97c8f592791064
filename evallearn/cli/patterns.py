"""The command `evallearn patterns`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from evallearn.cli.common import GAME, console, in_range, json_option, out, report, setting_options
from evallearn.core.files import short_name
from evallearn.core.game import Game
from evallearn.core.settings import GAMES, MINUTES, SEED
from evallearn.errors import Diverged
from evallearn.evaluators import save_evaluator
from evallearn.train.models.patterns import PatternModel, PatternSettings
from evallearn.train.selfplay.settings import Schedule, SelfPlaySettings
from evallearn.train.selfplay.trainer import SelfPlayTrainer
from evallearn.train.training import Progress, Training

LEARNING = tuple(name for name in SelfPlaySettings.known() if name != "seed")
UNTIL = {"shape": "linear with --games, else constant", "games": "--games"}


@click.command(name="patterns")
@click.argument("game", type=GAME)
@click.option(
    "--out",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The .safetensors file to write.",
)
@click.option("--set", "patterns", metavar="NAME", help="A pattern set of the game.  [default: its first]")
@click.option("--minutes", type=in_range(MINUTES), help="Time from now.  [default: 5]")
@click.option("--games", type=in_range(GAMES), help="Games in all, those before a resumption too.")
@setting_options(Schedule, auto=UNTIL)
@setting_options(SelfPlaySettings, *LEARNING)
@setting_options(PatternSettings)
@click.option("--seed", type=in_range(SEED), default=1, show_default=True)
@json_option
def command(
    game: Game,
    path: Path,
    patterns: str | None,
    minutes: float | None,
    games: int | None,
    json_to: str | None,
    **given: Any,
) -> None:
    """Learn pattern tables for GAME from games against itself, and nothing else.

    The same command resumes what was interrupted. It writes OUT.resume meanwhile.

    Example: evallearn patterns connect_four --minutes 10 --out c4.safetensors
    """
    if minutes is None and games is None:
        minutes = 5.0
    checkpoint = path.with_name(short_name(path.name + ".resume"))
    model = PatternModel(game, patterns, **{name: given.pop(name) for name in PatternSettings.known()})
    schedule = schedule_of(games, *(given.pop(name) for name in SCHEDULE))
    trainer = SelfPlayTrainer(model, SelfPlaySettings(schedule=schedule, **given))
    if checkpoint.exists():
        console.print(f"going on from {checkpoint}", style="dim")
    metadata = {"name": path.stem, "command": command_line(path)}
    try:
        with console.status("games against itself") as status:
            training = trainer.fit(
                games=games,
                seconds=None if minutes is None else 60 * minutes,
                checkpoint=checkpoint,
                on_progress=lambda now: status.update(sentence(now)),
            )
    except Diverged as error:
        if error.training.games:  # what was learned until then is worth keeping
            save_evaluator(error.training.freeze(metadata), path)
        raise
    save_evaluator(training.freeze(metadata), path)
    checkpoint.unlink(missing_ok=True)
    report(figures(training, path), json_to, lambda: show(training, path))


SCHEDULE = ("step_size", "schedule", "schedule_games", "final_step", "half_life")


def schedule_of(
    limit: int | None, initial: float | None, shape: str | None, games: int | None, final: float, half_life: int
) -> Schedule:
    """Return the schedule of the options; the step falls to the end of the games, if that is known."""
    shape = shape or ("linear" if limit or games else "constant")
    length = (games if games is not None else limit or 0) if shape != "constant" else games or 0
    return Schedule(initial=initial, shape=shape, games=length, final=final, half_life=half_life)


def figures(training: Training, path: Path) -> dict[str, Any]:
    """Return what a script wants to know."""
    now = training.progress
    return {
        "file": str(path), "bytes": path.stat().st_size, "games": now.games, "moves": now.moves,
        "moves_per_second": now.moves_per_second, "error": now.error,
    }  # fmt: skip


def show(training: Training, path: Path) -> None:
    out.print(f"{path}: {sentence(training.progress)}, {path.stat().st_size / 1e6:.2f} MB")


def command_line(path: Path) -> str:
    """Return the command that was typed, without the folder of the file, which concerns nobody else."""
    words = [word.replace(str(path), path.name) for word in sys.argv[1:]]
    return shlex.join(["evallearn", *words])


def sentence(now: Progress) -> str:
    """Return a report in a line."""
    return (
        f"{now.games:,} games, {now.games_per_second:,.0f} games/s, {now.moves_per_second:,.0f} moves/s, "
        f"mean |TD error| {now.error:.3f}"
    )
