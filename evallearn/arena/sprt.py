"""A sequential test: stop a match as soon as it has shown enough (the generalised SPRT of engine testing).

Two hypotheses, H0: A is elo0 stronger than B, H1: A is elo1 stronger. After every pair the log-likelihood ratio (LLR)
compares the best explanation of the counts under H1 with the best under H0; all else (draws, bias of the openings) is
free, so it is learned from the counts. Above `upper` H1 is accepted, below `lower` H0 (Wald 1945; M. Van den Bergh,
"A practical introduction to the GSPRT", whose definitions are fishtest's too).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evallearn.arena.stats import ELO_LIMIT, GAME_SCORES, NELO, PAIR_SCORES, score_of_elo
from evallearn.core.json_shapes import JsonDict, build
from evallearn.errors import SpecError, unknown

Floats = NDArray[np.float64]
Decision = Literal["H0", "H1"]

MODELS = ("normalized", "logistic")
UNSEEN = 1e-3
"""Results that were not seen count as so many (fishtest's value): probabilities of 0 have no likelihood."""
SETTLED = 1e-9
"""Error of a mean at which the iterations end; the LLR is then exact to some eight digits."""
TRIES = 12
"""Rounds after which what has not settled is searched. Five are usual."""
NEARLY = 1 - 1e-13
"""How near to a pole a search may come: no count of less than 1e13 has its answer beyond."""
ROUNDS = 100
"""Of a search at most. Ten are usual."""


@dataclass(frozen=True, slots=True)
class SprtState:
    """Where a test stands."""

    llr: float
    """Log-likelihood ratio of H1 to H0, natural logarithm."""
    lower: float
    upper: float
    decision: Decision | None
    """None as long as the LLR lies between the bounds."""


@dataclass(frozen=True)
class Sprt:
    """The terms of a test.

    If the truth is elo0 or less, H1 is accepted at most alpha of the time; if it is elo1 or more, H0 at most beta of
    the time. Between the two either may be accepted, and the test takes longest.

    The promise is Wald's, for many pairs. It was measured: see tests/arena/test_sprt.py.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: str = "normalized"
    """What the bounds are: "normalized" Elo (the length of a test does not depend on draws and openings), or
    "logistic", which is plain Elo."""

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise unknown("SPRT model", self.model, MODELS)
        if not (-ELO_LIMIT < self.elo0 < self.elo1 < ELO_LIMIT):
            raise SpecError(
                f"SPRT with elo0 {self.elo0:g} and elo1 {self.elo1:g}: the first must be the smaller one, "
                f"both between -{ELO_LIMIT:g} and {ELO_LIMIT:g}, as in 0,10"
            )
        for name, rate in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < rate < 0.5:
                raise SpecError(
                    f"SPRT with {name} {rate:g}: give a rate of errors between 0 and 0.5, as in {name}=0.05"
                )

    @classmethod
    def from_text(cls, text: str) -> Sprt:
        """Read "0,10" or "0,10,alpha=0.05,beta=0.1,model=logistic"."""
        parts = [part.strip() for part in text.split(",")]
        if len(parts) < 2:
            raise SpecError(f"SPRT {text!r}: give elo0,elo1 and then, if you like, alpha=, beta=, model=; as in 0,10")
        values: JsonDict = {"elo0": _number(text, parts[0]), "elo1": _number(text, parts[1])}
        for part in parts[2:]:
            name, equals, value = (word.strip() for word in part.partition("="))
            if name not in ("alpha", "beta", "model") or not equals or name in values:
                raise SpecError(
                    f"SPRT {text!r}: {part!r} is not alpha=, beta= or model=, each once; as in 0,10,alpha=0.05"
                )
            values[name] = value if name == "model" else _number(text, value)
        return build(cls, values)

    def __str__(self) -> str:
        """Return the text that `from_text` reads."""
        return f"{self.elo0:g},{self.elo1:g},alpha={self.alpha:g},beta={self.beta:g},model={self.model}"

    @property
    def lower(self) -> float:
        """Below it H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Above it H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def test(self, counts: Sequence[int]) -> SprtState:
        """Return where the test stands.

        Counts are five of pairs (0, 1/2, 1, 3/2, 2 points), or losses, draws and wins.
        """
        if len(counts) not in (3, 5) or min(counts) < 0:
            raise SpecError(
                f"SPRT of counts {tuple(counts)}: give five, of pairs with 0, 1/2, 1, 3/2 and 2 points, or three, "
                "losses, draws and wins; none below 0"
            )
        llr = float(self.llrs(np.array([counts], np.float64))[0]) if sum(counts) else 0.0
        decision: Decision | None = "H1" if llr >= self.upper else "H0" if llr <= self.lower else None
        return SprtState(llr, self.lower, self.upper, decision)

    def llrs(self, counts: Floats) -> Floats:
        """Return float64[k]: the log-likelihood ratio of each row of counts, float64[k, 5] or [k, 3]."""
        counts = np.where(counts == 0, UNSEEN, counts).astype(np.float64)
        return np.asarray((counts * self.log_ratios(counts)).sum(axis=1))

    def log_ratios(self, counts: Floats) -> Floats:
        """Return float64[k, 5] or [k, 3]: how much each result speaks for H1 at these counts, none of them 0.

        It is also what one more such result adds to the LLR: both hypotheses are fitted, so refitting adds nothing.
        """
        paired = counts.shape[1] == len(PAIR_SCORES)
        x = np.array(PAIR_SCORES if paired else GAME_SCORES)
        if self.model == "logistic":
            p0, p1 = (most_likely_with_mean(counts, x, score_of_elo(elo)) for elo in (self.elo0, self.elo1))
        else:
            per_sample = math.sqrt(2 if paired else 1) / NELO  # two games' mean varies less than one game by root 2
            p0, p1 = (most_likely_with_t(counts, x, elo * per_sample) for elo in (self.elo0, self.elo1))
        return np.asarray(np.log(p1) - np.log(p0))


def _number(text: str, part: str) -> float:
    try:
        return float(part)
    except ValueError:
        raise SpecError(f"SPRT {text!r}: {part!r} is not a number; write elo0,elo1 as in 0,10") from None


# --- maximum likelihood under one constraint -------------------------------------------------------------------------
def most_likely_with_mean(counts: Floats, x: Floats, mean: float) -> Floats:
    """Return float64[k, m]: the probabilities of results x that explain each row best among those with this mean."""
    return _balanced(counts, np.broadcast_to(x - mean, counts.shape))


def most_likely_with_t(counts: Floats, x: Floats, t: float) -> Floats:
    """Return the same among those whose mean lies t standard deviations above 1/2.

    With y = x - 1/2 of mean m that is E y^2 = c m^2, c = 1 + 1/t^2, and m of the sign of t: a curved constraint. Its
    tangent at a guessed m' puts 2 m m' - m'^2 for m^2, which makes it a constraint on a mean. The guess is right where
    the answer has the mean m'. As a rule that mean is a better guess and a few rounds suffice; the few rows for which
    it is not (one or two pairs, bounds hundreds of Elo apart) are searched.
    """
    if t < 0:
        return most_likely_with_t(counts[:, ::-1], x, -t)[:, ::-1]
    if t == 0:
        return most_likely_with_mean(counts, x, 0.5)
    y, c = x - 0.5, 1 + 1 / t**2
    guess = np.minimum(t * _deviation(counts, y), 0.5)
    p, left = np.empty_like(counts), np.arange(len(counts))
    for _ in range(TRIES):
        p[left], excess = _on_tangent(counts[left], y, c, guess[left])
        guess[left] = np.minimum(guess[left] - excess, 0.5)
        left = left[np.abs(excess) >= SETTLED]
        if not len(left):
            return p
    p[left] = _searched(counts[left], y, c)
    return p


def _searched(counts: Floats, y: Floats, c: float) -> Floats:
    """Return the answer of `most_likely_with_t` by false position (see `stats.rising_root`), for all rows at once."""
    low, high = np.zeros(len(counts)), np.full(len(counts), 0.5)
    at_low, side = -np.ones(len(counts)), np.zeros(len(counts))
    _, at_high = _on_tangent(counts, y, c, high)
    for _ in range(ROUNDS):
        guess = (low * at_high - high * at_low) / (at_high - at_low)
        p, excess = _on_tangent(counts, y, c, guess)
        if np.abs(excess).max() < SETTLED:
            break
        up = excess < 0
        at_high = np.where(up, np.where(side < 0, at_high / 2, at_high), excess)
        at_low = np.where(up, excess, np.where(side > 0, at_low / 2, at_low))
        low, high, side = np.where(up, guess, low), np.where(up, high, guess), np.where(up, -1, 1)
    return p


def _deviation(counts: Floats, y: Floats) -> Floats:
    """Return the standard deviation of the results y as they were counted."""
    share = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(np.sqrt(np.maximum(share @ y**2 - (share @ y) ** 2, 0.0)))


def _on_tangent(counts: Floats, y: Floats, c: float, guess: Floats) -> tuple[Floats, Floats]:
    """Return the best probabilities on the tangent at each guess, and guess - mean.

    The difference is -1 if the guess is so low that no probabilities are on the tangent.
    """
    g = y * y - 2 * c * guess[:, None] * y + c * guess[:, None] ** 2
    fine = g.min(axis=1) < 0
    p = _balanced(counts, np.where(fine[:, None], g, y))
    return p, np.where(fine, guess - p @ y, -1.0)


def _balanced(counts: Floats, g: Floats) -> Floats:
    """Maximise the sum of counts log p under sum p g = 0: p = share / (1 + m g), with the m that makes it balance.

    sum share g / (1 + m g) falls with m between the two poles, so Newton's steps are kept between a low and a high m.
    """
    share = counts / counts.sum(axis=1, keepdims=True)
    low, high = -NEARLY / g.max(axis=1), -NEARLY / g.min(axis=1)
    m = np.zeros(len(g))
    for _ in range(ROUNDS):
        q = g / (1 + m[:, None] * g)
        excess, slope = (share * q).sum(axis=1), (share * q * q).sum(axis=1)
        low, high = np.where(excess > 0, m, low), np.where(excess > 0, high, m)
        step = m + excess / slope
        inside = (step >= low) & (step <= high)  # equal where rounding ends the progress
        step = np.where(inside, step, (low + high) / 2)
        settled = np.abs(step - m).max() < SETTLED * (1 + np.abs(m).max())
        m = step
        if settled:
            break
    return np.asarray(share / (1 + m[:, None] * g))
