"""The analysis of a position: the best actions, what they are worth, the line to expect, what other settings find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from math import isfinite

from evallearn.agents import default_limits
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Game, State
from evallearn.core.json_shapes import Json, JsonDict
from evallearn.core.search import Limits, Search, SearchResult
from evallearn.core.trust import FULL_TRUST
from evallearn.errors import Interrupted, SearchError, SpecError
from evallearn.play.seats import default_agent, make_evaluator
from evallearn.play.ways import Way, way_of, ways_for
from evallearn.search import MONTE_CARLO, Ending, ending, require_limits

PATIENCE = 10.0
"""Seconds for each setting that is compared, unless a time was given: some prune nothing."""
LEAST = 1.0
"""Seconds for a Monte Carlo search that is compared, if only a depth was given."""


@dataclass(frozen=True)
class ActionValue:
    """A root action, in the game's notation."""

    action: str
    value: float | None
    """None where no simulation went."""
    solved: float | None
    """Its exact value, where the game knows it."""
    simulations: int | None
    """Of a Monte Carlo search."""


@dataclass(frozen=True)
class Answer:
    """What one search says of a position, in the game's notation; values are to the player to move."""

    setting: str
    """The search and its options, as people see them."""
    search: str
    settings: Json
    action: str
    value: float
    standard_error: float | None
    values: tuple[float, ...] | None
    exact: bool
    """True if the value is proven."""
    plies_to_end: int | None
    depth: int
    value_depth: int | None
    nodes: int
    leaf_calls: int
    seconds: float
    line: tuple[str, ...]
    actions: tuple[ActionValue, ...]
    """From the best to the worst."""


@dataclass(frozen=True)
class Analysis:
    """What is known of a position."""

    game: str
    position: str
    player: int
    evaluator: str
    limits: str
    answer: Answer
    comparison: tuple[Answer, ...] | None
    """What every setting that suits the game says, where that was asked for."""
    stopped: bool
    """True after Ctrl-C: it is the best so far."""

    def to_json(self) -> JsonDict:
        """Return plain JSON."""
        names = {"evaluator": "eval", "answer": "analysis"}
        told = {names.get(k, k): v for k, v in asdict(self).items()}
        if self.comparison is None:
            del told["comparison"]
        for row in told.get("comparison", ()):
            del row["actions"]
        return told


def analyse(
    game: Game,
    position: State | str | None = None,
    evaluator: Evaluator | None = None,
    limits: Limits | None = None,
    *,
    search: str | None = None,
    compare: bool = False,
    seed: int = 1,
    thinking: Callable[[], AbstractContextManager[object]] = nullcontext,
    on_refused: Callable[[str], None] = lambda text: None,
) -> Analysis:
    """Return the best actions of a position, what they are worth, and the line that is expected.

    Parameters
    ----------
    position
        A state, or a text in the game's notation; None is the start.
    evaluator
        By default the game's last heuristic.
    limits
        By default a depth that suits the game.
    search
        A name in SEARCHES; None is what suits the game.
    compare
        True asks every search and setting that suits the game: with the same limits, but no more than 10 seconds
        unless `limits` allow them.
    seed
        Of what is drawn at random.
    thinking
        A context in which each search runs, such as a sign for people that they must wait.
    on_refused
        Is told of each setting that cannot be compared.

    Raises
    ------
    EvallearnError
        Nothing is to be decided in this position, or the search cannot play the game or keep the limits.
    """
    s = game.initial() if position is None else game.from_text(position) if isinstance(position, str) else position
    require_decision(game, s)
    way = way_of(game, search)
    limits = limits or default_limits(game, way.search)
    require_limits(way.search, limits)
    evaluator = evaluator or make_evaluator(default_agent(game), game, trust=FULL_TRUST)
    task = _Task(game, s, evaluator, limits, seed, thinking)
    first = task.answer(way, way.build(game, evaluator), limits, all_values=True)
    others = None
    if compare and not task.stopped:
        others = tuple(task.compare(first.seconds, on_refused))
    told = (game.name, game.to_text(s), game.to_play(s), evaluator.name, str(limits))
    return Analysis(*told, first, others, task.stopped)


