"""The settings of searches that an analysis puts side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game
from evallearn.core.json_shapes import Json
from evallearn.core.search import Search
from evallearn.errors import SearchError, unknown
from evallearn.search import SEARCHES, named_search, usual_search


@dataclass(frozen=True)
class Way:
    """A search and its settings, under the name that people see."""

    title: str
    search: str
    settings: Json = field(default_factory=dict)

    def build(self, game: Game, evaluator: Evaluator) -> Search:
        return named_search(self.search, game, evaluator, **self.settings)


def way_of(game: Game, name: str | None) -> Way:
    """Return the search of that name, or the one that suits the game, with its usual settings."""
    usual, settings = usual_search(game)
    if name is None or name == usual:
        return Way(usual, usual, settings)
    if name not in SEARCHES:
        raise unknown("search", name, SEARCHES)
    return Way(name, name)


BARE = {"table": False, "killers": False, "history": False, "pvs": False, "aspiration": False, "noisy_first": False}
ORDERED = {**BARE, "table": True, "killers": True, "history": True}
CAPTURES_FIRST = Way("+ captures first", "alphabeta")
ALPHABETA = (
    Way("no pruning", "expectiminimax", {"pruning": "none", "table": False}),
    Way("alpha-beta", "alphabeta", BARE),
    Way("+ table", "alphabeta", {**BARE, "table": True}),
    Way("+ killers, history", "alphabeta", ORDERED),
    Way("+ PVS", "alphabeta", {**ORDERED, "pvs": True}),
    Way("+ aspiration", "alphabeta", {**ORDERED, "pvs": True, "aspiration": True}),
    CAPTURES_FIRST,
    Way("+ quiescence", "alphabeta", {"quiescence": 10}),
    Way("+ extensions", "alphabeta", {"quiescence": 10, "extensions": 4}),
    Way("+ null moves", "alphabeta", {"quiescence": 10, "extensions": 4, "null_move": True}),
    Way("late moves reduced", "alphabeta", {"late_move_reductions": True}),
    Way("two threads", "alphabeta", {"threads": 2}),
)
EXPECTIMINIMAX = (
    Way("expectiminimax", "expectiminimax", {"pruning": "none", "table": False}),
    Way("+ table", "expectiminimax", {"pruning": "none"}),
    Way("+ Star1", "expectiminimax", {"pruning": "star1"}),
    Way("Star2 (default)", "expectiminimax", {"pruning": "star2"}),
)
MANY_PLAYERS = (Way("max^n", "maxn"), Way("paranoid", "paranoid"), Way("best reply", "bestreply"))
SAMPLING = (Way("MCTS", "mcts"), Way("flat Monte Carlo", "flat"))


def ways_for(game: Game, evaluator: Evaluator) -> Iterator[tuple[Way, Search]]:
    """Yield the settings that suit the game, each with its search."""
    usual, _ = usual_search(game)
    family = {"alphabeta": ALPHABETA, "expectiminimax": EXPECTIMINIMAX, "maxn": MANY_PLAYERS}[usual]
    for way in (*family, *SAMPLING):
        if way == CAPTURES_FIRST and not game.has("noisy_actions"):
            continue
        try:
            search = way.build(game, evaluator)
        except SearchError:  # it cannot play this game
            continue
        yield way, search
