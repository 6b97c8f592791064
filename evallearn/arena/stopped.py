"""Elo of a match under a sequential test, corrected for the stop.

A match that stops when it looks clear shows a score too far from the middle of the bounds, and the usual interval holds
the truth too seldom. Here all ways in which such a match can end are put in order, from the worst for A to the best: H0
accepted, the sooner the worse; undecided when the games ran out, by LLR; H1 accepted, the later the worse (Siegmund,
"Estimation following sequential tests", 1978). The interval ends at the scores at which an end as good as this one, or
better, comes 2.5 and 97.5 % of the time. How often it comes says a Brownian motion between two barriers, each moved
outwards by what a walk of steps passes it by. The Elo itself is the unbiased estimate of the motion's drift: whatever
the truth, its mean over all matches, stopped or not, is right. Over those alone that accepted H1 it cannot be.

`python benchmarks/intervals.py sprt` shows bias and coverage, with the correction and without.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evallearn.arena.sprt import UNSEEN, Sprt
from evallearn.arena.stats import (
    GAME_SCORES,
    NORMAL,
    PAIR_SCORES,
    WIDEST_TILT,
    EloEstimate,
    Z,
    believed,
    elo_of_score,
    estimate_elo,
    moments,
    normalised,
    rising_root,
    tilted,
)
from evallearn.arena.walk import Walk

OVERSHOOT = 0.5826
"""By how many standard deviations of a step a walk passes a far barrier, on average: -zeta(1/2) / sqrt(2 pi)."""
LOPSIDED = 1.0
"""Standard deviations of a sample between the score and 1/2 up to which the LLR is a walk with even steps."""
LONGEST_STEP = 4.0
"""Standard deviations of a step: an LLR farther beyond its bound came there by a jump."""
RAREST = 1e-12
"""Probabilities nearer to 0 or 1 than this say nothing."""


def elo_after_sprt(counts: Sequence[int], sprt: Sprt) -> EloEstimate | None:
    """Estimate the Elo of A over B from the counts at the end of the match, whether the test has decided or not.

    `score` stays what was counted. None where it cannot be corrected: see `End.is_of_even_walk`.
    """
    plain, end = estimate_elo(counts), End(counts, sprt)
    if not end.is_of_even_walk(counts):
        return None
    low = 0.0 if counts[0] == plain.samples else end.score_at(-Z)
    high = 1.0 if counts[-1] == plain.samples else end.score_at(Z)
    score = min(max(end.unbiased_score(), low), high)
    nelo, nelo_low, nelo_high = normalised(counts, (score, low, high))
    half_a_point = 0.5 / (2 * plain.samples if plain.pairs else plain.samples)
    return replace(
        plain,
        elo=elo_of_score(min(max(score, half_a_point), 1 - half_a_point)),
        low=elo_of_score(low),
        high=elo_of_score(high),
        los=end.los(),
        nelo=nelo,
        nelo_low=nelo_low,
        nelo_high=nelo_high,
    )


class End:
    """How a match with a test ended, and how often it would end so well if A were of another strength.

    The walk is that of the LLR, a sample being a unit of time. Its variance is the one that was seen, and its drift a
    line in the score: as far as the test is concerned A of another strength wins more, but draws as often.
    """

    def __init__(self, counts: Sequence[int], sprt: Sprt) -> None:
        self.sprt, self.state, self.n = sprt, sprt.test(counts), sum(counts)
        self.a, self.score = believed(counts), moments(counts)[0]
        self.x = PAIR_SCORES if len(counts) == len(PAIR_SCORES) else GAME_SCORES
        p = np.array(self.a) / sum(self.a)
        step = sprt.log_ratios(np.maximum([self.a], UNSEEN))[0]
        self.variance = float(p @ (step - p @ step) ** 2)
        self.slope = math.sqrt(self.variance / moments(self.a)[1])

    def is_of_even_walk(self, counts: Sequence[int]) -> bool:
        """Return False where the LLR does not grow in even steps: only draws, hardly a game lost, or a sudden jump."""
        deviation, step = math.sqrt(moments(self.a)[1]), math.sqrt(self.variance)
        beyond = max(self.state.llr - self.sprt.upper, self.sprt.lower - self.state.llr)
        even = abs(moments(self.a)[0] - 0.5) <= LOPSIDED * deviation and beyond <= LONGEST_STEP * step
        return even and moments(counts)[1] > 0

    def walk(self, score: float) -> Walk:
        """Return the walk if this is the expected score."""
        more = OVERSHOOT * math.sqrt(self.variance)
        drift = self.state.llr / self.n + self.slope * (score - self.score)
        return Walk(drift, self.variance, more - self.sprt.lower, more + self.sprt.upper)

    def z(self, tilt: float) -> float:
        """Return the normal score of the probability of an end as good as this one or better, at the tilted strength.

        The walk includes neither skewness nor the doubt about the variance. So it gives only what the stop changes, and
        the rest is that of a match without a test (see `stats.tilted`).
        """
        found = tilted(self.a, self.x, tilt)
        walk = self.walk(found.score)
        p = min(max(self._so_good(walk), RAREST), 1 - RAREST)
        without_test = (walk.drift * self.n - self.state.llr) / math.sqrt(self.variance * self.n)
        return found.corrected + NORMAL.inv_cdf(p) - without_test

    def _so_good(self, walk: Walk) -> float:
        """Return the probability of this end or a better one; between whole samples, because time has no steps."""
        if self.state.decision == "H1":
            return walk.arrives_up(self.n - 0.5)
        if self.state.decision == "H0":
            return 1 - walk.mirrored.arrives_up(self.n - 0.5)
        return walk.arrives_up(self.n) + walk.stays_above(self.state.llr, self.n)

    def score_at(self, z: float) -> float:
        """Return the score at which `z` is this: the first such on the way from what was counted."""
        step = math.copysign(1 / math.sqrt(self.n * moments(self.a)[1]), z - self.z(0.0))  # a standard deviation
        near, far = 0.0, step
        while (self.z(far) - z) * step < 0 and abs(far) < WIDEST_TILT:
            near, far = far, far + step
        low, high = sorted((near, far))
        return tilted(self.a, self.x, rising_root(lambda t: self.z(t) - z, low, high, tolerance=1e-7)).score

    def unbiased_score(self) -> float:
        """Return the score whose drift is the unbiased estimate from the end (see `Walk.drift_of_up`)."""
        walk = self.walk(self.score)
        if self.state.decision is None:
            drift = walk.drift_of_stay(self.state.llr, self.n)
        elif self.state.decision == "H1":
            drift = walk.drift_of_up(self.n)
        else:
            drift = -walk.mirrored.drift_of_up(self.n)
        return self.score + (drift - walk.drift) / self.slope

    def los(self) -> float:
        """Return how sure it is that A is stronger: the share of ends that are less good, were A as strong as B."""
        even = rising_root(lambda tilt: tilted(self.a, self.x, tilt).score - 0.5, -WIDEST_TILT, WIDEST_TILT)
        return NORMAL.cdf(-self.z(even))
