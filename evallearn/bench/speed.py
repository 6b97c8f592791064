"""The speed of the search: nodes per second on both backends and of OpenSpiel, on the same positions in one run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import process_time
from typing import Any

from evallearn.core.game import Action, Game, State
from evallearn.core.result import Result
from evallearn.core.search import Limits
from evallearn.evaluators import LinearEval, heuristic
from evallearn.registry import get_game
from evallearn.search import AlphaBeta


@dataclass(frozen=True)
class Suite:
    """A game, a heuristic for its linear evaluator, and a depth at which even the slowest is done in some seconds."""

    game: str
    heuristic: str
    depth: int
    plies: tuple[int, ...]
    """Random plies from the start to each position."""
    openspiel: str


SUITES = (
    Suite("connect_four", "threats", 8, (0, 4, 8, 12), "connect_four"),
    Suite("othello", "mobility", 6, (0, 8, 16, 24), "othello"),
)
ROUNDS, FAST_REPEATS = 3, 20
"""The best of so many, because machines are noisy; slow contestants work for seconds, fast ones for milliseconds."""


def positions(game: Game, plies: tuple[int, ...], seed: int = 1) -> list[tuple[State, list[Action]]]:
    """Return fixed random positions, each with the actions that lead to it."""
    rng, found = random.Random(seed), []
    for n in plies:
        s = game.initial()
        line: list[Action] = []
        while len(line) < n:
            a = rng.choice(list(game.actions(s)))
            t = game.result(s, a)
            if game.is_terminal(t):
                s, line = game.initial(), []
                continue
            s, line = t, [*line, a]
        found.append((s, line))
    return found


@dataclass
class Contestant:
    """Someone who searches all positions of a suite, against the CPU clock."""

    work: Callable[[], int]
    """Does it once and returns the number of nodes."""
    repeats: int = 1
    """In each round; fast ones are timed more often."""
    nodes: int = 0
    seconds: float = float("inf")

    def round(self) -> None:
        for _ in range(self.repeats):
            start = process_time()
            self.nodes = self.work()
            self.seconds = min(self.seconds, process_time() - start)

    def speed(self, depth: int) -> Speed:
        """Return what was measured."""
        return Speed(depth, self.nodes, self.seconds, self.nodes / self.seconds)


@dataclass(frozen=True)
class Speed(Result):
    """What one contestant took for all positions."""

    depth: int
    nodes: int
    seconds: float
    """CPU time, the best of several."""
    nodes_per_second: float


@dataclass(frozen=True)
class Speeds(Result):
    """What all contestants took for the same positions."""

    game: str
    compiled: Speed
    compiled_table: Speed
    python: Speed
    openspiel: Speed | None
    """None where it is not installed."""
    ratio_to_plain: float
    ratio_to_openspiel: float | None


def ours(game: Game, evaluator: LinearEval, states: list[State], depth: int, **settings: Any) -> Contestant:
    """Return alpha-beta on one backend. Iterative deepening is part of it and is counted."""
    search = AlphaBeta(game, evaluator, **settings)
    repeats = 1 if search.backend == "python" else FAST_REPEATS
    return Contestant(lambda: sum(search.search(s, Limits(depth=depth)).nodes for s in states), repeats)


def openspiel(name: str, lines: list[list[Action]], depth: int) -> Contestant | None:
    """Return OpenSpiel's alpha_beta_search with a linear NumPy value function; None if it is not installed."""
    try:
        import pyspiel
        from open_spiel.python.algorithms import minimax
    except ImportError:
        return None
    import numpy as np

    spiel = pyspiel.load_game(name)
    weights = np.random.default_rng(1).normal(0, 0.01, spiel.observation_tensor_size())

    def value(state: pyspiel.State) -> float:
        return float(np.dot(weights, state.observation_tensor(0)))

    def play() -> None:
        for line in lines:
            state = spiel.new_initial_state()
            for a in line:
                state.apply_action(int(a))
            minimax.alpha_beta_search(spiel, state=state, value_function=value, maximum_depth=depth)

    with counting(minimax) as count:
        play()
    nodes: int = count[0]

    def work() -> int:
        play()
        return nodes

    return Contestant(work)


@contextmanager
def counting(minimax: Any) -> Iterator[list[int]]:
    """Count the calls of OpenSpiel's recursion, outside the clock: it keeps no count of its own."""
    original, count = minimax._alpha_beta, [0]

    def counted(*args: object, **kwargs: object) -> float:
        count[0] += 1
        value: float = original(*args, **kwargs)
        return value

    minimax._alpha_beta = counted
    try:
        yield count
    finally:
        minimax._alpha_beta = original


def bench_search(suite: Suite) -> Speeds:
    """Measure all contestants on one suite."""
    game = get_game(suite.game)
    evaluator = heuristic(game, suite.heuristic)
    found = positions(game, suite.plies)
    states, lines = [s for s, _ in found], [line for _, line in found]
    contestants = [
        ours(game, evaluator, states, suite.depth, table=False),
        ours(game, evaluator, states, suite.depth),
        ours(game, evaluator, states, suite.depth, table=False, backend="python"),
    ]
    rival = openspiel(suite.openspiel, lines, suite.depth)
    for _ in range(ROUNDS):  # all take turns: a machine that slows down slows down everyone
        for contestant in (*contestants, rival):
            if contestant:
                contestant.round()
    compiled, table, plain = (c.speed(suite.depth) for c in contestants)
    theirs = rival.speed(suite.depth) if rival else None
    ratios = [compiled.nodes_per_second / other.nodes_per_second if other else None for other in (plain, theirs)]
    return Speeds(suite.game, compiled, table, plain, theirs, ratios[0] or 0.0, ratios[1])
