"""The command `evallearn td`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evallearn.cli.common import GAME, THREADS, console, in_range, json_option, out, report, setting
from evallearn.cli.patterns import command_line
from evallearn.core.files import file_name
from evallearn.core.game import Game
from evallearn.core.settings import GAMES, MINUTES, SEED
from evallearn.errors import EvaluatorError, SpecError
from evallearn.evaluators import load_evaluator
from evallearn.evaluators.net import NetEval
from evallearn.report.curve import write_td
from evallearn.runs.td import TdRun, events_of
from evallearn.train.neural import NeuralTrainer
from evallearn.train.neural_settings import NeuralSettings
from evallearn.train.training import Progress


class Units(click.ParamType):  # type: ignore[type-arg]  # generic only in newer versions of click
    """80, or 160,32 for two layers."""

    name = "units"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(word) for word in str(value).split(","))
        except ValueError:
            raise SpecError(f"--hidden {value!r}: give the units of one or two layers, as in 80 or 160,32") from None


@click.command(name="td")
@click.argument("game", type=GAME)
@click.option(
    "--run",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the run.  [default: runs/GAME-td-seedN]",
)
@click.option("--games", type=in_range(GAMES), help="Games in all, those before a resumption too.")
@click.option("--minutes", type=in_range(MINUTES), help="Time from now.  [default: 10, or --games]")
@click.option("--hidden", type=Units(), help="Units of one or two hidden layers.  [default: 80, or those of --start]")
@click.option("--activation", default="relu", show_default=True, help="relu, clipped or sigmoid.")
@click.option("--split/--no-split", default=True, show_default=True, help="A net of its own for every phase.")
@setting(NeuralSettings, "lambda_", "0: TD(0); 1: outcomes alone.", default=0.7)
@click.option("--target", default="td", show_default=True, help="td, tdleaf, rootstrap or treestrap.")
@setting(NeuralSettings, "depth", "Plies that its searches look ahead.  [default: 1 for td, else 2]")
@setting(
    NeuralSettings,
    "exact_from",
    "From this share of the horizon on, targets are means over all rolls; 1: never.",
    default=1.0,
)
@setting(NeuralSettings, "learning_rate", "Of Adam, at first.", default=2e-3)
@setting(NeuralSettings, "final_rate", "The share of it that is left at last.", default=0.05)
@setting(NeuralSettings, "horizon", "The game at which it is; 0: never.  [default: --games, or else 0]")
@setting(NeuralSettings, "averaging", "What a step keeps of the mean weights.", default=0.999)
@setting(NeuralSettings, "batch_size", "Positions of a step.", default=256)
@setting(NeuralSettings, "epochs", "How often to learn from a round.", default=1)
@setting(NeuralSettings, "remembered", "Rounds of games to learn from, after each.", default=1)
@setting(NeuralSettings, "games_per_round", "Games between two sets of weights.", default=500)
@setting(NeuralSettings, "epsilon", "Share of random moves.  [default: 0 with dice, else 0.05]")
@setting(NeuralSettings, "opening_plies", "Random moves that open a game, at most.  [default: as suits the game]")
@click.option("--start", type=click.Path(dir_okay=False, path_type=Path), help="The net to begin with; it may grow.")
@click.option(
    "--teacher", type=click.Path(dir_okay=False, path_type=Path), help="A net that plays while this one learns."
)
@click.option("--opponent", default="", help="Of quick matches.  [default: the game's first hand-written heuristic]")
@click.option("--pairs", type=click.IntRange(2, 10**6), default=500, show_default=True, help="Of a quick match.")
@click.option("--threads", type=in_range(THREADS), help="That play; the result is the same.  [default: all cores]")
@click.option("--tensorboard", is_flag=True, help="Write TensorBoard event files into the run's folder.")
@click.option("--seed", type=in_range(SEED), default=1, show_default=True)
@json_option
def command(
    game: Game,
    folder: Path | None,
    games: int | None,
    minutes: float | None,
    horizon: int | None,
    start: Path | None,
    teacher: Path | None,
    opponent: str,
    pairs: int,
    tensorboard: bool,
    json_to: str | None,
    **settings: Any,
) -> None:
    """Teach a net GAME by temporal differences or its own searches, from games against itself and nothing else.

    The same command resumes what was interrupted.

    Example: evallearn td backgammon,features=tesauro --games 100000
    """
    if minutes is None and games is None:
        minutes = 10.0
    folder = folder or Path("runs") / f"{file_name(game.name)}-td-seed{settings['seed']}"
    trainer = NeuralTrainer(
        **settings,
        horizon=(games or 0) if horizon is None else horizon,
        start=net_of(start, game, "--start") if start else None,
        teacher=net_of(teacher, game, "--teacher") if teacher else None,
    )
    events = events_of(folder / "events") if tensorboard else None
    run = TdRun(game, folder, trainer, opponent, pairs, command_line(folder), events)
    if (folder / "checkpoint.safetensors").exists():
        console.print(f"going on from {folder}", style="dim")
    with console.status("games against itself") as status:
        figures = run.learn(
            games=games,
            seconds=None if minutes is None else 60 * minutes,
            on_progress=lambda now: status.update(sentence(now)),
            on_look=lambda point: console.print(looked(point)),
        )
    write_td(figures, folder / "report.html")
    report(figures, json_to, lambda: show(figures, folder))


def net_of(path: Path, game: Game, option: str) -> NetEval:
    """Return the net that an option names."""
    net = load_evaluator(path, game)
    if not isinstance(net, NetEval):
        raise EvaluatorError(f"{option} {path} is a {net.kind} Eval: give a net that `evallearn td` made")
    return net


def sentence(now: Progress) -> str:
    """Return a report in a line."""
    return f"{now.games:,} games, {now.games_per_second:,.0f} games/s, loss {now.error:.4f}"


def looked(point: dict[str, Any]) -> str:
    """Return a point of the learning curve in a line."""
    words = [f"{point['games']:>11,} games {point['seconds']:7.0f} s  {point['games_per_second']:6,.0f} games/s"]
    words.append(f"loss {point['loss']:.4f}")
    for key, name in (("last", "the last look"), ("fixed", "the opponent")):
        if key in point:
            words.append(f"{point[key]['points']:+.3f} ± {point[key]['standard_error']:.3f} against {name}")
    return "  ".join(words)


def show(figures: dict[str, Any], folder: Path) -> None:
    point = figures["curve"][-1]
    out.print(looked(point))
    if "fixed" in point:
        out.print(f"points per game; the opponent is {figures['opponent']}, both look one ply ahead")
    out.print(f"net: {folder / 'net.safetensors'}")
    out.print(f"report: {folder / 'report.html'}")
