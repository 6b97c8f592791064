"""What the deepening searches of the compiled backend share: warming up, limits, ties, and the result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from types import ModuleType

import numpy as np

from evallearn.compiled.bits import jitable
from evallearn.compiled.specialise import Kernel, compiling, specialise
from evallearn.core.evaluator import EvalKernel, Evaluator
from evallearn.core.game import CHANCE, Game, State
from evallearn.core.rules import Rules
from evallearn.core.search import IsCutoff, Limits, SearchResult
from evallearn.errors import EvallearnError, Interrupted
from evallearn.search.common.requirements import (
    MAX_DEPTH,
    cut_at_depth,
    is_minimax,
    require_decision,
    tie_ranks,
    values_to_all,
)
from evallearn.search.common.threads import KernelThreads

NO_LIMIT = 1 << 62
WARM_UP_NODES = 100
"""A cutoff test of the user's may never cut."""
SHORT_NODES = 300_000
"""Up to here a search takes milliseconds and runs in the caller's thread; longer ones must hear Ctrl-C."""


def search_plies(rules: Rules) -> int:
    """How deep any line can go: a move and a roll for each step of depth, and room for rolls in a row."""
    return min(rules.max_plies, (3 if rules.chances else 1) * MAX_DEPTH)


def warm_up(game: Game, what: str, deepen: Kernel, recursive: Kernel, once: Callable[[State], object]) -> None:
    """Compile, or fetch from the disk, before the first clock starts to run: `once` searches a position."""
    s = game.initial()
    while game.to_play(s) == CHANCE:
        s = game.result(s, game.chances(s)[0][0])
    with compiling(what, deepen):
        once(s)
    if len(recursive.signatures) > 1:  # it would crash when loaded from the disk (Numba #6061)
        raise EvallearnError(f"{what} was compiled twice: please report this as a bug")


class CompiledDeepening:
    """A search that deepens on one record. One search at a time."""

    short_depth: int
    """Up to here it takes milliseconds."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        kernel: EvalKernel,
        is_cutoff: IsCutoff,
        template: Path,
        box: np.ndarray,
        what: str,
        *made: ModuleType,
    ) -> None:
        """Specialise the template, which may use other templates that were `metadata` before."""
        rules = game.rules
        assert rules is not None
        self.game, self.evaluator, self.box, self.what = game, evaluator, box, what
        self.kernels = specialise(
            template,
            rules,
            *made,
            evaluate_player=kernel.evaluate_player,
            is_cutoff=jitable(is_cutoff),
            N_PLAYERS=game.n_players,
            MAX_PLIES=search_plies(rules),
        )
        self.cuts_at_depth = is_cutoff is cut_at_depth
        self.certain: tuple[float, ...] = game.utility_range if is_minimax(game) else ()
        """Values that only the end of the game can have told, since an evaluator lies strictly between them."""
        self.params = kernel.params.copy()
        self.at = {name: box[name] for name in box.dtype.names or ()}
        self.row = {name: box[name][0] for name in ("words", "ranks", "values", "line")}
        self.row["actions"] = box["actions"][0, 0]  # the root's
        self.threads = KernelThreads([self.at["stop"]])

    def warm_up(self, recursive: Kernel) -> None:
        """Compile. recursive: the kernel that calls itself."""
        what = f"{self.what} for {self.game.name} with the {self.evaluator.name} evaluator"
        once = Limits(depth=1, nodes=WARM_UP_NODES)
        warm_up(self.game, what, self.kernels.deepen, recursive, lambda s: self.search(s, once, seed=None))

    def begin(self, seed: int | None, all_values: bool) -> None:
        """Set what this search wants to know beside limits and ties."""

    def estimate(self, s: State, player: int) -> float:
        """Return the value of the root where no iteration was finished."""
        return self.evaluator.evaluate(s, player)

    def values(self, s: State, player: int, value: float, depth: int) -> tuple[float, ...] | None:
        """Return the utilities to all players, where that to the one who moves is known."""
        return values_to_all(self.game, player, value)

    def standard_error(self) -> float | None:
        """Of the value, if it was sampled."""
        return None

    def search(self, s: State, limits: Limits, *, seed: int | None, action_values: bool = False) -> SearchResult:
        start = perf_counter()
        at, row = self.at, self.row
        row["words"][:] = self.game.encode(s)
        player = int(self.kernels.prepare(self.box))
        if player < 0:
            require_decision(self.game, s)
        at["player"][0] = player
        n = int(at["n_root"][0])
        ranks = tie_ranks(n, seed)
        row["ranks"][:n] = ranks
        at["best_index"][0] = ranks.index(0)
        at["node_limit"][0] = NO_LIMIT if limits.nodes is None else limits.nodes
        self.begin(seed, action_values)
        interrupted = self._run(limits, start)
        actions, values = row["actions"][:n].tolist(), row["values"][:n].tolist()
        best, depth = int(at["best_index"][0]), int(at["depth"][0])
        value = values[best] if depth else self.estimate(s, player)
        proven = bool(at["exact"][0]) or (depth > 0 and value in self.certain)
        result = SearchResult(
            action=actions[best],
            value=value + 0.0,  # a draw is 0.0, not -0.0
            player=player,
            depth=depth,
            nodes=int(at["nodes"][0]),
            pv=tuple(row["line"][: int(at["line_length"][0])].tolist()),
            exact=proven,
            seconds=perf_counter() - start,
            action_values=dict(zip(actions, values, strict=True)) if action_values and depth else None,
            leaf_calls=int(at["eval_calls"][0] + at["ended"][0]),
            standard_error=self.standard_error(),
            value_depth=depth,
            values=self.values(s, player, value, depth),
        )
        if interrupted:
            raise Interrupted(result)
        return result

    def _run(self, limits: Limits, start: float) -> bool:
        """Run the kernel and return True if Ctrl-C ended it."""
        depth = min(limits.depth or MAX_DEPTH, MAX_DEPTH)
        return self.threads.run(
            [lambda: self.kernels.deepen(self.box, self.params, depth)],
            deadline=None if limits.seconds is None else start + limits.seconds,
            short=(self.cuts_at_depth and depth <= self.short_depth) or (limits.nodes or NO_LIMIT) <= SHORT_NODES,
        )
