"""The command `evallearn features`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import click
from rich.box import SIMPLE
from rich.table import Table

from evallearn import __version__
from evallearn.agents import parse_evaluator
from evallearn.cli.common import GAME, Steps, in_range, json_option, out, progress_bars, report, workers_option
from evallearn.core.game import Game
from evallearn.core.json_shapes import Json, JsonDict, items, part
from evallearn.core.settings import PAIRS, SEED
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import SpecError
from evallearn.evaluators import FeatureEval
from evallearn.insight import (
    FeatureStudy,
    Kept,
    Study,
    carriers,
    cautions,
    check_alarms,
    dataset_of,
    gather,
    redundant,
)
from evallearn.insight.worth import Move
from evallearn.search.common.requirements import MAX_DEPTH

DEPTH = 3
"""Plies that both sides of a match look ahead."""
NAME_LENGTH = 18


@click.command(name="features")
@click.argument("game", type=GAME)
@click.argument("folders", nargs=-1, required=True, metavar="RUN_OR_RECORDS...", type=click.Path(path_type=Path))
@click.option("--eval", "evaluator", metavar="EVAL", help="Whose features to shuffle.  [default: one is fitted]")
@click.option(
    "--matches",
    type=in_range(PAIRS),
    metavar="N",
    help="For each feature a match of N openings: the evaluator fitted with it against the one without. Slow.",
)
@click.option(
    "--depth", type=click.IntRange(1, MAX_DEPTH), default=DEPTH, show_default=True, help="Plies, in those matches."
)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the page to this file too.")
@click.option("--seed", type=in_range(SEED), default=1, show_default=True)
@workers_option
@json_option
def command(
    game: Game,
    folders: tuple[Path, ...],
    evaluator: str | None,
    matches: int | None,
    depth: int,
    html: Path | None,
    seed: int,
    workers: int,
    json_to: str | None,
) -> None:
    """Measure what each feature of GAME is worth, by the records of self-play or of a run of `evallearn learn`.

    A linear evaluator is fitted to the training games with all features, and without each. Held-out games tell what is
    lost by leaving a feature out, or by shuffling it. Intervals come from resampling whole games. Alarms tell of what
    may have gone wrong on the way.

    Example: evallearn features connect_four runs/mine --html features.html
    """
    given = None if evaluator is None else feature_eval(evaluator, game)
    dataset = dataset_of(folders, game)
    study = Study(Kept(dataset, dataset.n_records), game, given, seed=seed)
    seconds: dict[str, float] = {}
    with progress_bars() as steps:
        work(steps, study, matches, depth, workers, seconds)
        with steps.step("alarms"):
            start = perf_counter()
            alarms = check_alarms(gather(dataset, study.evaluator))
            seconds["alarms"] = perf_counter() - start
    result = study.result()
    figures = {
        "evallearn": __version__,
        "command": shlex.join(["evallearn", *sys.argv[1:]]),
        "folders": [str(f) for f in dataset.folders],
        **result.to_json(),
        "alarms": [{"name": a.name, "text": a.text} for a in alarms],
        "redundant": redundant(result),
        "carriers": carriers(result),
        "cautions": cautions(result),
        "seconds": seconds,
        "settings": {"seed": seed, "matches": matches, "depth": depth if matches else None},
    }
    if html is not None:
        from evallearn.report.features_page import write_features

        write_features(figures, html)
    report(figures, json_to, lambda: show(result, figures, html))


def feature_eval(text: str, game: Game) -> FeatureEval:
    """Return the evaluator that `text` names; refuse one that does not see features."""
    found = parse_evaluator(text, game, trust=FULL_TRUST)
    if not isinstance(found, FeatureEval) or found.kind not in ("linear", "net"):
        kind = getattr(found, "kind", type(found).__name__)
        raise SpecError(f"--eval {text}: a {kind} evaluator does not judge by features: give a linear or a neural one")
    return found


def work(steps: Steps, study: Study, matches: int | None, depth: int, workers: int, seconds: dict[str, float]) -> None:
    """Run the steps of a study with their progress, and store the seconds that each took."""
    todo: dict[str, Callable[[Move], object]] = {
        "fit with all features": lambda move: study.fit(),
        "fit without each": study.drop,
        "shuffle each": lambda move: study.shuffle(),
    }
    if matches is not None:
        todo["a match without each"] = lambda move: study.match(matches, depth, workers, move)
    for title, step in todo.items():
        start = perf_counter()
        with steps.step(title) as move:
            step(move)
        seconds[title] = perf_counter() - start


# --- for people ------------------------------------------------------------------------------------------------------
def show(study: FeatureStudy, figures: JsonDict, html: Path | None) -> None:
    out.print(worth_table(study))
    out.print(ties_table(study))
    if any(f.match for f in study.features):
        out.print(play_table(study))
    out.print(
        f"{study.eval}: held-out log loss {study.log_loss:.4f} (a constant: {study.baseline_log_loss:.4f}) on "
        f"{study.held_out:,} records of {study.held_out_games:,} games; learned from {study.records:,} records.",
        style="dim",
    )
    for key, title in TITLES.items():
        if figures[key]:
            out.print(f"\n{title}", style="bold")
            for line in items(figures[key]):
                out.print(f"- {line if isinstance(line, str) else part(line)['text']}")
    if not figures["alarms"]:
        out.print("\nNo alarm.", style="dim")
    if html is not None:
        out.print(f"page: {html}")


TITLES = {
    "alarms": "Alarms",
    "carriers": "These are missed most when they are left out",
    "redundant": "These could be left out (one at a time, then look again)",
    "cautions": "To keep in mind",
}


def worth_table(study: FeatureStudy) -> Table:
    """Return the table of features, sorted by what is lost without each."""
    table = Table(title="what each feature is worth", box=SIMPLE, padding=0)  # 80 columns
    for head in ("feature", "weight", "95 %", "left out", "95 %", "shuffled"):
        table.add_column(head, justify="left" if head == "feature" else "right", no_wrap=True)
    for f in sorted(study.features, key=lambda f: -f.dropped.value):
        table.add_row(
            short(f.name),
            f"{f.effect.value:+.2f}",
            f"{f.effect.low:+.2f} to {f.effect.high:+.2f}",
            f"{f.dropped.value:+.4f}",
            f"{f.dropped.low:+.3f} to {f.dropped.high:+.3f}",
            f"{f.shuffled.value:+.4f}",
        )
    table.caption = "weight: per deviation; left out, shuffled: growth of the held-out log loss"
    return table


def play_table(study: FeatureStudy) -> Table:
    """Return the table of what the matches said."""
    table = Table("feature", "Elo with it against without it", "games", title="in play", box=SIMPLE, padding=0)
    for f in study.features:
        if f.match is not None:
            table.add_row(short(f.name), elo(f.match), str(f.match["games"]))
    return table


def elo(match: Json) -> str:
    """Return what the feature adds in play: `+34 (+2 to +66)`."""
    return f"{match['elo']:+.0f} ({match['low']:+.0f} to {match['high']:+.0f})"


def ties_table(study: FeatureStudy) -> Table:
    """Return the table of which features tell the same."""
    table = Table(title="how features hang together", box=SIMPLE, padding=(0, 1, 0, 0))
    for head in ("feature", "with outcome", "most like", "correlation", "inflation"):
        table.add_column(head, justify="left" if head in ("feature", "most like") else "right", no_wrap=True)
    for f in sorted(study.features, key=lambda f: -abs(f.outcome_correlation)):
        inflation = f"{f.inflation:.1f}" if f.inflation < 1000 else "> 999"
        correlation = f"{f.partner_correlation:+.2f}" if f.partner else ""
        table.add_row(short(f.name), f"{f.outcome_correlation:+.2f}", short(f.partner), correlation, inflation)
    return table


def short(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else name[: NAME_LENGTH - 1] + "…"
