"""evallearn patterns"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from evallearn.cli.common import GAME, console, in_range, json_option, out, report, setting
from evallearn.core.files import short_name
from evallearn.core.game import Game
from evallearn.core.settings import GAMES, MINUTES, SEED, number
from evallearn.errors import SpecError
from evallearn.evaluators import save_evaluator
from evallearn.train.patterns import PRUNE, PatternTrainer
from evallearn.train.self_taught import Progress
from evallearn.train.td import TdSettings


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
@setting(TdSettings, "alpha", "The step: the part of an error taken away.  [default: as suits the set]")
@setting(TdSettings, "half_life", "Games that halve the step; 0: never.  [default: 0]")
@setting(TdSettings, "horizon", "The game at which the step is 0; 0: never.  [default: --games, or else 0]")
@setting(TdSettings, "lambda_", "How far errors reach back.  [default: as suits the set]")
@setting(TdSettings, "epsilon", "Share of random moves.  [default: as suits the set]")
@setting(TdSettings, "noise", "Share of random moves that targets count in.  [default: as suits the set]")
@setting(TdSettings, "hunts", "Share of games with a hunter in them.  [default: as suits the set]")
@setting(TdSettings, "opening_plies", "Random moves that open a game, at most.  [default: as suits the set]")
@click.option(
    "--learn-openings/--no-learn-openings", default=None, help="Do those teach, too?  [default: as suits the set]"
)
@setting(TdSettings, "decided", "A value that ends nine of ten games; 1: none.  [default: as suits the set]")
@click.option("--coherence/--no-coherence", default=None, help="A step of its own for every weight.  [default: yes]")
@setting(TdSettings, "least", "What coherence leaves of the step at least.  [default: as suits the set]")
@setting(TdSettings, "depth", "Plies of look-ahead behind a target.  [default: 1]")
@setting(TdSettings, "deep_games", "The last games, the only ones with that depth; 0: all.  [default: 0]")
@setting(TdSettings, "learners", "Learners side by side, a core and tables for each.  [default: 1]")
@setting(TdSettings, "exchange", "Games after which they share what they learned.  [default: 20000]")
@click.option(
    "--finest",
    type=in_range(number(at_least=0, below=1)),
    default=0.0,
    help="Round to multiples of this power of two, for small files; 0: of none.",
)
@click.option(
    "--prune", type=in_range(PRUNE), default=0.0, help="Leave out weights whose errors add up to less; 0: none."
)
@click.option("--seed", type=in_range(SEED), default=1, show_default=True)
@json_option
def command(
    game: Game,
    path: Path,
    minutes: float | None,
    games: int | None,
    horizon: int | None,
    json_to: str | None,
    **settings: Any,
) -> None:
    """Learn pattern tables for GAME from games against itself, and nothing else.

    The same command resumes what was interrupted. It writes OUT.resume meanwhile.

    Example: evallearn patterns connect_four --minutes 10 --out c4.safetensors
    """
    if minutes is None and games is None:
        minutes = 5.0
    checkpoint = path.with_name(short_name(path.name + ".resume"))
    trainer = PatternTrainer(**settings, horizon=(games or 0) if horizon is None else horizon)
    if checkpoint.exists():
        console.print(f"going on from {checkpoint}", style="dim")
    seconds = None if minutes is None else 60 * minutes
    made = {"name": path.stem, "command": command_line(path)}
    try:
        with console.status("games against itself") as status:
            trainer.fit(
                game,
                games=games,
                seconds=seconds,
                checkpoint=checkpoint,
                on_progress=lambda now: status.update(sentence(now)),
            )
    except SpecError:
        if getattr(trainer, "games_", 0):  # it diverged: what was learned until then is worth keeping
            save_evaluator(trainer.evaluator(made), path)
        raise
    save_evaluator(trainer.evaluator(made), path)
    checkpoint.unlink(missing_ok=True)
    figures = {
        "file": str(path), "bytes": path.stat().st_size, "games": trainer.games_, "moves": trainer.moves_,
        "moves_per_second": trainer.progress_.moves_per_second, "error": trainer.progress_.error,
    }  # fmt: skip
    report(
        figures,
        json_to,
        lambda: out.print(f"{path}: {sentence(trainer.progress_)}, {path.stat().st_size / 1e6:.2f} MB"),
    )


def command_line(path: Path) -> str:
    """What was typed, without the folder of the file: that is nobody else's."""
    words = [word.replace(str(path), path.name) for word in sys.argv[1:]]
    return shlex.join(["evallearn", *words])


def sentence(now: Progress) -> str:
    """A report in a line."""
    return (
        f"{now.games:,} games, {now.games_per_second:,.0f} games/s, {now.moves_per_second:,.0f} moves/s, "
        f"mean |TD error| {now.error:.3f}"
    )
