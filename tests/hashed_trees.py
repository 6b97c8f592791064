"""Random game trees without end, each told by a few words: `from hashed_trees import ...`.

A node's moves, its mover and its worth are hashes of the tree's seed and of the node: nothing is stored, any tree can
be searched on both backends. What it looks like (`Shape`) is a word of the state, so all trees share one kernel.

HashedTree    two players, zero-sum, no chance
HashedDice    the same with chance nodes
HashedMany    any number of players, any sum; Python backend only
"""

# Numba infers the types when it compiles, and each game has its own State, hence:
# mypy: ignore-errors

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from evallearn.core.game import CHANCE, Game, Heuristic
from evallearn.core.rng import GOLDEN, MASK64, scramble
from evallearn.errors import BadNotation, IllegalAction

MAX_BRANCHING, MAX_LEVELS = 8, 31
FIELD = 5
"""Bits of a number in the word that holds a shape."""
MIDDLE = 1 << 40
"""The node number of value 0 in a tree of known order."""
WORTH, FEATURE, COUNT, MOVER, END, ROLL, ODDS, NOISE, THREAT, CHILD, PASS = (i << 8 for i in range(11))
"""What a hash is drawn for; players and actions are added."""
BEST_FIRST, WORST_FIRST = 1, 2


class Shape(NamedTuple):
    """What a tree looks like; every number is below 32, the last below 16: a word holds them all."""

    branching: int = 3
    """Moves of a node: 1 to so many."""
    levels: int = 4
    """The game ends here at the latest."""
    grain: int = 0
    """Utilities are multiples of 1 / 2**grain: 0 gives loss, draw and win, and with them many ties."""
    eval_grain: int = 0
    """The same for the feature that an evaluator sees."""
    ends: int = 0
    """Eighths of the inner nodes where the game ends early."""
    random_mover: int = 0
    """1: who moves is a hash too; 0: the players take turns."""
    width: int = 0
    """Above 0: so many nodes on a level, reached on many ways; a move leads one level down or two: sooner or later."""
    uniform: int = 0
    """1: every node has exactly `branching` moves."""
    order: int = 0
    """BEST_FIRST or WORST_FIRST: uniform, distinct values, the moves of every node sorted by their minimax value."""
    chance: int = 0
    """Eighths of the nodes below the root where dice are rolled (HashedDice)."""
    noisy: int = 0
    """Eighths of the actions that are noisy."""
    forced: int = 0
    """Eighths of the nodes where something must be answered."""
    passing: int = 0
    """Eighths of the nodes where a null move may be tried, if the players take turns."""

    def packed(self) -> int:
        return sum(x << (FIELD * i) for i, x in enumerate(self))


@cache
def shape_of(word: int) -> Shape:
    return Shape(*((word >> (FIELD * i)) & 31 for i in range(len(Shape._fields))))


class Node(NamedTuple):
    """A node of the tree: anything about it is drawn from these words."""

    seed: int
    number: int
    level: int
    shape: int


def draw(s: Node, what: int) -> int:
    """A random word for this node and purpose."""
    return scramble(s.seed ^ scramble(s.number + (s.level << 48) ^ scramble(what + GOLDEN)))


def share(h: int, grain: int) -> float:
    """A multiple of 1 / 2**grain in [-1, 1]."""
    one = 1 << grain
    return (h % (2 * one + 1) - one) / one


