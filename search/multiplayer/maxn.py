"""MAX^N: every player maximises their own part of a vector of values (Luckhardt & Irani, 1986), on either backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import A, Game, S
from evallearn.core.search import IsCutoff, Limits, Search, SearchResult
from evallearn.errors import SearchError
from evallearn.search.common.backend import Backend, eval_kernel
from evallearn.search.common.requirements import cut_at_depth, require_own_eval
from evallearn.search.multiplayer.maxn_plain import TIES, PlainMaxN

Ties = Literal["first", "paranoid", "friendly"]


class MaxN(Search[S, A]):
    """A search for any number of players, any sum, with or without chance.

    A player who is indifferent among several actions may still decide over the others, so the rule is named:
    `ties="first"` takes the earliest action, "paranoid" of the equal ones that which is worst for the root player,
    "friendly" that which is best (and then the earliest). At the root itself ties are broken as in every search.

    Nothing is pruned, and the values of all root actions come with every result, as does the vector of the best one:
    what it is worth to every player (`SearchResult.values`). Shallow pruning (Korf, 1991) needs a
    bound on the sum of the values, and an evaluator of three players keeps none: each player's part is estimated on its
    own.
    """

    def __init__(
        self,
        game: Game[S, A],
        evaluator: Evaluator[S],
        *,
        ties: Ties = "first",
        alliance: Sequence[int] = (),
        is_cutoff: IsCutoff = cut_at_depth,
        backend: Backend = "auto",
    ) -> None:
        """alliance: players who maximise the sum of their values together, as if what they win were shared.

        To a player of the alliance the search's values are then that sum. is_cutoff(s, depth_left) says where the
        evaluator is asked; on the compiled backend Numba must understand it. backend: "auto" takes the compiled backend
        if both the game and the evaluator have one.
        """
        require_own_eval(game, evaluator)
        if ties not in TIES:
            raise SearchError(f"max^n knows no ties={ties!r}: give {', '.join(map(repr, TIES))}")
        known = set(range(game.n_players))
        if alliance and (len(set(alliance)) != len(alliance) or len(alliance) < 2 or not known.issuperset(alliance)):
            raise SearchError(
                f"alliance={tuple(alliance)!r} of {game.name}: give two or more different players of 0..{max(known)}"
            )
        self.game, self.evaluator, self.alliance = game, evaluator, tuple(sorted(alliance))
        kernel = eval_kernel(game, evaluator, backend, "max^n")
        self._search: PlainMaxN | CompiledMaxN
        if kernel is None:
            self._search = PlainMaxN(game, evaluator, ties=ties, alliance=self.alliance, is_cutoff=is_cutoff)
        else:
            from evallearn.search.multiplayer.maxn_compiled import CompiledMaxN

            self._search = CompiledMaxN(game, evaluator, kernel, ties=ties, alliance=self.alliance, is_cutoff=is_cutoff)
        self.backend: Backend = "python" if kernel is None else "compiled"

    def search(self, s: S, limits: Limits, *, seed: int | None = None, action_values: bool = False) -> SearchResult[A]:
        """Deepen until a limit strikes; ties go to the earlier action or, with a `seed`, to a random one."""
        found: SearchResult[A] = self._search.search(s, limits, seed=seed, action_values=action_values)
        return found
