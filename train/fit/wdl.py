"""Win, draw and loss as three outcomes in order: the proportional odds model (McCullagh 1980), streamed.

    P(win) = logistic(eta - m),   P(loss) = logistic(-eta - m),   the rest are draws;   eta = theta . z,   m > 0

The draw margin m is one for all phases. For a draw, P = logistic(eta + m) logistic(m - eta) (1 - exp(-2 m)): so a
record is one or two rows of a plain logistic regression, and a draw also a term in m alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evallearn.errors import DataError
from evallearn.train.fit.constraints import shared, taper_map
from evallearn.train.fit.methods import (
    Fitted,
    Settings,
    common_penalty,
    first_step,
    fit_logistic,
    records,
    taper_penalty,
    tapers,
)
from evallearn.train.fit.newton import Rows, Sums, Triple, logistic_sums
from evallearn.train.fit.stream import RecordStream, Summary


def fit_wdl(stream: RecordStream, summary: Summary, settings: Settings) -> Fitted:
    """Fit eta and the draw margin; without a draw, that is the logistic regression."""
    counts = count_outcomes(stream, summary)
    if not counts[1].any():
        return fit_logistic(stream, summary, settings)
    rows = _rows(stream, summary)
    p, d = summary.target.shape
    first = np.append(first_step(summary, settings), 2.0 * np.arctanh(counts[1].sum() / counts.sum()))
    if tapers(settings, summary):
        maps = taper_map(p, d, extra=1)
        sums = shared(_sums(rows, counts[1]), maps)
        start = np.append(np.zeros(d), first)[None]
        found, n = settings.newton(sums, np.zeros((1, 2 * d + 1)), taper_penalty(d, settings, 1), start=start)
        return Fitted((maps @ found[0])[:, :-1], n, scale=None, draw_margin=float(found[0, -1]))
    penalty = np.append(common_penalty(d, settings.alpha), 0.0)
    found, n = settings.newton(_sums(rows, counts[1:2].sum(axis=1)), np.zeros((1, d + 1)), penalty, start=first[None])
    theta, margin = found[:, :-1], float(found[0, -1])
    if p > 1:
        theta, more = settings.newton(
            _at_margin(rows, margin), np.tile(theta, (p, 1)), np.full(d, settings.phase_alpha)
        )
        n += more
    return Fitted(theta, n, scale=None, draw_margin=margin)


def count_outcomes(stream: RecordStream, summary: Summary) -> np.ndarray:
    """Return int64[3, n_phases]: losses, draws and wins.

    Raises DataError if there are others, or only one side ever won.
    """
    counts = np.zeros((3, len(summary.gram)), np.int64)
    for _, phase, y in records(stream, summary):
        odd = y[(y != -1) & (y != 0) & (y != 1)]
        if len(odd):
            raise DataError(
                f"column 'outcome' holds {odd[0]:g}, and method 'wdl' knows -1 (loss), 0 (draw) and 1 (win) only: "
                "use method 'logistic', which takes shares of a win"
            )
        for row, outcome in zip(counts, (-1, 0, 1), strict=True):
            row += np.bincount(phase[y == outcome], minlength=len(row))
    for row, name in zip(counts[[0, 2]], ("loss", "win"), strict=True):
        if not row.any():
            raise DataError(
                f"column 'outcome' holds no {name} in {summary.n_records} training records, and method 'wdl' needs "
                "wins and losses: generate more games, or use method 'logistic'"
            )
    return counts


def probabilities(eta: np.ndarray, margin: float) -> np.ndarray:
    """Return the probabilities of a loss, a draw and a win, float64[n, 3]."""
    win, loss = ((1.0 + np.tanh((sign * eta - margin) / 2.0)) / 2.0 for sign in (1.0, -1.0))
    return np.stack([loss, 1.0 - win - loss, win], axis=1)


def _rows(stream: RecordStream, summary: Summary) -> Rows:
    """Return the rows of the two questions that records answer.

    A win or a draw asks whether eta exceeded the margin; a draw or a loss, whether it exceeded minus the margin.
    """

    def rows() -> Iterator[Triple]:
        for x, phase, y in records(stream, summary):
            z = summary.design(x, extra=1)
            for rows, sign, won in ((y >= 0, -1.0, y > 0), (y <= 0, 1.0, y == 0)):
                part = z[rows]
                part[:, -1] = sign
                yield part, won[rows].astype(np.float64), phase[rows]

    return rows


def _sums(rows: Rows, draws: np.ndarray) -> Sums:
    """Return the sums at theta [g, d + 1], the margin last. draws: [g]."""

    def sums(theta: np.ndarray) -> Triple:
        margin = theta[:, -1]
        if (margin <= 0.0).any():  # no such model: Newton halves its step
            return np.zeros((*theta.shape, theta.shape[1])), np.zeros(theta.shape), np.full(len(theta), np.inf)
        gram, slope, loss = logistic_sums(rows, theta)
        grown = np.expm1(2.0 * margin)
        loss -= draws * np.log(-np.expm1(-2.0 * margin))
        slope[:, -1] += draws * 2.0 / grown
        gram[:, -1, -1] += draws * 4.0 * (grown + 1.0) / grown**2
        return gram, slope, loss

    return sums


def _at_margin(rows: Rows, margin: float) -> Sums:
    """Return the sums at theta [g, d], where the margin stays as it is."""

    def sums(theta: np.ndarray) -> Triple:
        gram, slope, loss = logistic_sums(rows, np.hstack([theta, np.full((len(theta), 1), margin)]))
        return gram[:, :-1, :-1], slope[:, :-1], loss

    return sums
