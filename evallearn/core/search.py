"""What a search is given, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Generic, Literal, Protocol

from evallearn.core.game import A, Game, S, State
from evallearn.errors import SearchError

IsCutoff = Callable[[State, int], bool]
"""is_cutoff(s, depth_left) -> True where the search must stop and ask the evaluator."""
MOST_NODES, MOST_SECONDS = 1 << 62, 1e9
"""What a kernel can count, and what a clock can wait: thirty years."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search must stop: any combination; at least one. The first that is reached counts."""

    depth: int | None = None
    """Plies of look-ahead, 1 or more."""
    nodes: int | None = None
    """Positions visited, 1 or more; a Monte Carlo search counts its simulations."""
    seconds: float | None = None
    """Wall time, above 0."""

    def __post_init__(self) -> None:
        if self.depth is None and self.nodes is None and self.seconds is None:
            raise SearchError("no limit was given: name at least one of depth, nodes, seconds")
        for name, value in (("depth", self.depth), ("nodes", self.nodes)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < 1):
                raise SearchError(f"{name}={value!r} is no limit: give a whole number of 1 or more")
            if value is not None and value > MOST_NODES:
                raise SearchError(f"{name}={value!r} is no limit: give at most 2**62, or leave it out")
        if self.seconds is not None and not (isinstance(self.seconds, Real) and 0 < self.seconds <= MOST_SECONDS):
            raise SearchError(f"seconds={self.seconds!r} is no limit: give a number above 0, at most {MOST_SECONDS:g}")

    def __str__(self) -> str:
        parts = (("depth", self.depth), ("nodes", self.nodes), ("time", self.seconds))
        return ",".join(f"{k}={v:g}" if k == "time" else f"{k}={v}" for k, v in parts if v is not None)


@dataclass(frozen=True, slots=True)
class SearchResult(Generic[A]):
    """What a search found. `value` and `action_values` are utilities to `player`, the one to move at the root.

    `action`, `value`, `pv`, `action_values` and `values` are of one iteration, `value_depth`. Where `action_values` are
    set, `value` is that of `action`, and no other is higher. MCTS alone chooses by `visits`: there the mean of another
    action may be higher.
    """

    action: A
    value: float
    player: int
    depth: int
    """The deepest iteration that was finished; 0 if a limit struck before the first was."""
    nodes: int
    pv: tuple[A, ...]
    """The principal variation: the line both sides are expected to play, `action` first."""
    exact: bool
    """True if the value is proven: no evaluator was asked on the way to it and nothing unsound was pruned, or it is a
    win or a loss that only the end of the game can have told: see "What is promised" in search/README.md."""
    seconds: float
    action_values: dict[A, float] | None = None
    """The value of every root action, if they were asked for and an iteration was finished."""
    leaf_calls: int = 0
    """How often UTILITY or EVAL was asked: what pruning saves."""
    standard_error: float | None = None
    """Of `value`, where it was sampled."""
    visits: dict[A, int] | None = None
    """Simulations of every root action, where a Monte Carlo search counts them."""
    value_depth: int | None = None
    """The iteration that the value is of: `depth`, or the next one where a better action of an iteration that was not
    finished was taken (`use_partial_iteration`). None where there are no iterations, as in a Monte Carlo search."""
    values: tuple[float, ...] | None = None
    """What the line is expected to be worth to each player, where the search knows: `value` is the entry of `player`.

    In max^n with an alliance, `value` is the sum of the entries of the allies. None in a game of more than two players
    (or of two that is not zero-sum) for every other search: paranoid, best-reply and Monte Carlo searches know what
    `player` gets, and nothing of the others."""


class Search(Protocol[S, A]):
    """What every search is: made for one game and one evaluator, it answers for any position."""

    game: Game[S, A]
    backend: Literal["auto", "python", "compiled"]
    """Where it runs; never "auto" once it is made."""

    def search(self, s: S, limits: Limits, *, seed: int | None = None, action_values: bool = False) -> SearchResult[A]:
        """Return the best action of `s` as far as the limits allow.

        The same seed gives the same answer, unless time is the limit. Without one, ties go to the earliest action.
        Ctrl-C raises `Interrupted`, which carries what was found so far.
        """
        ...

    def __repr__(self) -> str:
        evaluator = getattr(self, "evaluator", None)
        asked = "" if evaluator is None else f" with {evaluator!r}"
        return f"<{type(self).__name__} of {self.game.name}{asked}, {self.backend}>"
