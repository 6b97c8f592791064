"""A position with dice is played to the end, an evaluator choosing every move and judging the luck of every roll.

Not `montecarlo`, whose playouts move at random. The luck of a roll is what the evaluator thinks of the position after
the best move, less the mean over all rolls. `evallearn.arena.rollout` makes a value of many such games.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evallearn.compiled.one_ply import one_ply
from evallearn.compiled.records import RolloutContext
from evallearn.compiled.specialise import compiling, specialise
from evallearn.core.evaluator import EvalKernel, Evaluator
from evallearn.core.game import CHANCE, Game, State
from evallearn.core.rng import SplitMix64, scramble
from evallearn.core.settings import whole
from evallearn.errors import SearchError
from evallearn.search.common.backend import Backend, eval_kernel
from evallearn.search.common.deepening_compiled import NO_LIMIT
from evallearn.search.common.requirements import require_own_eval, require_unfinished
from evallearn.search.montecarlo.playouts import longest_playout

MOVES = whole(1, 10**6)
"""After which a game may be cut."""
TEMPLATE = Path(__file__).with_name("rollout_kernel.py")


class Rolled(NamedTuple):
    """One game of a rollout, to the player who asks."""

    value: float
    """What came out: the utility, or what the evaluator thinks where it was cut."""
    luck: float
    """What the dice gave."""
    cut: bool


@dataclass
class DiceRollout:
    """Plays from `s`. It travels by pickle, and builds its kernel where it arrives: the job of a worker."""

    game: Game
    evaluator: Evaluator
    s: State
    player: int
    seed: int = 1
    truncate: int | None = None
    """Moves, of all players, after which a game is cut; None: never."""
    backend: Backend = "auto"
    _kernel: _Plain | _Compiled | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        game = self.game
        if not game.has_chance:
            raise SearchError(f"a rollout needs dice, and {game.name} has none: use a search")
        require_own_eval(game, self.evaluator)
        require_unfinished(game, self.s)
        if self.truncate is not None and self.truncate not in MOVES:
            raise SearchError(f"truncate={self.truncate!r}: give {MOVES}, or None")
        if self.player not in range(game.n_players):
            raise SearchError(f"player={self.player!r}: {game.name} has the players 0 to {game.n_players - 1}")

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_kernel": None}

    def __call__(self, numbers: range) -> list[Rolled]:
        """Play the games of these numbers.

        Each has dice of its own, whoever plays it and when.
        """
        if self._kernel is None:
            kernel = eval_kernel(self.game, self.evaluator, self.backend, forgetful="a rollout")
            self._kernel = _Plain(self) if kernel is None else _Compiled(self, kernel)
        return [self._kernel.play(scramble(scramble(self.seed) + n)) for n in numbers]


class _Plain:
    """The oracle of the kernel."""

    def __init__(self, job: DiceRollout) -> None:
        self.job, self.game, self.evaluator = job, job.game, job.evaluator

    def play(self, seed: int) -> Rolled:
        game, player, s, dice, luck = self.game, self.job.player, self.job.s, SplitMix64(seed), 0.0
        moves, plies = self.job.truncate or NO_LIMIT, longest_playout(game)
        while not game.is_terminal(s):
            if moves <= 0 or plies <= 0:
                return Rolled(self._worth(s, player), luck, True)
            plies -= 1
            if game.to_play(s) != CHANCE:
                s = self._best_move(s)
                moves -= 1
                continue
            chances = game.chances(s)
            chosen, mean = dice.index(chances), 0.0
            rolled = [game.result(s, outcome) for outcome, _ in chances]
            after = [self._best_move(t) if self._is_choice(t) else t for t in rolled]
            values = [self._worth(u, player) for u in after]
            for (_, p), value in zip(chances, values, strict=True):  # not sum(): it rounds in its own way
                mean += p * value
            luck += values[chosen] - mean
            moves -= self._is_choice(rolled[chosen])
            s = after[chosen]
        return Rolled(self._worth(s, player), luck, False)

    def _best_move(self, s: State) -> State:
        after, mover = [self.game.result(s, a) for a in self.game.actions(s)], self.game.to_play(s)
        return max(after, key=lambda t: self._worth(t, mover))

    def _is_choice(self, s: State) -> bool:
        return not self.game.is_terminal(s) and self.game.to_play(s) != CHANCE

    def _worth(self, s: State, player: int) -> float:
        return self.game.utility(s, player) if self.game.is_terminal(s) else self.evaluator.evaluate(s, player)


class _Compiled:
    """The same by the kernel beside it."""

    def __init__(self, job: DiceRollout, kernel: EvalKernel) -> None:
        game, rules = job.game, job.game.rules
        assert rules is not None
        self.params, self.player = kernel.params.copy(), job.player
        self.kernels = specialise(TEMPLATE, rules, one_ply(rules, kernel))
        self.box = RolloutContext.one(words=rules.n_words, width=rules.max_actions, rolls=rules.max_outcomes)
        self.box["words"][0] = game.encode(job.s)
        self.box["moves"], self.box["plies"] = job.truncate or NO_LIMIT, longest_playout(game)
        with compiling(f"rollouts of {game.name} with the {job.evaluator.name} evaluator", self.kernels.play):
            self.play(0)

    def play(self, seed: int) -> Rolled:
        self.kernels.play(self.box, self.params, self.player, np.uint64(SplitMix64(seed).state))
        row = self.box[0]
        return Rolled(float(row["value"]) + 0.0, float(row["luck"]), bool(row["cut"]))
