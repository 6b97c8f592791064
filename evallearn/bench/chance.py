"""What Star1 and Star2 save in backgammon, and how fast expectiminimax is; OpenSpiel's runs beside it.

The suite are positions of random games, each with its roll, so that depth 2 is: own move, 21 rolls, the answer, and
the evaluator. All work on one core by the CPU clock, in turns, best of three. Nodes are positions visited, by every
contestant's own recursion; without pruning those are the same kind of nodes: choices, rolls and leaves.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING, Any

from evallearn.compiled.game import CompiledGame
from evallearn.core.game import CHANCE
from evallearn.core.json_shapes import Json
from evallearn.core.result import Result
from evallearn.core.search import Limits, SearchResult
from evallearn.errors import EvallearnError
from evallearn.evaluators import heuristic
from evallearn.games.backgammon.moves import State
from evallearn.registry import get_game
from evallearn.search import Expectiminimax

if TYPE_CHECKING:
    import pyspiel

HEURISTIC = "positional"
SUITE, SHARED, DEEP = 30, 8, 8
"""Positions: of the suite, of those that OpenSpiel searches too, of those that are searched one move deeper."""
ROUNDS = 3
WAYS: Mapping[str, Json] = {
    "none": {"pruning": "none", "table": False},
    "none + table": {"pruning": "none"},
    "star1": {"pruning": "star1", "table": False},
    "star1 + table": {"pruning": "star1"},
    "star2": {"pruning": "star2", "table": False},
    "star2 + table": {"pruning": "star2"},
}


def positions(n: int, seed: int = 1) -> list[State]:
    """Return positions of random games in which somebody has rolled, up to about thirty turns from the start."""
    game, rng = CompiledGame(get_game("backgammon")), random.Random(seed)
    found: list[State] = []
    while len(found) < n:
        s, stop, ply = game.initial(), rng.randrange(1, 60), 0
        while not game.is_terminal(s):
            if ply >= stop and game.to_play(s) != CHANCE:
                found.append(s)
                break
            s = game.result(s, rng.choice(list(game.actions(s)) or [o for o, _ in game.chances(s)]))
            ply += 1
    return found


def searcher(**options: Any) -> Expectiminimax:
    game = get_game("backgammon")
    return Expectiminimax(game, heuristic(game, HEURISTIC), **options)


def best_times(works: Sequence[Callable[[], object]]) -> list[float]:
    """Return the CPU seconds of each, the best of some rounds in which all take turns."""
    best = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for i, work in enumerate(works):
            start = process_time()
            work()
            best[i] = min(best[i], process_time() - start)
    return best


# --- what pruning saves ----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Pruned(Result):
    """What a way of pruning takes."""

    leaf_calls: int
    nodes: int
    seconds: float
    nodes_per_second: float
    share_of_leaves: float
    """Of those of the first way."""


def compare_ways(states: Sequence[State], depth: int, ways: Sequence[str]) -> dict[str, Pruned]:
    """Return leaves, nodes and seconds of each way; all must find the same."""
    searches = [searcher(**WAYS[way]) for way in ways]

    def run(search: Expectiminimax) -> list[SearchResult]:
        return [search.search(s, Limits(depth=depth)) for s in states]

    found = [run(search) for search in searches]
    answers = [[(r.value, r.action) for r in results] for results in found]
    for way, given in zip(ways, answers, strict=True):
        if given != answers[0]:
            raise EvallearnError(f"{way} changed the answers of {ways[0]}: please report this as a bug")
    seconds = best_times([lambda search=search: run(search) for search in searches])  # type: ignore[misc]  # bound now
    figures: dict[str, Pruned] = {}
    first = sum(r.leaf_calls for r in found[0])
    for way, results, time in zip(ways, found, seconds, strict=True):
        leaf_calls, nodes = sum(r.leaf_calls for r in results), sum(r.nodes for r in results)
        figures[way] = Pruned(leaf_calls, nodes, time, nodes / time, leaf_calls / first)
    return figures


# --- OpenSpiel -------------------------------------------------------------------------------------------------------
def openspiel_states(n: int, seed: int = 1) -> list[tuple[pyspiel.State, State]]:
    """Return its states, and ours of the same positions. It plays a double as two turns, so none is at the root."""
    import pyspiel

    rng, game = random.Random(seed), pyspiel.load_game("backgammon(scoring_type=full_scoring)")
    found: list[tuple[pyspiel.State, State]] = []
    while len(found) < n:
        t, stop = game.new_initial_state(), rng.randrange(1, 60)
        while not t.is_terminal():
            high, low = dice(t)
            if not t.is_chance_node() and t.move_number() >= stop and high != low:
                player = t.current_player()
                found.append((t, State(side(t, player), side(t, 1 - player), (high, low), player)))
                break
            t.apply_action(rng.choice(t.legal_actions()))
    return found


def dice(t: pyspiel.State) -> tuple[int, int]:
    """Return what its dice show, the larger first; zeros before the roll."""
    shown = str(t).partition("Dice: ")[2][:2]
    return (max(int(d) for d in shown), min(int(d) for d in shown)) if shown.strip().isdigit() else (0, 0)


def side(t: pyspiel.State, player: int) -> tuple[int, ...]:
    """Return a player's checkers on our points.

    OpenSpiel numbers the points 0..23, X moves up, O down, and its bar is position 100.
    """
    points = [t.board(player, 24 - p if player == 0 else p - 1) for p in range(1, 25)]
    counts = [*points, t.board(player, 100)]
    return (15 - sum(counts), *counts)


def openspiel_work(states: list[pyspiel.State], depth: int) -> Callable[[], int]:
    """Return a function that runs its own expectiminimax in Python, with a linear NumPy value function.

    The function returns how often the recursion is called. That is counted once, outside the clock: OpenSpiel keeps no
    count of its own.
    """
    import numpy as np
    from open_spiel.python.algorithms import minimax

    weights = np.random.default_rng(1).normal(0, 0.01, len(states[0].observation_tensor(0)))

    def value(state: pyspiel.State) -> float:
        return float(np.dot(weights, state.observation_tensor(0)))

    def play() -> None:
        for state in states:
            minimax.expectiminimax(state, depth, value, state.current_player())

    original, calls = minimax.expectiminimax, [0]

    def counted(*args: object) -> float:
        calls[0] += 1
        value: float = original(*args)
        return value

    minimax.expectiminimax = counted
    try:
        play()
    finally:
        minimax.expectiminimax = original

    def work() -> int:
        play()
        return calls[0]

    return work


@dataclass(frozen=True)
class Speed(Result):
    """What somebody takes without pruning."""

    nodes: int
    seconds: float
    nodes_per_second: float


@dataclass(frozen=True)
class Comparison(Result):
    """Both in the same positions, and how many times as fast ours is."""

    ours: Speed
    openspiel: Speed
    ratio: float


@dataclass(frozen=True)
class ChanceFigures(Result):
    """All figures: what each way needs at depth 2, the faster ones at depth 3, and OpenSpiel (None without it)."""

    game: str
    positions: int
    depth_2: dict[str, Pruned]
    depth_3: dict[str, Pruned]
    openspiel: Comparison | None


def compare_with_openspiel(n: int, depth: int) -> Comparison | None:
    """Return nodes per second of both, without pruning; None if it is not installed."""
    try:
        pairs = openspiel_states(n)
    except ImportError:
        return None
    search, theirs = searcher(pruning="none", table=False), openspiel_work([t for t, _ in pairs], depth)

    def ours() -> int:
        return sum(search.search(s, Limits(depth=depth)).nodes for _, s in pairs)

    nodes = ours(), theirs()
    seconds = best_times([ours, theirs])
    us, them = (Speed(n, time, n / time) for n, time in zip(nodes, seconds, strict=True))
    return Comparison(us, them, us.nodes_per_second / them.nodes_per_second)


def measure() -> ChanceFigures:
    """Return all figures: each way at depth 2, the faster ones at depth 3, and OpenSpiel (None without it)."""
    states = positions(SUITE)
    return ChanceFigures(
        game="backgammon",
        positions=len(states),
        depth_2=compare_ways(states, 2, list(WAYS)),
        depth_3=compare_ways(states[:DEEP], 3, ["star2", "star2 + table"]),
        openspiel=compare_with_openspiel(SHARED, 2),
    )
