"""How two evaluators fare against each other one ply ahead, quickly: for a look now and then while something learns.

`play_match` plays fair matches between any agents; this plays thousands of games in a second, in one kernel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evallearn.arena.compiled_match import Chooser, WholeGames
from evallearn.compiled.one_ply import one_ply
from evallearn.core.evaluator import EvalKernel, Evaluator
from evallearn.core.rng import scramble
from evallearn.core.rules import Rules
from evallearn.errors import SpecError

LONGEST = 5000
"""Plies, rolls included; a longer game counts as even."""


@dataclass(frozen=True, slots=True)
class QuickMatch:
    """Points per game to the first of the two."""

    points: float
    standard_error: float
    games: int


def quick_match(a: Evaluator, b: Evaluator, *, pairs: int, seed: int = 1, opening_plies: int = 0) -> QuickMatch:
    """Play pairs of games with the same dice and opening, seats swapped.

    Both evaluators must see states of the same kind. The first `opening_plies` moves of a game are random.
    """
    if pairs < 2:
        raise SpecError(f"pairs={pairs!r} tell nothing of the error: give 2 or more")
    if a.game.n_players != 2:
        raise SpecError(f"a quick match has two players, {a.game.name} {a.game.n_players}: play a match (play_match)")
    game, rules, kernels = a.game, a.game.rules, (a.kernel(), b.kernel())
    if rules is None or kernels[0] is None or kernels[1] is None or b.game.rules.State is not rules.State:  # type: ignore[union-attr]  # a kernel has rules
        raise SpecError(
            f"{a.name} and {b.name} cannot meet: both must be evaluators of one game on the compiled backend"
        )
    games = WholeGames(game, chooser(rules, a, kernels[0]), chooser(rules, b, kernels[1]), longest=LONGEST)
    games.place(game.initial())
    games.row["seed"], games.row["opening_plies"] = scramble(seed), opening_plies
    points, play = np.zeros(pairs), games.kernels.play_pairs
    games.warm_up(play, lambda: play(games.box, *games.sides, games.history, points))
    return QuickMatch(float(points.mean()), float(points.std(ddof=1) / math.sqrt(pairs)), 2 * pairs)


def chooser(rules: Rules, evaluator: Evaluator, kernel: EvalKernel) -> Chooser:
    """Return who takes the action whose position the evaluator likes best."""
    side = (kernel.params.copy(), np.zeros(rules.max_actions, np.int32))
    return Chooser(evaluator.name, one_ply(rules, kernel).choose, side)
