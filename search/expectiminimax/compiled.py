"""Expectiminimax on the compiled backend: the kernel of tree_kernel.py, specialised to a game and an evaluator."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from evallearn.compiled.records import ExpectiminimaxContext
from evallearn.compiled.rng import mix64
from evallearn.compiled.specialise import specialise
from evallearn.core.evaluator import EvalKernel, Evaluator
from evallearn.core.game import Game
from evallearn.core.rules import Rules
from evallearn.core.search import IsCutoff
from evallearn.search.common.deepening_compiled import CompiledDeepening, search_plies
from evallearn.search.expectiminimax.star import SALT
from evallearn.search.expectiminimax.table import Table

TEMPLATE = Path(__file__).with_name("tree_kernel.py")
ROLL_TEMPLATE = Path(__file__).with_name("roll_kernel.py")
PRUNING = {"none": 0, "star1": 1, "star2": 2}


def context(rules: Rules) -> np.ndarray:
    """Return the one record that a search carries.

    Most of its rows are never touched, and so take no memory.
    """
    return ExpectiminimaxContext.one(
        words=rules.n_words,
        width=rules.max_actions,
        rolls=max(1, rules.max_outcomes),
        plies=search_plies(rules) + 3,
    )


class CompiledExpectiminimax(CompiledDeepening):
    """See `Expectiminimax` for what it promises. One search at a time: it owns one record and one table."""

    short_depth = 2

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        kernel: EvalKernel,
        *,
        pruning: str,
        table: bool,
        samples: int | None,
        width: int | None,
        is_cutoff: IsCutoff,
        table_bits: int,
    ) -> None:
        rules = game.rules
        assert rules is not None
        worst, best = map(float, game.utility_range)
        rolls = specialise(ROLL_TEMPLATE, rules, WORST=worst, BEST=best)
        super().__init__(game, evaluator, kernel, is_cutoff, TEMPLATE, context(rules), "expectiminimax", rolls)
        # Two sides, also where the paranoid search has many players; but a reply that was left out may refute a win.
        self.certain = () if game.has_chance or width is not None else game.utility_range
        self.at["use_table"][0], self.at["pruning"][0], self.at["samples"][0] = table, PRUNING[pruning], samples or 0
        self.at["width"][0] = width or rules.max_actions
        self.table = Table(table_bits if table else 0)
        self.at["table_address"][0] = self.table.address
        self.at["table_mask"][0] = len(self.table.entries) - 1
        self.searches = 0
        self.warm_up(self.kernels.value)

    def begin(self, seed: int | None, all_values: bool) -> None:
        self.at["all_values"][0] = all_values
        self.at["seed"][0] = mix64(mix64((seed or 0) + SALT))
        self.searches += 1
        self.at["salt"][0] = mix64(mix64(self.searches + SALT))

    def standard_error(self) -> float | None:
        variance = float(self.at["found_variance"][0])
        return math.sqrt(variance) if variance >= 0 else None
