"""What a roll of the dice is worth, and how lucky it was: for games of two players, zero-sum, with dice.

The luck of a roll is its value less the mean over all rolls, by whatever evaluator. Given the position its mean is
zero, so that the luck of a whole game may be taken off its result without a bias, whoever judges and however badly: a
better judge takes more of the noise away.
"""

from __future__ import annotations

from pathlib import Path

from evallearn.compiled.one_ply import one_ply
from evallearn.compiled.records import LuckContext
from evallearn.compiled.specialise import compiling, specialise
from evallearn.core.evaluator import EvalKernel, Evaluator
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.errors import SearchError
from evallearn.search.common.backend import Backend, eval_kernel

TEMPLATE = Path(__file__).with_name("luck_kernel.py")


class Rolls:
    """Judges every roll of a position by the best move after it, one ply deep."""

    def __init__(self, game: Game, evaluator: Evaluator, backend: Backend = "auto") -> None:
        if not game.has_chance or game.n_players != 2 or not game.zero_sum:
            raise SearchError(f"luck is measured in two-player zero-sum games with dice; {game.name} is none")
        self.game, self.evaluator = game, evaluator
        kernel = eval_kernel(game, evaluator, backend)
        self.compiled = None if kernel is None else _CompiledRolls(game, evaluator, kernel)
        if backend == "auto" and hasattr(evaluator, "roll_values"):  # an engine that judges a whole roll at once
            self.values = evaluator.roll_values  # type: ignore[method-assign]  # the evaluator's own is quicker

    def values(self, s: State) -> dict[Action, tuple[float, float]]:
        """{outcome: (probability, value to player 0)} of the roll that is due in `s`."""
        if self.compiled:
            return self.compiled.values(s)
        return {o: (p, self._best_move(self.game.result(s, o))) for o, p in self.game.chances(s)}

    def luck(self, s: State, outcome: Action) -> float:
        """How much more than the mean roll `outcome` was worth to player 0."""
        values = self.values(s)
        return values[outcome][1] - sum(p * v for p, v in values.values())

    def _best_move(self, s: State) -> float:
        game, mover = self.game, self.game.to_play(s)
        if game.is_terminal(s) or mover == CHANCE:
            return self._worth(s, 0)
        best = max(self._worth(game.result(s, a), mover) for a in game.actions(s))
        return best if mover == 0 else -best

    def _worth(self, s: State, player: int) -> float:
        return self.game.utility(s, player) if self.game.is_terminal(s) else self.evaluator.evaluate(s, player)


def _first_roll(game: Game) -> State:
    """Return a position in which dice are due."""
    s = game.initial()
    while game.to_play(s) != CHANCE:
        s = game.result(s, game.actions(s)[0])
    return s


class _CompiledRolls:
    """The same by the kernel beside it."""

    def __init__(self, game: Game, evaluator: Evaluator, kernel: EvalKernel) -> None:
        rules = game.rules
        assert rules is not None
        self.game, self.params = game, kernel.params.copy()
        self.kernels = specialise(TEMPLATE, rules, one_ply(rules, kernel))
        self.box = LuckContext.one(words=rules.n_words, width=rules.max_actions, rolls=rules.max_outcomes)
        with compiling(f"the luck of {game.name} with the {evaluator.name} evaluator", self.kernels.judge):
            self.values(_first_roll(game))

    def values(self, s: State) -> dict[Action, tuple[float, float]]:
        self.box["words"][0] = self.game.encode(s)
        n = self.kernels.judge(self.box, self.params)
        row = self.box[0]
        found = zip(row["odds"][:n].tolist(), row["values"][:n].tolist(), strict=True)
        return dict(zip(row["outcomes"][:n].tolist(), found, strict=True))
