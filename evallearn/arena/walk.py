"""A random walk between two barriers, as a Brownian motion with drift: how often it ends where, and when."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

FARTHEST = 9.0
"""Standard deviations beyond which the density counts as 0."""
SHORT = 1.0
"""Time, in width^2 / variance, up to which the images of the barriers are few; later the waves between them are."""
IMAGES = np.arange(-5, 6)
WAVES = np.arange(1, 9)
"""Of both so many that what is left out is below 1e-14."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)


@dataclass(frozen=True, slots=True)
class Walk:
    """It starts at 0, and ends at -down or at up."""

    drift: float
    variance: float
    """Both per unit of time."""
    down: float
    up: float

    @property
    def mirrored(self) -> Walk:
        """The same, with up and down swapped."""
        return Walk(-self.drift, self.variance, self.up, self.down)

    def arrives_up(self, time: float) -> float:
        """Return the probability that it reaches the upper barrier by then, and not the lower one before."""
        from scipy.special import log_ndtr

        m, v, width = self.drift, self.variance, self.down + self.up
        if v * time <= SHORT * width**2:
            to, root = self.up + 2 * IMAGES * width, math.sqrt(v * time)
            far = np.abs(to)
            near, again = log_ndtr((m * time - far) / root), log_ndtr(-(m * time + far) / root)
            there = np.exp(m * (self.up - far) / v + near) + np.exp(m * (self.up + far) / v + again)
            return _share(float((np.sign(to) * there).sum()))
        rate = (m * m / v + (WAVES * math.pi / width) ** 2 * v) / 2
        waves = WAVES * np.sin(WAVES * math.pi * self.up / width) * np.exp(m * self.up / v - rate * time) / rate
        return _share(self._ever_up() - math.pi * v / width**2 * float(waves.sum()))

    def _ever_up(self) -> float:
        k = 2 * self.drift / self.variance
        if abs(k) * (self.down + self.up) < 1e-9:
            return self.down / (self.down + self.up)
        if k > 0:
            return math.expm1(-k * self.down) / math.expm1(-k * (self.down + self.up))
        return math.exp(k * self.up) * math.expm1(k * self.down) / math.expm1(k * (self.down + self.up))

    def stays_above(self, level: float, time: float) -> float:
        """Return the probability that it has reached neither barrier by then, and is above the level."""
        root, middle = math.sqrt(self.variance * time), self.drift * time
        low = max(level, -self.down, middle - FARTHEST * root)
        high = min(self.up, middle + FARTHEST * root)
        if low >= high:
            return 0.0
        x = (low + high) / 2 + NODES * (high - low) / 2
        return _share(float(WEIGHTS @ self._density(x, time)) * (high - low) / 2)

    def _density(self, x: np.ndarray, time: float) -> np.ndarray:
        m, v, width = self.drift, self.variance, self.down + self.up
        turn = m * x / v - m * m * time / (2 * v)
        if v * time <= SHORT * width**2:
            shift = 2 * IMAGES[:, None] * width
            there, back = (np.exp(turn - (x - c) ** 2 / (2 * v * time)) for c in (shift, 2 * self.up + shift))
            return np.asarray((there - back).sum(axis=0) / math.sqrt(2 * math.pi * v * time))
        k = WAVES[:, None] * math.pi / width
        waves = np.sin(k * self.down) * np.sin(k * (x + self.down)) * np.exp(turn - k**2 * v * time / 2)
        return np.asarray(2 / width * waves.sum(axis=0))

    # --- what the end says of the drift ---
    def drift_of_up(self, time: float) -> float:
        """Return the unbiased estimate of the drift where the upper barrier was reached at that time.

        It is what the walk is expected to do in its first moment, when one knows its end (Rao and Blackwell):
        variance * d/dx log f, where f is the density of that end for a walk without drift that begins at x = 0.
        """
        v, width = self.variance, self.down + self.up
        if v * time <= SHORT * width**2:
            to = self.up + 2 * IMAGES * width
            weights = np.exp((self.up**2 - to**2) / (2 * v * time))
            return v * float(weights @ (to**2 / (v * time) - 1)) / float(weights @ to)
        k, fading = WAVES * math.pi / width, self._fading(time)
        at = k * self.up
        return -v * float(fading @ (k * k * np.cos(at))) / float(fading @ (k * np.sin(at)))

    def drift_of_stay(self, place: float, time: float) -> float:
        """Return the same where neither barrier was reached, and the walk is at that place."""
        v, width = self.variance, self.down + self.up
        if v * time <= SHORT * width**2:
            there, back = place - 2 * IMAGES * width, place - 2 * self.up - 2 * IMAGES * width
            first, second = (np.exp((place**2 - to**2) / (2 * v * time)) for to in (there, back))
            return float(first @ there + second @ back) / time / float(first.sum() - second.sum())
        k, fading = WAVES * math.pi / width, self._fading(time) * np.sin(WAVES * math.pi / width * (place + self.down))
        return v * float(fading @ (k * np.cos(k * self.down))) / float(fading @ np.sin(k * self.down))

    def _fading(self, time: float) -> np.ndarray:
        """Return what is left of each wave, against the first."""
        return np.exp((1 - WAVES**2) * (math.pi / (self.down + self.up)) ** 2 * self.variance * time / 2)


def _share(p: float) -> float:
    return min(max(p, 0.0), 1.0)
