"""Speed of models that learn and of searches, and how it compares with another version, turn by turn.

Learning moves, or nodes, per second of CPU time. Neighbours on the machine slow both versions down: the ratio of their
best turns counts, and the mean ratio of the turns stands beside it with its 95 % interval. Given the version itself, it
says how far that is to be trusted.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from evallearn.core.result import Result
from evallearn.errors import GameError

WORKER = Path(__file__).with_name("learn_worker.py")
WARM_UP = 4
"""Turns before those that count."""


@dataclass(frozen=True)
class Suite:
    """What a turn does."""

    kind: str
    """patterns, linear or net: what learns; or search."""
    game: str
    what: str
    """The pattern set, the target, or the heuristic of the search."""
    work: int
    """Games of a turn, or nodes of each search."""


SUITES = (
    Suite("patterns", "connect_four", "threats", 2000),
    Suite("patterns", "connect_four", "walks", 4000),
    Suite("patterns", "othello", "counts", 400),
    Suite("patterns", "othello", "straight-3", 500),
    Suite("linear", "connect_four", "td", 400),
    Suite("linear", "connect_four", "treestrap", 100),
    Suite("linear", "othello", "tdleaf", 20),
    Suite("net", "connect_four", "td", 500),
    Suite("net", "backgammon,features=tesauro", "td", 200),
    Suite("search", "connect_four", "threats", 200_000),
    Suite("search", "othello", "mobility", 100_000),
    Suite("search", "checkers", "positional", 50_000),
)


@dataclass(frozen=True)
class Speed(Result):
    """Moves or nodes per second: the best turn of each version, and how the first compares with the second."""

    kind: str
    game: str
    what: str
    turns: int
    now: float
    before: float | None = None
    ratio: float | None = None
    """Of the best turns."""
    mean_ratio: float | None = None
    """Of the turns, geometric."""
    interval: tuple[float, float] | None = None
    """95 %, of the mean ratio."""


class Worker:
    """A process that works, with the evallearn of a folder, or this one."""

    def __init__(self, suite: Suite, tree: Path | None) -> None:
        path = [str(tree)] if tree else [p for p in sys.path if p]
        self.suite = suite
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), suite.kind, suite.game, suite.what], text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONSAFEPATH": "1"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def turn(self) -> float:
        """Return the moves or nodes per second of a turn. Raises GameError where the process has ended."""
        stdin, stdout, stderr = self.process.stdin, self.process.stdout, self.process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        with suppress(BrokenPipeError):
            print(self.suite.work, file=stdin, flush=True)
        if not (answer := stdout.readline()):
            reason = stderr.read().strip().rpartition("\n")[2]
            raise GameError(f"the worker of {self.suite.game} {self.suite.what} ended: {reason}")
        return float(answer)

    def end(self) -> None:
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()
        self.process.wait()


def bench_learn(suite: Suite, turns: int, against: Path | None) -> Speed:
    """Measure; turn by turn where there is a version to compare with."""
    workers = [Worker(suite, None), *([Worker(suite, against)] if against else [])]
    try:
        rates = [[worker.turn() for worker in workers] for _ in range(WARM_UP + turns)][WARM_UP:]
    finally:
        for worker in workers:
            worker.end()
    names, best = (suite.kind, suite.game, suite.what, turns), [max(of_one) for of_one in zip(*rates, strict=True)]
    if against is None:
        return Speed(*names, best[0])
    logs = np.log([now / before for now, before in rates])
    half = student.ppf(0.975, turns - 1) * logs.std(ddof=1) / turns**0.5 if turns > 1 else np.inf
    low, mean, high = (float(x) for x in np.exp([logs.mean() - half, logs.mean(), logs.mean() + half]))
    return Speed(*names, best[0], best[1], best[0] / best[1], mean, (low, high))
