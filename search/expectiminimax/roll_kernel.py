# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: what expectiminimax knows of a roll, specialised to a game.

The roll at `ply` has the outcomes ctx.outcomes[ply, i] of probability ctx.odds[ply, i], each worth at least
ctx.low[ply, i] and at most ctx.high[ply, i]; so their mean lies between ctx.least[ply] and ctx.most[ply].
`Roll` in star.py is the same in plain Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from evallearn.compiled.rng import GOLDEN, drawn, mix64

if TYPE_CHECKING:
    from evallearn.compiled.hooks import BEST, WORST, chances, key
    from evallearn.compiled.records import ExpectiminimaxContext

UNSETTLED = -1.0
"""In place of the variance of an outcome whose value is not known yet."""
SLACK = 2.0**-44 * max(abs(WORST), abs(BEST))
"""Per outcome: far more than the rounding of a sum, so that a bound never excludes what the sum itself would be."""


@njit(nogil=True)
def roll(s, ply, ctx: ExpectiminimaxContext):
    """Write the outcomes of the roll and their probabilities, or a sample of them; returns their number."""
    n = np.int64(chances(s, ctx.outcomes[ply], ctx.odds[ply]))
    for i in range(n):
        ctx.slots[ply, i] = i
    ctx.drawn_here[ply] = 0 < ctx.samples < n
    if ctx.drawn_here[ply]:
        n = draw(key(s), n, ply, ctx)
    ctx.least[ply] = 0.0
    ctx.most[ply] = 0.0
    for i in range(n):
        ctx.low[ply, i] = WORST
        ctx.high[ply, i] = BEST
        ctx.spread[ply, i] = UNSETTLED
        ctx.least[ply] += ctx.odds[ply, i] * WORST
        ctx.most[ply] += ctx.odds[ply, i] * BEST
    ctx.slack[ply] = n * SLACK
    return n


@njit(nogil=True)
def note_low(i, v, ply, ctx: ExpectiminimaxContext):
    ctx.least[ply] += ctx.odds[ply, i] * (v - ctx.low[ply, i])
    ctx.low[ply, i] = v


@njit(nogil=True)
def note_high(i, v, ply, ctx: ExpectiminimaxContext):
    ctx.most[ply] += ctx.odds[ply, i] * (v - ctx.high[ply, i])
    ctx.high[ply, i] = v


@njit(nogil=True)
def lowest_needed(i, alpha, ply, ctx: ExpectiminimaxContext):
    """If outcome i is worth no more than this, the roll is worth no more than alpha, however it is rounded."""
    p = ctx.odds[ply, i]
    return (alpha - 2 * ctx.slack[ply] - (ctx.most[ply] - p * ctx.high[ply, i])) / p


@njit(nogil=True)
def highest_needed(i, beta, ply, ctx: ExpectiminimaxContext):
    p = ctx.odds[ply, i]
    return (beta + 2 * ctx.slack[ply] - (ctx.least[ply] - p * ctx.low[ply, i])) / p


@njit(nogil=True)
def average(n, ply, ctx: ExpectiminimaxContext):
    """Return the expectation, added up in the order of the outcomes; write its variance, if anything was sampled."""
    mean = 0.0
    for i in range(n):
        mean += ctx.odds[ply, i] * ctx.low[ply, i]
    ctx.variance[ply] = 0.0
    for i in range(n):
        p = ctx.odds[ply, i]
        weight = p
        if ctx.drawn_here[ply]:
            away = ctx.low[ply, i] - mean
            ctx.variance[ply] += p * away * away / (ctx.samples - 1)
            weight -= 1.0 / ctx.samples
        ctx.variance[ply] += p * weight * ctx.spread[ply, i]
    return mean


@njit(nogil=True)
def draw(k, n, ply, ctx: ExpectiminimaxContext):
    """Keep those of n outcomes that `samples` throws show, each with its share of the throws; returns their number.

    The throws follow from the seed and the position alone, whenever and on whatever way the search comes here.
    """
    ctx.drawn = 1
    for i in range(n):
        ctx.throws[i] = 0
    stream = mix64(k ^ ctx.seed)
    for j in range(ctx.samples):
        ctx.throws[drawn(mix64(stream + np.uint64(j + 1) * GOLDEN), ctx.odds[ply], n)] += 1
    kept = np.int64(0)
    for i in range(n):
        if ctx.throws[i] > 0:
            ctx.outcomes[ply, kept] = ctx.outcomes[ply, i]
            ctx.odds[ply, kept] = ctx.throws[i] / ctx.samples
            ctx.slots[ply, kept] = i
            kept += 1
    return kept
