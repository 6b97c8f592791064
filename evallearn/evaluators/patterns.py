"""The pattern evaluator: what stands on groups of squares, looked up in tables (n-tuples); symmetric ones share tables.

    EVAL(s) = tanh(unit * sum over all places of tables[group(s)][index of the place in s]), seen by the mover

The tables hold 16-bit whole numbers and `unit` is a power of two: the sum is exact in any order, so both backends
agree to the last bit, and what a file holds is what was computed with. Tables are large: kernels get their address.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import numpy as np

from evallearn.core.digest import digest
from evallearn.core.evaluator import EvalKernel
from evallearn.core.game import Game, State
from evallearn.core.json_shapes import Json, JsonDict
from evallearn.core.patterns import PatternSet
from evallearn.errors import EvaluatorError, unknown
from evallearn.evaluators.features import FeatureEval, fixed_positions
from evallearn.evaluators.layout import Layout

TEMPLATE = Path(__file__).with_name("patterns_kernel.py")
MOST = 32767
WIDE = -128
"""A byte that says: this number has 16 bits and stands among the wide ones."""
EXPLAINED = 12
"""How many patterns an explanation names; the rest is summed up."""


class PatternEval(FeatureEval):
    """Tables of 16-bit numbers for the patterns of a layout; see the module's text."""

    kind = "patterns"

    def __init__(self, layout: Layout, tables: np.ndarray, unit: float, metadata: Json | None = None) -> None:
        """Take tables, int16[n_groups, entries of the layout], and unit: what 1 is worth, a power of two."""
        self.layout = layout
        super().__init__(layout.game, metadata)
        shape = (layout.n_groups, layout.entries)
        self.tables = np.ascontiguousarray(tables)
        if self.tables.shape != shape or self.tables.dtype != np.int16:
            raise EvaluatorError(
                f"a pattern evaluator of {self.game.name} needs tables of shape {shape} and type int16, "
                f"got {self.tables.shape} and {self.tables.dtype}"
            )
        if not (math.isfinite(unit) and unit > 0 and math.frexp(unit)[0] == 0.5 and unit == np.float32(unit)):
            raise EvaluatorError(f"the unit {unit!r} of this pattern evaluator is no power of two: make it again")
        self.unit = float(unit)

    @classmethod
    def from_weights(
        cls, layout: Layout, weights: np.ndarray, metadata: Json | None = None, *, quantum: float = 0.0
    ) -> PatternEval:
        """Return the evaluator of weights float[n_groups, entries], rounded to 16 bits, the largest just fitting.

        quantum: round to this power of two or a coarser one: what is less than half of it becomes 0, and files small.
        """
        if not np.isfinite(weights).all():
            raise EvaluatorError(f"a weight of this pattern evaluator of {layout.game.name} is not a finite number")
        largest = float(np.abs(weights).max(initial=0.0))
        exponent = math.ceil(math.log2(largest / MOST)) if largest > 0 else 0
        unit = max(2.0 ** min(max(exponent, -60), 60), quantum)
        tables = np.clip(np.rint(weights / unit), -MOST, MOST).astype(np.int16)
        return cls(layout, tables, unit, metadata)

    @classmethod
    def zero(cls, game: Game, patterns: str | PatternSet) -> PatternEval:
        """Return the pattern evaluator whose weights are all 0."""
        layout = Layout.of(game, pattern_set(game, patterns))
        return cls(layout, np.zeros((layout.n_groups, layout.entries), np.int16), 1.0)

    def require(self, game: Game) -> None:
        """Require nothing: the layout has checked that there are cells, and features are not needed."""

    # --- the value ---------------------------------------------------------------------------------------------------
    def observe(self, s: State, seen_by: int) -> tuple[Sequence[float], int]:
        return self.game.cells(s, seen_by), self.layout.group(s)

    def raw(self, x: Sequence[float], phase: int) -> float:
        """Return the raw value; x: the cells; phase: the group of tables."""
        table = self.tables[phase]
        return self.unit * float(sum(int(table[i]) for i in self.layout.indices([int(cell) for cell in x])))

    def explain(self, s: State, player: int) -> dict[str, float]:
        """Return the heaviest places with their squares, and the rest.

        Squares have the names that the game gives its cells.
        """
        seen_by = self.game.observer(s) if self.two_sided else player
        cells, group = self.observe(s, seen_by)
        sign = self.unit if player == seen_by else -self.unit
        parts: dict[str, float] = {}
        indices = self.layout.indices([int(cell) for cell in cells])
        for (pattern, place), index in zip(self.layout.places, indices, strict=True):
            name = f"pattern {pattern} at {' '.join(map(self.game.cell_name, place))}"
            parts[name] = sign * int(self.tables[group, index]) + 0.0  # 0.0, never -0.0
        ordered = sorted(parts.items(), key=lambda kv: -abs(kv[1]))
        shown = dict(ordered[:EXPLAINED])
        shown[f"{len(ordered[EXPLAINED:])} others"] = math.fsum(v for _, v in ordered[EXPLAINED:])
        return dict(sorted(shown.items(), key=lambda kv: -abs(kv[1])))

    # --- the compiled backend ----------------------------------------------------------------------------------------
    def kernel(self) -> EvalKernel | None:
        from evallearn.compiled.learning_records import PatternRecord

        rules = self.game.rules
        if rules is None or rules.cells is None or rules.utility_mover is None:
            return None
        module = kernels(self.layout, self.scale)
        params = self.layout.record(PatternRecord)
        params["tables"], params["unit"] = self.tables.ctypes.data, self.unit
        return EvalKernel(params=params, evaluate_player=module.evaluate_player, evaluate_mover=module.evaluate_mover)

    # --- files -------------------------------------------------------------------------------------------------------
    def identity(self) -> JsonDict:
        return {"names": [], "hash": cell_hash(self.game)}

    def tensors(self) -> dict[str, np.ndarray]:
        """Return what is stored: the squares, and the numbers that are not 0, most of them in a byte."""
        longest = max(map(len, self.layout.patterns))
        squares = np.full((len(self.layout.patterns), longest), -1, np.int16)
        for i, pattern in enumerate(self.layout.patterns):
            squares[i, : len(pattern)] = pattern
        held, small, wide = packed(self.tables.reshape(-1))
        return {
            "squares": squares,
            "by": np.array([self.layout.per_phase, self.layout.per_player], np.int16),
            "unit": np.array([self.unit], np.float32),
            "held": held,
            "small": small,
            "wide": wide,
        }

    @classmethod
    def from_tensors(cls, game: Game, tensors: Mapping[str, np.ndarray], metadata: Json) -> PatternEval:
        """Return the evaluator from what `tensors` returned, as its inverse; they may be a stranger's."""
        squares, by, unit = tensors["squares"], tensors["by"], tensors["unit"]
        if squares.ndim != 2 or by.shape != (2,) or unit.shape != (1,) or set(by.tolist()) - {0, 1}:
            raise EvaluatorError(
                "a pattern evaluator has squares[n, longest], by[2] of 0 or 1 and unit[1]; "
                f"got {squares.shape}, {by.tolist()} and {unit.shape}: make the file again"
            )
        patterns = [row[row != -1] for row in squares]
        layout = Layout(game, [row.tolist() for row in patterns], per_phase=bool(by[0]), per_player=bool(by[1]))
        flat = unpacked(tensors["held"], tensors["small"], tensors["wide"], layout.n_groups * layout.entries)
        return cls(layout, flat.reshape(layout.n_groups, layout.entries), float(unit[0]), metadata)


