"""Random trees whose values are confined ever more closely: `from narrowing import Narrowing`.

A node carries the bounds of what can still come of it, and every move narrows them, so that a search may prune by
them. Who moves, how many moves there are and how they narrow are hashes of the node.
"""

# Numba infers the types when it compiles, and each game has its own State, hence:
# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evallearn.compiled.bits import jitable, u64
from evallearn.compiled.rng import mix64
from evallearn.core.game import Game, Heuristic
from evallearn.core.rng import MASK64, scramble
from evallearn.core.rules import Rules
from evallearn.errors import BadNotation, IllegalAction

UNIT = 8
"""A win is worth so many steps: few, so that there are ties."""
LEVELS, BRANCHING = 7, 4
CHILD, COUNT, MOVER, END, WORTH, FEATURE, LOW, HIGH = range(8)
"""What a hash is drawn for; the action is added to the first, times 8."""


class Node(NamedTuple):
    """Bounds in steps above a loss, to player 0."""

    seed: int
    level: int
    low: int
    high: int


def draw(s, what):
    return scramble(s.seed ^ scramble(what + 1))


class Narrowing(Game):
    """Two players, zero-sum; who moves is random."""

    name = "narrowing"
    feature_names = ("hash",)
    heuristics = {"hash": Heuristic({"hash": 2.0}, "A random number, mostly outside the bounds.")}  # noqa: RUF012
    opening_plies = 1

    def root(self, seed):
        return Node(scramble(seed + 1), 0, 0, 2 * UNIT)

    def initial(self):
        return self.root(1)

    def to_play(self, s):
        return draw(s, MOVER) % 2

    def is_terminal(self, s):
        return s.level >= LEVELS or (s.level > 0 and draw(s, END) % 8 == 0)

    def actions(self, s):
        return () if self.is_terminal(s) else tuple(range(1 + draw(s, COUNT) % BRANCHING))

    def result(self, s, a):
        if a not in self.actions(s):
            raise IllegalAction(f"illegal action {a!r} in {self.name} position {self.to_text(s)!r}")
        child = s._replace(seed=draw(s, CHILD + 8 * a), level=s.level + 1)
        low = s.low + draw(child, LOW) % (1 + (s.high - s.low) // 2)
        return child._replace(low=low, high=s.high - draw(child, HIGH) % (1 + (s.high - low) // 2))

    def utility(self, s, player):
        worth = (s.low + draw(s, WORTH) % (s.high - s.low + 1)) / UNIT - 1.0
        return (worth if player == 0 else -worth) + 0.0

    def bounds(self, s, player):
        low, high = s.low / UNIT - 1.0, s.high / UNIT - 1.0
        return (low, high) if player == 0 else (0.0 - high, 0.0 - low)

    def features(self, s, player):
        x = draw(s, FEATURE) % 17 / 8 - 1.0
        return (x if player == 0 else -x,)

    def to_text(self, s):
        return ".".join(f"{word:x}" for word in s)

    def from_text(self, text):
        try:
            return Node(*(int(word, 16) & MASK64 for word in text.split(".")))
        except (ValueError, TypeError):
            raise BadNotation(f"{self.name} position {text!r}: expected four hexadecimal words with dots") from None

    @property
    def rules(self):
        return RULES


# --- the compiled backend --------------------------------------------------------------------------------------------
ZERO, ONE, TWO = u64(0), u64(1), u64(2)


@jitable
def word_draw(s, what):
    return mix64(s.seed ^ mix64(u64(what) + ONE))


@jitable
def to_play(s):
    return np.int64(word_draw(s, MOVER) & ONE)


@jitable
def is_terminal(s):
    return s.level >= u64(LEVELS) or (s.level > ZERO and word_draw(s, END) % u64(8) == ZERO)


@jitable
def actions(s, out):
    n = np.int64(ONE + word_draw(s, COUNT) % u64(BRANCHING))
    for a in range(n):
        out[a] = a
    return n


@jitable
def result(s, a):
    child = Node(word_draw(s, CHILD + 8 * a), s.level + ONE, s.low, s.high)
    low = s.low + word_draw(child, LOW) % (ONE + (s.high - s.low) // TWO)
    high = s.high - word_draw(child, HIGH) % (ONE + (s.high - low) // TWO)
    return Node(child.seed, child.level, low, high)


@jitable
def to_first(steps):
    return np.float32(np.float64(np.int64(steps)) / UNIT - 1.0)


@jitable
def utility_mover(s):
    worth = to_first(s.low + word_draw(s, WORTH) % (s.high - s.low + ONE))
    return worth if to_play(s) == 0 else -worth


@jitable
def bounds_mover(s):
    low, high = to_first(s.low), to_first(s.high)
    if to_play(s) == 0:
        return low, high
    return -high, -low


@jitable
def features_mover(s, out):
    x = np.float64(np.int64(word_draw(s, FEATURE) % u64(17))) / 8.0 - 1.0
    out[0] = x if to_play(s) == 0 else -x


@jitable
def phase(s):
    return 0


@jitable
def key(s):
    return mix64(s.seed ^ mix64(s.level ^ mix64(s.low ^ mix64(s.high))))


RULES = Rules.of(__name__, State=Node, n_actions=BRANCHING, max_actions=BRANCHING, max_plies=LEVELS, alternates=False)
