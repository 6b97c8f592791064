"""Best-reply search: of all opponents only one moves freely before it is the root player's turn again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, A, Action, Game, S, State
from evallearn.core.search import IsCutoff, SearchResult
from evallearn.errors import SearchError
from evallearn.search.common.backend import Backend
from evallearn.search.common.requirements import cut_at_depth
from evallearn.search.multiplayer.two_sided import ME, TwoSided, TwoSidedSearch

Usual = Callable[[State], Action]
"""usual(s) -> the action that is expected of the player to move in `s`."""
REMEMBERED = 1 << 16
"""Positions whose usual action is kept."""


class Replying(NamedTuple):
    """A position, and whether an opponent has made the reply since the root player's last move."""

    state: State
    replied: bool = False


class OneReply(TwoSided):
    """Me against the rest, where between two of my moves at most one of the rest does anything unusual."""

    def __init__(self, game: Game, me: int, usual: Usual) -> None:
        super().__init__(game, me)
        self.usual = usual

    def inside(self, s: Replying) -> State:
        return s.state

    def initial(self) -> Replying:
        return Replying(self.inner.initial())

    def from_text(self, text: str) -> Replying:
        return Replying(self.inner.from_text(text))

    def actions(self, s: Replying) -> Sequence[Action]:
        if s.replied and not self.is_terminal(s) and self.inner.to_play(s.state) not in (self.me, CHANCE):
            return (self.usual(s.state),)
        return self.inner.actions(s.state)

    def result(self, s: Replying, a: Action) -> Replying:
        after = self.inner.result(s.state, a)
        if self.to_play(s) == ME:
            return Replying(after)
        unusual = self.to_play(s) != CHANCE and a != self.usual(s.state)
        return Replying(after, s.replied or unusual)


class BestReply(TwoSidedSearch[S, A]):
    """For any number of players, any sum, with or without chance: the strongest reply of any one opponent counts.

    It is BRS+ (Esser, Gras, Winands, Schadd & Lanctot, 2013), not the first best-reply search (Schadd & Winands, 2011):
    there the other opponents pass, which few games allow, and which leads to positions that cannot arise. Here they
    make their usual move, so that every line is legal, whatever the game. With two players who move in turn it is
    minimax; with more it lies between trust and the paranoid search: the rest has fewer choices than there, so the
    value is never lower at the same depth, and there are fewer lines to look at. With more than two players it proves
    nothing: the opponents may do something unusual one after the other.
    """

    def __init__(
        self,
        game: Game[S, A],
        evaluator: Evaluator[S],
        *,
        usual: Usual | None = None,
        pruning: bool = True,
        is_cutoff: IsCutoff = cut_at_depth,
        backend: Backend = "auto",
    ) -> None:
        """usual(s): what an opponent plays who does not reply; by default what its evaluator likes best one move later.

        A ply is any player's move, as in the other searches. It has a Python backend only.
        """
        if backend == "compiled":
            raise SearchError(
                "the best-reply search has no compiled backend: use backend='auto', or the paranoid search"
            )
        self.usual = lru_cache(REMEMBERED)(usual or self.greedy)
        super().__init__(game, evaluator, pruning=pruning, is_cutoff=is_cutoff)

    def greedy(self, s: S) -> Action:
        """Return the action after which the evaluator promises most to its player; of equal ones the first."""
        player = self.game.to_play(s)
        return max(self.game.actions(s), key=lambda a: self.evaluator.evaluate(self.game.result(s, a), player))

    def told(self, found: SearchResult, me: int) -> SearchResult:
        found = super().told(found, me)
        return replace(found, exact=found.exact and self.game.n_players <= 2)

    def view(self, me: int) -> OneReply:
        return OneReply(self.game, me, self.usual)

    def root(self, s: S) -> Replying:
        return Replying(s)
