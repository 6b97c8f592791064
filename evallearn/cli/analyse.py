"""evallearn analyse"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isfinite
from typing import Any

import click
from rich.table import Table

from evallearn.agents import default_limits
from evallearn.cli.common import GAME, console, in_range, json_option, out, report
from evallearn.cli.play import framed, thinking
from evallearn.cli.positions import PositionCommand, position_argument, position_of, roll_option
from evallearn.cli.searches import Way, way_of, ways_for
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.search import MOST_NODES, MOST_SECONDS, Limits, SearchResult
from evallearn.core.settings import SEED, Range
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import Interrupted, SearchError, SpecError
from evallearn.play.formatting import certainty, in_a_row, number, shares, worth
from evallearn.play.seats import default_agent, make_evaluator, ordinal
from evallearn.search import MONTE_CARLO, SEARCHES, Ending, ending, require_limits

TOP = 10
"""Actions that are shown unless all are asked for."""
PATIENCE = 10.0
"""Seconds for each setting that is compared, unless a time was given: some prune nothing."""
LEAST = 1.0
"""Seconds for a Monte Carlo search that is compared, if only a depth was given."""
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
    """The best actions in POSITION (or at the start), what they are worth, and the line that is expected.

    A value is proven if the search saw the end of every line that matters; else it is estimated by the Eval. Ctrl-C
    shows the best so far.

    With --compare every setting gets the same limits, but no more than 10 seconds unless --time allows them; where
    only a depth is given, Monte Carlo searches get the time that the first search took, or a second. The first time a
    kernel for each of them is compiled, which may take a minute or two.

    Example: evallearn analyse connect_four 44455 --depth 12 --compare
    """
    s = decision(game, position_of(game, position, roll))
    way = way_of(game, name)
    limits = default_limits(game, way.search)
    if depth is not None or nodes is not None or seconds is not None:
        limits = Limits(depth, nodes, seconds)
    require_limits(way.search, limits)
    task = Task(game, s, make_evaluator(evaluator or default_agent(game), game, trust=FULL_TRUST), limits, seed)
    search = way.build(game, task.evaluator)
    if json_to != "-":
        out.print(framed(game.board(s), out.width))
    first = task.answer(way, search, limits, all_values=True)
    figures = task.figures() | {"analysis": first}
    if compare and not task.stopped:
        figures["comparison"] = list(task.compare(first["seconds"]))
    figures["stopped"] = task.stopped
    report(figures, json_to, lambda: show(game, figures, None if everything else TOP))
    return STOPPED if task.stopped else 0


def decision(game: Game, s: State) -> State:
    """The position itself, if a player is to move in it."""
    if game.is_terminal(s):
        raise SpecError(f"the game is over in {game.name} position {game.to_text(s)!r}: there is nothing to analyse")
    if game.to_play(s) != CHANCE:
        return s
    dice = [game.action_to_text(s, o) for o, _ in game.chances(s)]
    after = s
    while game.to_play(after) == CHANCE:
        after = game.result(after, game.chances(after)[0][0])
    roll = "name two dice with --roll D D, or " if all(len(d) == 2 and d.isdigit() for d in dice) else ""
    raise SpecError(
        f"{game.name} position {game.to_text(s)!r} waits for chance: {roll}give a position after it, such as "
        f"{game.to_text(after)!r}"
    )


class Task:
    """A position and what to think with."""

    def __init__(self, game: Game, s: State, evaluator: Evaluator, limits: Limits, seed: int) -> None:
        self.game, self.s, self.evaluator, self.limits, self.seed = game, s, evaluator, limits, seed
        self.stopped = False
        """True after Ctrl-C."""

    def figures(self) -> dict[str, Any]:
        return {
            "game": self.game.name,
            "position": self.game.to_text(self.s),
            "player": self.game.to_play(self.s),
            "eval": self.evaluator.name,
            "limits": str(self.limits),
        }

    def answer(self, way: Way, search: Any, limits: Limits, *, all_values: bool = False) -> dict[str, Any]:
        """What this search says, in figures; after Ctrl-C the best so far."""
        seed = self.seed if way.search in MONTE_CARLO else None
        try:
            with thinking():
                found = search.search(self.s, limits, seed=seed, action_values=all_values)
        except Interrupted as interrupted:
            self.stopped, found = True, interrupted.result
        told = self.told(found, self.ending(search, found))
        return {"setting": way.title, "search": way.search, "settings": dict(way.settings), **told}

    def ending(self, search: Any, found: SearchResult) -> Ending:
        """What is known of the end that was found; after Ctrl-C nothing more is searched."""
        try:
            if not self.stopped:
                with thinking():
                    return ending(self.game, search, self.s, found)
        except KeyboardInterrupt:
            self.stopped = True
        return Ending(found.exact)

    def told(self, found: SearchResult, end: Ending) -> dict[str, Any]:
        """The result in the game's notation; the actions from the best to the worst."""
        game, s, solved = self.game, self.s, self.game.solved(self.s)
        values, visits = found.action_values or {found.action: found.value}, found.visits or {}
        actions = sorted(values, key=lambda a: (a != found.action, -visits.get(a, 0), -values[a]))
        return {
            "action": game.action_to_text(s, found.action),
            "value": found.value,
            "standard_error": found.standard_error,
            "values": None if found.values is None else list(found.values),
            "exact": end.proven,
            "plies_to_end": end.plies,
            "depth": found.depth,
            "value_depth": found.value_depth,
            "nodes": found.nodes,
            "leaves": found.leaves,
            "seconds": found.seconds,
            "line": notation(game, s, found.pv),
            "actions": [
                {
                    "action": game.action_to_text(s, a),
                    "value": values[a] if isfinite(values[a]) else None,  # a simulation never went there
                    "solved": None if solved is None else solved[a],
                    "simulations": visits.get(a),
                }
                for a in actions
            ],
        }

    def compare(self, took: float) -> Iterator[dict[str, Any]]:
        """The answers of all settings that suit the game, until Ctrl-C."""
        for way, search in ways_for(self.game, self.evaluator):
            limits = self.limits
            if way.search in MONTE_CARLO and limits.nodes is None and limits.seconds is None:
                limits = Limits(seconds=max(LEAST, took))
            elif limits.seconds is None:
                limits = replace(limits, seconds=PATIENCE)
            try:
                yield {k: v for k, v in self.answer(way, search, limits).items() if k != "actions"}
            except SearchError as error:
                console.print(f"{way.title}: {error}", style="dim")
            if self.stopped:
                return


