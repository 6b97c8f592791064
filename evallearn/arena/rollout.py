"""Rollouts: a position with dice is played to the end many times, an evaluator playing all sides, to learn its value.

The luck of the dice, as the same evaluator measures it, is taken off the results. Given the position the mean luck of a
roll is zero, so that the mean of many games stays what it was, whatever the evaluator; and the better its values, the
less is left to chance. An evaluator that knows the exact values leaves nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evallearn.arena.bootstrap import control_variate
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game, State
from evallearn.core.workers import imap
from evallearn.errors import SearchError
from evallearn.search.common.backend import Backend
from evallearn.search.common.requirements import require_unfinished
from evallearn.search.dice.rollout import DiceRollout, Rolled

GAMES_PER_JOB = 36
"""Enough that passing them to a worker does not count."""


@dataclass(frozen=True, slots=True)
class RolledOut:
    """What a rollout found; values are to `player`."""

    player: int
    games: int
    value: float
    """The mean with the luck of the dice taken off."""
    standard_error: float
    plain_value: float
    """The mean of what came out."""
    plain_standard_error: float
    slope: float
    """Which share of the measured luck was taken off: 1 if the evaluator's values have the right size, less if they are
    too large.
    """
    variance_ratio: float
    """Variance with the luck off over the plain one: 0.1 means as much as ten times the games."""
    outcomes: dict[float, int]
    """How many games ended with each utility."""
    cut: int
    """How many were cut, and valued by the evaluator."""


def roll_out(
    game: Game,
    evaluator: Evaluator,
    s: State,
    *,
    games: int = 1296,
    player: int | None = None,
    seed: int = 1,
    truncate: int | None = None,
    workers: int = 1,
    backend: Backend = "auto",
) -> RolledOut:
    """Estimate what the unfinished `s` is worth to `player` by this evaluator's play.

    `player` None: who moves, or will after the roll.

    The same seed gives the same answer, for any number of workers. Games that are cut after `truncate` moves depend on
    the evaluator's values, too.
    """
    if isinstance(games, bool) or not isinstance(games, int) or games < 2:
        raise SearchError(f"games={games!r}: give 2 or more: one alone has no standard error")
    require_unfinished(game, s)
    who = game.observer(s) if player is None else player
    job = DiceRollout(game, evaluator, s, who, seed, truncate, backend)
    job(range(0))  # compiles, so that workers find the kernel on the disk
    jobs = [range(i, min(i + GAMES_PER_JOB, games)) for i in range(0, games, GAMES_PER_JOB)]
    found = dict(imap(job, jobs, workers))
    return summary(who, [g for i in sorted(found) for g in found[i]])


def summary(player: int, rows: Sequence[Rolled]) -> RolledOut:
    """Return the figures of the games."""
    plain, n = np.array([g.value for g in rows]), len(rows)
    fair = control_variate([g.value for g in rows], [g.luck for g in rows])
    ends = Counter(g.value for g in rows if not g.cut)
    return RolledOut(
        player=player,
        games=n,
        value=float(np.mean(fair.values)),
        standard_error=float(np.std(fair.values, ddof=1)) * fair.widening / math.sqrt(n),
        plain_value=float(plain.mean()),
        plain_standard_error=float(plain.std(ddof=1)) / math.sqrt(n),
        slope=fair.slope,
        variance_ratio=fair.variance_ratio,
        outcomes=dict(sorted(ends.items(), reverse=True)),
        cut=sum(g.cut for g in rows),
    )
