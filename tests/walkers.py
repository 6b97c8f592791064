"""A toy whose rules look back: positions come again, and that ends the game."""

# Numba infers the types when it compiles, and each game has its own State, hence:
# mypy: ignore-errors

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evallearn.compiled.bits import jitable, u64
from evallearn.compiled.rng import mix64
from evallearn.core.game import Game, Heuristic
from evallearn.core.rules import Rules
from evallearn.errors import BadNotation, IllegalAction

RING = 4
LIMIT = 12
"""Plies without a spent coin, then it is a draw."""
HURRY = 5
UP, DOWN, SPEND = range(3)


class Words(NamedTuple):
    """Places on the ring, coins left, points, whose turn, plies since a coin was spent."""

    place0: int
    place1: int
    coins0: int
    coins1: int
    points0: int
    points1: int
    player: int
    clock: int


class State(NamedTuple):
    """The same, and the words of the positions since the last coin."""

    words: Words
    history: tuple[tuple[int, ...], ...] = ()


class Walkers(Game):
    """Two walkers on a ring of four places step up or down, or spend a coin for the distance between them (at most 3).

    When all coins are spent, more points win. Twelve plies without a coin, or a position for the third time: a draw.
    """

    name = "walkers"
    feature_names = ("points", "place")
    heuristics = {"points": Heuristic({"points": 0.25, "place": 0.0625}, "By hand.")}  # noqa: RUF012
    opening_plies = 2
    limit = LIMIT

    def initial(self):
        return State(Words(0, 2, 1, 1, 0, 0, 0, 0))

    def to_play(self, s):
        return s.words.player

    def actions(self, s):
        if self.is_terminal(s):
            return ()
        return (UP, DOWN, SPEND) if s.words[2 + s.words.player] else (UP, DOWN)

    def result(self, s, a):
        if a not in self.actions(s):
            raise IllegalAction(f"illegal action {a!r} in walkers position {self.to_text(s)!r}")
        w = list(s.words)
        me, distance = w[6], (w[1] - w[0]) % RING
        if a == SPEND:
            w[2 + me], w[4 + me] = w[2 + me] - 1, w[4 + me] + distance
        else:
            w[me] = (w[me] + (1 if a == UP else -1)) % RING
        w[6:] = 1 - me, 0 if a == SPEND else w[7] + 1
        return State(Words(*w), () if a == SPEND else (*s.history, tuple(s.words)))

    def is_terminal(self, s):
        w = s.words
        times = sum(history[:7] == w[:7] for history in s.history)
        return w.clock >= self.limit or times >= 2 or w.coins0 + w.coins1 == 0

    def utility(self, s, player):
        w = s.words
        if w.coins0 + w.coins1:
            return 0.0
        lead = float((w.points0 > w.points1) - (w.points0 < w.points1))
        return (lead if player == 0 else -lead) + 0.0

    def features(self, s, player):
        w = s.words
        sign = 1 if player == 0 else -1
        return (sign * (w.points0 - w.points1), sign * (w.place0 - w.place1))

    def to_text(self, s):
        return "/".join(",".join(map(str, words)) for words in (*s.history, s.words))

    def from_text(self, text):
        try:
            *history, words = (tuple(map(int, part.split(","))) for part in text.split("/"))
            return State(Words(*words), tuple(history))
        except (ValueError, TypeError):
            raise BadNotation(f"walkers position {text!r}: expected eight numbers") from None

    def encode(self, s):
        return tuple(s.words)

    def decode(self, words, history=()):
        return State(Words(*map(int, words)), tuple(history))

    def history(self, s):
        return s.history

    @property
    def rules(self):
        return RULES


ZERO, ONE, THREE = u64(0), u64(1), u64(3)


@jitable
def words_actions(s, out):
    out[0], out[1], out[2] = UP, DOWN, SPEND
    coins = s.coins0 if s.player == ZERO else s.coins1
    return 3 if coins > ZERO else 2


@jitable
def words_result(s, a):
    p0, p1, c0, c1, q0, q1 = s.place0, s.place1, s.coins0, s.coins1, s.points0, s.points1
    step = ONE if a == UP else (THREE if a == DOWN else ZERO)
    spent = ONE if a == SPEND else ZERO
    gain = ((p1 - p0) & THREE) * spent
    if s.player == ZERO:
        p0, c0, q0 = (p0 + step) & THREE, c0 - spent, q0 + gain
    else:
        p1, c1, q1 = (p1 + step) & THREE, c1 - spent, q1 + gain
    return Words(p0, p1, c0, c1, q0, q1, ONE - s.player, ZERO if a == SPEND else s.clock + ONE)


@jitable
def words_is_terminal(s):
    return s.clock >= u64(LIMIT) or s.coins0 + s.coins1 == ZERO


@jitable
def words_to_play(s):
    return np.int64(s.player)


@jitable
def words_utility_mover(s):
    if s.coins0 + s.coins1 > ZERO or s.points0 == s.points1:
        return np.float32(0)
    first_wins = s.points0 > s.points1
    return np.float32(1) if first_wins == (s.player == ZERO) else np.float32(-1)


@jitable
def words_features_mover(s, out):
    sign = np.int64(1) if s.player == ZERO else np.int64(-1)
    out[0] = sign * (np.int64(s.points0) - np.int64(s.points1))
    out[1] = sign * (np.int64(s.place0) - np.int64(s.place1))


@jitable
def words_phase(s):
    return 0


@jitable
def words_key(s):
    k = s.place0
    for word in (s.place1, s.coins0, s.coins1, s.points0, s.points1, s.player):
        k = k << THREE | word
    return mix64(k + ONE)


@jitable
def words_clock(s):
    return np.int64(s.clock)


RULES = Rules(
    State=Words,
    actions=words_actions,
    result=words_result,
    is_terminal=words_is_terminal,
    to_play=words_to_play,
    utility_mover=words_utility_mover,
    features_mover=words_features_mover,
    phase=words_phase,
    key=words_key,
    n_actions=3,
    max_actions=3,
    max_plies=3 * LIMIT,
    clock=words_clock,
    clock_limit=LIMIT,
)


@jitable
def hurried_is_terminal(s):
    return s.clock >= u64(HURRY) or s.coins0 + s.coins1 == ZERO


class Hurried(Walkers):
    """The same, drawn after five plies without a coin: the count strikes before any repetition."""

    limit = HURRY

    @property
    def rules(self):
        return replace(RULES, is_terminal=hurried_is_terminal, clock_limit=HURRY)
