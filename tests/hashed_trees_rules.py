"""The compiled backend of hashed_trees.py."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hashed_trees import (
    BEST_FIRST,
    CHILD,
    COUNT,
    END,
    FEATURE,
    FIELD,
    GOLDEN,
    MAX_BRANCHING,
    MAX_LEVELS,
    MIDDLE,
    MOVER,
    NOISE,
    ODDS,
    PASS,
    ROLL,
    THREAT,
    WORTH,
    Node,
    Shape,
)

from evallearn.compiled.bits import jitable, u64
from evallearn.compiled.rng import mix64
from evallearn.core.rules import Rules

ZERO, ONE, TWO, EIGHT, FOUR, MASK5 = u64(0), u64(1), u64(2), u64(8), u64(4), u64(31)
FORTY_EIGHT, WIDE_MIDDLE, WIDE_GOLDEN = u64(48), u64(MIDDLE), u64(GOLDEN)
BRANCHING, LEVELS, GRAIN, EVAL_GRAIN, ENDS, RANDOM_MOVER, WIDTH, UNIFORM, ORDER, CHANCES, NOISY, FORCED, PASSING = (
    u64(FIELD * i) for i in range(len(Shape._fields))
)


@jitable
def field(s, place):
    return (s.shape >> place) & MASK5


@jitable
def node_draw(s, what):
    return mix64(s.seed ^ mix64(s.number + (s.level << FORTY_EIGHT) ^ mix64(u64(what) + WIDE_GOLDEN)))


@jitable
def node_share(h, grain):
    one = ONE << grain
    return np.float32(np.float64(np.int64(h % (TWO * one + ONE)) - np.int64(one)) / np.float64(np.int64(one)))


@jitable
def node_observer(s):
    if field(s, RANDOM_MOVER) != ZERO:
        return np.int64(node_draw(s, MOVER) & ONE)
    return np.int64(s.level & ONE)


@jitable
def node_is_terminal(s):
    return s.level >= field(s, LEVELS) or (s.level > ZERO and node_draw(s, END) % EIGHT < field(s, ENDS))


@jitable
def node_choices(s):
    if field(s, UNIFORM) != ZERO or field(s, ORDER) != ZERO:
        return np.int64(field(s, BRANCHING))
    return np.int64(ONE + node_draw(s, COUNT) % field(s, BRANCHING))


@jitable
def node_actions(s, out):
    n = node_choices(s)
    for a in range(n):
        out[a] = a
    return n


@jitable
def node_noisy_actions(s, out):
    n = np.int64(0)
    for a in range(node_choices(s)):
        if node_draw(s, NOISE + a) % EIGHT < field(s, NOISY):
            out[n] = a
            n += 1
    return n


@jitable
def node_forcing(s):
    return node_draw(s, THREAT) % EIGHT < field(s, FORCED)


@jitable
def node_may_pass(s):
    return field(s, RANDOM_MOVER) == ZERO and node_draw(s, PASS) % EIGHT < field(s, PASSING)


@jitable
def node_passed(s):
    return Node(s.seed, node_draw(s, PASS + 1), s.level + ONE, s.shape)


@jitable
def node_result(s, a):
    h = node_draw(s, CHILD + a)
    if field(s, ORDER) != ZERO:
        branching = field(s, BRANCHING)
        step = u64(a) if field(s, ORDER) == u64(BEST_FIRST) else branching - ONE - u64(a)
        for _ in range(np.int64(field(s, LEVELS)) - 1 - np.int64(s.level)):
            step *= branching
        number = s.number - step if s.level & ONE == ZERO else s.number + step
        return Node(s.seed, number, s.level + ONE, s.shape)
    if field(s, WIDTH) != ZERO:
        return Node(s.seed, (h >> EIGHT) % field(s, WIDTH), s.level + ONE + (h & ONE), s.shape)
    return Node(s.seed, h, s.level + ONE, s.shape)


@jitable
def node_worth(s):
    """To player 0."""
    if field(s, ORDER) != ZERO:
        steps = np.int64(s.number) - np.int64(WIDE_MIDDLE)
        return np.float32(np.float64(steps) / np.float64(np.int64(ONE << field(s, GRAIN))))
    return node_share(node_draw(s, WORTH), field(s, GRAIN))


@jitable
def node_utility_mover(s):
    return node_worth(s) if node_observer(s) == 0 else -node_worth(s)


@jitable
def node_utility_player(s, player):
    return node_worth(s) if player == 0 else -node_worth(s)


@jitable
def node_features_mover(s, out):
    x = node_share(node_draw(s, FEATURE), field(s, EVAL_GRAIN))
    out[0] = x if node_observer(s) == 0 else -x


@jitable
def node_features_player(s, player, out):
    x = node_share(node_draw(s, FEATURE), field(s, EVAL_GRAIN))
    out[0] = x if player == 0 else -x


@jitable
def node_phase(s):
    return 0


@jitable
def node_key(s):
    return mix64(s.seed ^ mix64(s.number + mix64(s.level + mix64(s.shape))))


@jitable
def dice_to_play(s):
    rolls = s.level > ZERO and not node_is_terminal(s) and node_draw(s, ROLL) % EIGHT < field(s, CHANCES)
    return np.int64(-1) if rolls else node_observer(s)


@jitable
def dice_chances(s, out, probabilities):
    n = node_choices(s)
    total = np.int64(0)
    for i in range(n):
        odds = np.int64(ONE + node_draw(s, ODDS + i) % FOUR)
        out[i] = i
        probabilities[i] = np.float64(odds)
        total += odds
    for i in range(n):
        probabilities[i] /= np.float64(total)
    return n


TREE_RULES = Rules(
    State=Node,
    actions=node_actions,
    result=node_result,
    is_terminal=node_is_terminal,
    to_play=node_observer,
    utility_mover=node_utility_mover,
    features_mover=node_features_mover,
    phase=node_phase,
    key=node_key,
    noisy_actions=node_noisy_actions,
    forcing=node_forcing,
    may_pass=node_may_pass,
    passed=node_passed,
    n_actions=MAX_BRANCHING,
    max_actions=MAX_BRANCHING,
    max_plies=MAX_LEVELS,
    alternates=False,
)
DICE_RULES = replace(
    TREE_RULES,
    to_play=dice_to_play,
    utility_mover=None,
    features_mover=None,
    utility_player=node_utility_player,
    features_player=node_features_player,
    observer=node_observer,
    chances=dice_chances,
    noisy_actions=None,
    forcing=None,
    may_pass=None,
    passed=None,
    max_outcomes=MAX_BRANCHING,
)
