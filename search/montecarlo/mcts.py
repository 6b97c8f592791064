"""Monte Carlo tree search: UCT with playouts or an evaluator at the leaves, for every game, on both backends."""

from __future__ import annotations

from typing import Literal

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import A, Game, S
from evallearn.core.search import Limits, Search, SearchResult
from evallearn.errors import SearchError
from evallearn.search.common.backend import Backend, eval_kernel
from evallearn.search.common.requirements import require_own_eval, require_two_player_zero_sum
from evallearn.search.montecarlo.mcts_plain import PlainMCTS, Settings, tree_plies
from evallearn.search.montecarlo.playouts import playout_plies, require_simulations

Leaf = Literal["playout", "eval"]
Scale = Literal["seen", "declared"]
EXPLORATION: dict[Leaf, float] = {"playout": 1.4, "eval": 0.3}
MAX_NODES = 1 << 23
"""Of the tree by default: 256 MB when it is full, enough for seconds of the fastest games."""
MOST_NODES = (1 << 31) - 1
"""They are numbered in 32 bits."""


class MCTS(Search[S, A]):
    """UCT (Kocsis & Szepesvári 2006): for any number of players, with or without chance, any sum.

    What it promises: `nodes` simulations and not one more (fewer only if the root is proven or time is over), and the
    same answer for the same seed on both backends; no seed means seed 0. The value is a mean of simulations, an
    estimate with a `standard_error` (as if they were independent), unless `exact` says that it is proven.

    - A move is chosen by UCB1, mean + exploration * range * sqrt(log(n of the parent) / n), to the player who makes
      it (max^n); the dice fall as likely as they do, and each outcome has its own node.
    - The answer is the most visited action; a proven win at once, a proven loss only if there is nothing else.
    - `depth` of the result is the deepest ply of the tree, `pv` its most visited line, `leaf_calls` the number of
      playouts, evaluators and finished games. A roll is a ply too.
    - Limits: nodes (simulations), seconds, or both. A depth beside them keeps the tree that shallow: below it there
      are only playouts. A search has at most 2**31 - 1 simulations.
    - Rules that look back (third occurrence) are obeyed along the game, the tree and the playout.
    """

    def __init__(
        self,
        game: Game[S, A],
        evaluator: Evaluator[S] | None = None,
        *,
        exploration: float | None = None,
        scale: Scale = "seen",
        leaf: Leaf | None = None,
        playout_depth: int | None = None,
        implicit_minimax: float = 0.0,
        solver: bool = True,
        max_nodes: int = MAX_NODES,
        backend: Backend = "auto",
    ) -> None:
        """Set what a search is to do in choosing moves, judging new positions and keeping its tree.

        exploration: of UCB1, for values on a scale of 0 to 1. By default 1.4, the textbook's square root of 2, and
        0.3 where an evaluator answers: at 3,000 simulations a move that took 86 of 100 points from 1.4 in Othello, 65
        in Connect Four.

        scale: what 0 and 1 are: the worst and the best outcome "seen" in this search, or the game's "declared"
        utility_range. The two are soon the same where games are won or lost; where a range is only a bound, as in 2048,
        all actions would look alike on the declared scale.

        leaf: what a new position is worth: "playout" plays at random to the end, or for `playout_depth` plies, after
        which the evaluator answers; "eval" asks the evaluator at once (the default if there is one). A playout longer
        than rules.max_plies (10,000 plies without rules) is cut: the evaluator answers, or the middle of the utility
        range.

        implicit_minimax: the share of the minimax of the evaluator's values in the tree, beside the mean, in choosing
        moves (Lanctot et al. 2014): 0 to 1, where above 0 each new node asks the evaluator about all its actions.

        solver: proves wins, losses and draws from finished games (Winands et al. 2008); in two-player zero-sum games
        without chance only, elsewhere it is off. `self.solver` tells.

        max_nodes: of the tree, 32 bytes each; when it is full the search goes on without new ones.
        """
        if evaluator is not None:
            require_own_eval(game, evaluator)
        self.game, self.evaluator = game, evaluator
        self.leaf: Leaf = leaf or ("playout" if evaluator is None else "eval")
        self.solver = solver and game.n_players == 2 and game.zero_sum and not game.has_chance
        if scale not in ("seen", "declared"):
            raise SearchError(f"scale={scale!r}: give 'seen' or 'declared'")
        self._check(exploration, playout_depth, implicit_minimax, max_nodes)
        settings = Settings(
            exploration=EXPLORATION[self.leaf] if exploration is None else exploration,
            first_range=game.utility_range if scale == "declared" else (float("inf"), float("-inf")),
            playout_plies=0 if self.leaf == "eval" else playout_plies(game, evaluator, playout_depth),
            implicit_minimax=implicit_minimax,
            solver=self.solver,
            max_nodes=max_nodes,
            tree_plies=tree_plies(game),
        )
        kernel = eval_kernel(game, evaluator, backend)
        self.backend: Backend = "python" if kernel is None else "compiled"
        self._search: PlainMCTS | CompiledMCTS
        if kernel is None:
            self._search = PlainMCTS(game, evaluator, settings)
        else:
            from evallearn.search.montecarlo.mcts_compiled import CompiledMCTS

            self._search = CompiledMCTS(game, evaluator, kernel, settings)

    def _check(
        self, exploration: object, playout_depth: int | None, implicit_minimax: object, max_nodes: object
    ) -> None:
        """Refuse what makes no sense."""
        if self.leaf not in ("playout", "eval"):
            raise SearchError(f"leaf={self.leaf!r}: give 'playout' or 'eval'")
        if self.leaf == "eval" and self.evaluator is None:
            raise SearchError("leaf='eval' needs an evaluator: give one, or use leaf='playout'")
        if self.leaf == "eval" and playout_depth is not None:
            raise SearchError(f"playout_depth={playout_depth!r} with leaf='eval', which plays none: use leaf='playout'")
        if exploration is not None and not (isinstance(exploration, (int, float)) and 0 <= exploration < float("inf")):
            raise SearchError(f"exploration={exploration!r}: give 0 or more, as 1.4")
        if not isinstance(implicit_minimax, (int, float)) or not 0 <= implicit_minimax <= 1:
            raise SearchError(f"implicit_minimax={implicit_minimax!r}: give a share of 0 to 1")
        if implicit_minimax and self.evaluator is None:
            raise SearchError(f"implicit_minimax={implicit_minimax} needs an evaluator: give one, or leave it at 0")
        if implicit_minimax:
            require_two_player_zero_sum(self.game, "implicit minimax")
        if isinstance(max_nodes, bool) or not isinstance(max_nodes, int) or not 1 <= max_nodes <= MOST_NODES:
            raise SearchError(f"max_nodes={max_nodes!r}: give the nodes of the tree, 1 to {MOST_NODES}")

    def search(self, s: S, limits: Limits, *, seed: int | None = None, action_values: bool = False) -> SearchResult[A]:
        """Simulate until a limit strikes or the value is proven. The `visits` always come with the result.

        So do the `action_values`, asked for or not, unless an action was never tried.
        """
        require_simulations(limits, "mcts")
        result: SearchResult[A] = self._search.search(s, limits, seed=seed)
        return result
