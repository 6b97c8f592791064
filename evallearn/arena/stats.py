"""Elo from counts: of paired games (an opening played twice with seats swapped), or of single games.

The two games of a pair share their opening, so they are no independent evidence; pairs are. A pair's score is the mean
of its two games: 0, 1/4, 1/2, 3/4 or 1. `counts` are always from worst to best: five for pairs, three for single games.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from evallearn.errors import SpecError

Z = 1.959964
"""Standard deviations that hold 95 % of a normal distribution."""
PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
GAME_SCORES = (0.0, 0.5, 1.0)
ELO_LIMIT = 2000.0
"""Where the scale ends (a score of 0.99999): an interval that ends here has no bound on that side."""
NELO = 800 / math.log(10)
"""Normalised Elo per standard deviation of a game; where every game is decided, near an even score, nElo is Elo."""
WIDEST_TILT = 60.0
"""Natural logarithm of the odds at which the search for an interval's end stops: 1e26 to 1."""

NORMAL = NormalDist()


# --- the scale -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class EloEstimate:
    """How much stronger A is than B; the intervals hold the truth 95 % of the time."""

    elo: float
    low: float
    high: float
    score: float
    """Mean points of A per game, 0 to 1."""
    pairs: int
    """Pairs counted; 0 if single games were."""
    samples: int
    """Independent pieces of evidence: pairs, or single games."""
    los: float
    """Likelihood of superiority, 0 to 1: how sure it is that A is stronger."""
    nelo: float
    """Normalised Elo: how far the score is from 1/2 in standard deviations of a game, times NELO. It says how many
    games it takes to see the difference, so it compares across games with few and with many draws."""
    nelo_low: float
    nelo_high: float

    def __str__(self) -> str:
        return f"{self.elo:+.0f} Elo [{self.low:+.0f}, {self.high:+.0f}]"


def elo_of_score(score: float) -> float:
    """Return the Elo difference at which this is the expected score; never beyond ELO_LIMIT, so never infinite."""
    if not 0 < score < 1:
        return math.copysign(ELO_LIMIT, score - 0.5)
    return min(max(400 * math.log10(score / (1 - score)), -ELO_LIMIT), ELO_LIMIT)


def score_of_elo(elo: float) -> float:
    """Return the expected score per game at this Elo difference."""
    return 1 / (1 + 10 ** (-elo / 400))


# --- the public estimates --------------------------------------------------------------------------------------------
def elo_from_pairs(counts: Sequence[int]) -> EloEstimate:
    """Estimate the Elo of A over B from the numbers of pairs in which A scored 0, 1/2, 1, 3/2, 2 points.

    If A won (or lost) every game the Elo is that of half a point less (or more), because nobody is infinitely
    stronger; the interval's far end is then ELO_LIMIT. See `score_interval` for what the interval promises.
    """
    if len(counts) != len(PAIR_SCORES) or any(c < 0 for c in counts) or sum(counts) == 0:
        raise SpecError(
            f"pair counts {tuple(counts)}: give five, for 0, 1/2, 1, 3/2 and 2 points, and one pair or more"
        )
    return estimate_elo(counts)


def elo_from_games(wins: int, draws: int, losses: int) -> EloEstimate:
    """Estimate the Elo of A over B from single games that have nothing in common; for pairs use `elo_from_pairs`."""
    if min(wins, draws, losses) < 0 or wins + draws + losses == 0:
        raise SpecError(f"wins {wins}, draws {draws}, losses {losses}: give none below 0, and one game or more")
    return estimate_elo((losses, draws, wins))


