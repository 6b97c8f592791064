"""Your own game in some forty lines: Domineering on a 5 x 5 board, in plain Python.

The players lay dominoes, the first upright, the second lengthwise. Who cannot lay one loses.

    cd examples
    evallearn check domineering:Domineering
    evallearn play domineering:Domineering
    evallearn learn domineering:Domineering     # minutes: it measures how fast the game is, and plays as many games
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from evallearn import Game, Heuristic
from evallearn.errors import BadNotation, IllegalAction

SIZE = 5
STEP = (SIZE, 1)  # from the first square of a player's domino to the second


class State(NamedTuple):
    taken: int  # bit 5 * row + column: the square is covered
    player: int


def slots(taken: int, player: int) -> list[int]:
    fits = [i for i in range(SIZE * SIZE) if (i < SIZE * (SIZE - 1) if player == 0 else i % SIZE < SIZE - 1)]
    return [i for i in fits if not taken & (1 << i | 1 << i + STEP[player])]


def safe(taken: int, player: int) -> list[int]:  # the other cannot spoil them
    theirs = {square for i in slots(taken, 1 - player) for square in (i, i + STEP[1 - player])}
    return [i for i in slots(taken, player) if not theirs & {i, i + STEP[player]}]


class Domineering(Game[State, int]):
    name = "domineering"
    feature_names = ("slots", "safe")
    heuristics: ClassVar = {
        "slots": Heuristic({"slots": 0.1}, "By hand: have more choice than the other."),
        "safe": Heuristic({"slots": 0.05, "safe": 0.2}, "By hand: choice that lasts counts more."),
    }

    def initial(self) -> State:
        return State(0, 0)

    def to_play(self, s: State) -> int:
        return s.player

    def actions(self, s: State) -> Sequence[int]:
        return slots(s.taken, s.player)

    def result(self, s: State, a: int) -> State:
        if a not in self.actions(s):
            raise IllegalAction(f"illegal action {a!r} in domineering position {self.to_text(s)!r}")
        return State(s.taken | 1 << a | 1 << a + STEP[s.player], 1 - s.player)

    def is_terminal(self, s: State) -> bool:
        return not self.actions(s)

    def utility(self, s: State, player: int) -> float:
        return -1.0 if player == s.player else 1.0

    def features(self, s: State, player: int) -> Sequence[float]:
        return [len(count(s.taken, player)) - len(count(s.taken, 1 - player)) for count in (slots, safe)]

    def board(self, s: State) -> str:
        squares = [" ##" if s.taken >> i & 1 else f"{i:3}" for i in range(SIZE * SIZE)]
        return "\n".join("".join(squares[i : i + SIZE]) for i in range(0, SIZE * SIZE, SIZE))

    def to_text(self, s: State) -> str:
        return f"{s.taken:025b} {s.player}"

    def from_text(self, text: str) -> State:
        squares, _, player = text.partition(" ")
        if len(squares) != SIZE * SIZE or set(squares) - {"0", "1"} or player not in ("0", "1"):
            raise BadNotation(f"domineering position {text!r}: expected 25 of 0 and 1, a blank, then 0 or 1 to move")
        return State(int(squares, 2), int(player))
