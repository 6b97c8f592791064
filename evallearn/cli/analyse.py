"""The command `evallearn analyse`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import click
from rich.table import Table

from evallearn.cli.common import GAME, console, in_range, json_option, out, report
from evallearn.cli.play import framed, thinking
from evallearn.cli.positions import PositionCommand, position_argument, position_of, roll_option
from evallearn.core.game import Game
from evallearn.core.search import MOST_NODES, MOST_SECONDS, Limits
from evallearn.core.settings import SEED, Range
from evallearn.core.trust import FULL_TRUST
from evallearn.play.analysis import Analysis, Answer, analyse, require_decision
from evallearn.play.formatting import certainty, format_value, in_a_row, number, shares
from evallearn.play.seats import default_agent, make_evaluator, ordinal
from evallearn.search import SEARCHES

TOP = 10
"""Actions that are shown unless all are asked for."""
STOPPED = 130
DEPTH, NODES = click.IntRange(1, MOST_NODES), click.IntRange(1, MOST_NODES)
SECONDS = in_range(Range(0, MOST_SECONDS, low_is_open=True))


@click.command(name="analyse", cls=PositionCommand)
@click.argument("game", type=GAME)
@position_argument
@click.option(
    "--eval",
    "evaluator",
    metavar="EVAL",
    help="zero, handwritten:NAME or a .safetensors file.  [default: the game's last heuristic]",
)
@click.option("--search", "name", metavar="NAME", help=f"{', '.join(SEARCHES)}.  [default: what suits the game]")
@click.option("--depth", type=DEPTH, help="Plies to look ahead.  [default: what suits the game, if no limit is given]")
@click.option("--nodes", type=NODES, help="Positions to visit, or simulations of a Monte Carlo search.")
@click.option("--time", "seconds", type=SECONDS, help="Seconds to think.")
@roll_option
@click.option("--compare", is_flag=True, help="What would every search and setting that suits the game have done?")
@click.option("--all", "everything", is_flag=True, help=f"Show all actions, not only the best {TOP}.")
@click.option("--seed", type=in_range(SEED), default=1, show_default=True, help="For what is drawn at random.")
@json_option
def command(
    game: Game,
    position: str | None,
    evaluator: str | None,
    name: str | None,
    depth: int | None,
    nodes: int | None,
    seconds: float | None,
    roll: tuple[int, int] | None,
    compare: bool,
    everything: bool,
    seed: int,
    json_to: str | None,
) -> int:
    """Show the best actions in POSITION (or at the start), what they are worth, and the line that is expected.

    A value is proven if the search saw the end of every line that matters; else it is estimated by the evaluator.
    Ctrl-C shows the best so far.

    With --compare every setting gets the same limits, but no more than 10 seconds unless --time allows them; where
    only a depth is given, Monte Carlo searches get the time that the first search took, or a second. The first time a
    kernel for each of them is compiled, which may take a minute or two.

    Example: evallearn analyse connect_four 44455 --depth 12 --compare
    """
    s = position_of(game, position, roll)
    require_decision(game, s)
    limits = None
    if depth is not None or nodes is not None or seconds is not None:
        limits = Limits(depth, nodes, seconds)
    judge = make_evaluator(evaluator or default_agent(game), game, trust=FULL_TRUST)
    boards = [] if json_to == "-" else [framed(game.board(s), out.width)]

    def thinking_below_the_board() -> AbstractContextManager[None]:
        if boards:  # once, when nothing is left to refuse
            out.print(boards.pop())
        return thinking()

    found = analyse(
        game, s, judge, limits, search=name, compare=compare, seed=seed, thinking=thinking_below_the_board,
        on_refused=lambda text: console.print(text, style="dim"),
    )  # fmt: skip
    report(found.to_json(), json_to, lambda: show(game, found, None if everything else TOP))
    return STOPPED if found.stopped else 0


# --- for people ------------------------------------------------------------------------------------------------------
def show(game: Game, figures: Analysis, top: int | None) -> None:
    found = figures.answer
    if figures.stopped:
        console.print("stopped by Ctrl-C: the best so far", style="dim")
    out.print(actions_table(game, figures, top))
    sure = certainty(found.exact, found.depth, found.value_depth)
    if found.standard_error is not None:
        sure += f", standard error {found.standard_error:.3g}"
    value = format_value(game, found.value, found.exact, found.plies_to_end)
    out.print(f"best: {found.action}, worth {value} ({sure})", style="bold")
    if found.values and game.n_players > 2:
        out.print(f"to all: {shares(game, found.values, ordinal)}", style="bold")
    out.print(f"line: {in_a_row(found.line)}")
    known = {row.action: row.solved for row in found.actions if row.solved is not None}
    if known and not found.exact:
        best = max(known, key=known.__getitem__)
        out.print(f"the game itself knows: best is {best}, worth {format_value(game, known[best], True)}", style="bold")
    out.print(
        f"{found.setting} with the {figures.evaluator} evaluator, {figures.limits}: depth {found.depth}, "
        f"{found.nodes:,} nodes, {found.leaf_calls:,} leaves, {found.seconds:.3f} s",
        style="dim",
    )
    if figures.comparison is not None:
        out.print(comparison_table(game, figures.comparison))


def actions_table(game: Game, figures: Analysis, top: int | None) -> Table:
    rows = figures.answer.actions
    more = {name: any(getattr(row, name) is not None for row in rows) for name in ("solved", "simulations")}
    table = Table("action", f"value to {ordinal(figures.player)}", *(name for name, there in more.items() if there))
    for row in rows[:top]:
        cells = [row.action, "-" if row.value is None else number(game, row.value)]
        if more["solved"]:
            cells.append("-" if row.solved is None else format_value(game, row.solved, True))
        if more["simulations"]:
            cells.append(f"{row.simulations or 0:,}")
        table.add_row(*cells)
    if top is not None and len(rows) > top:
        table.caption = f"and {len(rows) - top} more: --all shows them"
    return table


def comparison_table(game: Game, rows: Sequence[Answer]) -> Table:
    """Return a table narrow enough for 80 columns; --json has the figures in full."""
    table = Table(title="the same limits for all", caption="* proven" if any(row.exact for row in rows) else None)
    for name in ("setting", "action", "value", "depth", "nodes", "leaves", "seconds"):
        table.add_column(name, no_wrap=True, justify="left" if name in ("setting", "action") else "right")
    for row in rows:
        table.add_row(
            row.setting,
            row.action,
            number(game, row.value) + ("*" if row.exact else " "),
            str(row.depth),
            short(row.nodes),
            short(row.leaf_calls),
            f"{row.seconds:.3f}",
        )
    return table


def short(n: int) -> str:
    """Return a count in at most seven characters."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e4)):
        if n >= size:
            return f"{n / (1e3 if unit == 'k' else size):.3g} {unit}"
    return str(n)
