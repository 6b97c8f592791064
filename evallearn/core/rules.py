"""The rules of a game as functions that Numba compiles, and the tables that a game may know."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic

if TYPE_CHECKING:  # with defaults, as in game.py; P: a state in plain Python, W: a compiled one
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import TypeVar

    P = TypeVar("P", default=Any)
    W = TypeVar("W", default=Any)
else:
    from typing import TypeVar

    P, W = TypeVar("P"), TypeVar("W")


@dataclass(frozen=True, kw_only=True)
class Rules(Generic[W]):
    """A game's rules as functions that Numba can compile: the compiled backend.

    A compiled state is `State`, a NamedTuple whose fields are all unsigned 64-bit words. Every function is
    plain Python marked `@jitable` (see `evallearn.compiled`), so it also runs and can be debugged uncompiled.
    Actions are the same small integers on both backends, and `actions` writes them in the same order.
    """

    State: type[W]
    """NamedTuple of 64-bit words."""
    actions: Callable[[W, NDArray[np.int32]], int]
    """actions(s, out: int32[max_actions]) -> n: writes the legal actions of a non-terminal state."""
    result: Callable[[W, int], W]
    is_terminal: Callable[[W], bool]
    to_play: Callable[[W], int]
    phase: Callable[[W], int]
    key: Callable[[W], int]
    """A well-mixed 64-bit hash; equal for two states only if the mover's future is the same in both."""
    n_actions: int
    """Actions are 0 .. n_actions - 1."""
    max_actions: int
    """No position has more legal actions than this (check_game watches: kernels do not check bounds)."""
    max_plies: int
    """No game lasts longer than this."""
    alternates: bool = True
    """True if the players move strictly in turn (a pass is an action)."""

    # --- two players, zero-sum, no chance: as the mover sees it ------------------------------------------------------
    utility_mover: Callable[[W], float] | None = None
    """Utility of a terminal state to the player that `to_play` names there, float32."""
    features_mover: Callable[[W, NDArray[np.float32]], None] | None = None
    """features_mover(s, out: float32[n_features]): the features seen by the player to move."""

    bounds_mover: Callable[[W], tuple[float, float]] | None = None
    """bounds_mover(s) -> (low, high), float32: what Game.bounds answers for the player to move."""

    # --- every other game: as any player sees it ---------------------------------------------------------------------
    utility_player: Callable[[W, int], float] | None = None
    """utility_player(s, player): utility of a terminal state to `player`, float32."""
    features_player: Callable[[W, int, NDArray[np.float32]], None] | None = None
    """features_player(s, player, out: float32[n_features]): the features seen by `player`."""
    active_features: Callable[[W, int, NDArray[np.int32], NDArray[np.float32]], int] | None = None
    """active_features(s, player, places: int32[n_features + 1], values: float32[n_features + 1]) -> n: those that are
    not 0, the last one first: where most are 0 a net saves the search for them.
    """
    chances: Callable[[W, NDArray[np.int32], NDArray[np.float64]], int] | None = None
    """chances(s, out: int32[max_outcomes], probabilities: float64[max_outcomes]) -> n, where to_play(s) is CHANCE.

    `result` takes the outcomes as it takes actions.
    """
    max_outcomes: int = 0
    """No roll has more outcomes than this."""
    won_player: Callable[[W, int], float] | None = None
    """won_player(s, player) -> float64: what Game.won answers."""
    observer: Callable[[W], int] | None = None
    """What Game.observer answers: two players with dice need it, an evaluator asks it at every state."""

    # --- the board, for pattern tables -------------------------------------------------------------------------------
    cells: Callable[[W, NDArray[np.int32]], None] | None = None
    """cells(s, out: int32[n_cells]): what Game.cells answers for the player to move."""
    contents: Callable[[W, NDArray[np.int32]], None] | None = None
    """contents(s, out: int32[number of stacks]): the places of what the stacks hold in their `stack_contents`; `cells`
    says as much, but more slowly.
    """

    # --- rules that look back ----------------------------------------------------------------------------------------
    clock: Callable[[W], int] | None = None
    """Plies since the last move that cannot be taken back: the games that have it end in a draw where a position
    occurs for the third time.

    `key` is then what "the same position" means: it includes who is to move and leaves the clock out. No position may
    come back in fewer than four plies. The kernels remember the keys; `is_terminal` need not see repetitions.
    """
    clock_limit: int = 0
    """`is_terminal` calls the game a draw at this clock."""
    perft_through_draws: bool = False
    """`actions` also answers where the game is drawn by a rule, and perft goes on there, as is the custom in chess."""

    # --- quiescence --------------------------------------------------------------------------------------------------
    noisy_actions: Callable[[W, NDArray[np.int32]], int] | None = None
    """noisy_actions(s, out: int32[max_actions]) -> n: those that Game.noisy_actions names, in the same order."""
    forcing: Callable[[W], bool] | None = None
    """What Game.forcing answers."""

    # --- null moves --------------------------------------------------------------------------------------------------
    may_pass: Callable[[W], bool] | None = None
    """What Game.may_pass answers."""
    passed: Callable[[W], W] | None = None
    """What Game.passed answers: the opponent is to move, and the clock is 0."""

    @classmethod
    def of(cls, module: str, **others: Any) -> Rules:
        """Return the rules of the module with this `__name__`.

        They are its `State`, each function that it defines under the name of a field, and what is named here: the
        sizes, and the functions that it imports.
        """
        found = {f.name: value for f in fields(cls) if (value := getattr(sys.modules[module], f.name, None))}
        own = {name: x for name, x in found.items() if name == "State" or x.__module__ == module}
        return cls(**own | others)

    def __repr__(self) -> str:
        return f"<rules of {self.n_actions} actions on a state of {self.n_words} words>"

    @property
    def n_words(self) -> int:
        """Words of a state."""
        return len(self.State._fields)  # type: ignore[attr-defined]  # by contract a NamedTuple


NOT_KNOWN = 1 << 30
"""What a kernel answers where `Endgames.steps` answers None."""


@dataclass(frozen=True, kw_only=True)
class Endgames(Generic[P, W]):
    """Positions of which the game knows for certain who wins, as an evaluator consults them (`SolvedEval`).

    Steps are what `s` is to the player to move: 0 a draw, n a win, -n a loss. Whoever plays best can always go on to
    fewer steps, so that fewer mean nearer to the end; they need not be plies.
    """

    steps: Callable[[P], int | None]
    """steps(s) of an unfinished position; None where it is not known."""
    probe: Callable[[W, int], int]
    """probe(s, address of memory) -> steps of a compiled state, or NOT_KNOWN; marked @jitable."""
    memory: np.ndarray
    """The table that `probe` reads: byte_at(address, i) of evallearn.compiled.memory."""


@dataclass(frozen=True, kw_only=True)
class KnownValues(Generic[P, W]):
    """Positions of a two-player game with dice whose value the game can look up, as an evaluator consults them.

    `SolvedEval` asks them first. Values are to the game's `observer`, who is to roll.
    """

    value: Callable[[P], float | None]
    """value(s) of an unfinished position; None where it is not known."""
    probe: Callable[[W, int], float]
    """probe(s, address of memory) -> the same of a compiled state, float64, or NaN; marked @jitable."""
    memory: np.ndarray
    """float32: what `probe` reads by float_at(address, i) of evallearn.compiled.memory."""
