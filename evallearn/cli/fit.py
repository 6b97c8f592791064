"""The command `evallearn fit`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from evallearn.cli.common import GAME, in_range, json_option, out, progress_bars, report, show_alarms, show_constant
from evallearn.core.game import Game
from evallearn.core.json_shapes import Json, items, part
from evallearn.core.settings import PENALTY, SEED, SHARE
from evallearn.data import Dataset
from evallearn.evaluators import save
from evallearn.insight import alarms_about
from evallearn.report.formatting import share
from evallearn.runs.fitting import METHODS, fit_evaluator
from evallearn.train.targets import LINEAR_TARGETS


@click.command(name="fit")
@click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--game", type=GAME, required=True, help="The game of the records.")
@click.option("--method", type=click.Choice(METHODS), default="logistic", show_default=True)
@click.option(
    "--penalty",
    type=in_range(PENALTY),
    help="Penalty of a linear method; of lasso and elasticnet, 1 is the level of noise.",
)
@click.option(
    "--target", type=click.Choice(LINEAR_TARGETS), default="outcome", show_default=True, help="What is fitted."
)
@click.option("--outcome-share", type=in_range(SHARE), help="With target blend: the outcome's share.  [default: 0.5]")
@click.option(
    "--tapered", is_flag=True, help="Weights go in a straight line from the first phase of the game to the last."
)
@click.option(
    "--out",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The .safetensors file to write.",
)
@click.option("--seed", type=in_range(SEED), default=1, show_default=True)
@json_option
def command(
    records: tuple[Path, ...],
    game: Game,
    method: str,
    penalty: float | None,
    target: str,
    outcome_share: float | None,
    tapered: bool,
    path: Path,
    seed: int,
    json_to: str | None,
) -> None:
    """Learn an evaluator from the folders RECORDS made by `evallearn selfplay`.

    Example: evallearn fit runs/mine --game othello --method logistic --out mine.safetensors

    docs/learning.md tells which method is for what.
    """
    dataset = Dataset(list(records), game=game)
    metadata = {"name": path.stem, "command": shlex.join(["evallearn", *sys.argv[1:]])}
    with progress_bars() as steps, steps.step(f"fit {method} on {dataset.n_records:,} records") as move:
        evaluator, details = fit_evaluator(
            method,
            dataset,
            game,
            seed=seed,
            metadata=metadata,
            alpha=penalty,
            tapered=tapered,
            target=target,
            outcome_share=outcome_share,
            on_progress=move,
        )
    alarms = alarms_about(dataset, {path.stem: evaluator})
    save(evaluator, path)
    figures = {"file": str(path), "method": method, "records": dataset.n_records, **details, "alarms": alarms}
    report(figures, json_to, lambda: _show(path, figures, alarms))


def _show(path: Path, details: Json, alarms: list[dict[str, str]]) -> None:
    metrics, constant = part(details["metrics"]), [str(name) for name in items(details.get("constant"))]
    dropped = [str(name) for name in items(details.get("dropped")) if name not in constant]
    out.print(
        f"{path}: held-out log loss {metrics['log_loss']:.4f} (a constant: {metrics['baseline_log_loss']:.4f}), "
        f"names the winner in {share(metrics, 'sign_accuracy')}, "
        f"calibration error {metrics['calibration_error']:.3f}"
    )
    if dropped:
        out.print(f"features without a weight: {', '.join(dropped)}", markup=False)
    show_constant(constant)
    show_alarms(alarms)
