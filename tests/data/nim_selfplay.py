"""A game without compiled backend, and a command that plays it: what the tests start, kill and start again.

A module of its own because worker processes must be able to import the game.
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from evallearn.agents import RandomAgent
from evallearn.core.game import Game
from evallearn.data import RecordSettings, generate_records

MANY = RecordSettings(games=2000, seed=11, opening_plies=1, epsilon=0.1, games_per_shard=16)


class Nim(Game):
    """Take one to three matches; who takes the last wins. The state is (matches, player)."""

    name = "nim"
    feature_names = ("matches mod 4",)
    antisymmetric = False
    utility_range = (-2.0, 2.0)
    matches: ClassVar[int] = 15

    def initial(self) -> Any:
        return self.matches, 0

    def to_play(self, s: Any) -> int:
        return s[1]

    def actions(self, s: Any) -> list[int]:
        return list(range(1, min(3, s[0]) + 1))

    def result(self, s: Any, a: Any) -> Any:
        return s[0] - a, 1 - s[1]

    def is_terminal(self, s: Any) -> bool:
        return s[0] == 0

    def utility(self, s: Any, player: int) -> float:
        return -2.0 if player == s[1] else 2.0

    def features(self, s: Any, player: int) -> list[float]:
        return [s[0] % 4]

    def to_text(self, s: Any) -> str:
        return f"{s[0]}:{s[1]}"

    def from_text(self, text: str) -> Any:
        return tuple(map(int, text.split(":")))


if __name__ == "__main__":
    try:
        generate_records(sys.argv[1], Nim(), [RandomAgent(Nim())] * 2, MANY, workers=int(sys.argv[2]))
    except KeyboardInterrupt:
        sys.exit(130)
