"""UCT on the compiled backend: the kernel of mcts_kernel.py, specialised to a game and an evaluator."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np

from evallearn.compiled.records import MctsContext
from evallearn.compiled.specialise import specialise
from evallearn.core.evaluator import EvalKernel, Evaluator
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.search import Limits, SearchResult
from evallearn.errors import SearchError
from evallearn.search.montecarlo.mcts_plain import Settings
from evallearn.search.montecarlo.playouts_compiled import CompiledPlayouts, playout_sizes
from evallearn.search.montecarlo.result import Counts, SampledAction, answer, most_visited

TEMPLATE = Path(__file__).with_name("mcts_kernel.py")
NODE = np.dtype(
    [
        ("total", "f8"),  # what its simulations were worth to who chose it
        ("visits", "i4"),
        ("first", "i4"),  # its children stand there, `n_children` of them; 0: it has none yet
        ("action", "i4"),
        ("exact", "f4"),  # the proven value to who chose it
        ("n_children", "u2"),
        ("tried", "u2"),
        ("mover", "i1"),
        ("status", "u1"),  # see mcts_kernel.py
    ],
    align=True,
)
"""32 bytes: two nodes to a cache line."""
PROVEN = 4
MAX_CHILDREN = (1 << 16) - 1


class CompiledMCTS(CompiledPlayouts):
    """See `MCTS`. One search at a time: it owns one record and one tree."""

    what = "MCTS"

    def __init__(self, game: Game, evaluator: Evaluator | None, kernel: EvalKernel, settings: Settings) -> None:
        rules = game.rules
        assert rules is not None
        if max(rules.max_actions, rules.max_outcomes) > MAX_CHILDREN:
            widest = max(rules.max_actions, rules.max_outcomes)
            raise SearchError(
                f"{game.name} has up to {widest} actions: MCTS counts to {MAX_CHILDREN}; use backend='python'"
            )
        self.evaluator, self.settings = evaluator, settings
        super().__init__(game, kernel, settings.playout_plies)
        self.grower = specialise(
            TEMPLATE,
            rules,
            self.kernels,
            N_PLAYERS=game.n_players,
            WIN=float(game.utility_range[1]),
            IMPLICIT=settings.implicit_minimax > 0,
        )
        self.at["exploration"][0] = settings.exploration
        self.at["solver"][0] = settings.solver
        self.at["alpha"][0] = settings.implicit_minimax
        self.tree, self.implicit = np.empty(0, NODE), np.empty(1)
        self.reserve(Limits(nodes=1))
        self.warm_up(self.grower.grow, self._compile)

    def record(self) -> np.ndarray:
        sizes = playout_sizes(self.game, self.rules)
        return MctsContext.one(**sizes, plies=self.settings.tree_plies + 2)

    def _compile(self) -> None:
        self._plant(self.no_past)
        self._grow(0)

    def _plant(self, history: np.ndarray) -> int:
        return int(self.grower.plant(self.box, self.params, history, self.tree, self.implicit))

    def _grow(self, limit: int) -> None:
        self.grower.grow(self.box, self.params, self.tree, self.implicit, limit)

    def search(self, s: State, limits: Limits, *, seed: int | None) -> SearchResult:
        start = perf_counter()
        history = self.place(s, seed)
        self.reserve(limits)
        self.at["room"][0] = min(self.settings.max_nodes, len(self.tree))
        self.at["max_depth"][0] = self.settings.depth_of(limits)
        self.at["low"][0], self.at["high"][0] = self.settings.first_range
        self.at["bonus"][0] = self.settings.first_bonus
        if self._plant(history) < 0:
            self.refuse(s)
        interrupted = self.run(self._grow, limits, start)
        found = {f.action: f for f in self.choices(0)}
        return answer(
            self.game,
            s,
            [found[a] for a in self.root_actions()],
            Counts(
                int(self.at["done"][0]),
                int(self.at["leaf_calls"][0]),
                int(self.at["deepest"][0]),
                perf_counter() - start,
            ),
            seed=seed,
            choice=most_visited,
            line_after=self.line_after,
            proven=bool(self.tree[0]["status"] & PROVEN),
            evaluator=self.evaluator,
            interrupted=interrupted,
        )

    def reserve(self, limits: Limits) -> None:
        """Room for the nodes that a search may need. Pages that it never touches cost nothing."""
        widest, room = max(self.rules.max_actions, self.rules.max_outcomes), self.settings.max_nodes
        if limits.nodes is not None:  # a simulation gives children to one node at most
            room = min(room, 1 + (int(limits.nodes) + 1) * widest)
        room = max(room, 1 + self.rules.max_actions)
        if room <= len(self.tree):
            return
        try:
            self.tree = np.empty(room, NODE)
            if self.settings.implicit_minimax > 0:
                self.implicit = np.empty(room)
        except MemoryError:
            raise SearchError(
                f"no memory for a tree of {room} nodes of {NODE.itemsize} bytes: lower max_nodes"
            ) from None

    def choices(self, node: int) -> list[SampledAction]:
        """Return what the simulations said of each child; the squares are known at the root only."""
        first, size = int(self.tree[node]["first"]), int(self.tree[node]["n_children"])
        squares = self.at["squares"][0][:size].tolist() if node == 0 else [0.0] * size
        columns = (self.tree[name][first : first + size].tolist() for name in ("action", "visits", "total"))
        status, exact = (self.tree[name][first : first + size].tolist() for name in ("status", "exact"))
        known = (value if flag & PROVEN else None for flag, value in zip(status, exact, strict=True))
        return [SampledAction(*each) for each in zip(*columns, squares, known, strict=True)]

    def line_after(self, action: Action) -> list[Action]:
        """Return the line below a root action, each choice made as the root's; it ends where dice are rolled."""
        first = int(self.tree[0]["first"])
        node = first + next(i for i, f in enumerate(self.choices(0)) if f.action == action)
        line: list[Action] = []
        while (first := int(self.tree[node]["first"])) and self.tree[node]["mover"] != CHANCE:
            found = self.choices(node)
            best = most_visited(found, range(len(found)), self.game)
            if not found[best].visits:
                break
            line.append(found[best].action)
            node = first + best
        return line
