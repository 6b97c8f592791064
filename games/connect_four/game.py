"""Connect Four: seven columns of six squares; the first to line up four stones wins.

Column c (0..6 from the left), row r (0..5 from the bottom) is bit 7 * c + r. Bit 6 of each column stays empty, so
that no line runs over from one column into the next. X moves first and is player 0. Columns are written 1..7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, NamedTuple

from evallearn.core.game import Game, Heuristic
from evallearn.core.patterns import PatternSet
from evallearn.errors import BadNotation
from evallearn.games.connect_four.cells import (
    COLUMNS,
    CONTENTS,
    OWNER,
    PATTERN_SETS,
    ROOM,
    STACKS,
    SYMMETRIES,
    column_threats,
)
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
from evallearn.games.walks import images

ORDER = (3, 2, 4, 1, 5, 0, 6)
"""Centre first: the centre column lies on most lines, so its moves are usually best and prune most."""
STONES_PER_PHASE = 11
"""0-10, 11-21, 22-32 and 33-42 stones: four phases."""


LINES = tuple(all_lines(COLUMNS))
"""69 lines of four squares."""
SQUARES = tuple(bit(c, r) for c in range(COLUMNS) for r in range(ROWS))
BOARD = sum(SQUARES)
BOTTOM = sum(bit(c, 0) for c in range(COLUMNS))
CENTRE = sum(bit(3, r) for r in range(ROWS))
INNER = sum(bit(c, r) for c in (2, 4) for r in range(ROWS))
THREAT_ROWS = tuple(BOTTOM << r for r in range(1, ROWS))
"""Rows 2 to 6: in each, the squares of all columns."""


class State(NamedTuple):
    """The stones of the player to move, and all stones."""

    own: int
    mask: int


def has_four(stones: int) -> bool:
    """Return True if `stones` fill one of the 69 lines."""
    return any(stones & line == line for line in LINES)


def undo(s: State) -> Iterator[tuple[int, State]]:
    """Yield (column, state before) of each stone on top that the player who just moved could have dropped."""
    for c in range(COLUMNS):
        top = bit(c, height(s.mask, c)) >> 1
        if top & (s.own ^ s.mask) & BOARD:
            yield c, State(s.own ^ s.mask ^ top, s.mask ^ top)


def order_of_play(s: State) -> list[int] | None:
    """Return one sequence of columns that leads to `s`, found by taking stones off again; None if there is none."""
    if has_four(s.own):
        return None
    dead_ends: set[State] = set()

    def search(s: State) -> list[int] | None:
        if not s.mask:
            return []
        if s not in dead_ends:
            dead_ends.add(s)  # each state is tried once: either it succeeds at once or it never will
            for column, before in undo(s):
                if (order := search(before)) is not None:
                    return [*order, column]
        return None

    if not has_four(s.own ^ s.mask):
        return search(s)
    # The last stone made the four, so without it there is none; below that no position can have one.
    orders = (([*order, c]) for c, b in undo(s) if not has_four(b.own) and (order := search(b)) is not None)
    return next(orders, None)


class ConnectFour(Game[State, int]):
    """Connect Four; an action is a column 0..6, written 1..7."""

    name: ClassVar[str] = "connect_four"
    rules_module: ClassVar[str] = "evallearn.games.connect_four.rules"
    n_phases: ClassVar[int] = 4
    opening_plies: ClassVar[int] = 6
    feature_names: ClassVar[tuple[str, ...]] = (
        "centre",  # stones in column 4
        "inner",  # stones in columns 3 and 5
        "open_twos",  # lines with two stones and two empty squares
        "open_threes",  # lines with three stones and an empty square
        # Threats, empty squares that complete a four, by owner and row. Odd rows serve the first player, even rows the
        # second, and a low one comes into play first. (In row 1 every threat can be played at once.)
        "first_even_2",
        "first_odd_3",
        "first_even_4",
        "first_odd_5",
        "first_even_6",
        "second_even_2",
        "second_odd_3",
        "second_even_4",
        "second_odd_5",
        "second_even_6",
        "playable_threats",  # threats that a stone can reach now
        "stacked_threats",  # threats right above another one of the same player
        "wins_now",  # the player to move can complete a four
        "double_threat",  # the player to move can not, and faces two playable threats at once
    )
    heuristics: ClassVar[Mapping[str, Heuristic]] = {
        "lines": Heuristic(
            {"centre": 0.10, "inner": 0.05, "open_twos": 0.06, "open_threes": 0.25},
            "By hand: the usual count of open lines, a three worth four twos, and a bonus for central stones.",
        ),
        "threats": Heuristic(
            {
                "centre": 0.08,
                "inner": 0.04,
                "open_twos": 0.05,
                "open_threes": 0.05,
                **dict.fromkeys(("first_odd_3", "first_odd_5"), 0.35),
                **dict.fromkeys(("first_even_2", "first_even_4", "first_even_6"), 0.10),
                **dict.fromkeys(("second_odd_3", "second_odd_5"), 0.10),
                **dict.fromkeys(("second_even_2", "second_even_4", "second_even_6"), 0.35),
                "stacked_threats": 0.40,
                "wins_now": 2.0,
                "double_threat": 2.0,
            },
            "By hand after Allis (1988): odd threats serve the first player, even ones the second; then forced wins.",
        ),
    }
    n_cells: ClassVar[int] = ROOM + 1
    cell_values: ClassVar[int] = 4
    stacks: ClassVar[tuple[tuple[int, ...], ...]] = STACKS
    stack_contents: ClassVar[tuple[tuple[tuple[int, ...], ...], ...]] = CONTENTS
    symmetries: ClassVar[tuple[tuple[int, ...], ...]] = SYMMETRIES
    pattern_sets: ClassVar[Mapping[str, PatternSet]] = PATTERN_SETS

    # --- the formalism ---------------------------------------------------------------------------------------------
    def initial(self) -> State:
        """Return an empty board with X to move."""
        return State(0, 0)

    def to_play(self, s: State) -> int:
        """Return 0 for X, 1 for O."""
        return s.mask.bit_count() & 1

    def actions(self, s: State) -> tuple[int, ...]:
        """Return the columns that are not full, centre first."""
        if self.is_terminal(s):
            return ()
        return tuple(c for c in ORDER if not s.mask & bit(c, ROWS - 1))

    def result(self, s: State, a: int) -> State:
        """Drop the mover's stone in column `a` and pass the turn to the other player."""
        if a not in range(COLUMNS) or s.mask & bit(int(a), ROWS - 1) or self.is_terminal(s):
            raise illegal_column(self, s, a, COLUMNS)
        return State(s.own ^ s.mask, s.mask | bit(int(a), height(s.mask, int(a))))

    def is_terminal(self, s: State) -> bool:
        """Return True for four in a row (only the player who just moved can have it) or a full board."""
        return has_four(s.own ^ s.mask) or s.mask == BOARD

    def utility(self, s: State, player: int) -> float:
        """Return +1 for a win, 0 for a draw, -1 for a loss."""
        if not has_four(s.own ^ s.mask):
            return 0.0
        return -1.0 if player == self.to_play(s) else 1.0

    def bounds(self, s: State, player: int) -> tuple[float, float]:
        """Return at most 0 for a side that can no longer make four, at least 0 where the opponent cannot."""
        mine, theirs = (s.own, s.own ^ s.mask) if player == self.to_play(s) else (s.own ^ s.mask, s.own)
        return -1.0 if has_four(BOARD ^ mine) else 0.0, 1.0 if has_four(BOARD ^ theirs) else 0.0

    # --- what an evaluator reads -----------------------------------------------------------------------------------
    def features(self, s: State, player: int) -> tuple[int, ...]:
        """Return own counts, and opposing ones negated; wins_now and double_threat belong to whoever is to move."""
        own, opp, landing = s.own, s.own ^ s.mask, playable(s.mask, COLUMNS)
        mine, theirs = threats(own, s.mask, LINES), threats(opp, s.mask, LINES)
        first, second, sign = (mine, theirs, 1) if self.to_play(s) == 0 else (theirs, mine, -1)
        wins_now = mine & landing != 0
        values = (
            (own & CENTRE).bit_count() - (opp & CENTRE).bit_count(),
            (own & INNER).bit_count() - (opp & INNER).bit_count(),
            open_lines(own, opp, 2, LINES) - open_lines(opp, own, 2, LINES),
            open_lines(own, opp, 3, LINES) - open_lines(opp, own, 3, LINES),
            *(sign * (first & row).bit_count() for row in THREAT_ROWS),
            *(-sign * (second & row).bit_count() for row in THREAT_ROWS),
            (mine & landing).bit_count() - (theirs & landing).bit_count(),
            (mine & mine << 1).bit_count() - (theirs & theirs << 1).bit_count(),
            int(wins_now),
            -int(not wins_now and (theirs & landing).bit_count() >= 2),
        )
        return values if player == self.to_play(s) else tuple(-v for v in values)

    def cells(self, s: State, player: int) -> tuple[int, ...]:
        """Return the squares, then seven cells each for the lowest threat in every column, then one for the parity.

        Squares: 0 empty, 1 own, 2 the opponent's, 3 empty and the next stone of its column lands there.

        Of the lowest threat in every column: its owner, 0 none, 1 own, 2 the opponent's, 3 of both; its reach, 0 at
        once, 1 after a stone, 2 later, 3 not at once and right below another one of the same player (without a threat 1
        or 0: whether an odd number of stones still fits); 1 if its row is even, as players count; the owner of the next
        threat above. The last cell is 1 if an odd number of stones can be dropped before all columns are full or end
        below the square below a threat; threats at hand are no such end.
        """
        own = s.own if player == self.to_play(s) else s.own ^ s.mask
        landing, opp = playable(s.mask, COLUMNS), own ^ s.mask
        squares = (1 if own & b else 2 if opp & b else 3 if landing & b else 0 for b in SQUARES)
        columns = [
            column_threats(c, threats(own, s.mask, LINES), threats(opp, s.mask, LINES), s.mask) for c in range(COLUMNS)
        ]
        owners, reaches, evens, aboves, rooms = zip(*columns, strict=True)
        return (*squares, *owners, *reaches, *evens, *aboves, sum(rooms) % 2)

    def images(self, s: State) -> list[tuple[int, ...]]:
        """Return the squares as they are and mirrored; their number shows who is to move."""
        squares = [1 if s.own & b else 2 if s.mask & b else 0 for b in SQUARES]
        return images(squares, SYMMETRIES)

    def cell_name(self, cell: int) -> str:
        """Name the cell by column a..g and row 1..6: a1 is the bottom left."""
        if cell < OWNER:
            return f"{'abcdefg'[cell // ROWS]}{cell % ROWS + 1}"
        if cell == ROOM:
            return "room"
        return f"{'abcdefg'[cell % COLUMNS]}-{('owner', 'reach', 'even', 'above')[(cell - OWNER) // COLUMNS]}"

    def phase(self, s: State) -> int:
        """Return 0..3 by the number of stones."""
        return s.mask.bit_count() // STONES_PER_PHASE

    # --- text ------------------------------------------------------------------------------------------------------
    def to_text(self, s: State) -> str:
        """Write column digits such as 4453 that lead to `s`: one order of play, not always the one that was played."""
        order = order_of_play(s)
        return self._squares(s) if order is None else "".join(str(c + 1) for c in order)

    def from_text(self, text: str) -> State:
        """Read column digits, or 42 characters X O . from the top left."""
        stripped = text.strip()
        if len(stripped) == COLUMNS * ROWS and not set(stripped) - set("XOxo."):
            return self._from_squares(stripped)
        return play_columns(self, text, COLUMNS, "X, O")  # type: ignore[no-any-return]  # a State

    def _squares(self, s: State) -> str:
        crosses = s.own if self.to_play(s) == 0 else s.own ^ s.mask
        squares = [bit(c, r) for r in reversed(range(ROWS)) for c in range(COLUMNS)]
        return "".join("X" if crosses & b else "O" if s.mask & b else "." for b in squares)

    def _from_squares(self, text: str) -> State:
        rows = [text[i : i + COLUMNS].upper() for i in range(0, len(text), COLUMNS)][::-1]
        stones = {m: sum(bit(c, r) for r in range(ROWS) for c in range(COLUMNS) if rows[r][c] == m) for m in "XO"}
        lead = stones["X"].bit_count() - stones["O"].bit_count()
        s = State(stones["XO"[lead & 1]], stones["X"] | stones["O"])
        if lead not in (0, 1):
            counts = f"{stones['X'].bit_count()} X and {stones['O'].bit_count()} O"
            raise BadNotation(f"connect_four position {text!r} has {counts}: expected as many X as O, or one more")
        if floating := s.mask & ~(s.mask << 1 | BOTTOM):
            column = (floating.bit_length() - 1) // 7 + 1
            raise BadNotation(f"connect_four position {text!r}: a stone in column {column} stands on an empty square")
        if order_of_play(s) is None:
            raise BadNotation(f"connect_four position {text!r}: no order of play leads to it")
        return s

    def action_to_text(self, s: State, a: int) -> str:
        """Write the column as 1..7."""
        return str(a + 1)

    def board(self, s: State) -> str:
        """Draw six rows from the top, the column digits below, and who is to move."""
        return picture(self._squares(s), COLUMNS, self._status(s))

    def _status(self, s: State) -> str:
        mover = self.to_play(s)
        if has_four(s.own ^ s.mask):
            return f"{'XO'[1 - mover]} has won"
        return "a draw" if self.is_terminal(s) else f"{'XO'[mover]} to move"