def kernels(layout: Layout, scale: float) -> ModuleType:
    """Return patterns_kernel.py for these patterns; the game must have rules with cells."""
    from evallearn.compiled.specialise import specialise

    rules = layout.game.rules
    assert rules is not None
    return specialise(TEMPLATE, rules, **layout.bindings(), SCALE=scale)


def pattern_set(game: Game, patterns: str | PatternSet) -> PatternSet:
    """Return the game's set of that name, or the set itself."""
    if isinstance(patterns, PatternSet):
        return patterns
    if patterns not in game.pattern_sets:
        raise unknown(f"pattern set of {game.name}", patterns, game.pattern_sets)
    return game.pattern_sets[patterns]


# --- files: the numbers that are not 0 -------------------------------------------------------------------------------
def packed(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (uint8 held, int8 small, int16 wide).

    A bit for each number that is not 0, then those; WIDE says: see `wide`.
    """
    numbers = flat[flat != 0]
    wide = np.abs(numbers) >= -WIDE
    small = np.where(wide, WIDE, numbers).astype(np.int8)
    return np.packbits(flat != 0), small, numbers[wide].astype(np.int16)


def unpacked(held: np.ndarray, small: np.ndarray, wide: np.ndarray, size: int) -> np.ndarray:
    """Return int16[size], the inverse of `packed`."""
    if held.shape != ((size + 7) // 8,) or small.ndim != 1 or wide.ndim != 1:
        raise EvaluatorError(
            f"the tables of this pattern evaluator need {(size + 7) // 8:,} bytes that say which numbers follow, got "
            f"{held.shape}, {small.shape} and {wide.shape}: make the file again"
        )
    at = np.flatnonzero(np.unpackbits(held, count=size))
    where = np.flatnonzero(small == WIDE)
    if len(at) != len(small) or len(where) != len(wide):
        raise EvaluatorError(
            f"the tables of this pattern evaluator have {len(at)} places for {len(small)} numbers, {len(where)} of "
            f"them "
            f"wide for {len(wide)}: make the file again"
        )
    flat = np.zeros(size, np.int16)
    flat[at] = small
    flat[at[where]] = wide
    return flat


# --- the identity of the cells ---------------------------------------------------------------------------------------
def cell_hash(game: Game) -> str:
    """Return twelve digits that change whenever a cell, a phase or a symmetry does, along eight fixed games."""
    plain: Game = getattr(game, "plain", game)
    return _cell_hash(plain) if vars(plain) else _cell_hash_of_class(type(plain))


@lru_cache
def _cell_hash_of_class(game_class: type[Game]) -> str:
    return _cell_hash(game_class())


def _cell_hash(game: Game) -> str:
    shape: tuple[object, ...] = (
        game.name,
        game.n_phases,
        game.n_cells,
        game.cell_values,
        [list(s) for s in game.symmetries],
    )
    if game.stacks:
        shape = (*shape, [list(s) for s in game.stacks], [[list(c) for c in held] for held in game.stack_contents])
    seen = ((list(map(int, game.cells(s, game.to_play(s)))), game.phase(s)) for s in fixed_positions(game))
    return digest(repr(shape), *map(repr, seen))[:12]
