"""The paranoid search: all others play together against the player to move (Sturtevant & Korf, 2000)."""

from __future__ import annotations

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import A, Game, S
from evallearn.core.search import IsCutoff
from evallearn.search.common.backend import Backend, eval_kernel
from evallearn.search.common.requirements import cut_at_depth
from evallearn.search.multiplayer.two_sided import TwoSidedSearch


class Paranoid(TwoSidedSearch[S, A]):
    """For any number of players, any sum, with or without chance.

    What it promises: the value is what the root player gets at least, whatever the others do (as far as the evaluator
    can be believed where the search stops). That is a game of two sides, so alpha-beta prunes it, which max^n does not
    allow; the price is pessimism: the others have aims of their own, and seldom unite. With two players in a zero-sum
    game it is minimax.
    """

    def __init__(
        self,
        game: Game[S, A],
        evaluator: Evaluator[S],
        *,
        pruning: bool = True,
        is_cutoff: IsCutoff = cut_at_depth,
        backend: Backend = "auto",
    ) -> None:
        """pruning=False looks at every line: the same values and actions, to compare with."""
        super().__init__(game, evaluator, pruning=pruning, is_cutoff=is_cutoff)
        kernel = eval_kernel(game, evaluator, backend, "the paranoid search")
        if kernel is None:
            return
        from evallearn.search.expectiminimax.compiled import CompiledExpectiminimax

        # Its kernel knows the root player and the rest, however many. No table: a key may be that of another mover.
        search = CompiledExpectiminimax(
            game,
            evaluator,
            kernel,
            pruning="star2" if pruning else "none",
            table=False,
            samples=None,
            width=None,
            is_cutoff=is_cutoff,
            table_bits=0,
        )
        self.searches, self.backend = [search] * game.n_players, "compiled"
