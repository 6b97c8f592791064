"""Ratings of many players from a cross table (Bradley-Terry), in Elo; pairs are the samples, as in a match."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evallearn.arena.stats import ELO_LIMIT, PAIR_SCORES, believed, moments
from evallearn.errors import SpecError, unknown

Floats = NDArray[np.float64]
Result = tuple[str, str, Sequence[int]]
"""Two names, and the pairs in which the first made 0, 1/2, 1, 3/2, 2 points against the second."""

PRIOR_GAMES = 0.5
"""Imaginary drawn games per pairing that met: so weak that 10 pairs shrink by 2.5 %, enough to keep all-wins finite."""
DRAWS = 2000
"""Tables drawn for the intervals; their ends then move by some 3 % of the width from seed to seed."""
PER_ELO = math.log(10) / 400
STEPS = 50
"""Newton's at most; ten are usual."""
BIGGEST_STEP = 1.5
"""In natural logarithms of the odds (260 Elo), so that a step from the flat end of the curve does not overshoot."""


@dataclass(frozen=True, slots=True)
class Rating:
    """One line of a rating list; the interval holds the difference to the anchor 95 % of the time."""

    name: str
    elo: float
    low: float
    high: float
    los_next: float | None
    """How sure it is (0 to 1) that this player is stronger than the next one in the list; None for the last."""
    score: float
    """Mean points per game over all that were played, 0 to 1."""
    pairs: int


def bradley_terry(results: Iterable[Result], *, anchor: str, seed: int = 0) -> tuple[Rating, ...]:
    """Rate the players of a cross table, the strongest first; `anchor` has 0 Elo. The same seed gives the same list.

    Elo: the ratings under which the points made (a draw is half a point) are most likely, with PRIOR_GAMES imaginary
    draws for each pairing that met. Intervals: the same for DRAWS tables, in which each pairing's counts are drawn from
    what is believed of them (as in `stats.score_interval`): so it is pairs that vary, as much as they were seen to.
    An interval reaches to ELO_LIMIT where nothing bounds it: of a player who won every game, say.
    """
    tables = _cross_table(results)
    names = sorted({name for two in tables for name in two})
    if anchor not in names:
        raise unknown("anchor", anchor, names)
    _check_connected(names, tables)
    index = {name: i for i, name in enumerate(names)}
    zero = index[anchor]
    pairings = [(index[a], index[b]) for a, b in tables]
    counts = list(tables.values())
    elos = _fit(pairings, counts, np.array([[moments(c)[0] for c in counts]]), zero)[0]
    drawn = _fit(pairings, counts, _drawn_scores(counts, seed), zero)
    lows, highs = _open_ended(pairings, counts, zero, *np.quantile(drawn, [0.025, 0.975], axis=0))
    points, pairs = _totals(pairings, counts, len(names))
    order = sorted(range(len(names)), key=lambda i: (-elos[i], names[i]))
    following = dict(pairwise(order))
    return tuple(
        Rating(
            name=names[i],
            elo=float(elos[i]),
            low=float(min(lows[i], elos[i])),
            high=float(max(highs[i], elos[i])),
            los_next=_los(drawn, i, following.get(i)),
            score=float(points[i] / pairs[i]),
            pairs=int(pairs[i]),
        )
        for i in order
    )


# --- the table -------------------------------------------------------------------------------------------------------
def _cross_table(results: Iterable[Result]) -> dict[tuple[str, str], list[int]]:
    """Return (a, b) with a < b -> counts of a's points; results of the same two players are added up."""
    tables: dict[tuple[str, str], list[int]] = {}
    for a, b, counts in results:
        if len(counts) != len(PAIR_SCORES) or min(counts) < 0 or sum(counts) == 0:
            raise SpecError(
                f"{a} against {b} with pair counts {tuple(counts)}: give five, for 0, 1/2, 1, 3/2 and 2 points, "
                "and one pair or more"
            )
        if a == b:
            raise SpecError(f"{a} against itself: ratings compare different players; leave this result out")
        two, ordered = ((a, b), counts) if a < b else ((b, a), counts[::-1])
        before = tables.get(two, [0] * len(PAIR_SCORES))
        tables[two] = [x + y for x, y in zip(before, ordered, strict=True)]
    if not tables:
        raise SpecError("ratings of no results: give the results of one pairing or more")
    return tables


