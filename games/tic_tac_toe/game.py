"""Tic-tac-toe: three in a row on nine squares. Small enough to search to the end, so it tests everything else.

Squares are numbered 0..8 row by row from the top left; square i is bit i. X moves first and is player 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from evallearn.core.game import Game, Heuristic
from evallearn.errors import BadNotation, IllegalAction
from evallearn.games.lines import open_lines

LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
"""Three rows, three columns, two diagonals: an octal digit is a row."""
FULL = 0o777
CENTRE = 0o020
CORNERS = 0o505


class State(NamedTuple):
    """The squares of the player to move and of the other one, a bit per square."""

    own: int
    opp: int


def has_line(marks: int) -> bool:
    """Return True if `marks` fill one of the eight lines."""
    return any(marks & line == line for line in LINES)


class TicTacToe(Game[State, int]):
    """Tic-tac-toe (noughts and crosses); an action is a square 0..8, written 1..9."""

    name: ClassVar[str] = "tic_tac_toe"
    rules_module: ClassVar[str] = "evallearn.games.tic_tac_toe.rules"
    feature_names: ClassVar[tuple[str, ...]] = ("centre", "corners", "open_ones", "open_twos", "wins_now")
    heuristics: ClassVar[Mapping[str, Heuristic]] = {
        "squares": Heuristic(
            {"centre": 0.4, "corners": 0.2, "wins_now": 1.5},
            "By hand: the centre lies on four lines, a corner on three; take a win that is there.",
        ),
        "lines": Heuristic(
            {"open_ones": 0.1, "open_twos": 0.3},
            "Russell & Norvig's exercise on tic-tac-toe, evaluator = 3 X2 + X1 - (3 O2 + O1), scaled by 0.1.",
        ),
    }

    # --- the formalism ---------------------------------------------------------------------------------------------
    def initial(self) -> State:
        """Return nine empty squares with X to move."""
        return State(0, 0)

    def to_play(self, s: State) -> int:
        """Return 0 for X, 1 for O."""
        return (s.own | s.opp).bit_count() & 1

    def actions(self, s: State) -> tuple[int, ...]:
        """Return the empty squares, ascending."""
        if self.is_terminal(s):
            return ()
        return tuple(square for square in range(9) if not (s.own | s.opp) >> square & 1)

    def result(self, s: State, a: int) -> State:
        """Put the mover's mark on square `a` and pass the turn to the other player."""
        if a not in self.actions(s):
            raise self._illegal(s, a)
        return State(s.opp, s.own | 1 << int(a))

    def is_terminal(self, s: State) -> bool:
        """Return True for three in a row (only the player who just moved can have it) or a full board."""
        return has_line(s.opp) or s.own | s.opp == FULL

    def utility(self, s: State, player: int) -> float:
        """Return +1 for a win, 0 for a draw, -1 for a loss."""
        if not has_line(s.opp):
            return 0.0
        return -1.0 if player == self.to_play(s) else 1.0

    # --- what an evaluator reads -----------------------------------------------------------------------------------
    def features(self, s: State, player: int) -> tuple[int, ...]:
        """Return own minus opposing counts; wins_now belongs to whoever is to move."""
        own, opp = s
        values = (
            (own & CENTRE).bit_count() - (opp & CENTRE).bit_count(),
            (own & CORNERS).bit_count() - (opp & CORNERS).bit_count(),
            open_lines(own, opp, 1, LINES) - open_lines(opp, own, 1, LINES),
            open_lines(own, opp, 2, LINES) - open_lines(opp, own, 2, LINES),
            int(open_lines(own, opp, 2, LINES) > 0),
        )
        return values if player == self.to_play(s) else tuple(-v for v in values)

    # --- text ------------------------------------------------------------------------------------------------------
    def to_text(self, s: State) -> str:
        """Write nine characters, X O and . for empty, row by row; the counts show who is to move."""
        crosses, noughts = s if self.to_play(s) == 0 else (s.opp, s.own)
        return "".join("X" if crosses >> i & 1 else "O" if noughts >> i & 1 else "." for i in range(9))

    def from_text(self, text: str) -> State:
        """Read what to_text writes, in either case."""
        board = text.strip()
        if len(board) != 9 or set(board) - set("XOxo."):
            raise BadNotation(f"tic_tac_toe position {text!r}: expected nine characters X, O or . (empty), row by row")
        crosses = sum(1 << i for i, c in enumerate(board) if c in "Xx")
        noughts = sum(1 << i for i, c in enumerate(board) if c in "Oo")
        lead = crosses.bit_count() - noughts.bit_count()
        if lead not in (0, 1):
            counts = f"{crosses.bit_count()} X and {noughts.bit_count()} O"
            raise BadNotation(f"tic_tac_toe position {text!r} has {counts}: expected as many X as O, or one more")
        s = State(crosses, noughts) if lead == 0 else State(noughts, crosses)
        if has_line(s.own):
            mover = "XO"[lead]
            raise BadNotation(f"tic_tac_toe position {text!r}: {mover} is to move and has three in a row already")
        return s

    def action_to_text(self, s: State, a: int) -> str:
        """Write the square as 1..9."""
        return str(a + 1)

    def board(self, s: State) -> str:
        """Draw three rows with the numbers of the empty squares, and who is to move."""
        cells = [c if c != "." else str(i + 1) for i, c in enumerate(self.to_text(s))]
        rows = [" " + " | ".join(cells[i : i + 3]) for i in (0, 3, 6)]
        return "\n---+---+---\n".join(rows) + "\n" + self._status(s)

    def _status(self, s: State) -> str:
        mover = self.to_play(s)
        if has_line(s.opp):
            return f"{'XO'[1 - mover]} has won"
        return "a draw" if self.is_terminal(s) else f"{'XO'[mover]} to move"

    def _illegal(self, s: State, a: int) -> IllegalAction:
        known = a in range(9)
        shown = str(int(a) + 1) if known else repr(a)
        if not known:
            why = "actions are 0..8, written 1..9"
        elif self.is_terminal(s):
            why = "the game is over"
        else:
            why = f"square {shown} is taken"
        legal = " ".join(self.action_to_text(s, b) for b in self.actions(s)) or "none"
        position = f'{self.name} position "{self.to_text(s)}"'
        return IllegalAction(f"illegal action {shown} in {position}: {why}; legal: {legal}")
