"""How fast do pattern tables learn, and how much faster than in another version? Two processes, turn by turn.

Learning moves per second of one core's CPU time. Neighbours on the machine slow both down: the ratio of their best
turns counts, and the median of the turns' ratios stands beside it. Given the version itself, it says how far that is
to be trusted.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from evallearn.core.shapes import JsonDict
from evallearn.errors import GameError

WORKER = Path(__file__).with_name("learn_worker.py")
WARM_UP = 4
"""Turns before those that count."""


@dataclass(frozen=True)
class Suite:
    """Tables that learn."""

    game: str
    patterns: str
    games: int
    """Of a turn."""


SUITES = (
    Suite("connect_four", "threats", 2000),
    Suite("connect_four", "walks", 4000),
    Suite("othello", "counts", 400),
    Suite("othello", "straight-3", 500),
)


@dataclass(frozen=True)
class Speed:
    """Learning moves/s: the best turn of each version, and how the first compares with the second."""

    game: str
    patterns: str
    turns: int
    now: float
    before: float | None
    ratio: float | None
    """Of the best turns."""
    median_ratio: float | None
    """Of the turns."""

    def to_json(self) -> JsonDict:
        return asdict(self)


class Worker:
    """A process that learns, with the evallearn of a folder, or this one."""

    def __init__(self, suite: Suite, tree: Path | None) -> None:
        path = [str(tree)] if tree else [p for p in sys.path if p]
        self.suite = suite
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), suite.game, suite.patterns], text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONSAFEPATH": "1"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def turn(self) -> float:
        """Return the learning moves/s of so many games. Raises GameError where the process has ended."""
        stdin, stdout, stderr = self.process.stdin, self.process.stdout, self.process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        with suppress(BrokenPipeError):
            print(self.suite.games, file=stdin, flush=True)
        if not (answer := stdout.readline()):
            reason = stderr.read().strip().rpartition("\n")[2]
            raise GameError(f"the learner of {self.suite.game} {self.suite.patterns} ended: {reason}")
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
    best = [max(of_one) for of_one in zip(*rates, strict=True)]
    if against is None:
        return Speed(suite.game, suite.patterns, turns, best[0], None, None, None)
    median = statistics.median(now / before for now, before in rates)
    return Speed(suite.game, suite.patterns, turns, best[0], best[1], best[0] / best[1], median)
