"""How the value of a position swings with the depth of the search: an indicator of the horizon effect.

A perfect evaluator says at depth 0 what every depth says. The more the value of a position changes from depth to depth,
the more depends on where the search happens to stop. If it swings with parity (odd depths, where the player to move
also moves last, have higher values than even ones, or lower), the evaluator misses what a move itself is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Action, State
from evallearn.core.json_shapes import JsonDict
from evallearn.core.search import Limits, Search, SearchResult
from evallearn.errors import SpecError
from evallearn.quality.figures import SAME, Figure, mean, plain, share
from evallearn.quality.suite import Suite
from evallearn.search import named_search, usual_search
from evallearn.search.alphabeta.options import sound

QUIESCENCE = 8
"""Plies beyond the cutoff, where a game has noisy actions but does not say how many."""


@dataclass(frozen=True)
class Step:
    """From one depth to the next."""

    depth: int
    change: Figure
    """Mean absolute change of the value, from the depth before (0: the evaluator itself)."""
    turned: Figure | None
    """Share of positions in which no action is best at both depths; None at depth 1, before which nothing is chosen."""


@dataclass(frozen=True)
class Swing:
    """How values and choices change with depth. Values are in units of utility, to the player to move."""

    setting: str
    """as agents search, quiescence off, or quiescence on."""
    positions: int
    steps: tuple[Step, ...]
    odd_even: Figure | None
    """What odd depths say above the mean of the even ones on both sides of them (and even ones below that of the odd):
    a trend does not count. The evaluator itself is depth 0. None where depth 2 is not reached."""

    def to_json(self) -> JsonDict:
        steps = [{"depth": s.depth, "change": plain(s.change), "turned": plain(s.turned)} for s in self.steps]
        return {
            "setting": self.setting,
            "positions": self.positions,
            "steps": steps,
            "odd_even": plain(self.odd_even),
        }


def swings(
    evaluator: Evaluator,
    suite: Suite,
    *,
    depth: int,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[Swing, ...]:
    """Measure the swing with the search that suits the game; where it has noisy actions, with quiescence off and on."""
    if depth < 1:
        raise SpecError(f"depth={depth}: to see how values swing with depth, give 1 or more")
    game = suite.game
    name, settings = usual_search(game)
    settings = sound(settings)
    ways = {"as agents search": settings}
    if name == "alphabeta" and game.has("noisy_actions"):
        on = settings.get("quiescence") or QUIESCENCE
        ways = {"quiescence off": {**settings, "quiescence": 0}, "quiescence on": {**settings, "quiescence": on}}
    found = []
    items = [item for item in suite.items if game.to_play(item.state) == item.player]  # nothing is chosen before a roll
    for i, (setting, options) in enumerate(ways.items()):
        search = named_search(name, game, evaluator, **options)
        values, best = [], []
        for done, item in enumerate(items, 1):
            static = evaluator.evaluate(item.state, item.player)
            results = _deeper(search, item.state, depth)
            values.append([static, *(r.value if r.player == item.player else -r.value for r in results)])
            best.append([_best(r, game.utility_range) for r in results])
            if on_progress:
                on_progress(i * len(items) + done, len(ways) * len(items))
        found.append(replace(_swing(np.array(values), best, seed), setting=setting))
    return tuple(found)


def _deeper(search: Search, s: State, depth: int) -> list[SearchResult]:
    return [search.search(s, Limits(depth=d), action_values=True) for d in range(1, depth + 1)]


def _best(found: SearchResult, utilities: tuple[float, float]) -> set[Action]:
    """Return the actions with the highest value, several where they are equal."""
    values = found.action_values or {found.action: found.value}
    highest = max(values.values()) - SAME * (utilities[1] - utilities[0])
    return {a for a, v in values.items() if v >= highest}


def _swing(values: np.ndarray, best: Sequence[Sequence[set[Action]]], seed: int) -> Swing:
    """Summarise values: float64[n, depth + 1], from the evaluator itself on; best[i][d]: the best at depth d + 1."""
    depths = values.shape[1] - 1
    steps = []
    for d in range(1, depths + 1):
        change = mean(np.abs(values[:, d] - values[:, d - 1]), seed=seed)
        turned = share([float(b[d - 1].isdisjoint(b[d - 2])) for b in best]) if d > 1 else None
        assert change is not None  # a suite has positions
        steps.append(Step(d, change, turned))
    return Swing("", len(values), tuple(steps), mean(_odd_even(values), seed=seed))


def _odd_even(values: np.ndarray) -> np.ndarray:
    """Return float64[n]: the mean of v[d] - (v[d - 1] + v[d + 1]) / 2 of inner depths, even ones negated."""
    inner = values[:, 1:-1] - (values[:, :-2] + values[:, 2:]) / 2
    inner[:, 1::2] *= -1
    return np.asarray(inner.mean(axis=1)) if inner.shape[1] else np.empty(0)