def require_decision(game: Game, s: State) -> None:
    """Refuse a position in which no player is to move. Raises SpecError."""
    if game.is_terminal(s):
        raise SpecError(f"the game is over in {game.name} position {game.to_text(s)!r}: there is nothing to analyse")
    if game.to_play(s) != CHANCE:
        return
    dice = [game.action_to_text(s, o) for o, _ in game.chances(s)]
    after = s
    while game.to_play(after) == CHANCE:
        after = game.result(after, game.chances(after)[0][0])
    roll = "name two dice with --roll D D, or " if all(len(d) == 2 and d.isdigit() for d in dice) else ""
    raise SpecError(
        f"{game.name} position {game.to_text(s)!r} waits for chance: {roll}give a position after it, such as "
        f"{game.to_text(after)!r}"
    )


class _Task:
    """A position and what to think with."""

    def __init__(
        self,
        game: Game,
        s: State,
        evaluator: Evaluator,
        limits: Limits,
        seed: int,
        thinking: Callable[[], AbstractContextManager[object]],
    ) -> None:
        self.game, self.s, self.evaluator, self.limits, self.seed = game, s, evaluator, limits, seed
        self.thinking, self.stopped = thinking, False

    def answer(self, way: Way, search: Search, limits: Limits, *, all_values: bool = False) -> Answer:
        """Return what this search says; after Ctrl-C the best so far."""
        seed = self.seed if way.search in MONTE_CARLO else None
        try:
            with self.thinking():
                found = search.search(self.s, limits, seed=seed, action_values=all_values)
        except Interrupted as interrupted:
            self.stopped, found = True, interrupted.result
        return self.told(way, found, self.ending(search, found))

    def ending(self, search: Search, found: SearchResult) -> Ending:
        """Return what is known of the end that was found; after Ctrl-C nothing more is searched."""
        try:
            if not self.stopped:
                with self.thinking():
                    return ending(self.game, search, self.s, found)
        except KeyboardInterrupt:
            self.stopped = True
        return Ending(found.exact)

    def told(self, way: Way, found: SearchResult, end: Ending) -> Answer:
        """Return the result in the game's notation."""
        game, s, solved = self.game, self.s, self.game.solved(self.s)
        values, visits = found.action_values or {found.action: found.value}, found.visits or {}
        best_first = sorted(values, key=lambda a: (a != found.action, -visits.get(a, 0), -values[a]))
        return Answer(
            setting=way.title,
            search=way.search,
            settings=dict(way.settings),
            action=game.action_to_text(s, found.action),
            value=found.value,
            standard_error=found.standard_error,
            values=found.values,
            exact=end.proven,
            plies_to_end=end.plies,
            depth=found.depth,
            value_depth=found.value_depth,
            nodes=found.nodes,
            leaf_calls=found.leaf_calls,
            seconds=found.seconds,
            line=game.line_to_text(s, found.pv),
            actions=tuple(
                ActionValue(
                    action=game.action_to_text(s, a),
                    value=values[a] if isfinite(values[a]) else None,
                    solved=None if solved is None else solved[a],
                    simulations=visits.get(a),
                )
                for a in best_first
            ),
        )

    def compare(self, took: float, on_refused: Callable[[str], None]) -> Iterator[Answer]:
        """Yield the answers of all settings that suit the game, until Ctrl-C."""
        for way, search in ways_for(self.game, self.evaluator):
            limits = self.limits
            if way.search in MONTE_CARLO and limits.nodes is None and limits.seconds is None:
                limits = Limits(seconds=max(LEAST, took))
            elif limits.seconds is None:
                limits = replace(limits, seconds=PATIENCE)
            try:
                yield self.answer(way, search, limits)
            except SearchError as error:
                on_refused(f"{way.title}: {error}")
            if self.stopped:
                return
