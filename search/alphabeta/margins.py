"""Margins and depths of the refinements of alpha-beta, the same in plain Python and compiled."""

from __future__ import annotations

import math

import numpy as np

ASPIRATION = 1 / 8
"""How far from the value of two plies before, as a part of a win, alpha-beta looks first."""
NULL_DEPTH = 3
"""Null moves are tried from this depth on."""
LATE_DEPTH, LATE_FROM = 3, 3
"""Late moves: less deep from this depth on, after so many actions."""
FUTILITY = tuple(np.float32(math.tanh(0.12 * pawns)) for pawns in (0.0, 1.5, 3.0, 4.5))
"""By depth left: how much EVAL may be wrong, in a pawn and a half of chess by its hand-written evaluators (0.12 before
the squashing). Squashed already, because tanh(a + b) needs only tanh(a) and tanh(b)."""
FUTILITY_DEPTH = len(FUTILITY) - 1
INSIDE = np.float32(1 - 2**-20)
"""The largest EVAL, as a share of a win, that futility reckons with: nearer to a win float32 would take it for one."""
EVAL_ORDER_DEPTH = 3
"""Actions are ordered by EVAL from this depth on: nearer to the cutoff that costs more nodes than it saves."""
EVAL_SCORES = 1 << 26
"""What an order by EVAL is counted in: so many steps from the middle to a win."""


def eval_score(value: float, win: float) -> int:
    """Return a value as a score by which actions are ordered, from 0 for a loss to 2 * EVAL_SCORES for a win."""
    return EVAL_SCORES + int(value / win * EVAL_SCORES)


def null_reduction(depth: int) -> int:
    """So much less deep is a null move searched."""
    return 2 if depth < 6 else 3


def late_reduction(depth: int, searched: int) -> int:
    """So much less deep is a late move searched after so many others."""
    return 2 if depth >= 5 and searched >= 8 else 1


def shifted(value: np.float32, margin: np.float32) -> np.float32:
    """float32: tanh(a + b) of value = tanh(a) and margin = tanh(b); a value as a share of a win."""
    return (value + margin) / (np.float32(1.0) + value * margin)
