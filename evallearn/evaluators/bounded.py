"""An evaluator kept within what the rules still allow, so that alpha-beta can prune by it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evallearn.core.evaluator import EvalKernel, Evaluator
from evallearn.core.game import State
from evallearn.errors import EvaluatorError
from evallearn.evaluators.features import half_range
from evallearn.evaluators.squash import BOUND

TEMPLATE = Path(__file__).with_name("bounded_kernel.py")


class BoundedEval(Evaluator):
    """`below`, clipped into the bounds of the game (`Game.bounds`), which it offers to the search.

    A value within the bounds stays as it is, one outside was wrong. Minimax with this evaluator is the oracle of
    alpha-beta with it: what alpha-beta prunes by the bounds changes no value.
    """

    def __init__(self, below: Evaluator) -> None:
        """Raise EvaluatorError for a game that has no bounds, or that alpha-beta cannot play."""
        game = below.game
        if not game.has("bounds"):
            raise EvaluatorError(
                f"{game.name} knows no bounds: give it `bounds`, or use the {below.name} evaluator alone"
            )
        if game.n_players != 2 or not game.zero_sum or game.has_chance:
            raise EvaluatorError(
                f"bounds serve alpha-beta, which cannot play {game.name}: use the {below.name} evaluator alone"
            )
        self.game, self.below, self.name, self.unit = game, below, f"{below.name}+bounds", below.unit
        self.most = float(np.float32(BOUND * half_range(game)))
        """An evaluator stays strictly inside, also where the rules promise the win."""

    def bounds(self, s: State, player: int) -> tuple[float, float]:
        low, high = self.game.bounds(s, player)
        return min(low, self.most), max(high, -self.most)

    def evaluate(self, s: State, player: int) -> float:
        value = self.below.evaluate(s, player)
        if self.game.is_terminal(s):
            return value
        low, high = self.bounds(s, player)
        return min(max(value, low), high) + 0.0  # 0.0, never -0.0

    def evaluate_batch(self, states: Sequence[State], players: Sequence[int]) -> np.ndarray:
        if self.kernel() is None:
            return super().evaluate_batch(states, players)
        from evallearn.evaluators.batch import evaluate_many

        return evaluate_many(self, states, players)

    def explain(self, s: State, player: int) -> dict[str, float]:
        """Return the parts of the other evaluator, unless its value was clipped: they would not add up to this one."""
        clipped = self.evaluate(s, player) != self.below.evaluate(s, player)
        return {} if clipped else self.below.explain(s, player)

    def kernel(self) -> EvalKernel | None:
        below, rules = self.below.kernel(), self.game.rules
        if below is None or below.evaluate_mover is None or rules is None or rules.bounds_mover is None:
            return None
        from evallearn.compiled.specialise import specialise

        module = specialise(TEMPLATE, rules, below=below.evaluate_mover, MOST=self.most)
        return EvalKernel(
            params=below.params,
            evaluate_player=module.evaluate_player,
            evaluate_mover=module.evaluate_mover,
            bounds_mover=module.bounds_mover,
        )
