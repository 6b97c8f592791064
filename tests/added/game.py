"""A new game: whoever says the last of 21 wins; each turn one, two or three numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from evallearn import Game, Heuristic
from evallearn.errors import BadNotation, IllegalAction

LAST = 21


class State(NamedTuple):
    said: int
    player: int


class TwentyOne(Game[State, int]):
    """An action is how many numbers are said."""

    name = "twenty_one"
    feature_names = ("left", "left_mod_4")
    heuristics: ClassVar = {
        "four": Heuristic({"left_mod_4": 0.3}, "By hand: leave the other a multiple of four."),
        "far": Heuristic({"left": -0.02}, "By hand: a guess, the end is near for whoever moves well."),
    }

    def initial(self) -> State:
        return State(0, 0)

    def to_play(self, s: State) -> int:
        return s.player

    def actions(self, s: State) -> Sequence[int]:
        return range(1, min(3, LAST - s.said) + 1)

    def result(self, s: State, a: int) -> State:
        if a not in self.actions(s):
            raise IllegalAction(f"illegal action {a!r} in twenty_one position {self.to_text(s)!r}: say 1, 2 or 3")
        return State(s.said + a, 1 - s.player)

    def is_terminal(self, s: State) -> bool:
        return s.said == LAST

    def utility(self, s: State, player: int) -> float:
        return 1.0 if player != s.player else -1.0

    def features(self, s: State, player: int) -> Sequence[float]:
        sign = 1.0 if player == s.player else -1.0
        return sign * (LAST - s.said), sign * float((LAST - s.said) % 4 > 0)

    def to_text(self, s: State) -> str:
        return f"{s.said}/{s.player + 1}"

    def from_text(self, text: str) -> State:
        said, _, player = text.partition("/")
        if not (said.isdecimal() and int(said) <= LAST and player in ("1", "2")):
            raise BadNotation(f"twenty_one position {text!r}: give the numbers said and the player, as in 5/2")
        return State(int(said), int(player) - 1)