def score_interval(counts: Sequence[int]) -> tuple[float, float]:
    """Return the 95 % interval of the expected score, from five counts of pairs or three of games, worst first.

    It is the middle 95 % of what is believed of the score after seeing the counts and the imaginary results of
    `believed` (a Dirichlet posterior; its quantiles by `Tilted`, to three digits). If every game was won the upper end
    is 1, if every game was lost the lower end is 0.

    Measured (`benchmarks/intervals.py elo`: Elo, draws, biased openings and likeness of a pair's games at random): 94
    to 97 % on average for 5 pairs or games and more, and for each single truth 92 to 98 % from 100 on. No interval can
    hold 95 % for each single truth in tiny samples, because the counts are whole numbers: the least is 82 % for 5,
    88 % for 10 and 20. Where nearly all is drawn it is 98 % for 10 and near 100 % for 5: five draws do not show how
    rare the other results are.
    """
    x, n = _scores(counts), sum(counts)
    a = believed(counts)
    low = 0.0 if counts[0] == n else _end(a, x, -Z)
    high = 1.0 if counts[-1] == n else _end(a, x, Z)
    return low, high


def moments(counts: Sequence[float]) -> tuple[float, float]:
    """Return mean and variance of the scores that were counted."""
    x, n = _scores(counts), sum(counts)
    mean = math.fsum(c * v for c, v in zip(counts, x, strict=True)) / n
    return mean, math.fsum(c * (v - mean) ** 2 for c, v in zip(counts, x, strict=True)) / n


def believed(counts: Sequence[int]) -> tuple[float, ...]:
    """Return the counts with imaginary results added, equally good and bad, that stand for what was not seen.

    About half a result on either side, as in Jeffreys' prior for coins. How far out they lie follows the sample: k, 1
    for coins and 0 where all is drawn, is how much it varies of what its mean allows (with one imaginary coin, so that
    it is defined). Half a result always at the ends makes intervals of drawish pairs far too wide (99 % at ten pairs),
    never at the ends makes those of coins too narrow (88 %). The numbers are the best of some 30 that were measured.
    """
    n = sum(counts)
    mean, variance = moments(counts)
    k = min((n * variance + 0.25) / (n * mean * (1 - mean) + 0.25), 1.0)  # rounding may exceed 1
    if len(counts) == len(GAME_SCORES):
        end = 0.35 + 0.2 * k
        extra: tuple[float, ...] = (end, 0.0, end)
    else:
        end, inner = 0.15 + 0.35 * k, 0.35 * (1 - k)
        extra = (end, inner, 0.0, inner, end)
    return tuple(c + e for c, e in zip(counts, extra, strict=True))


# --- how it is computed ----------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Tilted:
    """The score that counts suggest if they are tilted by e^tilt in favour of good results, and how far off that is."""

    score: float
    root: float
    """Signed root of the likelihood ratio: standard deviations between this score and the counts' own."""
    corrected: float
    """The same with the correction for skewness (Barndorff-Nielsen's r*): P(expected score < score) is its normal
    distribution function, by the saddle point approximation for a sum of gamma variables."""


def tilted(a: Sequence[float], x: Sequence[float], tilt: float) -> Tilted:
    """Return the weights p that maximise the sum of a log p at the same mean: p ~ a / (1 - x + x e^-tilt)."""
    shrink = math.exp(-tilt)
    q = [1 - v + v * shrink for v in x]
    n, total = sum(a), sum(c / d for c, d in zip(a, q, strict=True))
    score = sum(c * v / d for c, v, d in zip(a, x, q, strict=True)) / total
    ratio = [d * total / n for d in q]
    depth = math.fsum(c * math.log(d) for c, d in zip(a, ratio, strict=True))
    root = math.copysign(math.sqrt(max(2 * depth, 0.0)), tilt)
    if abs(root) < 1e-3:  # the correction is 0/0 here, and no end of an interval lies here
        return Tilted(score, root, root)
    bend = math.sqrt(sum(c * ((v - score) / d) ** 2 for c, v, d in zip(a, x, ratio, strict=True)))
    u = (1 - shrink) * total / n * bend
    return Tilted(score, root, root + math.log(u / root) / root)


