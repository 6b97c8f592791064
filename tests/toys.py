"""Small games for the tests: `from toys import ...` (pyproject puts tests/ on pytest's path).

TreeGame      any tree of nested lists; FIGURE_5_2 is the textbook's
DoubleMove    both backends; a player sometimes moves twice in a row
Takeaway      Python backend only, with features and a heuristic; LongTakeaway has many openings
CoinRace      Python backend only, with chance nodes
LINES         patterns of Connect Four
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from evallearn.compiled.bits import jitable, u64
from evallearn.compiled.rng import mix64
from evallearn.core.game import CHANCE, Game, Heuristic
from evallearn.core.patterns import PatternSet
from evallearn.core.rules import Rules
from evallearn.errors import BadNotation, IllegalAction

LINES = PatternSet(patterns=[(0, 6, 12, 18), (18, 19, 20, 21), (12, 19, 26)], note="Three lines.", per_player=True)
"""Patterns of Connect Four that learn in no time."""


def python_path(*folders: object) -> str:
    """PYTHONPATH for a process of its own: these folders, then whatever this one was started with."""
    return os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])


FIGURE_5_2 = ((3, 12, 8), (2, 4, 6), (14, 5, 2))
"""Russell & Norvig's two-ply game tree: MAX moves first, its minimax value is 3, the best move is the first."""


class TreeGame(Game):
    """A tree of nested sequences. A leaf is the utility to player 0 (MAX), who moves first; players alternate.

    A state is the path from the root, a tuple of child numbers; an action is a child number. No features, no rules.
    """

    name = "tree"
    opening_plies = 1

    def __init__(self, tree: Any = FIGURE_5_2, utility_range: tuple[float, float] = (-15.0, 15.0)) -> None:
        self.tree, self.utility_range = tree, utility_range  # type: ignore[misc]  # one range per tree

    def node(self, s: tuple[int, ...]) -> Any:
        node = self.tree
        for i in s:
            node = node[i]
        return node

    def initial(self) -> tuple[int, ...]:
        return ()

    def to_play(self, s: tuple[int, ...]) -> int:
        return len(s) % 2

    def actions(self, s: tuple[int, ...]) -> Sequence[int]:
        return () if self.is_terminal(s) else tuple(range(len(self.node(s))))

    def result(self, s: tuple[int, ...], a: int) -> tuple[int, ...]:
        if a not in self.actions(s):
            raise IllegalAction(f"illegal action {a!r} in tree position {self.to_text(s)!r}")
        return (*s, a)

    def is_terminal(self, s: tuple[int, ...]) -> bool:
        return not isinstance(self.node(s), (tuple, list))

    def utility(self, s: tuple[int, ...], player: int) -> float:
        leaf = float(self.node(s))
        return leaf if player == 0 else -leaf

    def to_text(self, s: tuple[int, ...]) -> str:
        return "root" + "".join(f".{i}" for i in s)

    def from_text(self, text: str) -> tuple[int, ...]:
        root, *path = text.split(".")
        if root != "root":
            raise BadNotation(f"tree position {text!r}: expected root.1.2")
        return tuple(int(i) for i in path)


# --- a player sometimes moves twice --------------------------------------------------------------------------------
class Pile(NamedTuple):
    """What lies there, and whose turn it is."""

    pile: int
    player: int


START = 12
LATE = 6
"""From this pile on it is phase 1."""