class HashedTree(Game):
    """Two players, zero-sum, no chance. Ask `root(seed, branching=4, ...)` for a tree."""

    name = "hashed_tree"
    feature_names = ("hash",)
    heuristics = {"hash": Heuristic({"hash": 0.75}, "A random number: nothing is better known.")}  # noqa: RUF012
    opening_plies = 1

    def root(self, seed: int, **shape: int) -> Node:
        return Node(scramble(seed + GOLDEN), MIDDLE, 0, Shape(**shape).packed())

    def initial(self):
        return self.root(1, branching=4, levels=6, grain=4, eval_grain=4, ends=1)

    def observer(self, s):
        return draw(s, MOVER) % self.n_players if shape_of(s.shape).random_mover else s.level % self.n_players

    def to_play(self, s):
        return self.observer(s)

    def is_terminal(self, s):
        shape = shape_of(s.shape)
        return s.level >= shape.levels or (s.level > 0 and draw(s, END) % 8 < shape.ends)

    def n_choices(self, s):
        shape = shape_of(s.shape)
        return shape.branching if shape.uniform or shape.order else 1 + draw(s, COUNT) % shape.branching

    def actions(self, s):
        return () if self.is_terminal(s) else tuple(range(self.n_choices(s)))

    def noisy_actions(self, s):
        return [a for a in self.actions(s) if draw(s, NOISE + a) % 8 < shape_of(s.shape).noisy]

    def forcing(self, s):
        return draw(s, THREAT) % 8 < shape_of(s.shape).forced

    def may_pass(self, s):
        shape = shape_of(s.shape)
        return not shape.random_mover and draw(s, PASS) % 8 < shape.passing

    def passed(self, s):
        return s._replace(number=draw(s, PASS + 1), level=s.level + 1)

    def result(self, s, a):
        if self.is_terminal(s) or a not in range(self.n_choices(s)):
            raise IllegalAction(f"illegal action {a!r} in {self.name} position {self.to_text(s)!r}")
        shape, h = shape_of(s.shape), draw(s, CHILD + a)
        if shape.order:
            return s._replace(number=s.number + self.worse(s, a, shape), level=s.level + 1)
        if shape.width:
            return s._replace(number=(h >> 8) % shape.width, level=s.level + 1 + h % 2)
        return s._replace(number=h, level=s.level + 1)

    def worse(self, s, a, shape):
        """How far `a` is from the best move, as player 0 sees it: every level has digits of its own, so all differ."""
        rank = a if shape.order == BEST_FIRST else shape.branching - 1 - a
        step = rank * shape.branching ** (shape.levels - 1 - s.level)
        return -step if s.level % 2 == 0 else step

    def utility(self, s, player):
        shape = shape_of(s.shape)
        worth = (s.number - MIDDLE) / (1 << shape.grain) if shape.order else share(draw(s, WORTH), shape.grain)
        return (worth if player == 0 else -worth) + 0.0

    def features(self, s, player):
        x = share(draw(s, FEATURE), shape_of(s.shape).eval_grain)
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
        from hashed_trees_rules import TREE_RULES

        return TREE_RULES


class HashedDice(HashedTree):
    """Some nodes below the root are rolls; their outcomes have one to four eighths of odds each, then normalised."""

    name = "hashed_dice"
    has_chance = True

    def initial(self):
        return self.root(1, branching=3, levels=5, grain=4, eval_grain=4, ends=1, chance=3)

    def to_play(self, s):
        rolls = s.level > 0 and not self.is_terminal(s) and draw(s, ROLL) % 8 < shape_of(s.shape).chance
        return CHANCE if rolls else self.observer(s)

    def actions(self, s):
        return () if self.to_play(s) == CHANCE else super().actions(s)

    def noisy_actions(self, s):
        return ()

    def forcing(self, s):
        return False

    def may_pass(self, s):
        return False

    def chances(self, s):
        odds = [1 + draw(s, ODDS + i) % 4 for i in range(self.n_choices(s))]
        return [(i, x / sum(odds)) for i, x in enumerate(odds)]

    @property
    def rules(self):
        from hashed_trees_rules import DICE_RULES

        return DICE_RULES


class HashedMany(HashedTree):
    """Every player has a utility of their own; the evaluator sees a number of their own. No rules."""

    name = "hashed_many"
    zero_sum = False
    antisymmetric = False
    rules = None

    def __init__(self, n_players: int) -> None:
        self.n_players, self.name = n_players, f"hashed_many_{n_players}"

    def utility(self, s, player):
        return share(draw(s, WORTH + player), shape_of(s.shape).grain)

    def features(self, s, player):
        return (share(draw(s, FEATURE + player), shape_of(s.shape).eval_grain),)
