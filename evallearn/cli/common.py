"""What the commands share: arguments, output for people and for scripts, progress bars."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeAlias

import click
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)

from evallearn.cli.screen import Screen
from evallearn.core.game import Game
from evallearn.core.settings import Range, Settings, whole
from evallearn.core.trust import FULL_TRUST
from evallearn.games import GAMES
from evallearn.registry import get_game

THREADS = whole(1, 256)
"""Or processes."""
console = Screen(stderr=True)
"""Progress, notices and errors."""
out = Screen()
"""Results."""


class GameType(click.ParamType):  # type: ignore[type-arg]  # generic only in newer versions of click
    """A game by its name, or a user's own as module:Class."""

    name = "game"

    def convert(self, value: str | Game, param: click.Parameter | None, ctx: click.Context | None) -> Game:
        return value if isinstance(value, Game) else get_game(value, trust=FULL_TRUST)


GAME = GameType()


class FloatRange(click.FloatRange):
    """A range of numbers; NaN is in none."""

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found: float = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is no number.", param, ctx)
        return found


def in_range(allowed: Range) -> click.IntRange | click.FloatRange:
    """Return the type of an option that takes such numbers."""
    if allowed.is_whole:
        return click.IntRange(int(allowed.low), int(allowed.high))
    return FloatRange(allowed.low, allowed.high, allowed.low_is_open, allowed.high_is_open)


Command: TypeAlias = Callable[..., object]
Decorator: TypeAlias = Callable[[Command], Command]


def setting_options(kind: type[Settings], *names: str, auto: Mapping[str, str] | None = None) -> Decorator:
    """Return a decorator that adds an option for each setting of those names, or for all.

    auto: what the command takes where one of them is not given; others have the default of the class.
    """
    replaced = auto or {}

    def decorate(f: Command) -> Command:
        for name in reversed(names or tuple(kind.known())):
            f = _setting_option(kind, name, replaced.get(name, kind.known()[name].auto))(f)
        return f

    return decorate


def _setting_option(kind: type[Settings], name: str, auto: str) -> Decorator:
    known, default = kind.known()[name], None if auto else kind.default(name)
    word = known.option or name.rstrip("_").replace("_", "-")
    name = known.option.replace("-", "_") or name
    help = f"{known.help.rstrip('.')}.{f'  [default: {auto}]' if auto else ''}"
    if known.is_flag:
        flags = f"--{word}" if default is False else f"--{word}/--no-{word}"
        return click.option(flags, name, is_flag=True, default=default, show_default=default is True, help=help)
    takes = click.STRING if known.allowed is None else in_range(known.allowed)
    return click.option(f"--{word}", name, type=takes, default=default, show_default=default is not None, help=help)


def workers_option(f: Command) -> Command:
    return click.option(
        "--workers", type=in_range(THREADS), default=os.cpu_count() or 1, show_default="all cores",
        help="Processes; the result is the same for any number.",
    )(f)  # fmt: skip


def _json_file(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse a game or a number after `--json`: the option takes it as FILE, but it was meant for something else."""
    if value is not None and (value in GAMES or value.isdigit()):
        raise click.BadParameter(f"{value!r} looks like an argument: write --json last, or --json FILE", ctx, param)
    return value


def json_option(f: Command) -> Command:
    return click.option(
        "--json", "json_to", is_flag=False, flag_value="-", metavar="[FILE]", callback=_json_file,
        help="Write the figures as JSON to FILE, or to the standard output if no FILE follows.",
    )(f)  # fmt: skip


def report(figures: Mapping[str, object], json_to: str | None, people: Callable[[], None]) -> None:
    """Write the figures as JSON where a script asked for them, else print them with `people`."""
    if json_to == "-":
        print(json.dumps(figures, indent=2))
        return
    if json_to is not None:
        Path(json_to).parent.mkdir(parents=True, exist_ok=True)
        Path(json_to).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    people()


def show_alarms(alarms: list[dict[str, str]]) -> None:
    """Print the alarms that ring, for people; or that none does."""
    for alarm in alarms:
        out.print(f"alarm ({alarm['about']}): {alarm['text']}", style="bold")
    if not alarms:
        out.print("no alarm rang", style="dim")


def show_constant(features: list[str]) -> None:
    """Print the features about which nothing could be learned."""
    if features:
        out.print(
            f"features with the same value in every record: {', '.join(features)}: they have no weight; mend them, or "
            "leave them out of the game's features"
        )


class Move(Protocol):
    """Moves a bar."""

    def __call__(self, done: int, of: int | None = None, /) -> None: ...


class Steps:
    """Progress bars: one per step, with the time left."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    @contextmanager
    def step(self, title: str, total: int | None = None) -> Iterator[Move]:
        """Yield a function (done, total) that moves the bar."""
        task = self.progress.add_task(title, total=total)

        def move(done: int, of: int | None = None) -> None:
            self.progress.update(task, completed=done, total=of if of is not None else total)

        yield move
        size = self.progress.tasks[task].total
        self.progress.update(task, completed=size if size is not None else 1, total=size if size is not None else 1)


@contextmanager
def progress_bars() -> Iterator[Steps]:
    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=12),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    with Progress(*columns, console=console) as progress:
        yield Steps(progress)
