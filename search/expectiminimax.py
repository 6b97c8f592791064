"""EXPECTIMINIMAX as in the textbook: maximise, minimise, and average over the dice. No pruning: the oracle."""

from __future__ import annotations

from evallearn.errors import SearchError
from evallearn.protocols import CHANCE, Evaluator, Game, IsCutoff, State
from evallearn.search.common import cut_at_depth
from evallearn.search.deepening import Deepening, Line


class Expectiminimax(Deepening):
    """For games with or without chance of two players (zero-sum), or of one player alone.

    The Eval's values matter here, not only their order: they are averaged.
    """

    def __init__(self, game: Game, evaluator: Evaluator, *, is_cutoff: IsCutoff = cut_at_depth) -> None:
        if game.n_players > 2 or (game.n_players == 2 and not game.zero_sum):
            why = f"has {game.n_players} players" if game.n_players > 2 else "is not zero-sum"
            raise SearchError(
                f"expectiminimax needs one player, or two in a zero-sum game; {game.name} {why}: use max^n"
            )
        super().__init__(game, evaluator, is_cutoff=is_cutoff)

    def root_values(self, s: State, depth: int) -> list[tuple[float, Line]]:
        player = self.game.to_play(s)
        return [self.value(self.game.result(s, a), depth - 1, player) for a in self.game.actions(s)]

    def value(self, s: State, depth_left: int, player: int) -> tuple[float, Line]:
        """EXPECTIMINIMAX(s) to `player`, and the line that leads to it; a line ends where dice are rolled."""
        self.budget.spend()
        game = self.game
        if game.is_terminal(s):
            self.ended += 1
            return game.utility(s, player), ()
        if self.is_cutoff(s, depth_left):
            self.asked += 1
            return self.evaluator.evaluate(s, player), ()
        if game.to_play(s) == CHANCE:
            return sum(p * self.value(game.result(s, roll), depth_left, player)[0] for roll, p in game.chances(s)), ()
        choose = max if game.to_play(s) == player else min
        children = [(a, *self.value(game.result(s, a), depth_left - 1, player)) for a in game.actions(s)]
        action, value, line = choose(children, key=lambda child: child[1])
        return value, (action, *line)
