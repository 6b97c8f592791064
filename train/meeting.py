"""How two Evals fare against each other one ply ahead, quickly: for a look now and then while something learns.

The arena plays fair matches between any agents; this plays thousands of games in a second, in one kernel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evallearn.core.evaluator import Evaluator
from evallearn.core.rng import scramble
from evallearn.errors import SpecError

TEMPLATE = Path(__file__).with_name("meeting_kernel.py")
DICE = Path(__file__).parent / "selfplay" / "dice_kernel.py"
LONGEST = 5000
"""Plies, rolls included; a longer game counts as even."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """Points per game to the first of the two."""

    points: float
    standard_error: float
    games: int


def meet(a: Evaluator, b: Evaluator, *, pairs: int, seed: int = 1, opening_plies: int = 0) -> Meeting:
    """Pairs of games with the same dice and opening, seats swapped. Both Evals must see states of the same kind."""
    from evallearn.compiled.hooks import bindings, utility_to_any
    from evallearn.compiled.specialise import announce, specialise
    from evallearn.train.draws import begin_game, uniform

    if pairs < 2:
        raise SpecError(f"pairs={pairs!r} tell nothing of the error: give 2 or more")
    game, rules, kernels = a.game, a.game.rules, (a.kernel(), b.kernel())
    if rules is None or kernels[0] is None or kernels[1] is None or b.game.rules.State is not rules.State:  # type: ignore[union-attr]  # a kernel has rules
        raise SpecError(f"{a.name} and {b.name} cannot meet: both must be Evals of one game on the compiled floor")
    module: Any = specialise(
        TEMPLATE,
        **bindings(rules, "State", "actions", "result", "is_terminal", "to_play"),
        utility_player=utility_to_any(rules),
        evaluate_a=kernels[0].evaluate_player,
        evaluate_b=kernels[1].evaluate_player,
        rolled=specialise(DICE, **bindings(rules, "chances", "result"), uniform=uniform).rolled,
        uniform=uniform,
        begin_game=begin_game,
        N_WORDS=rules.n_words,
        HAS_CHANCE=game.has_chance,
    )
    announce(f"meetings of {game.name} Evals", module.meet)
    rolls = max(1, rules.max_outcomes)
    fields: list[Any] = [
        ("words", "u8", (rules.n_words,)), ("counter", "u8"), ("seed", "u8"), ("opening", "i8"), ("longest", "i8"),
        ("actions", "i4", (rules.max_actions,)), ("outcomes", "i4", (rolls,)), ("odds", "f8", (rolls,)),
    ]  # fmt: skip
    box = np.zeros(1, np.dtype(fields, align=True))
    box["words"], box["seed"] = game.encode(game.initial()), scramble(seed)
    box["opening"], box["longest"] = opening_plies, LONGEST
    points = np.zeros(pairs)
    module.meet(box, kernels[0].params.copy(), kernels[1].params.copy(), points)
    return Meeting(float(points.mean()), float(points.std(ddof=1) / math.sqrt(pairs)), 2 * pairs)
