"""Max^n on the compiled backend: the kernel of maxn_kernel.py, specialised to a game and an evaluator."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evallearn.compiled.records import MaxNContext
from evallearn.core.evaluator import EvalKernel, Evaluator
from evallearn.core.game import Game, State
from evallearn.core.rules import Rules
from evallearn.core.search import IsCutoff, Limits, SearchResult
from evallearn.search.common.deepening_compiled import CompiledDeepening, search_plies
from evallearn.search.multiplayer.maxn_plain import TIES, value_to

TEMPLATE = Path(__file__).with_name("maxn_kernel.py")


def context(rules: Rules, n_players: int) -> np.ndarray:
    """Return the one record that a search carries.

    Most of its rows are never touched, and so take no memory.
    """
    return MaxNContext.one(
        words=rules.n_words,
        width=rules.max_actions,
        rolls=max(1, rules.max_outcomes),
        players=n_players,
        plies=search_plies(rules) + 2,
    )


class CompiledMaxN(CompiledDeepening):
    """See `MaxN` for what it promises. One search at a time: it owns one record."""

    short_depth = 3

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        kernel: EvalKernel,
        *,
        ties: str,
        alliance: tuple[int, ...],
        is_cutoff: IsCutoff,
    ) -> None:
        rules = game.rules
        assert rules is not None
        super().__init__(game, evaluator, kernel, is_cutoff, TEMPLATE, context(rules, game.n_players), "max^n")
        self.at["tie_sign"][0] = TIES[ties]
        self.at["allied"][0, list(alliance)] = 1
        self.row["vector"], self.alliance = self.box["vector"][0], alliance
        if alliance:  # values are sums
            self.certain = ()
        self.warm_up(self.kernels.vector)

    def estimate(self, s: State, player: int) -> float:
        return value_to(self.static(s), player, self.alliance)

    def values(self, s: State, player: int, value: float, depth: int) -> tuple[float, ...]:
        return tuple(v + 0.0 for v in (self.row["vector"].tolist() if depth else self.static(s)))

    def static(self, s: State) -> list[float]:
        """Return what the evaluator says to each player."""
        return [self.evaluator.evaluate(s, p) for p in range(self.game.n_players)]

    def search(self, s: State, limits: Limits, *, seed: int | None, action_values: bool = True) -> SearchResult:
        """Return the result with the values of all root actions, asked for or not: nothing is pruned."""
        return super().search(s, limits, seed=seed, action_values=True)
