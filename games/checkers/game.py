"""Checkers, or English draughts: captures are forced, kings step one square, who cannot move loses.

Black moves first and is player 0; squares are numbered as in PDN. A game is drawn after 40 moves of each player without
a capture or a move of a man, and where a position stands on the board for the third time with the same player to move.
(At the board a player claims these draws; here they end the game.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from evallearn.core.game import Game, Heuristic
from evallearn.core.rules import Endgames
from evallearn.errors import GameError, IllegalAction
from evallearn.games.checkers import notation as notation
from evallearn.games.checkers.features import FEATURE_NAMES, features
from evallearn.games.checkers.moves import (
    CLOCK_LIMIT,
    MEN,
    N_ACTIONS,
    N_SQUARES,
    Move,
    State,
    bit,
    encode,
    is_drawn,
    moves,
    occurrences,
    play,
    row_column,
    sides,
)
from evallearn.games.checkers.notation import NAMES

PIECES_PER_PHASE = 4
"""24-21, 20-17 and so on to 4-0 pieces: six phases."""
N_PHASES = 6


class Checkers(Game[State, int]):
    """Checkers; an action is from + 32 to, squares counted from 0, and two bits more for captures that circle."""

    name: ClassVar[str] = "checkers"
    rules_module: ClassVar[str] = "evallearn.games.checkers.rules"
    version: ClassVar[int] = 3
    n_phases: ClassVar[int] = N_PHASES
    opening_plies: ClassVar[int] = 6
    search_settings: ClassVar[Mapping[str, int]] = {
        "quiescence": 20,
        "path_independent_table": True,
        "use_partial_iteration": True,
    }
    feature_names: ClassVar[tuple[str, ...]] = FEATURE_NAMES
    heuristics: ClassVar[Mapping[str, Heuristic]] = {
        "material": Heuristic(
            {"men": 0.20, "kings": 0.30},
            "By hand: the usual one and a half men for a king.",
        ),
        "positional": Heuristic(
            {
                "men": 0.20,
                "kings": 0.36,
                "back_rank": 0.05,
                "bridge": 0.02,
                "centre_men": 0.01,
                "centre_kings": 0.02,
                "edge_men": -0.02,
                "tempo": -0.004,
                "crowning": 0.05,
                "runaways": 0.05,
                "trapped_kings": -0.04,
                "captures": 0.08,
                "exchanges": 0.04,
                "dog_hole": -0.05,
                "move": 0.01,
            },
            "By hand: what books teach (guard the back row, keep off the edges, do not advance in haste); the sizes "
            "were picked by eye from some twenty tries, matches of 300 games at depth 5.",
        ),
    }

    # --- the formalism ---------------------------------------------------------------------------------------------
    def initial(self) -> State:
        """Return twelve men each, Black to move."""
        return notation.INITIAL

    def to_play(self, s: State) -> int:
        """Return 0 for Black, 1 for White."""
        return s.player

    def actions(self, s: State) -> tuple[int, ...]:
        """Return captures if there are any, piece by piece; else steps, by direction, in each the squares ascending."""
        return () if is_drawn(s) else tuple(move.action for move in moves(s))

    def noisy_actions(self, s: State) -> tuple[int, ...]:
        """Return the captures: all actions or none."""
        return () if is_drawn(s) else tuple(move.action for move in moves(s) if move.taken)

    def forcing(self, s: State) -> bool:
        """Return True if a capture must be made."""
        return bool(self.noisy_actions(s))

    def result(self, s: State, a: int) -> State:
        """Move the piece, remove what it jumped over, and crown a man on the last row."""
        legal = () if is_drawn(s) else moves(s)
        move = next((move for move in legal if move.action == a), None)
        if move is None:
            raise self._illegal(s, a, legal)
        return play(s, move)

    def is_terminal(self, s: State) -> bool:
        """Return True if the player to move has no action, or the game is drawn."""
        return is_drawn(s) or not moves(s)

    def utility(self, s: State, player: int) -> float:
        """Return -1 for the player who cannot move and +1 for the other; every other end is a draw."""
        if moves(s):
            return 0.0
        return -1.0 if player == s.player else 1.0

    def solved(self, s: State) -> dict[int, float] | None:
        """Return the values by the endgame table, or None.

        There is an answer if there is a table (`evallearn tables checkers`) and no drawing rule can come between. Among
        equals the quickest win comes first, and the longest resistance.
        """
        from evallearn.games.checkers.table import default_table

        table = default_table()
        boards = [words[:3] for words in s.history]
        if table is None or table.value(s) is None or self.is_terminal(s) or len(set(boards)) < len(boards):
            return None
        found: list[tuple[float, int, int]] = []
        for a in self.actions(s):
            t = self.result(s, a)
            value = self.utility(t, s.player) if self.is_terminal(t) else -float(table.value(t) or 0)
            plies = table.plies(t) if value and t.clock else 0  # a capture or a crowning is progress enough
            if t.clock + plies > CLOCK_LIMIT:
                return None
            found.append((-value, round(value) * plies, a))
        return {a: 0.0 - lost for lost, _, a in sorted(found)}

    def endgames(self) -> Endgames:
        """Return the table that `solved` uses too; the plies of all its positions are found again at first."""
        from evallearn.games.checkers.table import default_path, default_table

        table = default_table()
        if table is None:
            raise GameError(f"no endgame table {default_path()}: make it with `evallearn tables checkers`")
        from evallearn.games.checkers.table_probe import endgames_of

        return endgames_of(table)

    # --- what an evaluator reads -----------------------------------------------------------------------------------
    def features(self, s: State, player: int) -> tuple[int, ...]:
        """Return own minus opposing counts; `move` belongs to whoever has it."""
        return features(s, player)

    def phase(self, s: State) -> int:
        """Return 0..5 by the number of pieces."""
        return min(N_PHASES - 1, (2 * MEN - (s.black | s.white).bit_count()) // PIECES_PER_PHASE)

    # --- text ------------------------------------------------------------------------------------------------------
    def to_text(self, s: State) -> str:
        """Write the draughts FEN of the last position that cannot come back, then the moves since.

        For example `FEN moves 3-7 29-25`.
        """
        return notation.to_text(s)

    def from_text(self, text: str) -> State:
        """Read a draughts FEN, with moves after it or not, or the moves from the initial position: `11-15 22-18`."""
        return notation.from_text(text)

    def action_to_text(self, s: State, a: int) -> str:
        """Write 11-15, 22x15, or all squares of several jumps: 22x15x8."""
        move = next((move for move in moves(s) if move.action == a), None)
        return notation.move_text(move) if move else str(a)

    def action_from_text(self, s: State, text: str) -> int:
        """Read 11-15, 11x18, and 22x15x8 or 22x8, if that says enough."""
        notation.require_unfinished(s)
        return notation.find_move(s, text).action

    def board(self, s: State) -> str:
        """Draw eight rows with the number of every square a piece can stand on, White below, and who is to move."""
        return "\n".join([*(self._row(s, row) for row in range(8)), *self._status(s)])

    def _row(self, s: State, row: int) -> str:
        cells = ["::::::"] * 8
        for square in range(4 * row, 4 * row + 4):
            mark = notation.mark(s, square)
            cells[row_column(square)[1]] = f" {mark:>2}{square + 1:>2} "
        return "".join(cells)

    def _status(self, s: State) -> list[str]:
        legend = "b Black, w White; BB and WW are kings"
        if not moves(s):
            return [legend, f"{NAMES[s.player]} cannot move: {NAMES[1 - s.player]} has won"]
        if occurrences(s) >= 3:
            return [legend, "a draw: the position is on the board for the third time"]
        if s.clock >= CLOCK_LIMIT:
            return [legend, "a draw: 40 moves each without a capture or a move of a man"]
        return [legend, f"{NAMES[s.player]} to move"]

    def _illegal(self, s: State, a: int, legal: Sequence[Move]) -> IllegalAction:
        shown, why = repr(a), f"actions are 0..{N_ACTIONS - 1}: from + 32 to + 1024 and 2048 for circles"
        if a in range(N_ACTIONS):
            start, end = int(a) % N_SQUARES, int(a) // N_SQUARES % N_SQUARES
            shown, why = f"{int(a)} ({start + 1} to {end + 1})", self._why_not(s, start, end, legal)
        known = " ".join(notation.move_text(move) for move in legal) or "none"
        return IllegalAction(
            f'illegal action {shown} in {self.name} position "{self.to_text(s)}": {why}; legal: {known}'
        )

    def _why_not(self, s: State, start: int, end: int, legal: Sequence[Move]) -> str:
        own, opp = sides(s)
        if not legal:
            return "the game is over"
        if not own & bit(start):
            return f"{NAMES[s.player]} has no piece on {start + 1}"
        if (own | opp) & bit(end) and start != end:
            return f"{end + 1} is occupied"
        return "a capture is forced" if legal[0].taken else f"no move leads from {start + 1} to {end + 1}"

    def encode(self, s: State) -> tuple[int, ...]:
        """Return black, white, kings, and player + 2 clock."""
        return encode(s)

    def decode(self, words: Sequence[int], history: Sequence[tuple[int, ...]] = ()) -> State:
        """Return the state: the inverse of `encode` and `history`."""
        black, white, kings, meta = words
        return State(black, white, kings, meta & 1, meta >> 1, tuple(history))

    def history(self, s: State) -> Sequence[tuple[int, ...]]:
        """Return the positions since the last capture or move of a man."""
        return s.history
