"""Three-player Connect: nine columns of six squares, three players in turn; the first to line up four stones wins.

The winner gets 1, the other two -1/2 each; a full board is a draw. Squares are numbered as in Connect Four: column c
(0..8 from the left), row r (0..5 from the bottom) is bit 7 * c + r, and bit 6 of each column stays empty, so that no
line runs over from one column into the next. X moves first and is player 0, then O, then Z. Columns are written 1..9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from evallearn.core.game import Game, Heuristic
from evallearn.errors import BadNotation
from evallearn.games.lines import (
    ROWS,
    all_lines,
    bit,
    height,
    illegal_column,
    open_lines,
    picture,
    play_columns,
    playable,
    threats,
)

COLUMNS = 9
MARKS = "XOZ"
ORDER = (4, 3, 5, 2, 6, 1, 7, 0, 8)
"""Centre first: the centre column lies on most lines."""
STONES_PER_PHASE = 14
"""0-13, 14-27, 28-41 and 42-54 stones: four phases."""


LINES = tuple(all_lines(COLUMNS))
"""99 lines of four squares."""
BOARD = sum(bit(c, r) for c in range(COLUMNS) for r in range(ROWS))
BOTTOM = sum(bit(c, 0) for c in range(COLUMNS))
CENTRE = sum(bit(4, r) for r in range(ROWS))
INNER = sum(bit(c, r) for c in (3, 5) for r in range(ROWS))
FROM_TOP_LEFT = tuple(bit(c, r) for r in reversed(range(ROWS)) for c in range(COLUMNS))


class State(NamedTuple):
    """The stones of the player to move, of the next one, and of the one who has just moved."""

    own: int
    next: int
    last: int


def stones(s: State) -> int:
    """Return all stones."""
    return s.own | s.next | s.last


def has_four(stones: int) -> bool:
    """Return True if `stones` fill one of the lines."""
    return any(stones & line == line for line in LINES)


class ThreePlayerConnect(Game[State, int]):
    """Four in a row for three; an action is a column 0..8, written 1..9."""

    name: ClassVar[str] = "three_player_connect"
    rules_module: ClassVar[str] = "evallearn.games.three_player_connect.rules"
    n_players: ClassVar[int] = 3
    utility_range: ClassVar[tuple[float, float]] = (-0.5, 1.0)
    antisymmetric: ClassVar[bool] = False
    n_phases: ClassVar[int] = 4
    opening_plies: ClassVar[int] = 6
    # "Next" is the player who moves right after the observer, "last" the one right before.
    feature_names: ClassVar[tuple[str, ...]] = (
        "centre",  # own stones in column 5
        "inner",  # own stones in columns 4 and 6
        "open_twos",  # lines with two own stones and two empty squares
        "open_threes",  # lines with three own stones and an empty square
        "next_open_twos",
        "next_open_threes",
        "last_open_twos",
        "last_open_threes",
        "threats",  # empty squares that complete an own four
        "next_threats",
        "last_threats",
        "playable_threats",  # own threats that a stone can reach now
        "next_playable_threats",
        "last_playable_threats",
        "to_move",  # 1 if it is one's own turn
        "wins_now",  # 1 if it is, and one can complete a four
        "next_wins_now",  # the same of the next player
        "last_wins_now",  # and of the last
    )
    heuristics: ClassVar[Mapping[str, Heuristic]] = {
        "lines": Heuristic(
            {
                "centre": 0.08,
                "inner": 0.04,
                "open_twos": 0.06,
                "open_threes": 0.25,
                **dict.fromkeys(("next_open_twos", "last_open_twos"), -0.03),
                **dict.fromkeys(("next_open_threes", "last_open_threes"), -0.12),
            },
            "By hand: Connect Four's count of open lines, each opponent at half weight since only one of them can win.",
        ),
        "threats": Heuristic(
            {
                "centre": 0.06,
                "inner": 0.03,
                "open_twos": 0.04,
                "threats": 0.30,
                **dict.fromkeys(("next_open_twos", "last_open_twos"), -0.02),
                "next_threats": -0.15,
                "last_threats": -0.15,
                "next_playable_threats": -0.15,
                "wins_now": 2.0,
                "next_wins_now": -2.0,
                "last_wins_now": -2.0,
            },
            "By hand: threats and forced wins; the next player's playable threats cost more, for one must stop them "
            "oneself, while the next player may have to stop the last one's.",
        ),
    }

    # --- the formalism ---------------------------------------------------------------------------------------------
    def initial(self) -> State:
        """Return an empty board with X to move."""
        return State(0, 0, 0)

    def to_play(self, s: State) -> int:
        """Return 0 for X, 1 for O, 2 for Z."""
        return stones(s).bit_count() % 3

    def actions(self, s: State) -> tuple[int, ...]:
        """Return the columns that are not full, centre first."""
        if self.is_terminal(s):
            return ()
        return tuple(c for c in ORDER if not stones(s) & bit(c, ROWS - 1))

    def result(self, s: State, a: int) -> State:
        """Drop the mover's stone in column `a` and pass the turn to the next player."""
        if a not in range(COLUMNS) or stones(s) & bit(int(a), ROWS - 1) or self.is_terminal(s):
            raise illegal_column(self, s, a, COLUMNS)
        return State(s.next, s.last, s.own | bit(int(a), height(stones(s), int(a))))

    def is_terminal(self, s: State) -> bool:
        """Return True for four in a row (only the player who just moved can have it) or a full board."""
        return has_four(s.last) or stones(s) == BOARD

    def utility(self, s: State, player: int) -> float:
        """Return 1 for the winner, -1/2 for the others, 0 for all in a draw."""
        if not has_four(s.last):
            return 0.0
        return 1.0 if (player + 1) % 3 == self.to_play(s) else -0.5

    # --- what an evaluator reads -----------------------------------------------------------------------------------
    def features(self, s: State, player: int) -> tuple[int, ...]:
        """Return for `player` own counts, the next player's and the last one's side by side."""
        ahead = (player - self.to_play(s)) % 3  # turns until `player` moves
        seen = [s[(ahead + i) % 3] for i in range(3)]
        mask, landing = stones(s), playable(stones(s), COLUMNS)
        squares = [threats(side, mask, LINES) for side in seen]
        return (
            (seen[0] & CENTRE).bit_count(),
            (seen[0] & INNER).bit_count(),
            *(open_lines(side, mask & ~side, count, LINES) for side in seen for count in (2, 3)),
            *(own.bit_count() for own in squares),
            *((own & landing).bit_count() for own in squares),
            int(ahead == 0),
            *(int((ahead + i) % 3 == 0 and own & landing != 0) for i, own in enumerate(squares)),
        )

    def phase(self, s: State) -> int:
        """Return 0..3 by the number of stones."""
        return stones(s).bit_count() // STONES_PER_PHASE

    # --- text ------------------------------------------------------------------------------------------------------
    def to_text(self, s: State) -> str:
        """Write 54 characters X O Z . from the top left; the number of stones shows who is to move."""
        mover = self.to_play(s)
        owner = [s[(i - mover) % 3] for i in range(3)]
        return "".join(next((m for m, own in zip(MARKS, owner, strict=True) if own & b), ".") for b in FROM_TOP_LEFT)

    def from_text(self, text: str) -> State:
        """Read 54 characters X O Z . from the top left (rows may be set apart by spaces or /), or column digits."""
        squares = "".join(text.split()).replace("/", "").upper()
        if len(squares) == len(FROM_TOP_LEFT) and not set(squares) - {*MARKS, "."}:
            return self._from_squares(text, squares)
        return play_columns(self, text, COLUMNS, "X, O, Z")  # type: ignore[no-any-return]  # a State

    def _from_squares(self, text: str, squares: str) -> State:
        owner = [sum(b for b, c in zip(FROM_TOP_LEFT, squares, strict=True) if c == mark) for mark in MARKS]
        counts = [own.bit_count() for own in owner]
        mover = sum(counts) % 3
        s = State(*(owner[(mover + i) % 3] for i in range(3)))
        if wrong := self._wrong(s, counts):
            raise BadNotation(f"{self.name} position {text!r}: {wrong}")
        return s

    def _wrong(self, s: State, counts: list[int]) -> str:
        """Say why there is no such position, as far as stones, their support and fours show; else an empty text."""
        if counts != sorted(counts, reverse=True) or counts[0] - counts[2] > 1:
            found = ", ".join(f"{n} {mark}" for n, mark in zip(counts, MARKS, strict=True))
            return f"it has {found}; expected as many of each, but that X, or X and O, may have one more"
        if floating := stones(s) & ~(stones(s) << 1 | BOTTOM):
            return f"a stone in column {(floating.bit_length() - 1) // 7 + 1} stands on an empty square"
        if has_four(s.own) or has_four(s.next):
            return "someone has four in a row who did not move last"
        tops = (bit(c, height(stones(s), c) - 1) for c in range(COLUMNS) if stones(s) & bit(c, 0))
        if has_four(s.last) and all(has_four(s.last & ~top) for top in tops):
            return "no last move can have made all these fours"
        return ""

    def action_to_text(self, s: State, a: int) -> str:
        """Write the column as 1..9."""
        return str(a + 1)

    def board(self, s: State) -> str:
        """Draw six rows from the top, the column digits below, and who is to move."""
        return picture(self.to_text(s), COLUMNS, self._status(s))

    def _status(self, s: State) -> str:
        mover = self.to_play(s)
        if has_four(s.last):
            return f"{MARKS[mover - 1]} has won"
        return "a draw" if self.is_terminal(s) else f"{MARKS[mover]} to move, then {MARKS[(mover + 1) % 3]}"