def _check_connected(names: Sequence[str], tables: Iterable[tuple[str, str]]) -> None:
    """Refuse players who never met, not even through others: they cannot be compared."""
    group = {name: {name} for name in names}
    for a, b in tables:
        if group[a] is not group[b]:
            group[a] |= group[b]
            for name in group[b]:
                group[name] = group[a]
    groups = {min(g): sorted(g) for g in group.values()}
    if len(groups) > 1:
        told = "; ".join(", ".join(g) for _, g in sorted(groups.items()))
        raise SpecError(
            f"ratings of {len(groups)} groups that never met: {told}: let one of each play one of the others, or rate "
            "each group alone"
        )


def _totals(
    pairings: Sequence[tuple[int, int]], counts: Sequence[Sequence[int]], players: int
) -> tuple[Floats, Floats]:
    """Return points (in pairs: 1 for both games won) and pairs of each player."""
    points, pairs = np.zeros(players), np.zeros(players)
    for (i, j), c in zip(pairings, counts, strict=True):
        mean, n = moments(c)[0], sum(c)
        points[i] += n * mean
        points[j] += n * (1 - mean)
        pairs[[i, j]] += n
    return points, pairs


# --- likelihood ------------------------------------------------------------------------------------------------------
def _fit(pairings: Sequence[tuple[int, int]], counts: Sequence[Sequence[int]], scores: Floats, zero: int) -> Floats:
    """Return float64[k, players]: the Elo that make each row of float64[k, pairings] scores most likely (`zero`: 0)."""
    players = 1 + max(max(two) for two in pairings)
    design = np.zeros((len(pairings), players))
    for row, (i, j) in enumerate(pairings):
        design[row, i], design[row, j] = 1, -1
    design = np.delete(design, zero, axis=1)
    outer = (design[:, :, None] * design[:, None, :]).reshape(len(pairings), -1)
    games = 2.0 * np.array([sum(c) for c in counts])
    points, games = scores * games + PRIOR_GAMES / 2, games + PRIOR_GAMES
    x = np.zeros((len(scores), players - 1))
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(-x @ design.T))
        slope = (points - games * expected) @ design
        weights = games * expected * (1 - expected)
        curvature = (weights @ outer).reshape(len(scores), players - 1, players - 1)
        step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
        step *= np.minimum(1, BIGGEST_STEP / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300))
        x += step
        if np.abs(step).max() < 1e-9:
            break
    return np.clip(np.insert(x / PER_ELO, zero, 0.0, axis=1), -ELO_LIMIT, ELO_LIMIT)


def _drawn_scores(counts: Sequence[Sequence[int]], seed: int) -> Floats:
    """Return float64[DRAWS, pairings]: expected scores drawn from what is believed of each pairing (Dirichlet)."""
    rng = np.random.default_rng(seed)
    weights = rng.standard_gamma(np.array([believed(c) for c in counts]), size=(DRAWS, len(counts), len(PAIR_SCORES)))
    return np.asarray(weights @ np.array(PAIR_SCORES) / weights.sum(axis=2))


def _open_ended(
    pairings: Sequence[tuple[int, int]], counts: Sequence[Sequence[int]], zero: int, lows: Floats, highs: Floats
) -> tuple[Floats, Floats]:
    """Open the ends of intervals that nothing bounds.

    Where no chain of points leads from the anchor to a player, nothing says how much stronger that one may be.
    """
    reaches = np.eye(len(lows), dtype=bool)
    for (i, j), c in zip(pairings, counts, strict=True):
        reaches[i, j] = any(c[1:])
        reaches[j, i] = any(c[:-1])
    for k in range(len(lows)):
        reaches |= reaches[:, k : k + 1] & reaches[k : k + 1, :]
    return np.where(reaches[:, zero], lows, -ELO_LIMIT), np.where(reaches[zero], highs, ELO_LIMIT)


def _los(drawn: Floats, player: int, following: int | None) -> float | None:
    """Return the share of the drawn tables in which the player is above the following one."""
    if following is None:
        return None
    above, level = drawn[:, player] > drawn[:, following], drawn[:, player] == drawn[:, following]
    return float(above.mean() + level.mean() / 2)
