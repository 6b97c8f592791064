"""A game for two in which points only add up, as plain Python: `from harvest import Harvest`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from evallearn.core.game import Game, Heuristic
from evallearn.errors import BadNotation, IllegalAction

CROP = 12


class Field(NamedTuple):
    """What is left on the field, what each player has, and who is to move."""

    left: int
    first: int
    second: int
    turn: int


class Harvest(Game):
    """Whoever is to move takes 1, 2 or 3 and keeps them; both want many, and neither minds the other."""

    name = "harvest"
    zero_sum = False
    antisymmetric = False
    scored = True
    utility_range = (0.0, float(CROP))
    feature_names = ("left", "odd")
    opening_plies = 1
    heuristics: ClassVar[Mapping[str, Heuristic]] = {"left": Heuristic({"left": 0.1}, "By hand.")}

    def initial(self) -> Field:
        return Field(CROP, 0, 0, 0)

    def to_play(self, s: Field) -> int:  # type: ignore[override]  # of this game
        return s.turn

    def actions(self, s: Field) -> tuple[int, ...]:  # type: ignore[override]  # of this game
        return tuple(range(1, min(3, s.left) + 1))

    def result(self, s: Field, a: int) -> Field:  # type: ignore[override]  # of this game
        if a not in self.actions(s):
            raise IllegalAction(f"illegal action {a!r}: {s.left} are left")
        return Field(s.left - a, s.first + a * (s.turn == 0), s.second + a * (s.turn == 1), 1 - s.turn)

    def is_terminal(self, s: Field) -> bool:  # type: ignore[override]  # of this game
        return s.left == 0

    def utility(self, s: Field, player: int) -> float:  # type: ignore[override]  # of this game
        return float((s.first, s.second)[player])

    def won(self, s: Field, player: int) -> float:  # type: ignore[override]  # of this game
        return float((s.first, s.second)[player])

    def features(self, s: Field, player: int) -> tuple[float, ...]:  # type: ignore[override]  # of this game
        return s.left, s.left % 2

    def to_text(self, s: Field) -> str:  # type: ignore[override]  # of this game
        return " ".join(map(str, s))

    def from_text(self, text: str) -> Field:
        words = text.split()
        if len(words) != 4 or not all(word.isdigit() for word in words):
            raise BadNotation(f"harvest position {text!r}: give four numbers")
        return Field(*map(int, words))

    def action_from_text(self, s: Field, text: str) -> int:  # type: ignore[override]  # of this game
        return int(super().action_from_text(s, text))  # type: ignore[call-overload, no-any-return]  # an int
