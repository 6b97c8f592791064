"""From the numbers of a Monte Carlo search to its answer, the same way on both backends."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Action, Game, State
from evallearn.core.search import SearchResult
from evallearn.errors import Interrupted
from evallearn.search.common.requirements import tie_ranks, values_to_all
from evallearn.search.montecarlo.playouts import middle


@dataclass(frozen=True, slots=True)
class SampledAction:
    """What the simulations said of one action; values to the player who would take it."""

    action: Action
    visits: int
    total: float
    squares: float
    exact: float | None = None
    """Its proven value."""

    @property
    def value(self) -> float:
        """Proven, or the mean of the simulations; -inf if there was none."""
        if self.exact is not None:
            return self.exact + 0.0  # a draw is 0.0, not -0.0
        return self.total / self.visits + 0.0 if self.visits else -math.inf

    @property
    def standard_error(self) -> float | None:
        """Of the value, as if the simulations were independent; None if fewer than two were made."""
        if self.exact is not None:
            return 0.0
        if self.visits < 2:
            return None
        mean = self.total / self.visits
        return math.sqrt(max(0.0, self.squares / self.visits - mean * mean) / (self.visits - 1))


Choice = Callable[[Sequence[SampledAction], Sequence[int], Game], int]
"""Which action is taken, given ranks of which the lowest breaks ties."""


def best_mean(found: Sequence[SampledAction], ranks: Sequence[int], game: Game) -> int:
    """Return the index of the action of the highest value."""
    return max(range(len(found)), key=lambda i: (found[i].value, -ranks[i]))


def most_visited(found: Sequence[SampledAction], ranks: Sequence[int], game: Game) -> int:
    """Return the index of the most visited action that is not proven.

    If a proven one is worth as much as that one's mean, and is no loss, return the index of the proven one.
    """
    low, high = game.utility_range
    everyone = range(len(found))
    proven = max(everyone, key=lambda i: (exact_or_none(found[i]), found[i].visits, -ranks[i]))
    open_ones = [i for i in everyone if found[i].exact is None]
    if not open_ones or exact_or_none(found[proven]) >= high:
        return proven
    visited = max(open_ones, key=lambda i: (found[i].visits, -ranks[i]))
    value = exact_or_none(found[proven])
    return proven if value > low and value >= found[visited].value else visited


def exact_or_none(found: SampledAction) -> float:
    """Return the proven value, or less than any."""
    return -math.inf if found.exact is None else found.exact


@dataclass(frozen=True, slots=True)
class Counts:
    """What it took."""

    simulations: int
    leaf_calls: int
    depth: int
    seconds: float


def answer(
    game: Game,
    s: State,
    found: Sequence[SampledAction],
    counts: Counts,
    *,
    seed: int | None,
    choice: Choice,
    line_after: Callable[[Action], Sequence[Action]],
    proven: bool,
    evaluator: Evaluator | None,
    interrupted: bool,
) -> SearchResult:
    """Return the result; raise Interrupted with it if Ctrl-C ended the search.

    found: in the order of game.actions. line_after(action): how the game is expected to go on after it.
    """
    player = game.to_play(s)
    best = found[choice(found, tie_ranks(len(found), seed), game)]
    value = best.value
    if value == -math.inf:  # stopped before the first simulation
        value = middle(game) if evaluator is None else evaluator.evaluate(s, player)
    result = SearchResult(
        action=best.action,
        value=value,
        player=player,
        depth=counts.depth,
        nodes=counts.simulations,
        pv=(best.action, *line_after(best.action)),
        exact=proven,
        seconds=counts.seconds,
        action_values={f.action: f.value for f in found} if all(f.value > -math.inf for f in found) else None,
        leaf_calls=counts.leaf_calls,
        standard_error=best.standard_error,
        visits={f.action: f.visits for f in found},
        values=values_to_all(game, player, value),
    )
    if interrupted:
        raise Interrupted(result)
    return result