class DoubleMove(Game):
    """Take 1, 2 or 3 from a pile; who takes exactly 2 moves again; who is to move at an empty pile loses.

    So the last move wins if it takes 1 or 3 and loses if it takes 2: terminal states are reached with and without a
    change of player.
    """

    name = "double_move"
    feature_names = ("remainder", "pile", "odd")
    n_phases = 2
    opening_plies = 2
    heuristics: ClassVar[Mapping[str, Heuristic]] = {
        "remainder": Heuristic({"remainder": 0.3}, "By hand: the pile modulo 4."),
        "phased": Heuristic(({"pile": 0.1, "odd": 0.5}, {"remainder": 0.2, "odd": -0.25}), "One row per phase."),
    }

    def initial(self) -> Pile:
        return Pile(START, 0)

    def to_play(self, s: Pile) -> int:
        return s.player

    def actions(self, s: Pile) -> Sequence[int]:
        """Action a takes a + 1."""
        return tuple(range(min(3, s.pile)))

    def result(self, s: Pile, a: int) -> Pile:
        if a not in self.actions(s):
            raise IllegalAction(f"illegal action {a!r} in double_move position {self.to_text(s)!r}")
        return Pile(s.pile - a - 1, s.player if a == 1 else 1 - s.player)

    def is_terminal(self, s: Pile) -> bool:
        return s.pile == 0

    def utility(self, s: Pile, player: int) -> float:
        return -1.0 if player == s.player else 1.0

    def features(self, s: Pile, player: int) -> Sequence[float]:
        sign = 1 if player == s.player else -1
        return (sign * (s.pile % 4), sign * s.pile / 4, sign * (s.pile % 2))

    def phase(self, s: Pile) -> int:
        return int(s.pile <= LATE)

    def to_text(self, s: Pile) -> str:
        return f"{s.pile}:{s.player}"

    def from_text(self, text: str) -> Pile:
        pile, _, player = text.partition(":")
        if not pile.isdigit() or int(pile) > START or player not in ("0", "1"):
            raise BadNotation(f"double_move position {text!r}: expected pile:player, as 12:0")
        return Pile(int(pile), int(player))

    def action_to_text(self, s: Pile, a: int) -> str:
        return str(a + 1)

    @property
    def rules(self) -> Rules | None:
        return DOUBLE_MOVE_RULES


ZERO, ONE, TWO, THREE, FOUR = (u64(i) for i in range(5))


@jitable
def pile_actions(s, out):
    n = min(s.pile, THREE)
    for i in range(n):
        out[i] = i
    return np.int64(n)


@jitable
def pile_result(s, a):
    return Pile(s.pile - u64(a) - ONE, s.player if a == 1 else ONE - s.player)


@jitable
def pile_is_terminal(s):
    return s.pile == ZERO


@jitable
def pile_to_play(s):
    return np.int64(s.player)


@jitable
def pile_utility_mover(s):
    return np.float32(-1.0)


@jitable
def pile_features_mover(s, out):
    out[0] = np.int64(s.pile & THREE)
    out[1] = np.float32(s.pile) / np.float32(4)
    out[2] = np.int64(s.pile & ONE)


@jitable
def pile_phase(s):
    return np.int64(s.pile <= u64(LATE))


@jitable
def pile_key(s):
    return mix64((s.pile << ONE) | s.player)


DOUBLE_MOVE_RULES = Rules(
    State=Pile,
    actions=pile_actions,
    result=pile_result,
    is_terminal=pile_is_terminal,
    to_play=pile_to_play,
    utility_mover=pile_utility_mover,
    features_mover=pile_features_mover,
    phase=pile_phase,
    key=pile_key,
    n_actions=3,
    max_actions=3,
    max_plies=START,
    alternates=False,
)


# --- Python backend only --------------------------------------------------------------------------------------------
class Takeaway(Game):
    """Take 1 or 2 from a pile of 11; who takes the last wins. A state is (pile, player); no rules."""

    name = "takeaway"
    feature_names = ("remainder", "pile")
    heuristics: ClassVar[Mapping[str, Heuristic]] = {
        "remainder": Heuristic({"remainder": 0.5}, "By hand: a multiple of three is lost."),
        "pile": Heuristic({"pile": 0.05}, "By hand: and a poor one."),
    }
    start = 11

    def initial(self) -> tuple[int, int]:
        return (self.start, 0)

    def to_play(self, s: tuple[int, int]) -> int:
        return s[1]

    def actions(self, s: tuple[int, int]) -> Sequence[int]:
        return tuple(range(1, min(2, s[0]) + 1))

    def result(self, s: tuple[int, int], a: int) -> tuple[int, int]:
        if a not in self.actions(s):
            raise IllegalAction(f"illegal action {a!r} in {self.name} position {self.to_text(s)!r}")
        return (s[0] - a, 1 - s[1])

    def is_terminal(self, s: tuple[int, int]) -> bool:
        return s[0] == 0

    def utility(self, s: tuple[int, int], player: int) -> float:
        return -1.0 if player == s[1] else 1.0

    def features(self, s: tuple[int, int], player: int) -> Sequence[float]:
        sign = 1 if player == s[1] else -1
        return (sign * (s[0] % 3), sign * s[0])

    def to_text(self, s: tuple[int, int]) -> str:
        return f"{s[0]}:{s[1]}"

    def from_text(self, text: str) -> tuple[int, int]:
        pile, _, player = text.partition(":")
        if not pile.isdigit() or player not in ("0", "1"):
            raise BadNotation(f"{self.name} position {text!r}: expected pile:player, as 11:0")
        return (int(pile), int(player))


