"""Where patterns lie on the board and in their tables: squares after symmetry, offsets, and which cell moves what.

A pattern of n cells has a table of cell_values**n numbers; its symmetric places share it. All tables of a group (a
phase, a player to move) stand one behind the other, so that a place's *index* is the start of its table plus

    sum of cells[squares[i]] * cell_values**i

and a cell that changes adds a known number to the index of each place that it belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evallearn.errors import EvaluatorError
from evallearn.protocols import Game, PatternSet, State

MOST_ENTRIES = 1 << 26
"""Numbers in all tables together: 128 MB of them; no board needs more, and a stranger's file may ask for anything."""
MOST_PATTERNS = 1024


class Layout:
    """The patterns of a game, checked, with all their places."""

    def __init__(self, game: Game, patterns: Sequence[Sequence[int]], *, by_phase: bool, by_player: bool) -> None:
        """Raises EvaluatorError for a game without cells and for patterns that do not fit its board."""
        if not game.n_cells or game.cell_values < 2:
            raise EvaluatorError(
                f"{game.name} has no cells for pattern tables: give it n_cells, cell_values and cells(s, player)"
            )
        self.game, self.by_phase, self.by_player = game, by_phase, by_player
        self.n_groups = (game.n_phases if by_phase else 1) * (game.n_players if by_player else 1)
        self.patterns = tuple(tuple(int(cell) for cell in pattern) for pattern in patterns)
        self._check()
        self.sizes = [game.cell_values ** len(pattern) for pattern in self.patterns]
        self.starts = [sum(self.sizes[:i]) for i in range(len(self.sizes))]
        self.entries = sum(self.sizes)
        """Numbers of one group."""
        self.places = [(i, place) for i, pattern in enumerate(self.patterns) for place in images(game, pattern)]
        """(number of the pattern, its squares there)."""
        self.powers = [game.cell_values**i for i in range(max(map(len, self.patterns)))]

    @classmethod
    def of(cls, game: Game, chosen: PatternSet) -> Layout:
        """The game's own patterns of that set."""
        return cls(game, chosen.patterns, by_phase=chosen.by_phase, by_player=chosen.by_player)

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
            entries += self.game.cell_values ** len(pattern)
            if entries * self.n_groups > MOST_ENTRIES:
                raise EvaluatorError(
                    f"the tables of {name} up to pattern {i}, of {len(pattern)} cells, would hold "
                    f"{entries * self.n_groups:,} numbers; at most {MOST_ENTRIES:,}: give fewer or smaller patterns"
                )

    def group(self, s: State) -> int:
        """Which tables count in `s`."""
        group = self.game.phase(s) if self.by_phase else 0
        return group * self.game.n_players + self.game.to_play(s) if self.by_player else group

    def indices(self, cells: Sequence[int]) -> list[int]:
        """Of every place, in the tables of a group."""
        powers, starts = self.powers, self.starts
        return [starts[i] + sum(cells[c] * powers[k] for k, c in enumerate(place)) for i, place in self.places]

    # --- for kernels -------------------------------------------------------------------------------------------------
    def bindings(self) -> dict[str, Any]:
        """Compile-time sizes of patterns_kernel.py."""
        return {
            "N_CELLS": self.game.n_cells,
            "N_PLACES": len(self.places),
            "N_PLAYERS": self.game.n_players,
            "ENTRIES": self.entries,
            "BY_PHASE": self.by_phase,
            "BY_PLAYER": self.by_player,
        }

    def record(self, extra: Sequence[Any] = ()) -> np.ndarray:
        """One record for `look` of patterns_kernel.py, which has seen an empty board (every cell 0)."""
        hits = [(c, p, self.powers[k]) for p, (_, place) in enumerate(self.places) for k, c in enumerate(place)]
        hits.sort()
        n = self.game.n_cells
        fields = [
            *extra, ("fresh", "i4", (n,)), ("seen", "i4", (n,)), ("index", "i4", (len(self.places),)),
            ("first", "i4", (n + 1,)), ("place", "i4", (len(hits),)), ("power", "i4", (len(hits),)),
        ]  # fmt: skip
        record = np.zeros(1, np.dtype(fields, align=True))
        record["index"] = [self.starts[i] for i, _ in self.places]
        record["first"] = np.searchsorted([c for c, _, _ in hits], range(n + 1))
        record["place"] = [p for _, p, _ in hits]
        record["power"] = [power for _, _, power in hits]
        return record


def images(game: Game, pattern: Sequence[int]) -> list[tuple[int, ...]]:
    """The pattern at all its places, itself first, each once."""
    found = [tuple(pattern), *(tuple(symmetry[cell] for cell in pattern) for symmetry in game.symmetries)]
    return list(dict.fromkeys(found))
