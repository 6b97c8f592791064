"""The command `evallearn quality`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click
from rich.table import Table

from evallearn import __version__
from evallearn.cli.common import (
    GAME,
    Steps,
    in_range,
    json_option,
    out,
    progress_bars,
    report,
    setting_options,
    workers_option,
)
from evallearn.cli.suite import made_suite, nodes_for, suite_facts
from evallearn.core.digest import plain_json
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game
from evallearn.core.json_shapes import Json, JsonDict, part
from evallearn.core.settings import SEED
from evallearn.core.trust import FULL_TRUST
from evallearn.core.workers import imap
from evallearn.play.seats import default_agent, make_evaluator
from evallearn.quality import Quality, QualitySettings, Suite, assess, compare, fitting_depth, read_suite
from evallearn.quality.figures import Figure
from evallearn.quality.make import SAMPLE
from evallearn.quality.measure import Measured
from evallearn.quality.swing import Swing

POSITIONS = 200
"""Of a suite that is made here."""
SWING_DEPTH = 6
"""The deepest search of the swing, where that is quick enough."""
SIDE_BY_SIDE = 3
"""Evaluators in one table: so many fit 80 columns."""
NAME_LENGTH = 16


@click.command(name="quality")
@click.argument("evals", nargs=-1, required=True, metavar="EVAL...")
@click.option("--game", type=GAME, required=True)
@click.option(
    "--suite",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Positions from `evallearn suite`.  [default: {POSITIONS} are made now]",
)
@setting_options(QualitySettings, "depth", "swing_depth", "games", auto={"swing_depth": f"up to {SWING_DEPTH}"})
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write the page to this file too.")
@click.option("--seed", type=in_range(SEED), default=1, show_default=True)
@workers_option
@json_option
def command(
    evals: tuple[str, ...],
    game: Game,
    file: Path | None,
    depth: int,
    swing_depth: int | None,
    games: int,
    html: Path | None,
    seed: int,
    workers: int,
    json_to: str | None,
) -> None:
    """Measure how good an EVAL is as a judge of positions, without a match. Several are set side by side.

    An EVAL is zero, handwritten:NAME or a .safetensors file. Four questions: does it choose well, do its values mean
    what they say, do they swing with the depth of the search, and does it go to and fro (thrash)?

    Example: evallearn quality handwritten:lines handwritten:threats --game connect_four --html quality.html
    """
    evaluators = [make_evaluator(text, game, trust=FULL_TRUST) for text in evals]
    judge = make_evaluator(default_agent(game), game)
    with progress_bars() as steps:
        if file is None:
            suite = made_suite(steps, game, judge, None, positions=POSITIONS, seed=seed, workers=workers)
        else:
            suite = read_suite(file, game)
        settings = QualitySettings(
            depth=depth,
            swing_depth=usual_swing(judge, suite) if swing_depth is None else swing_depth,
            games=games,
            thrash_depth=1 if game.has_chance else 2,
            seed=seed,
        )
        found = assessed(steps, evaluators, evals, suite, settings, workers)
    figures = facts(suite, file, settings, found)
    if html is not None:
        from evallearn.report import write_quality

        write_quality(figures, html)
    report(figures, json_to, lambda: show(figures, suite, found, html))


def usual_swing(judge: Evaluator, suite: Suite) -> int:
    """Return the depth that is still quick."""
    decisions = [item.state for item in suite.items if suite.game.to_play(item.state) == item.player]
    some = decisions[:: max(1, len(decisions) // SAMPLE)]
    return fitting_depth(judge, some, nodes_for(judge), most=SWING_DEPTH) if some else 0


def assessed(
    steps: Steps,
    evaluators: Sequence[Evaluator],
    names: Sequence[str],
    suite: Suite,
    settings: QualitySettings,
    workers: int,
) -> list[Quality]:
    """Return one result per evaluator, each from a worker of its own if there are some."""
    jobs = list(zip(evaluators, names, strict=True))
    found: dict[int, Quality] = {}
    with steps.step("assess", len(jobs)) as move:
        for i, quality in imap(partial(_assess, suite, settings), jobs, workers):
            found[i] = quality
            move(len(found))
    return [found[i] for i in range(len(jobs))]


def _assess(suite: Suite, settings: QualitySettings, job: tuple[Evaluator, str]) -> Quality:
    return assess(job[0], suite, settings, name=job[1])


def facts(suite: Suite, file: Path | None, settings: QualitySettings, found: Sequence[Quality]) -> JsonDict:
    """Return everything, for json.dump and for the page."""
    first = found[0]
    pairs = [(q.name, compare(first, q)) for q in found[1:]]
    return {
        "evallearn": __version__,
        "command": shlex.join(["evallearn", *sys.argv[1:]]),
        "game": suite.game.name,
        "suite": suite_facts(suite, file),
        "settings": asdict(settings),
        "evals": [_with_board(suite.game, q) for q in found],
        "compared": [{"name": name, "with": first.name, "less": d.to_json()} for name, d in pairs if d],
    }


def _with_board(game: Game, quality: Quality) -> JsonDict:
    """Return the figures, and a picture of where the example of thrashing began."""
    plain, thrash = quality.to_json(), quality.thrash
    if thrash and thrash.example:
        seen = {**asdict(thrash.example), "board": game.board(game.from_text(thrash.example.position))}
        plain["thrash"] = {**thrash.to_json(), "example": plain_json(seen)}
    return plain


# --- for people ------------------------------------------------------------------------------------------------------
def show(figures: Json, suite: Suite, found: Sequence[Quality], html: Path | None) -> None:
    source = part(figures["suite"])["file"] or "made now (`evallearn suite` makes one to keep)"
    out.print(f"{len(suite.items)} positions of {suite.game.name}, {suite.n_exact} of them exact: {source}")
    if suite.n_exact < len(suite.items):
        out.print(f"judged by {suite.by}: estimates, which flatter an evaluator like that one", style="dim")
    for i in range(0, len(found), SIDE_BY_SIDE):
        out.print(comparison(found[i : i + SIDE_BY_SIDE]))
    for quality in found:
        out.print(quality.name, style="bold")
        for sentence in (*quality.verdicts.values(), *example(quality)):
            out.print(f"  {sentence}")
    for other in found[1:]:
        if less := compare(found[0], other):
            out.print(compared(other.name, found[0].name, less), style="bold")
    for sentence in found[0].measured.left_out:
        out.print(sentence, style="dim")
    if html is not None:
        out.print(f"the page: {html}")


def example(quality: Quality) -> list[str]:
    found = quality.thrash and quality.thrash.example
    return [f"It began here: {found.position}"] if found else []


def compared(name: str, other: str, less: Figure) -> str:
    """Return a sentence about the difference."""
    low, high, by = (digits(x, like=less.value) for x in (less.low, less.high, abs(less.value)))
    interval = f"95 %: {low} to {high}"
    if less.low > 0:
        return f"{name} chooses better than {other}: it gives away {by} less a move ({interval})"
    if less.high < 0:
        return f"{name} chooses worse than {other}: it gives away {by} more a move ({interval})"
    return f"{name} and {other} cannot be told apart by what they give away ({interval})"


def comparison(evals: Sequence[Quality]) -> Table:
    """Return a table narrow enough for 80 columns; --json has the figures in full."""
    table = Table(caption="± standard error; 95 % intervals: --json", caption_justify="left")
    table.add_column("", no_wrap=True)
    for quality in evals:
        table.add_column(short_name(quality.name), no_wrap=True, justify="right")
    table.add_column("random", no_wrap=True, justify="right", style="dim")
    for title, cells, chance in rows(evals):
        if any(cell != "-" for cell in cells):
            table.add_row(title, *cells, chance)
    return table


def short_name(name: str) -> str:
    """Shorten a name: handwritten:threats -> threats; runs/x/linear.safetensors -> linear."""
    name = name.removeprefix("handwritten:")
    name = Path(name).stem if name.endswith(".safetensors") else name.replace(os.sep, "/")
    return name if len(name) <= NAME_LENGTH else name[: NAME_LENGTH - 1] + "…"


TITLES = {
    "agreement": "as good as the best",
    "kept": "outcome kept",
    "loss": "given away a move",
    "order": "order of actions",
    "correlation": "order of positions",
    "brier": "Brier score",
}


def rows(evals: Sequence[Quality]) -> list[tuple[str, list[str], str]]:
    """Return rows: (title, a cell for each evaluator, what random choice reaches)."""
    all_measured = [q.measured for q in evals]
    first, chance = all_measured[0], all_measured[0].random
    found = [
        (
            title + (few(first, key) if key == "kept" else ""),
            [cell(getattr(m, key)) for m in all_measured],
            digits(chance[key]) if key in chance else "",
        )
        for key, title in TITLES.items()
    ]
    found.append(
        (
            "calibration error",
            [f"{m.calibration.calibration_error:.3f}" if m.calibration else "-" for m in all_measured],
            "",
        )
    )
    found.append(("wrong side", [cell(m.signs) for m in all_measured], "0.5"))
    for i, phase in enumerate(first.phases):
        found.append((f"  {phase.phase}", [cell(m.phases[i].errors) for m in all_measured], ""))
    for i, swing in enumerate(evals[0].swings):
        if len(evals[0].swings) > 1:
            found.append((f"{swing.setting}:", [""] * len(evals), ""))
        found += swing_rows([q.swings[i] for q in evals])
    thrash = [q.thrash for q in evals]
    found.append(("thrashing moves", [f"{t.share:.1%}" if t else "-" for t in thrash], ""))
    found.append(("  95 %", [f"{t.share_low:.1%}-{t.share_high:.1%}" if t else "-" for t in thrash], ""))
    return found


def few(measured: Measured, key: str) -> str:
    """Return on how many positions the figure rests, if not on all of them."""
    figure: Figure | None = getattr(measured, key)
    return f" ({figure.n})" if figure and figure.n < measured.positions else ""


def swing_rows(swings: Sequence[Swing]) -> list[tuple[str, list[str], str]]:
    depth = swings[0].steps[-1].depth
    found = [(f"swing at depth {d}", [cell(s.steps[d - 1].change) for s in swings], "") for d in sorted({1, depth})]
    found.append(("choice turns", [cell(s.steps[-1].turned) for s in swings], ""))
    return [*found, ("odd - even", [cell(s.odd_even) for s in swings], "")]


def cell(figure: Figure | None) -> str:
    """Format a figure as in 0.714±0.021; without decimals where it counts in points."""
    if figure is None:
        return "-"
    return f"{digits(figure.value)}±{digits(figure.error, like=figure.value)}"


def digits(value: float, like: float | None = None) -> str:
    """Format a value with as many decimals as a value of the size of `like` needs."""
    size = abs(value if like is None else like)
    return f"{value:.{0 if size >= 100 else 1 if size >= 10 else 3}f}"