def notation(game: Game, s: State, line: tuple[Action, ...]) -> list[str]:
    words = []
    for a in line:
        words.append(game.action_to_text(s, a))
        s = game.result(s, a)
    return words


# --- for people ------------------------------------------------------------------------------------------------------
def show(game: Game, figures: dict[str, Any], top: int | None) -> None:
    found = figures["analysis"]
    if figures["stopped"]:
        console.print("stopped by Ctrl-C: the best so far", style="dim")
    out.print(actions_table(game, figures, top))
    sure = certainty(found["exact"], found["depth"], found["value_depth"])
    if found["standard_error"] is not None:
        sure += f", standard error {found['standard_error']:.3g}"
    value = worth(game, found["value"], found["exact"], found["plies_to_end"])
    out.print(f"best: {found['action']}, worth {value} ({sure})", style="bold")
    if found["values"] and game.n_players > 2:
        out.print(f"to all: {shares(game, found['values'], ordinal)}", style="bold")
    out.print(f"line: {in_a_row(found['line'])}")
    known = {row["action"]: row["solved"] for row in found["actions"] if row["solved"] is not None}
    if known and not found["exact"]:
        best = max(known, key=known.__getitem__)
        out.print(f"the game itself knows: best is {best}, worth {worth(game, known[best], True)}", style="bold")
    out.print(
        f"{found['setting']} with the {figures['eval']} Eval, {figures['limits']}: depth {found['depth']}, "
        f"{found['nodes']:,} nodes, {found['leaves']:,} leaves, {found['seconds']:.3f} s",
        style="dim",
    )
    if "comparison" in figures:
        out.print(comparison_table(game, figures["comparison"]))


def actions_table(game: Game, figures: dict[str, Any], top: int | None) -> Table:
    rows = figures["analysis"]["actions"]
    more = {name: any(row[name] is not None for row in rows) for name in ("solved", "simulations")}
    table = Table("action", f"value to {ordinal(figures['player'])}", *(name for name, there in more.items() if there))
    for row in rows[:top]:
        cells = [row["action"], "-" if row["value"] is None else number(game, row["value"])]
        if more["solved"]:
            cells.append(worth(game, row["solved"], True))
        if more["simulations"]:
            cells.append(f"{row['simulations'] or 0:,}")
        table.add_row(*cells)
    if top is not None and len(rows) > top:
        table.caption = f"and {len(rows) - top} more: --all shows them"
    return table


def comparison_table(game: Game, rows: list[dict[str, Any]]) -> Table:
    """Narrow enough for 80 columns; --json has the figures in full."""
    table = Table(title="the same limits for all", caption="* proven" if any(row["exact"] for row in rows) else None)
    for name in ("setting", "action", "value", "depth", "nodes", "leaves", "seconds"):
        table.add_column(name, no_wrap=True, justify="left" if name in ("setting", "action") else "right")
    for row in rows:
        table.add_row(
            row["setting"],
            row["action"],
            number(game, row["value"]) + ("*" if row["exact"] else " "),
            str(row["depth"]),
            short(row["nodes"]),
            short(row["leaves"]),
            f"{row['seconds']:.3f}",
        )
    return table


def short(n: int) -> str:
    """A count in at most seven characters."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e4)):
        if n >= size:
            return f"{n / (1e3 if unit == 'k' else size):.3g} {unit}"
    return str(n)