def rising_root(f: Callable[[float], float], low: float, high: float, *, tolerance: float = 1e-12) -> float:
    """Return where the rising f crosses zero between low and high, or the nearer end if it does not.

    The method is false position that halves a side which stays (Illinois).
    """
    at_low, at_high = f(low), f(high)
    if at_low >= 0 or at_high <= 0:
        return low if at_low >= 0 else high
    side = 0
    for _ in range(100):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        value = f(middle)
        if value == 0 or high - low < tolerance or abs(value) < tolerance:
            return middle
        if value < 0:
            low, at_low, at_high, side = middle, value, at_high / 2 if side < 0 else at_high, -1
        else:
            high, at_high, at_low, side = middle, value, at_low / 2 if side > 0 else at_low, 1
    return (low + high) / 2


def _end(a: Sequence[float], x: Sequence[float], z: float) -> float:
    """Return the score at which the corrected root is z."""
    tilt = rising_root(lambda tilt: tilted(a, x, tilt).corrected - z, -WIDEST_TILT, WIDEST_TILT, tolerance=1e-9)
    return tilted(a, x, tilt).score


def _superiority(a: Sequence[float], x: Sequence[float]) -> float:
    """Return how sure it is that the expected score is above 1/2: above 0.975 where the interval lies above 1/2.

    An even score gives 0.5 by definition: skewness alone makes nobody stronger.
    """
    if abs(moments(a)[0] - 0.5) < 1e-12:
        return 0.5
    tilt = rising_root(lambda tilt: tilted(a, x, tilt).score - 0.5, -WIDEST_TILT, WIDEST_TILT)
    return NORMAL.cdf(-tilted(a, x, tilt).corrected)


def _scores(counts: Sequence[float]) -> tuple[float, ...]:
    if len(counts) not in (len(PAIR_SCORES), len(GAME_SCORES)) or min(counts) < 0 or sum(counts) == 0:
        raise SpecError(
            f"counts {tuple(counts)}: give five (pairs with 0, 1/2, 1, 3/2, 2 points) or three (losses, draws, wins), "
            "none below 0 and not all 0"
        )
    return PAIR_SCORES if len(counts) == len(PAIR_SCORES) else GAME_SCORES


def estimate_elo(counts: Sequence[int]) -> EloEstimate:
    """Estimate the Elo from five counts of pairs, or three of games, worst first; only their number is checked."""
    x, n = _scores(counts), sum(counts)
    paired = len(counts) == len(PAIR_SCORES)
    half_a_point = 0.5 / (2 * n if paired else n)
    score, _ = moments(counts)
    low, high = score_interval(counts)
    nelo, nelo_low, nelo_high = normalised(counts, (score, low, high))
    return EloEstimate(
        elo=elo_of_score(min(max(score, half_a_point), 1 - half_a_point)),
        low=elo_of_score(low),
        high=elo_of_score(high),
        score=score,
        pairs=n if paired else 0,
        samples=n,
        los=_superiority(believed(counts), x),
        nelo=nelo,
        nelo_low=nelo_low,
        nelo_high=nelo_high,
    )


def normalised(counts: Sequence[int], scores: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return (nElo, low, high) of (score, low, high), in standard deviations of a game.

    The interval is widened by the doubt about these, by the delta method for mean / deviation. A sample without
    variance borrows that of `believed`.
    """
    score, *ends = scores
    kept: Sequence[float] = counts if moments(counts)[1] > 0 else believed(counts)
    mean, variance = moments(kept)
    deviation = math.sqrt(variance)
    t = (score - 0.5) / deviation
    third, fourth = (
        math.fsum(c * ((v - mean) / deviation) ** k for c, v in zip(kept, _scores(kept), strict=True)) / sum(kept)
        for k in (3, 4)
    )
    widening = math.sqrt(max(1 - third * t + (fourth - 1) * t * t / 4, 0.0))
    unit = NELO / (deviation * math.sqrt(2 if len(counts) == len(PAIR_SCORES) else 1))
    low, high = ((score - 0.5 + (end - score) * widening) * unit for end in ends)
    return t * deviation * unit, low, high
