# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: the rules that look back, inside a search.

`ctx.path` holds the keys of all positions from the oldest that the rules may look back to down to the one searched;
`ctx.doubled` whether any stood there twice since the last move that cannot be taken back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from evallearn.compiled.rng import mix64

if TYPE_CHECKING:
    from evallearn.compiled.hooks import ALTERNATES, CLOCK_LIMIT, CUTS_AT_DEPTH, clock
    from evallearn.compiled.records import SearchContext

RETURN = 4
"""Plies in which a position can come back at the earliest; so its third occurrence is at least twice as far."""


@njit(nogil=True)
def occurred(k, since, here, ctx):
    """Note position `k` as number `here` of the path, played plies included; return how often it was there before.

    since: plies since the last move that cannot be taken back.
    """
    seen = 0
    for i in range(here - RETURN, here - min(since, here) - 1, -2 if ALTERNATES else -1):
        if ctx.path[i] == k:
            seen += 1
    ctx.path[here] = k
    return seen


@njit(nogil=True)
def is_third_occurrence(k, since, here, ctx: SearchContext):
    """Return True if position `k`, which becomes number `here` of the path, was there twice before."""
    since = min(since, here)
    seen = occurred(k, since, here, ctx)
    ctx.doubled[here] = seen > 0 or (since > 0 and ctx.doubled[here - 1] != 0)
    return seen >= 2


@njit(nogil=True)
def table_key(s, depth, here, ctx: SearchContext):
    """Return the position's key where no rule that looks back can strike within `depth`.

    Elsewhere return a key that depends on the past too. A third occurrence needs eight plies that can be taken back. If
    no position stood there twice so far, it needs a first return and a second one four plies later, five in all.
    """
    since = clock(s)
    depth += ctx.quiescence + ctx.extensions
    beyond_count = since + depth < CLOCK_LIMIT
    since = min(since, here)
    beyond_repetition = since + depth < 2 * RETURN or (depth <= RETURN and ctx.doubled[here] == 0)
    if CUTS_AT_DEPTH and beyond_count and beyond_repetition:
        return ctx.path[here]
    history = mix64(np.uint64(clock(s)))
    for i in range(here - since, here):  # a sum: what counts is which positions were there, not in which order
        history += mix64(ctx.path[i])
    return ctx.path[here] ^ mix64(history)


@njit(nogil=True)
def push_history(s, after, history, n):
    """Update the past after the move from `s` to `after` was played, and return the new n.

    history[:n], the positions since the last move that cannot be taken back, goes on with `s` or starts anew.
    """
    if clock(after) == 0:
        return 0
    for i, word in enumerate(s):
        history[n, i] = word
    return n + 1
