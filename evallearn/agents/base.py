"""What an agent is, and those that need nothing but this package: random ones, and searches."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Action, Game, State
from evallearn.core.json_shapes import Json
from evallearn.core.search import Limits, Search, SearchResult
from evallearn.errors import SearchError
from evallearn.search import MONTE_CARLO, named_search, require_limits, usual_search
from evallearn.search.common.requirements import require_own_eval

DEFAULT_LIMITS = Limits(depth=4)
DEFAULT_SIMULATIONS = Limits(nodes=1000)
"""Of a Monte Carlo search, for which a depth is no limit."""


def default_limits(game: Game, search: str | None = None) -> Limits:
    """Return limits that take well under a second: only alpha-beta goes deep quickly."""
    if search in MONTE_CARLO:
        return DEFAULT_SIMULATIONS
    if game.has_chance:
        return Limits(depth=1)
    return DEFAULT_LIMITS if game.n_players == 2 else Limits(depth=3)


class Agent(ABC):
    """Someone who chooses. Agents can be pickled: a worker process builds its own kernels, starts its own engines.

    Whoever plays games with an agent that `follows` calls `begin` before the first move and `played` after each, the
    opponents' moves and the rolls too; the others need no such calls, for every microsecond of a ply counts.
    """

    name: str
    game: Game
    follows: ClassVar[bool] = False
    """True if it keeps a board of its own, and must be informed of what happens on ours."""

    def prepare(self) -> None:  # noqa: B027  # most agents need nothing
        """Compile, fetch or start whatever the first move needs: before a clock runs or workers start."""

    def begin(self, opening: Sequence[Action]) -> None:  # noqa: B027  # most agents need nothing
        """Begin a new game; `opening` are the actions (and rolls) that were already played from game.initial()."""

    def played(self, s: State, a: Action) -> None:  # noqa: B027  # most agents need nothing
        """Take note that `a` was played in `s`, by anybody, dice included."""

    def built(self) -> Search | None:
        """Return the search that chooses, if there is one."""
        return None

    def close(self) -> None:  # noqa: B027  # most agents need nothing
        """End what was started, such as a process. The agent can still choose: it then starts afresh."""

    @abstractmethod
    def choose(self, s: State, seed: int) -> SearchResult:
        """Choose a legal action in `s`. The same state and seed give the same answer (unless time is the limit)."""


@dataclass
class RandomAgent(Agent):
    """Every legal action is equally likely."""

    game: Game
    name: str = "random"

    def choose(self, s: State, seed: int) -> SearchResult:
        actions = self.game.actions(s)
        action = actions[random.Random(seed).randrange(len(actions))]
        return SearchResult(action, 0.0, self.game.to_play(s), 0, 1, (action,), False, 0.0)


@dataclass
class SearchAgent(Agent):
    """A search with an evaluator: the one that suits the game, or the one that is named."""

    game: Game
    evaluator: Evaluator
    limits: Limits = DEFAULT_LIMITS
    random_ties: bool = False
    """Choose at random among equally good actions instead of the earliest: for self-play."""
    name: str = ""
    search: str | None = None
    """A name in SEARCHES; None is what suits the game."""
    settings: Json = field(default_factory=dict)
    """Options of the search. Where it is the one that suits the game, they are added to the game's own settings."""
    _search: Search | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_own_eval(self.game, self.evaluator)
        if not isinstance(self.limits, Limits):
            raise SearchError(f"limits={self.limits!r}: give Limits(depth=4), or nodes, or seconds")
        self.name = self.name or f"{self.evaluator.name}@{self.limits}"
        if self.search is not None:
            require_limits(self.search, self.limits)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_search": None}  # kernels stay where they were compiled

    def prepare(self) -> None:
        self.built()

    def built(self) -> Search:
        """Return its search, built on first use."""
        if self._search is None:
            self._search = _build(self.game, self.evaluator, self.search, self.settings)
        return self._search

    def choose(self, s: State, seed: int) -> SearchResult:
        return self.built().search(s, self.limits, seed=seed if self.draws else None)

    @property
    def draws(self) -> bool:
        """True if its answers are drawn: then each move draws anew, or all of them would share their luck."""
        return self.random_ties or self.search in MONTE_CARLO or "samples" in self.settings


@dataclass
class PlayoutAgent(Agent):
    """A Monte Carlo search without an evaluator: it plays at random to the end, again and again."""

    game: Game
    search: str = "mcts"
    limits: Limits = DEFAULT_SIMULATIONS
    settings: Json = field(default_factory=dict)
    name: str = ""
    _search: Search | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.name = self.name or f"{self.search}@{self.limits}"
        require_limits(self.search, self.limits)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_search": None}

    def prepare(self) -> None:
        self.built()

    def built(self) -> Search:
        if self._search is None:
            self._search = _build(self.game, None, self.search, self.settings)
        return self._search

    def choose(self, s: State, seed: int) -> SearchResult:
        return self.built().search(s, self.limits, seed=seed)


def _build(game: Game, evaluator: Evaluator | None, name: str | None, settings: Json) -> Search:
    """Build the named search, or the one that suits the game, which has the game's settings even where it is named."""
    usual, of_game = usual_search(game)
    own = of_game if name in (None, usual) else {}
    return named_search(name or usual, game, evaluator, **{**own, **settings})
