"""The command `evallearn bench`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.box import SIMPLE
from rich.table import Table

from evallearn.cli.common import console, json_option, out, report
from evallearn.errors import unknown

if TYPE_CHECKING:  # each command imports what it measures
    from evallearn.bench.chance import ChanceFigures
    from evallearn.bench.ladder import Ladder
    from evallearn.bench.learn import Speed as Learning
    from evallearn.bench.mcts import Simulations
    from evallearn.bench.speed import Speed, Speeds
    from evallearn.bench.threads import Speedup

SPEED_ROWS = {
    "compiled": "evallearn, compiled, no table",
    "compiled_table": "evallearn, compiled, table",
    "python": "evallearn, plain Python",
    "openspiel": "OpenSpiel alpha_beta_search",
}


@click.group(name="bench")
def command() -> None:
    """Measure searches and learners: how fast they are, and what each refinement saves.

    Example: evallearn bench speed othello
    """


def chosen(games: tuple[str, ...], suites: Any) -> list[Any]:
    """Return the suites of the games that were named, or all."""
    known = {suite.game: suite for suite in suites}
    for name in games:
        if name not in known:
            raise unknown("game to bench", name, known)
    return [known[name] for name in games or known]


def number(x: int | None) -> str:
    return "-" if x is None else f"{x:,}"


# --- nodes per second -----------------------------------------------------------------------------------------------
@command.command()
@click.argument("games", nargs=-1)
@json_option
def speed(games: tuple[str, ...], json_to: str | None) -> None:
    """Measure nodes per second of alpha-beta with a linear evaluator.

    The compiled and the Python backend are measured, and OpenSpiel if it is installed.

    CPU time, one core, the same positions and depth, the best of several runs.

    OpenSpiel comes with: pip install 'evallearn[bench]'

    Example: evallearn bench speed othello
    """
    from evallearn.bench.speed import SUITES, bench_search

    found = []
    for suite in chosen(games, SUITES):
        console.print(f"{suite.game} ...", style="dim")
        found.append(bench_search(suite))
    report({"bench": [speeds.to_json() for speeds in found]}, json_to, lambda: show_speed(found))


def show_speed(found: Sequence[Speeds]) -> None:
    for figures in found:
        table = Table("search", "depth", "nodes", "CPU s", "nodes/s", "compiled is", title=figures.game)
        speed = figures.compiled.nodes_per_second
        for key, title in SPEED_ROWS.items():
            row: Speed | None = getattr(figures, key)
            if row is None:
                table.add_row(title, "-", "-", "-", "not installed", "")
                continue
            table.add_row(
                title,
                str(row.depth),
                f"{row.nodes:,}",
                f"{row.seconds:.3f}",
                f"{row.nodes_per_second:,.0f}",
                f"{speed / row.nodes_per_second:,.1f} x",
            )
        out.print(table)


# --- a second thread ------------------------------------------------------------------------------------------------
@command.command()
@click.argument("games", nargs=-1)
@click.option("--threads", type=click.IntRange(2, 64), default=2, show_default=True, help="To compare with one.")
@json_option
def threads(games: tuple[str, ...], threads: int, json_to: str | None) -> None:
    """Measure what more threads gain: alpha-beta to the same depth, by wall-clock time, the best of three.

    The answers must be the same. The last column is what the machine could give at most: as many searches that know
    nothing of each other, at the same time. Nothing else should run on the machine.

    Example: evallearn bench threads othello
    """
    from evallearn.bench.threads import SUITES, bench_threads

    found = []
    for suite in chosen(games, SUITES):
        console.print(f"{suite.game} ...", style="dim")
        found.append(bench_threads(suite, threads))
    report({"threads": [row.to_json() for row in found]}, json_to, lambda: show_threads(found))


def show_threads(found: Sequence[Speedup]) -> None:
    table = Table("game", "depth", "threads", "seconds", "nodes", "faster", "at most")
    for row in found:
        seconds, nodes = row.seconds, row.nodes
        table.add_row(row.game, str(row.depth), "1", f"{seconds['one']:.2f}", number(nodes["one"]), "", "")
        faster, most = f"{row.speedup:.2f} x", f"{row.ceiling:.2f} x"
        table.add_row("", "", str(row.threads), f"{seconds['more']:.2f}", number(nodes["more"]), faster, most)
    out.print(table)


# --- what pruning saves ---------------------------------------------------------------------------------------------
@command.command()
@click.argument("games", nargs=-1)
@json_option
def search(games: tuple[str, ...], json_to: str | None) -> None:
    """Measure what each refinement of alpha-beta saves: the nodes to a fixed depth, switched on one after the other.

    The first row is plain minimax, counted by perft; the others deepen iteratively and count every iteration. All
    find the same values and moves. The positions are fixed, so the nodes are the same on every machine. A second table
    shows, near the end of games that have them, what the bounds of the game save (Game.bounds).

    Example: evallearn bench search connect_four
    """
    from evallearn.bench import bounds, ladder

    names = [suite.game for suite in chosen(games, [*ladder.SUITES, *bounds.SUITES])]
    ladders, compared = (
        [climbed(suite, steps) for suite in suites if suite.game in names]
        for suites, steps in ((ladder.SUITES, ladder.climb), (bounds.SUITES, bounds.compare))
    )
    told = {"ladder": [each.to_json() for each in ladders], "bounds": [each.to_json() for each in compared]}
    report(told, json_to, lambda: show_ladders([*ladders, *compared]))


def climbed(suite: Any, climb: Any) -> Ladder:
    """Return the figures of all steps, and print the name of each as it is done."""
    from evallearn.bench.ladder import ladder_of

    steps = []
    for step in climb(suite):
        console.print(f"{suite.game}: {step.name}", style="dim")
        steps.append(step)
    return ladder_of(suite, steps)


def show_ladders(found: Sequence[Ladder]) -> None:
    for ladder in found:
        title = f"{ladder.game}: {len(ladder.positions)} positions to depth {ladder.depth}"
        table = Table("", "nodes", "saved by this", "leaves", "CPU s", title=title)
        for step in ladder.steps:
            table.add_row(
                step.name,
                number(step.nodes),
                "" if step.saving is None else f"{100 * step.saving:.2f} %",
                number(step.leaf_calls),
                "counted" if step.seconds is None else f"{step.seconds:.2f}",
            )
        out.print(table)


# --- dice -----------------------------------------------------------------------------------------------------------
@command.command()
@json_option
def chance(json_to: str | None) -> None:
    """Measure what Star1 and Star2 save in backgammon, and how fast expectiminimax is.

    OpenSpiel's speed is shown beside it, if OpenSpiel is installed.

    Example: evallearn bench chance
    """
    from evallearn.bench.chance import measure

    console.print("backgammon ...", style="dim")
    found = measure()
    report({"chance": found.to_json()}, json_to, lambda: show_chance(found))


def show_chance(found: ChanceFigures) -> None:
    for depth, rows in ((2, found.depth_2), (3, found.depth_3)):
        table = Table("", "leaves", "of the first", "nodes", "CPU s", "nodes/s", title=f"{found.game} to depth {depth}")
        for way, row in rows.items():
            table.add_row(
                way,
                number(row.leaf_calls),
                f"{100 * row.share_of_leaves:.2f} %",
                number(row.nodes),
                f"{row.seconds:.2f}",
                f"{row.nodes_per_second:,.0f}",
            )
        out.print(table)
    rival = found.openspiel
    if rival is None:
        out.print("OpenSpiel: not installed")
    else:
        theirs = rival.openspiel.nodes_per_second
        out.print(f"OpenSpiel, no pruning: {theirs:,.0f} nodes/s; ours is {rival.ratio:,.0f} x as fast")


# --- simulations ----------------------------------------------------------------------------------------------------
@command.command()
@json_option
def mcts(json_to: str | None) -> None:
    """Measure simulations per second of Monte Carlo tree search, beside OpenSpiel's MCTSBot (C++) if it is installed.

    Example: evallearn bench mcts
    """
    from evallearn.bench.mcts import measure

    console.print("connect_four, othello ...", style="dim")
    found = measure()
    told = {game: {case: row.to_json() for case, row in cases.items()} for game, cases in found.items()}
    report({"mcts": told}, json_to, lambda: show_mcts(found))


def show_mcts(found: Mapping[str, Mapping[str, Simulations]]) -> None:
    table = Table("game", "", "simulations/s", "OpenSpiel's", "ratio")
    for game, cases in found.items():
        for case, row in cases.items():
            theirs = number(row.openspiel_per_s)
            table.add_row(game, case.replace("_", " "), number(row.ours_per_s), theirs, str(row.ratio or "-"))
    out.print(table)


# --- learning -------------------------------------------------------------------------------------------------------
@command.command()
@click.argument("games", nargs=-1)
@click.option(
    "--against",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A checkout of another version, whose speed is compared turn by turn.",
)
@click.option("--turns", type=click.IntRange(1, 1000), default=20, show_default=True, help="Of each version.")
@json_option
def learn(games: tuple[str, ...], against: Path | None, turns: int, json_to: str | None) -> None:
    """Measure how fast pattern tables, linear evaluators and nets learn, and searches search, by CPU time.

    Example: evallearn bench learn connect_four
    """
    from evallearn.bench.learn import SUITES, bench_learn

    known = sorted({suite.game for suite in SUITES})
    for name in games:
        if name not in known:
            raise unknown("game to bench", name, known)
    found = []
    for suite in SUITES:
        if not games or suite.game in games:
            console.print(f"{suite.kind} {suite.game} {suite.what} ...", style="dim")
            found.append(bench_learn(suite, turns, against))
    report({"learn": [row.to_json() for row in found]}, json_to, lambda: show_learn(found))


def show_learn(found: Sequence[Learning]) -> None:
    """Print moves per second, and nodes per second of searches."""
    table = Table("what", "game", "", "per second", "before", "ratio", "mean", "95 %", box=SIMPLE, padding=(0, 1, 0, 0))
    for row in found:
        ratios = [f"{x:.3f}" if x else "-" for x in (row.ratio, row.mean_ratio)]
        interval = f"{row.interval[0]:.3f} to {row.interval[1]:.3f}" if row.interval else "-"
        speeds = (number(None if x is None else int(x)) for x in (row.now, row.before))
        table.add_row(row.kind, row.game.partition(",")[0], row.what, *speeds, *ratios, interval)
    out.print(table)