class LongTakeaway(Takeaway):
    """The same with more openings: each game takes some thirty moves."""

    name = "long_takeaway"
    start = 61
    opening_plies = 12


class CoinRace(Game):
    """Before each move a coin says 1 or 2 steps; the mover takes them or stays. First at 4 wins; no rules.

    A state is (place of player 0, place of player 1, player, coin, moves); coin 0 is a chance node. Ten moves draw.
    """

    name = "coin_race"
    has_chance = True
    feature_names = ("lead",)

    def initial(self) -> tuple[int, ...]:
        return (0, 0, 0, 0, 0)

    def to_play(self, s: tuple[int, ...]) -> int:
        return CHANCE if s[3] == 0 and not self.is_terminal(s) else s[2]

    def actions(self, s: tuple[int, ...]) -> Sequence[int]:
        return () if self.is_terminal(s) or s[3] == 0 else (0, 1)

    def result(self, s: tuple[int, ...], a: int) -> tuple[int, ...]:
        legal = self.actions(s) if s[3] else [o for o, _ in self.chances(s)]
        if a not in legal:
            raise IllegalAction(f"illegal action {a!r} in coin_race position {self.to_text(s)!r}")
        places = [s[0], s[1]]
        if s[3] == 0:
            return (*places, s[2], a, s[4])
        places[s[2]] += a * s[3]
        return (*places, 1 - s[2], 0, s[4] + 1)

    def is_terminal(self, s: tuple[int, ...]) -> bool:
        return max(s[:2]) >= 4 or s[4] >= 10

    def utility(self, s: tuple[int, ...], player: int) -> float:
        lead = float(s[0] >= 4) - float(s[1] >= 4)
        return lead if player == 0 else -lead

    def chances(self, s: tuple[int, ...]) -> Sequence[tuple[int, float]]:
        return ((1, 0.5), (2, 0.5))

    def features(self, s: tuple[int, ...], player: int) -> Sequence[float]:
        return (s[player] - s[1 - player],)

    def to_text(self, s: tuple[int, ...]) -> str:
        return " ".join(map(str, s))

    def from_text(self, text: str) -> tuple[int, ...]:
        return tuple(map(int, text.split()))


class Dice(TreeGame):
    """A tree in which every node at odd depth is a roll of a fair die; player 0 chooses at the others."""

    name = "dice"
    has_chance = True
    n_players = 1
    zero_sum = False

    def to_play(self, s: tuple[int, ...]) -> int:
        return CHANCE if len(s) % 2 and not self.is_terminal(s) else 0

    def actions(self, s: tuple[int, ...]) -> Sequence[int]:
        return () if self.to_play(s) == CHANCE else super().actions(s)

    def result(self, s: tuple[int, ...], a: int) -> tuple[int, ...]:
        return (*s, a)

    def chances(self, s: tuple[int, ...]) -> Sequence[tuple[int, float]]:
        n = len(self.node(s))
        return [(i, 1 / n) for i in range(n)]


class Seats(TreeGame):
    """A tree whose leaves are worth a vector; three players move in the order that is given, round after round."""

    name = "seats"
    n_players = 3
    zero_sum = False

    def __init__(self, tree: Any, order: Sequence[int] = (0, 1, 2)) -> None:
        super().__init__(tree, (-10.0, 10.0))
        self.order = order

    def to_play(self, s: tuple[int, ...]) -> int:
        return self.order[len(s) % len(self.order)]

    def is_terminal(self, s: tuple[int, ...]) -> bool:
        return isinstance(self.node(s), tuple)

    def utility(self, s: tuple[int, ...], player: int) -> float:
        return float(self.node(s)[player])
