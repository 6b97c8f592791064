"""Expectiminimax on the compiled floor: the kernel of tree_kernel.py, specialised to a game and an Eval."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from evallearn.compiled.bits import jitable, mix64
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
    """The one record that a search carries. Most of its rows are never touched, and so take no memory."""
    plies, width, rolls = search_plies(rules) + 3, rules.max_actions, max(1, rules.max_outcomes)
    fields: list[Any] = [
        ("nodes", "i8"), ("node_limit", "i8"), ("stop", "i8"),
        ("asked", "i8"), ("recalled", "i8"), ("ended", "i8"),
        ("table_address", "u8"), ("table_mask", "u8"), ("salt", "u8"), ("seed", "u8"),
        ("use_table", "i8"), ("pruning", "i8"), ("samples", "i8"), ("width", "i8"), ("all_values", "i8"),
        ("player", "i8"), ("n_root", "i8"), ("best_index", "i8"), ("depth", "i8"), ("exact", "i8"), ("drawn", "i8"),
        ("value", "f8"), ("found_variance", "f8"), ("line_length", "i8"),
        ("words", "u8", (rules.n_words,)),
        ("ranks", "i4", (width,)), ("order", "i4", (width,)),
        ("new_values", "f8", (width,)), ("values", "f8", (width,)),
        ("throws", "i4", (rolls,)), ("slot", "i4", (plies,)), ("variance", "f8", (plies,)),
        ("killers", "i4", (plies, rolls)),
        ("outcomes", "i4", (plies, rolls)), ("odds", "f8", (plies, rolls)), ("slots", "i4", (plies, rolls)),
        ("least", "f8", (plies,)), ("most", "f8", (plies,)), ("slack", "f8", (plies,)), ("drawn_here", "i1", (plies,)),
        ("low", "f8", (plies, rolls)), ("high", "f8", (plies, rolls)), ("spread", "f8", (plies, rolls)),
        ("actions", "i4", (plies, width)), ("prospects", "f8", (width,)),
        ("line", "i4", (plies,)), ("pv_length", "i4", (plies,)), ("pv", "i4", (plies, plies)),
    ]  # fmt: skip
    return np.zeros(1, np.dtype(fields, align=True))


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
        kernels: Any = specialise(
            TEMPLATE,
            rules,
            rolls,
            evaluate_player=kernel.evaluate_player,
            is_cutoff=jitable(is_cutoff),
            N_PLAYERS=game.n_players,
            MAX_PLIES=search_plies(rules),
        )
        super().__init__(game, evaluator, kernel, is_cutoff, kernels, context(rules), "expectiminimax")
        # Two sides, also where the paranoid search has many players; but a reply that was left out may refute a win.
        self.certain = () if game.has_chance or width is not None else game.utility_range
        self.at["use_table"][0], self.at["pruning"][0], self.at["samples"][0] = table, PRUNING[pruning], samples or 0
        self.at["width"][0] = width or rules.max_actions
        self.table = Table(table_bits if table else 0)
        self.at["table_address"][0] = self.table.address
        self.at["table_mask"][0] = len(self.table.entries) - 1
        self.searches = 0
        self.warm_up(kernels.value)

    def begin(self, seed: int | None, all_values: bool) -> None:
        self.at["all_values"][0] = all_values
        self.at["seed"][0] = mix64(mix64((seed or 0) + SALT))
        self.searches += 1
        self.at["salt"][0] = mix64(mix64(self.searches + SALT))

    def standard_error(self) -> float | None:
        variance = float(self.at["found_variance"][0])
        return math.sqrt(variance) if variance >= 0 else None
