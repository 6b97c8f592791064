"""Othello: a disc flips the straight runs of opposing discs that it encloses; most discs at the end win.

Square a1 is the top left one and bit 0, b1 is bit 1, a2 bit 8, h8 bit 63. Black moves first and is player 0. Whoever
has no move must pass (action 64); the game ends when neither player has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar, NamedTuple

from evallearn.core.game import Game, Heuristic
from evallearn.core.patterns import PatternSet
from evallearn.errors import BadNotation, IllegalAction
from evallearn.games.othello.cells import CLASSES, CONTENTS, COUNT_NAMES, PATTERN_SETS, STACKS, SYMMETRIES
from evallearn.games.othello.discs import counts, flips, moves, one_sided, squares
from evallearn.games.walks import images

PASS = 64
DISCS_PER_PHASE = 11
"""4-10, 11-21, 22-32, 33-43, 44-54 and 55-64 discs: six phases."""


class State(NamedTuple):
    """The discs of the player to move, of the other one, and who is to move (0 Black, 1 White)."""

    own: int
    opp: int
    player: int


def square_name(a: int) -> str:
    """Write f5 for 37, pass for 64."""
    return "pass" if a == PASS else f"{'abcdefgh'[a % 8]}{a // 8 + 1}"


def names(actions: Iterable[int]) -> str:
    """Write the actions as players do."""
    return " ".join(map(square_name, actions)) or "none"


MIDDLE = {
    "corners": 0.5,
    "x_squares": -0.25,
    "c_squares": -0.125,
    "stability": 0.05,
    "edges": 0.025,
    "mobility": 0.025,
}
OPENING = {**MIDDLE, "frontier": -0.015}
LAST = {**MIDDLE, "discs": 0.05}


class Othello(Game[State, int]):
    """Othello on the usual board; an action is a square 0..63 (a1, b1, .. h8) or 64, a pass."""

    name: ClassVar[str] = "othello"
    rules_module: ClassVar[str] = "evallearn.games.othello.rules"
    n_phases: ClassVar[int] = 6
    opening_plies: ClassVar[int] = 10
    feature_names: ClassVar[tuple[str, ...]] = (
        "discs",
        "mobility",  # legal moves
        "corners",
        "x_squares",  # discs diagonally next to an empty corner
        "c_squares",  # discs on the edge next to an empty corner
        "edges",  # discs on the other edge squares
        "frontier",  # discs next to an empty square
        "potential_mobility",  # empty squares next to an opposing disc
        "stability",  # discs that can never be flipped (an estimate from below)
        "square_values",  # the static table above
        "parity",  # +1 if an odd number of squares is empty, else -1, to the player to move
    )
    heuristics: ClassVar[Mapping[str, Heuristic]] = {
        "positional": Heuristic(
            {"square_values": 0.02, "corners": 0.10},
            "By hand: the classical static square table, with the corners a little higher.",
        ),
        "mobility": Heuristic(
            (OPENING, OPENING, OPENING, MIDDLE, MIDDLE, LAST),
            "By hand after Rose's 'A Minute to Learn': corners, then moves, few frontier discs, late discs; "
            "the sizes were picked by eye from some twenty tries in 1-ply matches against the counter SWH.",
        ),
    }
    n_cells: ClassVar[int] = len(STACKS)
    cell_values: ClassVar[int] = CLASSES
    stacks: ClassVar[tuple[tuple[int, ...], ...]] = STACKS
    stack_contents: ClassVar[tuple[tuple[tuple[int, ...], ...], ...]] = CONTENTS
    symmetries: ClassVar[tuple[tuple[int, ...], ...]] = SYMMETRIES
    pattern_sets: ClassVar[Mapping[str, PatternSet]] = PATTERN_SETS

    # --- the formalism ---------------------------------------------------------------------------------------------
    def initial(self) -> State:
        """Return two discs each in the middle, Black to move."""
        return State(squares("e4 d5"), squares("d4 e5"), 0)

    def to_play(self, s: State) -> int:
        """Return 0 for Black, 1 for White."""
        return s.player

    def actions(self, s: State) -> tuple[int, ...]:
        """Return the squares where a disc flips something, ascending, or a pass alone."""
        own_moves = moves(s.own, s.opp)
        if not own_moves and moves(s.opp, s.own):
            return (PASS,)
        return tuple(own_moves)

    def result(self, s: State, a: int) -> State:
        """Put the disc, flip its runs and pass the turn to the other player."""
        if a == PASS and self.actions(s) == (PASS,):
            return State(s.opp, s.own, 1 - s.player)
        if a not in range(64) or (s.own | s.opp) >> int(a) & 1 or not (flipped := flips(s.own, s.opp, int(a))):
            raise self._illegal(s, a)
        return State(s.opp ^ flipped, s.own | flipped | 1 << int(a), 1 - s.player)

    def is_terminal(self, s: State) -> bool:
        """Return True if neither player has a move."""
        return not moves(s.own, s.opp) and not moves(s.opp, s.own)

    def utility(self, s: State, player: int) -> float:
        """Return +1 for more discs than the opponent, 0 for as many, -1 for fewer."""
        lead = s.own.bit_count() - s.opp.bit_count()
        if player != s.player:
            lead = -lead
        return float((lead > 0) - (lead < 0))

    # --- what an evaluator reads -----------------------------------------------------------------------------------
    def features(self, s: State, player: int) -> tuple[int, ...]:
        """Return own minus opposing counts; parity belongs to whoever is to move."""
        differences = (a - b for a, b in zip(one_sided(s.own, s.opp), one_sided(s.opp, s.own), strict=True))
        parity = 1 if (s.own | s.opp).bit_count() & 1 else -1  # of 64 squares: odd discs, odd empties
        values = (*differences, parity)
        return values if player == s.player else tuple(-v for v in values)

    def cells(self, s: State, player: int) -> tuple[int, ...]:
        """Return 0 (empty), 1 (own) or 2 (the opponent's) per square; then classes of discs, moves and safe discs."""
        own, opp = (s.own, s.opp) if player == s.player else (s.opp, s.own)
        return (*((own >> i & 1) + 2 * (opp >> i & 1) for i in range(64)), *counts(own, opp))

    def images(self, s: State) -> list[tuple[int, ...]]:
        """Return the squares from all eight sides, and then who is to move."""
        discs = [(s.own >> i & 1) + 2 * (s.opp >> i & 1) for i in range(64)]
        return [(*image, s.player) for image in images(discs, SYMMETRIES)]

    def cell_name(self, cell: int) -> str:
        """Name a square from a1, the top left; a count as own-moves and the like."""
        return square_name(cell) if cell < 64 else COUNT_NAMES[cell - 64]

    def phase(self, s: State) -> int:
        """Return 0..5 by the number of discs."""
        return (s.own | s.opp).bit_count() // DISCS_PER_PHASE

    # --- text ------------------------------------------------------------------------------------------------------
    def to_text(self, s: State) -> str:
        """Write 64 characters, X Black, O White, - empty, row by row from a1; then a space and who is to move."""
        black, white = (s.own, s.opp) if s.player == 0 else (s.opp, s.own)
        cells = ("X" if black >> i & 1 else "O" if white >> i & 1 else "-" for i in range(64))
        return "".join(cells) + " " + "XO"[s.player]

    def from_text(self, text: str) -> State:
        """Read 64-character boards (also the start of an .obf line) and transcripts such as f5d6c3."""
        stripped = text.strip()
        return self._from_board(text) if stripped.startswith(tuple("-.*XxOo")) else self._from_moves(text)

    def _from_board(self, text: str) -> State:
        position = text.partition(";")[0].translate(TO_XO)  # in an .obf line the scores of the moves follow
        board, *rest = position.split()
        mover = " ".join(rest)
        if len(board) != 64 or set(board) - set("XO-"):
            what = f"{len(board)} squares" if len(board) != 64 else f"{min(set(board) - set('XO-'))!r} on it"
            raise BadNotation(f"othello board {text!r} has {what}: expected 64 of X or * (Black), O (White), - or .")
        if mover not in ("X", "O"):
            raise BadNotation(f"othello board {text!r}: {mover!r} is to move; expected X or O after the board")
        black, white = (sum(1 << i for i, c in enumerate(board) if c == mark) for mark in "XO")
        return State(black, white, 0) if mover == "X" else State(white, black, 1)

    def _from_moves(self, text: str) -> State:
        s = self.initial()
        rest, number = text.strip().lower(), 1
        while rest:
            found = re.match(r"([a-h][1-8]|pass)\s*", rest)
            if not found:
                expected = "expected squares a1..h8 or pass, or a board of 64 characters and who is to move"
                raise BadNotation(f"othello position {text!r}: move {number} is {rest[:4]!r}; {expected}")
            s = self._play(s, found[1], f"othello position {text!r}: move {number}")
            rest, number = rest[found.end() :], number + 1
        return s

    def _play(self, s: State, move: str, where: str) -> State:
        a = PASS if move == "pass" else squares(move).bit_length() - 1
        if a != PASS and self.actions(s) == (PASS,):
            s = self.result(s, PASS)  # transcripts leave passes out
        if a not in self.actions(s):
            raise BadNotation(f"{where}, {move}, is not legal; legal: {names(self.actions(s))}")
        return self.result(s, a)

    def action_to_text(self, s: State, a: int) -> str:
        """Write f5, or pass."""
        return square_name(a)

    def action_from_text(self, s: State, text: str) -> int:
        """Read f5, F5 and pass."""
        return super().action_from_text(s, text.lower())

    def board(self, s: State) -> str:
        """Draw eight rows with coordinates, a * on every legal move, the count and who is to move."""
        legal = self.actions(s)
        cells = ["*" if i in legal else c.replace("-", ".") for i, c in enumerate(self.to_text(s)[:64])]
        rows = [f"{row + 1} {' '.join(cells[8 * row : 8 * row + 8])}" for row in range(8)]
        return "\n".join(["  a b c d e f g h", *rows, self._status(s)])

    def _status(self, s: State) -> str:
        black, white = (s.own, s.opp) if s.player == 0 else (s.opp, s.own)
        count = f"X (Black) {black.bit_count()}, O (White) {white.bit_count()}"
        return f"{count}: " + ("the game is over" if self.is_terminal(s) else f"{'XO'[s.player]} to move")

    def _illegal(self, s: State, a: int) -> IllegalAction:
        legal = self.actions(s)
        if a not in range(PASS + 1):
            shown, why = repr(a), "actions are 0..63 (a1, b1, .. h8) and 64 (pass)"
        else:
            shown = square_name(int(a))
            why = self._why_not(s, int(a)) if legal else "the game is over"
        return IllegalAction(
            f'illegal action {shown} in {self.name} position "{self.to_text(s)}": {why}; legal: {names(legal)}'
        )

    def _why_not(self, s: State, a: int) -> str:
        if a == PASS:
            return "a pass is allowed only without a move"
        return f"{square_name(a)} is taken" if (s.own | s.opp) >> a & 1 else f"{square_name(a)} flips nothing"


TO_XO = str.maketrans("xo*.", "XOX-")
"""The marks that programs use, as ours."""
