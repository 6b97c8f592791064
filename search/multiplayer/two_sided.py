"""A game of many players as one player sees it who trusts nobody: me against the rest, two players and zero-sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, A, Action, Game, S, State
from evallearn.core.search import IsCutoff, Limits, Search, SearchResult
from evallearn.errors import Interrupted
from evallearn.search.alphabeta.search import AlphaBeta
from evallearn.search.common.backend import Backend
from evallearn.search.common.requirements import cut_at_depth, require_decision, require_own_eval, values_to_all
from evallearn.search.expectiminimax.plain import PlainExpectiminimax
from evallearn.search.expectiminimax.search import Expectiminimax

if TYPE_CHECKING:
    from evallearn.search.expectiminimax.compiled import CompiledExpectiminimax

ME, THE_REST = 0, 1


class TwoSided(Game):
    """`game` with the players `me` and the rest: the rest gets what `me` loses."""

    name = "two_sided"  # replaced by the game's own in __init__

    def __init__(self, game: Game, me: int) -> None:
        self.inner, self.me = game, me
        self.name, self.has_chance, self.utility_range = game.name, game.has_chance, game.utility_range  # type: ignore[misc]  # of this instance

    def inside(self, s: State) -> State:
        """Return the state of the game itself."""
        return s

    def initial(self) -> State:
        return self.inner.initial()

    def to_play(self, s: State) -> int:
        player = self.inner.to_play(self.inside(s))
        return CHANCE if player == CHANCE else ME if player == self.me else THE_REST

    def actions(self, s: State) -> Sequence[Action]:
        return self.inner.actions(self.inside(s))

    def result(self, s: State, a: Action) -> State:
        return self.inner.result(self.inside(s), a)

    def is_terminal(self, s: State) -> bool:
        return self.inner.is_terminal(self.inside(s))

    def utility(self, s: State, player: int) -> float:
        value = self.inner.utility(self.inside(s), self.me)
        return value if player == ME else -value

    def chances(self, s: State) -> Sequence[tuple[Action, float]]:
        return self.inner.chances(self.inside(s))

    def to_text(self, s: State) -> str:
        return self.inner.to_text(self.inside(s))

    def from_text(self, text: str) -> State:
        return self.inner.from_text(text)


class TwoSidedEval(Evaluator):
    """What an evaluator says to `me`, and the opposite to the rest."""

    game: TwoSided

    def __init__(self, game: TwoSided, evaluator: Evaluator) -> None:
        self.game, self.evaluator, self.name = game, evaluator, evaluator.name

    def evaluate(self, s: State, player: int) -> float:
        value = self.evaluator.evaluate(self.game.inside(s), self.game.me)
        return value if player == ME else -value


class TwoSidedSearch(Search[S, A]):
    """Alpha-beta over a two-sided view of the game, a view for each player who may be the one to move at the root.

    Where dice are rolled it is expectiminimax. With pruning=False every line is looked at, which gives the same values.
    This is the Python backend; made from a `CompiledGame` it runs on compiled rules all the same.
    """

    def __init__(
        self, game: Game[S, A], evaluator: Evaluator[S], *, pruning: bool = True, is_cutoff: IsCutoff = cut_at_depth
    ) -> None:
        require_own_eval(game, evaluator)
        self.game, self.evaluator, self.pruning = game, evaluator, pruning
        self.backend: Backend = "python"

        def cut(s: State, depth_left: int) -> bool:
            return is_cutoff(self.views[0].inside(s), depth_left)

        self.views = [self.view(me) for me in range(game.n_players)]
        self.searches: list[Search | PlainExpectiminimax | CompiledExpectiminimax] = [
            self._search(view, cut_at_depth if is_cutoff is cut_at_depth else cut) for view in self.views
        ]

    def view(self, me: int) -> TwoSided:
        """Return the game as player `me` sees it."""
        return TwoSided(self.game, me)

    def _search(self, view: TwoSided, is_cutoff: IsCutoff) -> Search | PlainExpectiminimax:
        evaluator = TwoSidedEval(view, self.evaluator)
        if not self.pruning:
            return PlainExpectiminimax(view, evaluator, is_cutoff=is_cutoff)
        kind = Expectiminimax if self.game.has_chance else AlphaBeta
        return kind(view, evaluator, is_cutoff=is_cutoff, backend="python")

    def root(self, s: S) -> State:
        """Return the state of the view in which the search begins."""
        return s

    def search(self, s: S, limits: Limits, *, seed: int | None = None, action_values: bool = False) -> SearchResult[A]:
        """Deepen until a limit strikes; ties go to the earlier action or, with a `seed`, to a random one."""
        require_decision(self.game, s)
        me = self.game.to_play(s)
        try:
            found: SearchResult[A] = self.searches[me].search(
                self.root(s), limits, seed=seed, action_values=action_values
            )
        except Interrupted as stopped:
            raise Interrupted(self.told(stopped.result, me)) from None
        return self.told(found, me)

    def told(self, found: SearchResult, me: int) -> SearchResult:
        """Return the result in terms of the game itself."""
        return replace(found, player=me, values=values_to_all(self.game, me, found.value))
