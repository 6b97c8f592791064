"""2048: slide sixteen cells in one of four directions, equal tiles merge and score, and chance adds a tile.

One player against chance. The game begins with two tiles that chance puts; after each of the player's moves it puts
one more on an empty cell, each equally likely: a 2 with probability 0.9, a 4 with 0.1. Merging two tiles scores the new
one; the score at the end, when no move changes the board, is the utility. Nothing is cut short: tiles go up to 131072.

Why not further: the i-th largest tile never exceeds 2**(18 - i). Chance, with 2 and 4, cannot break that, and a merge
that did would need two tiles 2**(18 - i) among the largest i + 1, where it was broken already. A tile 2**e that grew
from 2s has scored (e - 1) * 2**e, and less where a 4 took part; so HIGHEST_SCORE bounds every game.

The score so far is certain (`won`), and an evaluator says what is still to come: its raw number r means the share
(1 + tanh r) / 2 of what is left up to the highest score, for real positions about exp(2 r) of it. So r is half the
logarithm of the expected share: -4.1 for 1,000 points, -2.6 for 20,000. That is why there is a feature `one`, whose
weight is a heuristic's constant; the other weights then act as factors on what is still to come.

What is still to come falls with every merge, by what it scores. So that an evaluator need not take that for harm, there
are features for how far the game is whatever was merged (`log_sum`, and the phases), and for what the tiles are still
good for (`unmerged`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from evallearn.core.game import CHANCE, Game, Heuristic
from evallearn.errors import BadNotation, IllegalAction
from evallearn.games.twenty_forty_eight.tiles import HIGHEST_SCORE, counts, grown_from, moved, tile_sum

DIRECTIONS = ("up", "right", "down", "left")
ALIASES = {name: a for a, name in enumerate(DIRECTIONS)} | dict(
    zip("urlwas↑→↓←", (0, 1, 3, 0, 3, 2, 0, 1, 2, 3), strict=True)
)
"""First letters, the keys w a s d and arrows; d alone is missing, since it may mean down or right."""
CELLS = range(16)
"""Row by row from the top left."""
TILE_CHANCES = (0.9, 0.1)
"""Of a 2 and of a 4; outcome 2 * cell + k puts 2 << k on the cell."""


class State(NamedTuple):
    """The exponents of the sixteen tiles (0 is empty, 1 is a 2), the score, and how many tiles chance must put now."""

    cells: tuple[int, ...]
    score: int
    pending: int


def cell_name(cell: int) -> str:
    """Name cell 1 b1: columns a to d, rows 1 to 4 from the top."""
    return f"{'abcd'[cell % 4]}{cell // 4 + 1}"


class TwentyFortyEight(Game[State, int]):
    """2048 on four by four cells; an action is 0 up, 1 right, 2 down, 3 left."""

    name: ClassVar[str] = "2048"
    rules_module: ClassVar[str] = "evallearn.games.twenty_forty_eight.rules"
    version: ClassVar[int] = 2
    n_players: ClassVar[int] = 1
    has_chance: ClassVar[bool] = True
    zero_sum: ClassVar[bool] = False
    antisymmetric: ClassVar[bool] = False
    utility_range: ClassVar[tuple[float, float]] = (0.0, float(HIGHEST_SCORE))
    scored: ClassVar[bool] = True
    n_phases: ClassVar[int] = 4
    opening_plies: ClassVar[int] = 8
    feature_names: ClassVar[tuple[str, ...]] = (
        "one",  # always 1: the constant of a heuristic
        "log_sum",  # log2(1 + sum of all tiles): how long the game has lasted, whatever was merged
        "unmerged",  # points, in units of 1,024, that its tiles would still score if they were merged all the way
        "empty",  # empty cells
        "merges",  # pairs of equal neighbours
        "roughness",  # by how many doublings neighbouring tiles differ, in all
        "disorder",  # how far rows and columns are from rising or falling all along; an empty cell counts as 0
        "largest",  # the exponent of the largest tile
        "corner",  # 1 if a largest tile lies in a corner
        "snake",  # exponents times 15..0 along the best of eight snakes
    )
    heuristics: ClassVar[Mapping[str, Heuristic]] = {
        "corner": Heuristic(
            {"one": -4.11, "empty": 0.06, "merges": 0.03, "corner": 0.15},
            "By hand: room to move, and the largest tile in a corner, as players advise each other; "
            "the constant makes the mean of what is still to come about right in its own games.",
        ),
        "snake": Heuristic(
            {"one": -3.32, "empty": 0.03, "merges": 0.03}
            | {"roughness": -0.01, "disorder": -0.015, "corner": 0.05, "snake": 0.001},
            "By hand: room to move, and tiles in falling order along a snake from a corner; the sizes were picked "
            "by eye from about ten tries in greedy games, the constant makes the mean of what is still to come about "
            "right in its own games.",
        ),
    }

    # --- the formalism ---------------------------------------------------------------------------------------------
    def initial(self) -> State:
        """Return an empty board on which chance puts two tiles."""
        return State((0,) * 16, 0, 2)

    def to_play(self, s: State) -> int:
        """Return CHANCE while tiles are due, else the player."""
        return CHANCE if s.pending else 0

    def actions(self, s: State) -> tuple[int, ...]:
        """Return the directions in which something moves: up, right, down, left."""
        return () if s.pending else tuple(a for a in range(4) if moved(s.cells, a)[0] != s.cells)

    def chances(self, s: State) -> list[tuple[int, float]]:
        """Return a 2 or a 4 on each empty cell."""
        empty = [i for i in CELLS if not s.cells[i]]
        return [(2 * i + k, p / len(empty)) for i in empty for k, p in enumerate(TILE_CHANCES)]

    def result(self, s: State, a: int) -> State:
        """Slide and merge the tiles, so that a tile is due; or put the tile."""
        if s.pending:
            if a not in range(32) or s.cells[int(a) // 2]:
                raise self._illegal(s, a)
            cell, k = divmod(int(a), 2)
            return State((*s.cells[:cell], 1 + k, *s.cells[cell + 1 :]), s.score, s.pending - 1)
        if a not in range(4):
            raise self._illegal(s, a)
        cells, points = moved(s.cells, int(a))
        if cells == s.cells:
            raise self._illegal(s, a)
        return State(cells, s.score + points, 1)

    def is_terminal(self, s: State) -> bool:
        """Return True if it is the player's turn and no move changes the board."""
        return not s.pending and not self.actions(s)

    def utility(self, s: State, player: int) -> float:
        """Return the score."""
        return float(s.score)

    def won(self, s: State, player: int) -> float:
        """Return the score so far: merges only add to it."""
        return float(s.score)

    # --- what an evaluator reads -----------------------------------------------------------------------------------
    def features(self, s: State, player: int) -> tuple[float, ...]:
        """Return the features for the one player; after a move, before the new tile, those of the board as it is."""
        return counts(s.cells)

    def phase(self, s: State) -> int:
        """Return 0..3 by the sum of all tiles, which no choice of moves changes: below 256; 1,024; 4,096; above."""
        return min(3, max(0, (tile_sum(s.cells).bit_length() - 7) // 2))

    # --- text ------------------------------------------------------------------------------------------------------
    def to_text(self, s: State) -> str:
        """Write four rows of tiles from the top, 0 for an empty cell, then the score and what comes next."""
        tiles = [str(1 << e if e else 0) for e in s.cells]
        rows = "/".join(".".join(tiles[i : i + 4]) for i in range(0, 16, 4))
        return f"{rows} {s.score} {TURNS[s.pending]}"

    def from_text(self, text: str) -> State:
        """Read to_text's form; without the last word it is the player's turn, without score all grew from 2s."""
        rows, *rest = text.split() or [""]
        cells = self._cells(text, rows)
        if len(rest) > 2:
            raise self._bad(text, f"{rest[2]!r} follows after the turn; expected rows, score and turn")
        turn = rest[1].lower() if len(rest) == 2 else TURNS[0]
        if turn not in TURNS:
            raise self._bad(text, f"the turn is {rest[1]!r}; expected move, tile (chance puts one) or tiles (two)")
        s = State(cells, self._score(text, rest[0] if rest else "", cells), TURNS.index(turn))
        if (s.pending == 2) != (max(cells) == 0):
            raise self._bad(text, "two tiles are due where the board is empty, and only there: write 'tiles' for it")
        if s.pending and 0 not in cells:
            raise self._bad(text, "no cell is empty for the tile that is due: write 'move'")
        return s

    def _cells(self, text: str, rows: str) -> tuple[int, ...]:
        tiles = [row.split(".") for row in rows.split("/")]
        if [len(row) for row in tiles] != [4] * 4:
            raise self._bad(text, "expected four rows of four tiles such as 2.0.16.4, with / between the rows")
        for r, row in enumerate(tiles):
            for c, tile in enumerate(row):
                if tile not in EXPONENTS:
                    raise self._bad(text, f"{cell_name(4 * r + c)} is {tile!r}; expected 0, 2, 4, 8, .. 131072")
        cells = tuple(EXPONENTS[tile] for row in tiles for tile in row)
        for i, e in enumerate(sorted(cells, reverse=True), 1):
            if e > 18 - i:
                raise self._bad(
                    text, f"number {i} of its tiles by size is {1 << e}: no play leads beyond {1 << 18 - i} there"
                )
        return cells

    def _score(self, text: str, score: str, cells: tuple[int, ...]) -> int:
        low, high = grown_from(2, cells), grown_from(1, cells)
        if not score:
            return high
        if not re.fullmatch("[0-9]{1,7}", score):
            raise self._bad(text, f"the score is {score!r}; expected a whole number such as {high}")
        if not low <= int(score) <= high or int(score) % 4:
            raise self._bad(text, f"such tiles score a multiple of 4 from {low} to {high}, not {score}")
        return int(score)

    def _bad(self, text: str, why: str) -> BadNotation:
        return BadNotation(f"2048 position {text!r}: {why}")

    def action_to_text(self, s: State, a: int) -> str:
        """Write up, right, down, left; where chance moves b3=4, the cell and its tile."""
        if s.pending:
            return f"{cell_name(a // 2)}={2 << a % 2}"
        return DIRECTIONS[a]

    def action_from_text(self, s: State, text: str) -> int:
        """Read the words, their first letters, the keys w a s and arrows; where chance moves b3=4 or b3 4."""
        word = text.strip().lower()
        if s.pending:
            found = re.fullmatch("([abcd])([1-4]) *[= ] *([24])", word)
            if not found:
                raise BadNotation(f"2048: {text!r} puts no tile; expected a cell and a tile such as b3=4")
            a = 2 * ("abcd".index(found[1]) + 4 * int(found[2]) - 4) + int(found[3]) // 4
            if s.cells[a // 2]:
                raise self._illegal(s, a)
            return a
        if word == "d":
            raise BadNotation("2048: 'd' may mean down or right (the key of w a s d): write down or right")
        if word not in ALIASES:
            raise BadNotation(f"2048: {text!r} is no move; expected up, right, down or left")
        if ALIASES[word] not in self.actions(s):
            raise self._illegal(s, ALIASES[word])
        return ALIASES[word]

    def board(self, s: State) -> str:
        """Draw the tiles in a grid, the score and what comes next."""
        rule = "  +" + "------+" * 4
        lines = ["     a      b      c      d", rule]
        for r in range(4):
            tiles = "|".join(f"{1 << e if e else '':>5} " for e in s.cells[4 * r : 4 * r + 4])
            lines += [f"{r + 1} |{tiles}|", rule]
        return "\n".join([*lines, f"score {s.score}: {self._status(s)}"])

    def _status(self, s: State) -> str:
        if s.pending:
            return f"chance puts {'a tile' if s.pending == 1 else 'two tiles'}"
        return "no move is left, the game is over" if self.is_terminal(s) else f"move {self._legal(s)}"

    def _legal(self, s: State) -> str:
        if s.pending:
            return "a 2 or a 4 on one of " + " ".join(cell_name(i) for i in CELLS if not s.cells[i])
        return " ".join(DIRECTIONS[a] for a in self.actions(s)) or "none"

    def _illegal(self, s: State, a: int) -> IllegalAction:
        shown, why = repr(a), "the actions are 0 up, 1 right, 2 down, 3 left"
        if s.pending and a in range(32):
            shown, why = self.action_to_text(s, int(a)), f"{cell_name(int(a) // 2)} is taken"
        elif s.pending:
            why = "chance is to put a tile: 2 * cell for a 2, 2 * cell + 1 for a 4"
        elif a in range(4):
            shown, why = DIRECTIONS[int(a)], "the game is over" if self.is_terminal(s) else "it moves nothing"
        return IllegalAction(
            f'illegal action {shown} in 2048 position "{self.to_text(s)}": {why}; legal: {self._legal(s)}'
        )

    def encode(self, s: State) -> tuple[int, ...]:
        """Return a byte for each exponent, two rows to a word; then the score and the tiles due."""
        top, bottom = (int.from_bytes(bytes(half), "little") for half in (s.cells[:8], s.cells[8:]))
        return top, bottom, s.score, s.pending

    def decode(self, words: Sequence[int], history: Sequence[tuple[int, ...]] = ()) -> State:
        """Return the state of the words: the inverse of `encode`."""
        top, bottom, score, pending = map(int, words)
        return State(tuple((top | bottom << 64).to_bytes(16, "little")), score, pending)


TURNS = ("move", "tile", "tiles")
"""By the number of tiles that are due."""
EXPONENTS = {str(1 << e): e for e in range(1, 18)} | {"0": 0, "-": 0, "_": 0}
