"""An evaluator that knows what the game knows: endgame tables and closed forms first, another evaluator elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from evallearn.core.evaluator import EvalKernel, Evaluator
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.rules import Endgames, KnownValues
from evallearn.errors import EvaluatorError
from evallearn.evaluators.features import half_range
from evallearn.evaluators.squash import BOUND

TEMPLATE = Path(__file__).with_name("solved_kernel.py")
KNOWN_TEMPLATE = Path(__file__).with_name("known_kernel.py")
STEP = 2.0**-20
"""What a step to the end costs, as a share of a win: so the nearest win is worth BOUND, and float32 tells all apart."""
MOST_STEPS = 1 << 12
"""Wins further away than this are all worth the same, 0.4 % less than a win."""
Solved = Callable[[State], Mapping[Action, float] | None]


class SolvedEval(Evaluator):
    """Any search consults it at the cutoff: exact where the game knows, `below` elsewhere.

    Where the game has endgames (`Game.endgames`), a win is worth a little less than a win, and less still the further
    away it is, so that a search makes headway and does not shuffle; a draw is exactly the middle. With dice the game
    looks values up (`KnownValues`), and says itself how exact they are. Otherwise the values of `solved` count (by
    default `Game.solved`; a `Solution.solved` fits too), kept strictly between loss and win; a roll is worth the mean
    of its outcomes. An evaluator sees no past: that a position was there before does not count.
    """

    def __init__(self, below: Evaluator, solved: Solved | None = None) -> None:
        """Raise EvaluatorError for a game that knows nothing, GameError where its table has yet to be made."""
        game: Game = getattr(below.game, "plain", below.game)
        if game.n_players > 2 or (game.n_players == 2 and not game.zero_sum):
            raise EvaluatorError(f"solved values need one player, or two in a zero-sum game; {game.name} is another")
        self.game, self.below, self.name, self.unit = below.game, below, f"{below.name}+solved", below.unit
        self._given = solved
        self.endgames = game.endgames() if solved is None else None
        if solved is None and self.endgames is None and not game.has("solved"):
            raise EvaluatorError(
                f"{game.name} knows no values for certain: give it `solved` or `endgames`, or pass Solution.solved"
            )
        self.solved: Solved = solved or game.solved
        self.middle, self.scale = sum(game.utility_range) / 2, half_range(game)

    def __getstate__(self) -> dict[str, object]:
        """Return the state without tables: they do not travel by pickle, a worker has them, too."""
        return {**self.__dict__, "endgames": None, "solved": self._given}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        if self._given is None:
            game: Game = getattr(self.game, "plain", self.game)
            self.endgames, self.solved = game.endgames(), game.solved

    def evaluate(self, s: State, player: int) -> float:
        if self.game.is_terminal(s):
            return self.game.utility(s, player)
        known = self.known(s)
        if known is None:
            return self.below.evaluate(s, player)
        return (known if player == 0 else -known) + 0.0  # 0.0, never -0.0

    def known(self, s: State) -> float | None:
        """Return what the unfinished position `s` is worth to player 0, strictly between loss and win.

        None: not known.
        """
        if isinstance(self.endgames, Endgames):
            steps = self.endgames.steps(s)
            return None if steps is None else self._from_steps(steps) * (1 if self.game.to_play(s) == 0 else -1)
        if self.endgames is None:
            value = self._expected(s)
        else:
            found = self.endgames.value(s)
            value = found if found is None or self.game.observer(s) == 0 else -found
        if value is None:
            return None
        return self.middle + min(max(value - self.middle, -BOUND * self.scale), BOUND * self.scale)

    def _from_steps(self, steps: int) -> float:
        """Return the value to the player to move, rounded to float32 as the kernel does."""
        if steps == 0:
            return 0.0
        value = float(np.float32(self.scale * (1.0 - STEP * min(abs(steps), MOST_STEPS))))
        return value if steps > 0 else -value

    def _expected(self, s: State) -> float | None:
        """Return the value by `solved`, to player 0; before a roll the mean of the outcomes, if all are known."""
        if self.game.is_terminal(s):
            return self.game.utility(s, 0)
        player = self.game.to_play(s)
        if player != CHANCE:
            values = self.solved(s)
            return None if values is None else max(values.values()) * (1 if player == 0 else -1)
        total = 0.0
        for outcome, p in self.game.chances(s):
            value = self._expected(self.game.result(s, outcome))
            if value is None:
                return None
            total += p * value
        return total

    def evaluate_batch(self, states: Sequence[State], players: Sequence[int]) -> np.ndarray:
        if not isinstance(self.endgames, Endgames) or self.kernel() is None:
            return super().evaluate_batch(states, players)
        from evallearn.evaluators.batch import evaluate_many

        return evaluate_many(self, states, players)

    def explain(self, s: State, player: int) -> dict[str, float]:
        """Return one part, `solved`, where the game knows; else the parts of the other evaluator."""
        known = None if self.game.is_terminal(s) else self.known(s)
        return self.below.explain(s, player) if known is None else {"solved": self.evaluate(s, player)}

    def kernel(self) -> EvalKernel | None:
        below, rules = self.below.kernel(), self.game.rules
        if self.endgames is None or rules is None or below is None:
            return None
        from evallearn.compiled.specialise import specialise

        params = with_field(below.params, "solved", self.endgames.memory.ctypes.data)
        if isinstance(self.endgames, KnownValues):
            known = specialise(
                KNOWN_TEMPLATE,
                rules,
                probe=self.endgames.probe,
                below=below.evaluate_player,
                MIDDLE=self.middle,
                MOST=BOUND * self.scale,
            )
            return EvalKernel(params=params, evaluate_player=known.evaluate_player)
        if below.evaluate_mover is None:
            return None
        module = specialise(TEMPLATE, rules, probe=self.endgames.probe, below=below.evaluate_mover, SCALE=self.scale)
        return EvalKernel(params=params, evaluate_player=module.evaluate_player, evaluate_mover=module.evaluate_mover)


def with_field(record: np.ndarray | np.record, name: str, number: int) -> np.ndarray:
    """Return a copy of the record with one word more.

    It is the first, for Numba takes a record that only goes on for the other.
    """
    kinds = dict(record.dtype.fields or {})
    larger = np.zeros(1, np.dtype([(name, np.uint64), *((k, kinds[k][0]) for k in kinds)], align=True))
    for k in kinds:
        larger[k] = record[k]
    larger[name] = number
    return larger
