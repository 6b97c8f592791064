"""The nodes and the seconds that a plain search may spend."""

from __future__ import annotations

from time import perf_counter


class Stopped(Exception):
    """A limit was reached in the middle of an iteration."""


class Budget:
    """Counts nodes and watches the clock for a plain search; `spend` raises Stopped where a limit is reached."""

    def __init__(self, nodes: int | None, seconds: float | None) -> None:
        self.nodes = 0
        self.limit = nodes
        self.start = perf_counter()
        self.end = None if seconds is None else self.start + seconds

    def spend(self) -> None:
        if self.limit is not None and self.nodes >= self.limit:
            raise Stopped
        self.nodes += 1
        if self.end is not None and perf_counter() > self.end:
            raise Stopped

    @property
    def seconds(self) -> float:
        return perf_counter() - self.start
