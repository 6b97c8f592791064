"""The speed of Monte Carlo tree search: simulations per second, against OpenSpiel's C++ MCTSBot, in the same run.

Both search the same positions with random playouts, one per simulation, with the same exploration constant, the solver
on both sides or on neither; on one core by the CPU clock, in turns, best of three.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

from evallearn.bench.speed import positions
from evallearn.core.game import Action, State
from evallearn.core.result import Result
from evallearn.core.search import Limits
from evallearn.registry import get_game
from evallearn.search.montecarlo.mcts import MCTS

ROUNDS = 3
EXPLORATION = 1.4
"""On a scale of 0 to 1; OpenSpiel's utilities go from -1 to 1, so its constant is twice that."""
MEGABYTES = 1000
"""What OpenSpiel may use: more than it needs here."""
CASES = {
    # game -> random plies to each position, our simulations, theirs: for each a good while
    "connect_four": ((0, 4, 8, 12), 100_000, 20_000),
    "othello": ((0, 8, 16, 24), 20_000, 1_000),
}


def ours(name: str, states: list[State], simulations: int, solver: bool) -> Callable[[], int]:
    search = MCTS(get_game(name), exploration=EXPLORATION, scale="declared", solver=solver, backend="compiled")
    limits = Limits(nodes=simulations)
    return lambda: sum(search.search(s, limits).nodes for s in states)


def openspiel(name: str, lines: list[list[Action]], simulations: int, solver: bool) -> Callable[[], int] | None:
    """Return a function that runs OpenSpiel's bot; None if it is not installed."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game(name)
    states = []
    for line in lines:
        state = game.new_initial_state()
        for a in line:
            state.apply_action(a)
        states.append(state)

    def work() -> int:
        done = 0
        for state in states:
            evaluator = pyspiel.RandomRolloutEvaluator(1, 7)
            bot = pyspiel.MCTSBot(game, evaluator, 2 * EXPLORATION, simulations, MEGABYTES, solver, 42, False)
            done += bot.mcts_search(state).explore_count  # fewer if it has proven the position
        return done

    return work


def speed(work: Callable[[], int]) -> float:
    start = process_time()
    n = work()
    return n / (process_time() - start)


@dataclass(frozen=True)
class Simulations(Result):
    """Simulations per second of both; None where OpenSpiel is not installed."""

    ours_per_s: int
    openspiel_per_s: int | None
    ratio: float | None


def measure() -> dict[str, dict[str, Simulations]]:
    """Return {game: {solver on or off: what was measured}}."""
    figures: dict[str, dict[str, Simulations]] = {}
    for name, (plies, our_simulations, their_simulations) in CASES.items():
        found = positions(get_game(name), plies)
        states, lines = [s for s, _ in found], [line for _, line in found]
        for solver in (False, True):
            us = ours(name, states, our_simulations, solver)
            them = openspiel(name, lines, their_simulations, solver)
            best = [0.0, 0.0]
            for _ in range(ROUNDS):  # both take turns: a machine that slows down slows down both
                best = [max(b, speed(work)) if work else b for b, work in zip(best, (us, them), strict=True)]
            figures.setdefault(name, {})["solver" if solver else "no_solver"] = Simulations(
                ours_per_s=round(best[0]),
                openspiel_per_s=round(best[1]) if them else None,
                ratio=round(best[0] / best[1], 1) if them else None,
            )
    return figures
