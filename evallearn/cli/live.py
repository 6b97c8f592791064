"""A match while it runs: a table that is drawn anew a few times a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from evallearn.arena import Tally
from evallearn.cli.common import console
from evallearn.report.formatting import sureness

REFRESHES = 4
"""A second."""
BAR = 40
"""Characters."""


class Board:
    """What is on the screen: the last tally, in figures."""

    def __init__(self) -> None:
        self.title, self.began, self.first = "", monotonic(), 0
        self.tally: Tally | None = None

    def saw(self, tally: Tally, title: str = "") -> None:
        if tally is not self.tally:  # another match begins, perhaps with sets that were played before
            self.tally, self.title, self.began, self.first = tally, title, monotonic(), tally.sets

    def __rich__(self) -> RenderableType:
        tally = self.tally
        if tally is None or not tally.sets:
            return Text("the first games are played", style="dim")
        table = Table("", *tally.names, title=self.title or None, title_justify="left")
        won, drawn, lost = (str(tally.results[r]) for r in (1, 0, -1))
        table.add_row("won", won, lost)
        table.add_row("drawn", drawn, drawn)
        elo = tally.elo
        table.add_row("score", f"{elo.score:.3f}", f"{1 - elo.score:.3f}")
        lines = [f"{elo.elo:+.1f} Elo (95 %: {elo.low:+.1f} to {elo.high:+.1f}), LOS {sureness(elo.los)}"]
        if (sprt := tally.sprt) is not None:
            lines.append(f"SPRT: LLR {sprt.llr:+.2f}, between {sprt.lower:+.2f} and {sprt.upper:+.2f}")
        if tally.forfeits:
            lines.append(f"{len(tally.forfeits)} forfeited")
        return Group(table, Text("\n".join(lines)), self._bar(tally))

    def _bar(self, tally: Tally) -> RenderableType:
        spent, new = monotonic() - self.began, tally.sets - self.first
        left = f", about {_clock(spent / new * (tally.of - tally.sets))} left" if new else ""
        line = Table.grid(padding=(0, 1))
        line.add_row(ProgressBar(tally.of, tally.sets, width=BAR), Text(f"{tally.sets}/{tally.of} openings{left}"))
        return line


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02d}" if whole < 3600 else f"{whole // 3600}:{whole // 60 % 60:02d} h"


@contextmanager
def live_board() -> Iterator[Callable[..., None]]:
    """Yield `saw(tally, title)`, the `on_progress` of a match. What it draws goes away when the match is over."""
    board = Board()
    if not console.is_terminal:
        yield board.saw
        return
    with Live(board, console=console, refresh_per_second=REFRESHES, transient=True):
        yield board.saw
