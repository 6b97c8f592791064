"""What benchmarks share: a line per match, and exit code 2 for bad input."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping

from evallearn.arena import MatchResult
from evallearn.errors import EvallearnError


def show(found: MatchResult) -> None:
    """One line, and one more where games were forfeited."""
    counts = f"+{found.wins} ={found.draws} -{found.losses}"
    elo = f"{found.elo.elo:+.0f} Elo ({found.elo.low:+.0f} to {found.elo.high:+.0f})"
    print(f"{found.names[0]} - {found.names[1]}: {counts}, score {found.score:.3f}, {elo}", flush=True)
    if found.forfeits:
        print(f"{len(found.forfeits)} games were forfeited; the last: {found.forfeits[-1].why}")


def run(commands: Mapping[str, Callable[[argparse.Namespace], None]], given: argparse.Namespace) -> int:
    """The exit code of the command that was asked for."""
    return ended(lambda: commands[given.what](given))


def ended(work: Callable[[], None]) -> int:
    """The exit code: 2, and a sentence, for bad input."""
    try:
        work()
    except EvallearnError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
