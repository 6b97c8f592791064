"""Playouts on the compiled backend: the kernels of playout_kernel.py and the record they work on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from evallearn.compiled.bits import jitable
from evallearn.compiled.records import PlayoutContext
from evallearn.compiled.specialise import Kernel, compiling, specialise
from evallearn.core.evaluator import EvalKernel
from evallearn.core.game import Game, State
from evallearn.core.rng import SplitMix64
from evallearn.core.rules import Rules
from evallearn.core.search import Limits
from evallearn.search.common.repetition import repetition_kernels
from evallearn.search.common.requirements import require_decision
from evallearn.search.common.threads import KernelThreads
from evallearn.search.montecarlo.playouts import middle
from evallearn.search.montecarlo.result import SampledAction

TEMPLATE = Path(__file__).with_name("playout_kernel.py")
MOST_SIMULATIONS = (1 << 31) - 1
"""Of a search: nodes count them in 32 bits. The fastest game takes half an hour for them."""
SHORT = 1000
"""Up to so many simulations run in the caller's thread; more must hear Ctrl-C."""


@jitable
def the_middle(s, player, params):  # type: ignore[no-untyped-def]  # Numba infers the types
    return params.middle


def no_eval(game: Game) -> EvalKernel:
    """Return what stands in where there is no evaluator: the middle of the utility range."""
    params = np.zeros(1, [("middle", "f8")])
    params["middle"] = middle(game)
    return EvalKernel(params=params, evaluate_player=the_middle)


def playout_sizes(game: Game, rules: Rules) -> dict[str, int]:
    """Those of the record, whatever a search does with its playouts."""
    return {
        "words": rules.n_words,
        "players": max(2, game.n_players),
        "width": rules.max_actions,
        "rolls": max(1, rules.max_outcomes),
        "choices": max(rules.max_actions, rules.max_outcomes),
        "path": 2 * rules.clock_limit + 4 if rules.clock else 1,  # the past, and what came since; see place_on_path
    }


class CompiledPlayouts:
    """A search made of playouts: its record, its kernels, its thread. One search at a time."""

    what = "playouts"

    def __init__(self, game: Game, kernel: EvalKernel, plies: int) -> None:
        rules = game.rules
        assert rules is not None
        self.game, self.rules = game, rules
        self.kernels = specialise(
            TEMPLATE,
            rules,
            repetition_kernels(rules),
            evaluate_player=kernel.evaluate_player,
            N_PLAYERS=game.n_players,
            TWO_SIDED=game.n_players == 2 and game.zero_sum,
        )
        self.params = kernel.params.copy()
        self.box = self.record()
        self.at = {name: self.box[name] for name in self.box.dtype.names or ()}
        self.at["playout_plies"][0] = plies
        self.no_past = np.zeros((0, rules.n_words), np.uint64)
        self.threads = KernelThreads([self.at["stop"]])

    def record(self) -> np.ndarray:
        return PlayoutContext.one(**playout_sizes(self.game, self.rules))

    def warm_up(self, kernel: Kernel, run: Callable[[], object]) -> None:
        """Compile, or fetch from the disk, before the first clock starts to run."""
        self.place(self.game.initial(), None)
        with compiling(f"{self.what} of {self.game.name}", kernel):
            run()

    def place(self, s: State, seed: int | None) -> np.ndarray:
        """Write the position and a fresh start into the record; returns the words of the positions before it."""
        self.at["words"][0][:] = self.game.encode(s)
        self.at["done"][0] = self.at["leaf_calls"][0] = self.at["stop"][0] = 0
        self.at["rng"][0] = SplitMix64(seed).state
        for name in ("visits", "totals", "squares"):
            self.at[name][0][:] = 0
        history = self.game.history(s)
        return np.array(history, np.uint64) if history else self.no_past

    def refuse(self, s: State) -> None:
        """Say why `s` cannot be searched: the kernel found it finished, or waiting for the dice."""
        require_decision(self.game, s)

    def run(self, kernel: Callable[[int], object], limits: Limits, start: float) -> bool:
        """kernel(limit) until it has done its simulations, or the time is over; True if Ctrl-C ended it."""
        limit = min(MOST_SIMULATIONS, MOST_SIMULATIONS if limits.nodes is None else int(limits.nodes))
        deadline = None if limits.seconds is None else start + limits.seconds
        return self.threads.run([lambda: kernel(limit)], deadline=deadline, short=limit <= SHORT)

    def root_actions(self) -> list[int]:
        return self.at["root_actions"][0][: int(self.at["n_root"][0])].tolist()  # type: ignore[no-any-return]


class CompiledFlat(CompiledPlayouts):
    """See `FlatMonteCarlo`."""

    def __init__(self, game: Game, kernel: EvalKernel, plies: int) -> None:
        super().__init__(game, kernel, plies)
        self.warm_up(self.kernels.play_flat, lambda: self._both(self.no_past, 0))

    def _both(self, history: np.ndarray, limit: int) -> None:
        self.kernels.prepare(self.box, history)
        self.kernels.play_flat(self.box, self.params, limit)

    def sample(self, s: State, limits: Limits, seed: int | None, start: float) -> tuple[list[SampledAction], bool]:
        """Return what the playouts said of each action, and whether Ctrl-C ended them."""
        if self.kernels.prepare(self.box, self.place(s, seed)) < 0:
            self.refuse(s)
        interrupted = self.run(lambda limit: self.kernels.play_flat(self.box, self.params, limit), limits, start)
        actions = self.root_actions()
        columns = (self.at[name][0][: len(actions)].tolist() for name in ("visits", "totals", "squares"))
        return [SampledAction(*each) for each in zip(actions, *columns, strict=True)], interrupted
