"""Groups of cells whose contents pattern tables look up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class PatternSet:
    """Groups of cells whose contents a pattern evaluator looks up in tables; symmetric groups share one table."""

    patterns: Sequence[Sequence[int]]
    """The cells of each pattern; the game's `symmetries` give the other places where it is looked for."""
    note: str
    """What they are, in one sentence."""
    per_phase: bool = False
    """A table of its own for every phase of the game."""
    per_player: bool = False
    """A table of its own for every player to move: where the first player's position is not the second's."""
    learning: Mapping[str, object] = field(default_factory=dict)
    """What of `SelfPlaySettings`, `Schedule` and `PatternSettings` suits the set, where that is not usual."""
