"""The command `evallearn quantise`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from evallearn.cli.common import GAME, in_range, json_option, out, report
from evallearn.core.game import Game
from evallearn.core.result import Result
from evallearn.core.settings import SEED
from evallearn.errors import EvaluatorError, SpecError
from evallearn.evaluators import read_header, save
from evallearn.evaluators.net import NetEval
from evallearn.evaluators.quantised import QuantisedNet, quantise
from evallearn.registry import load


@click.command(name="quantise")
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--out", "to", type=click.Path(path_type=Path), required=True, help="The file to write.")
@click.option(
    "--positions", type=click.IntRange(1, 10**6), default=2000, show_default=True, help="On which it is measured."
)
@click.option("--game", type=GAME, help="Your own game.  [default: the one that the file names]")
@click.option("--seed", type=in_range(SEED), default=1, show_default=True, help="Of the games with the positions.")
@json_option
def command(path: Path, to: Path, positions: int, game: Game | None, seed: int, json_to: str | None) -> None:
    """Write the net of FILE in small whole numbers, and tell what that costs.

    Both nets judge positions of games that the net plays against itself, and choose a move by one ply.

    Example: evallearn quantise runs/othello-net-seed1/evaluators/net.safetensors --out small.safetensors
    """
    from evallearn.quality.quantised import measure_loss

    check_out(to)
    net = load(path, game)
    if not isinstance(net, NetEval):
        raise EvaluatorError(f"{path} is a {net.kind} evaluator: give a net that `evallearn learn --recipe net` made")
    small = quantise(net)
    loss = measure_loss(net, small, positions, seed)
    save(small, to)
    figures = Quantised(
        game=net.game.name,
        file=str(to),
        positions=loss.positions,
        mean_difference=loss.mean,
        largest_difference=loss.largest,
        choices_changed=loss.changed,
        choices_changed_low=loss.changed_low,
        choices_changed_high=loss.changed_high,
        bytes_before=path.stat().st_size,
        bytes_after=to.stat().st_size,
        evaluations_per_second_before=loss.per_second[0],
        evaluations_per_second_after=loss.per_second[1],
        speedup=loss.speedup,
    )
    report(figures.to_json(), json_to, lambda: show(figures))


@dataclass(frozen=True)
class Quantised(Result):
    """What it costs to write a net in small whole numbers."""

    game: str
    file: str
    positions: int
    mean_difference: float
    largest_difference: float
    choices_changed: float
    """Share of the positions in which one ply chooses another move, with its 95 % interval."""
    choices_changed_low: float
    choices_changed_high: float
    bytes_before: int
    bytes_after: int
    evaluations_per_second_before: float
    evaluations_per_second_after: float
    speedup: float


def check_out(to: Path) -> None:
    """Refuse to overwrite anything but a quantised net."""
    if to.is_dir():
        raise SpecError(f"--out {to} is a folder: name a file in it")
    if to.exists():
        try:
            kind = read_header(to)["kind"]
        except EvaluatorError:
            kind = ""
        if kind != QuantisedNet.kind:
            raise SpecError(f"--out {to} is there already and is no quantised net: choose another name")


def show(figures: Quantised) -> None:
    mean, largest = figures.mean_difference, figures.largest_difference
    before, after = figures.evaluations_per_second_before, figures.evaluations_per_second_after
    out.print(
        f"{figures.positions:,} positions of {figures.game}: values differ by {mean:.5f} on average, "
        f"{largest:.5f} at most"
    )
    changed = (figures.choices_changed, figures.choices_changed_low, figures.choices_changed_high)
    share, low, high = (100 * part for part in changed)
    out.print(f"the choice by one ply changes in {share:.2f} % of them (95 %: {low:.2f} to {high:.2f})")
    out.print(f"{figures.bytes_before:,} bytes before, {figures.bytes_after:,} after")
    out.print(
        f"{before:,.0f} evaluations/s before, {after:,.0f} after: x {figures.speedup:.2f}; making the moves and "
        "computing the features is part of it"
    )
    out.print(f"net: {figures.file}")
