"""Where patterns lie on the board and in their tables: squares after symmetry, offsets, and which cell moves what.

The cells of a game stand in *stacks*, of which only some contents occur: in a column of Connect Four nothing floats.
A game that declares none has a stack for every cell. What a pattern sees of a stack is numbered, and a table has a
number for every combination of those, 2,048 instead of 65,536 where a pattern has 3, 3 and 2 cells of three columns.
Its symmetric places share it. All tables of a group (a phase, a player to move) stand one behind the other, so that a
place's *index* is the start of its table plus what each stack adds,

    codes[stack][its content][place],

and a stack that changes adds a known number to the index of each place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evallearn.core.game import Game, State
from evallearn.core.patterns import PatternSet
from evallearn.errors import EvaluatorError

if TYPE_CHECKING:
    from evallearn.compiled.learning_records import LayoutRecord

MOST_ENTRIES = 1 << 26
"""Numbers in all tables together: 128 MB of them; no board needs more, and a stranger's file may ask for anything."""
MOST_PATTERNS = 1024


class Layout:
    """The patterns of a game, checked, with all their places."""

    def __init__(self, game: Game, patterns: Sequence[Sequence[int]], *, per_phase: bool, per_player: bool) -> None:
        """Raise EvaluatorError for a game without cells and for patterns that do not fit its board."""
        if not game.n_cells or game.cell_values < 2:
            raise EvaluatorError(
                f"{game.name} has no cells for pattern tables: give it n_cells, cell_values and cells(s, player)"
            )
        self.game, self.per_phase, self.per_player = game, per_phase, per_player
        self.n_groups = (game.n_phases if per_phase else 1) * (game.n_players if per_player else 1)
        self.patterns = tuple(tuple(int(cell) for cell in pattern) for pattern in patterns)
        cells, values = range(game.n_cells), [(value,) for value in range(game.cell_values)]
        alone = [(cell,) for cell in cells], [values] * len(cells)
        stacks, contents = (game.stacks, game.stack_contents) if game.stacks else alone
        self.stacks, self.contents = [tuple(stack) for stack in stacks], [[tuple(c) for c in held] for held in contents]
        self._numbers = [{content: i for i, content in enumerate(held)} for held in self.contents]
        self._stack_of = {cell: (n, row) for n, stack in enumerate(self.stacks) for row, cell in enumerate(stack)}
        self._check()
        self.sizes = [math.prod(len(seen) for seen in self._seen(pattern)) for pattern in self.patterns]
        self.starts = [sum(self.sizes[:i]) for i in range(len(self.sizes))]
        self.entries = sum(self.sizes)
        """Numbers of one group."""
        self.places = [(i, place) for i, pattern in enumerate(self.patterns) for place in images(game, pattern)]
        """(number of the pattern, its squares there)."""
        self._first = np.array([self.starts[i] for i, _ in self.places], np.int32)
        self.codes = self._codes()
        """int32[n_stacks, most contents of a stack, n_places]."""

    @classmethod
    def of(cls, game: Game, chosen: PatternSet) -> Layout:
        """Return the layout of the game's own patterns of that set."""
        return cls(game, chosen.patterns, per_phase=chosen.per_phase, per_player=chosen.per_player)

    def _check(self) -> None:
        name, cells = self.game.name, self.game.n_cells
        if not 0 < len(self.patterns) <= MOST_PATTERNS:
            raise EvaluatorError(f"{len(self.patterns)} patterns for {name}: give 1 to {MOST_PATTERNS}")
        entries = 0
        for i, pattern in enumerate(self.patterns):
            if not pattern or len(set(pattern)) < len(pattern) or not all(0 <= c < cells for c in pattern):
                raise EvaluatorError(
                    f"pattern {i} of {name} has the cells {list(pattern)}: give different ones of 0..{cells - 1}"
                )
            entries += math.prod(len(seen) for seen in self._seen(pattern))
            if entries * self.n_groups > MOST_ENTRIES:
                raise EvaluatorError(
                    f"the tables of {name} up to pattern {i}, of {len(pattern)} cells, would hold "
                    f"{entries * self.n_groups:,} numbers; at most {MOST_ENTRIES:,}: give fewer or smaller patterns"
                )

    def _split(self, place: Sequence[int]) -> dict[int, list[int]]:
        """Return {stack: the rows of it that the place has}, in the order of the place's cells."""
        rows: dict[int, list[int]] = {}
        for cell in place:
            stack, row = self._stack_of[cell]
            rows.setdefault(stack, []).append(row)
        return rows

    def _seen(self, place: Sequence[int]) -> list[dict[tuple[int, ...], int]]:
        """Return for each stack of the place what can stand on its rows, numbered."""
        found = []
        for stack, rows in self._split(place).items():
            parts = dict.fromkeys(tuple(content[row] for row in rows) for content in self.contents[stack])
            found.append({part: i for i, part in enumerate(parts)})
        return found

    def _codes(self) -> np.ndarray:
        codes = np.zeros((len(self.stacks), max(map(len, self.contents)), len(self.places)), np.int32)
        for p, (pattern, place) in enumerate(self.places):
            stride, seen = 1, self._seen(self.patterns[pattern])
            if [set(part) for part in seen] != [set(part) for part in self._seen(place)]:
                raise EvaluatorError(
                    f"a symmetry of {self.game.name} tears pattern {pattern} at {list(place)}: it must carry the "
                    "stacks onto stacks, with the rows in the same places"
                )
            for part, (stack, rows) in zip(seen, self._split(place).items(), strict=True):
                held = self.contents[stack]
                codes[stack, : len(held), p] = [stride * part[tuple(c[row] for row in rows)] for c in held]
                stride *= len(part)
        return codes

    def group(self, s: State) -> int:
        """Return which tables count in `s`."""
        group = self.game.phase(s) if self.per_phase else 0
        return group * self.game.n_players + self.game.to_play(s) if self.per_player else group

    def indices(self, cells: Sequence[int]) -> list[int]:
        """Return the index of every place in the tables of a group."""
        total = self._first.copy()
        for stack, numbers, codes in zip(self.stacks, self._numbers, self.codes, strict=True):
            total += codes[numbers[tuple(int(cells[c]) for c in stack)]]
        return total.tolist()  # type: ignore[no-any-return]  # a list of ints

    # --- for kernels -------------------------------------------------------------------------------------------------
    def bindings(self) -> dict[str, int]:
        """Return the compile-time sizes of patterns_kernel.py."""
        return {
            "N_STACKS": len(self.stacks),
            "HEIGHT": self._height(),
            "VALUES": self.game.cell_values,
            "N_PLACES": len(self.places),
            "N_PLAYERS": self.game.n_players,
            "ENTRIES": self.entries,
            "PER_PHASE": self.per_phase,
            "PER_PLAYER": self.per_player,
        }

    def record(self, kind: type[LayoutRecord]) -> np.ndarray:
        """Return one record of the kind, for `look` of patterns_kernel.py.

        It is as if each player had seen nothing but first contents.
        """
        from evallearn.compiled.learning_records import CellLayout, StackLayout

        stacks, contents, places = self.codes.shape
        sizes = {"players": self.game.n_players, "stacks": stacks, "places": places}
        by_stack = self._height() > 1
        tables = self._by_stack() if by_stack else self._by_cell()
        if by_stack:
            kinds, numbers = tables["number"].shape
            sizes |= {"contents": contents, "height": self._height(), "kinds": kinds, "numbers": numbers}
        else:
            sizes |= {"ends": stacks + 1, "steps": len(tables["step"])}
        both: type[LayoutRecord] = type(kind.__name__, (kind, StackLayout if by_stack else CellLayout), {})
        record = both.one(cells=max(self.game.n_cells, stacks), **sizes)
        record["index"] = self._first + self.codes[:, 0].sum(axis=0)
        for name, table in tables.items():
            record[name] = table
        return record

    def _height(self) -> int:
        """Return the height of the highest stack."""
        return max(map(len, self.stacks))

    def _by_stack(self) -> dict[str, np.ndarray]:
        """Return for each stack its height and kind, its cells, the number of each content, what it adds, and where."""
        values, n_stacks = self.game.cell_values, len(self.stacks)
        kinds = [numbers for n, numbers in enumerate(self._numbers) if numbers not in self._numbers[:n]]
        number = np.zeros((len(kinds), values ** self._height()), np.int32)
        for kind, numbers in enumerate(kinds):
            for content, i in numbers.items():
                number[kind, sum(value * values**row for row, value in enumerate(content))] = i
        stack, span = np.zeros((n_stacks, self._height()), np.int32), np.zeros((n_stacks, 2), np.int32)
        for n, cells in enumerate(self.stacks):
            stack[n, : len(cells)] = cells
            if len(touched := np.flatnonzero(self.codes[n].any(axis=0))):
                span[n] = touched[0], touched[-1] + 1
        shape = [(len(cells), kinds.index(numbers)) for cells, numbers in zip(self.stacks, self._numbers, strict=True)]
        return {"shape": np.array(shape), "stack": stack, "number": number, "span": span, "codes": self.codes}

    def _by_cell(self) -> dict[str, np.ndarray]:
        """Return the places that each cell belongs to, one list behind the other.

        There value v adds v times `step`.
        """
        steps = self.codes[:, 1]
        cells, places = np.nonzero(steps)
        return {
            "first": np.searchsorted(cells, range(len(steps) + 1)),
            "place": places,
            "step": steps[cells, places],
        }


def images(game: Game, pattern: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the pattern at all its places, itself first, each once."""
    found = [tuple(pattern), *(tuple(symmetry[cell] for cell in pattern) for symmetry in game.symmetries)]
    return list(dict.fromkeys(found))
