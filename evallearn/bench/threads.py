"""What a second thread gains: alpha-beta to the same depth on one core and on more, by the clock on the wall.

Cores share caches, memory and, on a rented machine, other people's work: so many searches that have nothing to do with
each other, at the same time, show what could be gained at most.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter

from evallearn.bench.speed import positions
from evallearn.core.game import State
from evallearn.core.result import Result
from evallearn.core.search import Limits, SearchResult
from evallearn.errors import EvallearnError
from evallearn.evaluators import heuristic
from evallearn.registry import get_game
from evallearn.search import AlphaBeta

TABLE_BITS = 22
ROUNDS = 3


@dataclass(frozen=True)
class Suite:
    """Random positions of a game, and a depth that one core needs seconds for."""

    game: str
    heuristic: str
    depth: int
    plies: tuple[int, ...]
    """Random plies from the start to each position."""


SUITES = (
    Suite("connect_four", "threats", 17, (0, 4, 6, 8, 10, 12)),
    Suite("othello", "mobility", 11, (0, 8, 16, 24, 32, 36)),
    Suite("checkers", "positional", 17, (0, 4, 8, 12, 16, 20)),
)


@dataclass(frozen=True)
class Speedup(Result):
    """What several threads gain."""

    game: str
    depth: int
    positions: int
    threads: int
    seconds: dict[str, float]
    """By the clock: of one thread, of more that search together, of as many searches apart."""
    nodes: dict[str, int]
    speedup: float
    ceiling: float
    """What the machine could give at most."""


def bench_threads(suite: Suite, threads: int) -> Speedup:
    """Measure one thread and several, in seconds and nodes; all ways take turns, and the answers must be the same."""
    game = get_game(suite.game)
    evaluator = heuristic(game, suite.heuristic)
    states = [s for s, _ in positions(game, suite.plies)]
    alone = [AlphaBeta(game, evaluator, table_bits=TABLE_BITS) for _ in range(threads)]
    together = AlphaBeta(game, evaluator, table_bits=TABLE_BITS, threads=threads)
    best = dict.fromkeys(("one", "more", "apart"), float("inf"))
    for _ in range(ROUNDS):
        seconds, found = timed(alone[0], states, suite.depth)
        best["one"] = min(best["one"], seconds)
        seconds, found_together = timed(together, states, suite.depth)
        best["more"] = min(best["more"], seconds)
        for a, b in zip(found, found_together, strict=True):
            if (a.value, a.action) != (b.value, b.action):
                raise EvallearnError(f"{threads} threads changed an answer in {suite.game}: {a}, {b}; report this")
        start = perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda search: timed(search, states, suite.depth), alone))
        best["apart"] = min(best["apart"], perf_counter() - start)
    return Speedup(
        game=suite.game,
        depth=suite.depth,
        positions=len(states),
        threads=threads,
        seconds=best,
        nodes={"one": sum(a.nodes for a in found), "more": sum(b.nodes for b in found_together)},
        speedup=best["one"] / best["more"],
        ceiling=threads * best["one"] / best["apart"],
    )


def timed(search: AlphaBeta, states: list[State], depth: int) -> tuple[float, list[SearchResult]]:
    """Return the seconds, and what was found in each position."""
    start = perf_counter()
    found = [search.search(s, Limits(depth=depth)) for s in states]
    return perf_counter() - start, found
