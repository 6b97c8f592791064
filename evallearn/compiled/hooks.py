"""Every name that a kernel template is given, declared once; those of train/ alone stand in learning_hooks.py.

A template says in its block `if TYPE_CHECKING:` which of them it uses; `specialise` reads that block. A function marked
@stand_in is what a game without that rule, or a search without that part, is given: compiled at most, never asked. All
others must be given. `s` is a compiled state (`Rules.State`), `params` the record of an evaluator (`EvalKernel`),
`ctx` that of a search.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from evallearn.compiled.bits import jitable
from evallearn.core.rules import Rules

Number: TypeAlias = Any
"""What Numba takes for int64, float32 or float64; uncompiled, a number of Python or of NumPy."""
F = TypeVar("F", bound=Callable[..., Any])
PLAYERS = Path(__file__).with_name("players_kernel.py")
STAND_INS: dict[str, Callable[..., Any]] = {}


def stand_in(function: F) -> F:
    """Mark a hook whose own body stands in where nothing is given."""
    STAND_INS[function.__name__] = jitable(function)
    return function


# --- the game's rules: see `Rules` -----------------------------------------------------------------------------------
State: Any
"""The NamedTuple of a state's words."""


def actions(s: Any, out: Any) -> Number:
    """Write the legal actions into out: int32[max_actions]; return their number."""


def result(s: Any, a: Any) -> Any:
    """Return the state after an action or outcome."""


def is_terminal(s: Any) -> Any:
    """Return True if the game is over by its rules."""


def to_play(s: Any) -> Number:
    """Return who is to move; -1: the dice."""


def phase(s: Any) -> Number:
    """Return which weights count, from 0."""


def key(s: Any) -> Any:
    """Return the uint64 by which tables know the state."""


@stand_in
def utility_mover(s: Any) -> Number:
    """Return the utility, float32, to the player to move, of a state that is over."""
    return np.float32(0)


@stand_in
def features_mover(s: Any, out: Any) -> None:
    """Write the features as the mover sees them into out: float32[n_features]."""
    pass


@stand_in
def bounds_mover(s: Any) -> tuple[Number, Number]:
    """Return (low, high) of the utility to the mover, float32."""
    return np.float32(0), np.float32(0)


@stand_in
def utility_player(s: Any, player: Any) -> Number:
    """Return the utility, float32, to `player`, of a state that is over.

    It is made from `utility_mover` where that is the game's.
    """
    return np.float32(0)


@stand_in
def features_player(s: Any, player: Any, out: Any) -> None:
    """Write the features as `player` sees them into out: float32[n_features]."""
    pass


@stand_in
def won_player(s: Any, player: Any) -> Number:
    """Return what `player` has won for certain, float64."""
    return 0.0


@stand_in
def active_features(s: Any, player: Any, places: Any, values: Any) -> Number:
    """Write the features that are not 0, the last one first; return their number."""
    return 0


@stand_in
def chances(s: Any, out: Any, probabilities: Any) -> Number:
    """Write the outcomes of the roll and their probabilities; return their number."""
    return 0


@stand_in
def viewer(s: Any) -> Number:
    """Return the player from whose side an evaluator sees a state of a game with dice."""
    return 0


@stand_in
def cells(s: Any, out: Any) -> None:
    """Write the cells of the board as the mover sees them into out: int32[n_cells]."""
    pass


@stand_in
def contents(s: Any, out: Any) -> None:
    """Write for every stack which of its contents it holds into out: int32[stacks]."""
    pass


@stand_in
def clock(s: Any) -> Number:
    """Return the plies since the last move that cannot be taken back."""
    return 0


@stand_in
def noisy_actions(s: Any, out: Any) -> Number:
    """Write the actions for a quiescence search, in the order of `actions`; return their number."""
    return 0


@stand_in
def forcing(s: Any) -> Any:
    """Return True if the mover must answer something."""
    return False


@stand_in
def may_pass(s: Any) -> Any:
    """Return True if a null move may be tried."""
    return False


@stand_in
def passed(s: Any) -> Any:
    """Return the state after a null move."""
    return s


# --- sizes and properties of the game, taken from its rules ----------------------------------------------------------
N_WORDS: int
"""Words of a state."""
CLOCK_LIMIT: int
"""The game is a draw at this clock."""
ALTERNATES: bool
"""True if the players move strictly in turn."""
BY_MOVER: bool
"""True if features are those the mover sees."""
HAS_CHANCE: bool
HAS_CLOCK: bool
"""True if the rules look back: a position that occurs for the third time is a draw."""
HAS_NOISE: bool
"""True if the rules have `noisy_actions`."""
HAS_ACTIVE: bool
"""True if the rules have `active_features`."""
NUMBERED: bool
"""True if the rules have `contents`."""
THROUGH_DRAWS: bool
"""True if perft goes on where the game is drawn by a rule."""

SIZES: dict[str, Callable[[Rules], Any]] = {
    "N_WORDS": lambda rules: rules.n_words,
    "CLOCK_LIMIT": lambda rules: rules.clock_limit,
    "ALTERNATES": lambda rules: rules.alternates,
    "BY_MOVER": lambda rules: rules.features_mover is not None,
    "HAS_CHANCE": lambda rules: rules.chances is not None,
    "HAS_CLOCK": lambda rules: rules.clock is not None,
    "HAS_NOISE": lambda rules: rules.noisy_actions is not None,
    "HAS_ACTIVE": lambda rules: rules.active_features is not None,
    "NUMBERED": lambda rules: rules.contents is not None,
    "THROUGH_DRAWS": lambda rules: rules.perft_through_draws,
}

# --- properties of the game that its rules do not say, and must be given ---------------------------------------------
CACHE: bool
"""Whether the disk cache is on: `specialise` says so."""
N_PLAYERS: int
N_FEATURES: int
N_CELLS: int
VALUES: int
"""What a cell may hold: 0 to VALUES - 1."""
TWO_SIDED: bool
"""Two players, zero-sum."""
ACCUMULATES: bool
"""True if the utility accumulates (`won_player`)."""
WORST: float
BEST: float
"""The ends of the utility range."""
MIDDLE: float
"""The middle of the utility range."""


# --- Evals: see `EvalKernel` -----------------------------------------------------------------------------------------
def evaluate_mover(s: Any, params: Any) -> Number:
    """Return the value, float32, to the player to move, of a state that is not over."""


def evaluate_player(s: Any, player: Any, params: Any) -> Number:
    """Return the value, float64, to `player`, of a state that is not over."""


@stand_in
def eval_bounds_mover(s: Any, params: Any) -> tuple[Number, Number]:
    """Return (low, high) of the utility and of all values below `s` to the mover, float32."""
    return np.float32(0), np.float32(0)


def choose_a(s: Any, past: Any, side: Any) -> Any:
    """Return the action of chooser A, or -1 if the game is over by repetition, and the nodes searched."""


def choose_b(s: Any, past: Any, side: Any) -> Any:
    """Return what `choose_a` does, of chooser B."""


def raw(params: Any, k: Any) -> Number:
    """Return the result, float64, of an evaluator's own arithmetic on params.x in phase `k`."""


def probe(s: Any, address: Any) -> Number:
    """Return what the game knows of `s`: see `Endgames` and `KnownValues`."""


SCALE: float
"""What a win is worth."""
MOST: float
"""The largest value of a state that is not over."""
H1: int
H2: int
"""Hidden units of a net's layers; H2 = 0: it has one."""
LAST: int
"""Units of the last hidden layer."""
OUTPUTS: int
NETS: int
"""1, or one for each phase."""
ACTIVATION: int
"""A place in net.ACTIVATIONS."""
FLOOR: int
"""1 if sums below 0 become 0."""
N_INPUTS: int
"""Features, filled up to a multiple of eight."""
LOGISTIC: bool
FINE: Number
"""float32: steps to 1 of an input."""
INCREMENTAL: bool
"""False: every sum from the start, for comparison."""
N_STACKS: int
HEIGHT: int
N_PLACES: int
ENTRIES: int
BY_PHASE: bool
BY_PLAYER: bool
"""See `Layout`."""


# --- searches --------------------------------------------------------------------------------------------------------
def is_cutoff(s: Any, depth_left: Any) -> Any:
    """Return the answer of the cutoff test."""


@stand_in
def quiet_value(s: Any, left: Any, ply: Any, alpha: Any, beta: Any, ctx: Any, params: Any) -> Number:
    """Return the fail-soft value of `s` after a quiescence search of `left` plies, to its mover.

    See quiescence_kernel.py.
    """
    return np.float32(0)


@stand_in
def note_node(s: Any, value: Any, alpha: Any, beta: Any, params: Any) -> None:
    """Learn from a quiet node that was searched."""
    pass


MAX_PLIES: int
"""How deep any line can go."""
CUTS_AT_DEPTH: bool
"""Whether `depth` bounds the plies searched, but for extensions and quiescence."""
HAS_BOUNDS: bool
"""Whether the Eval offers bounds, and they are wanted."""
SELECTIVE: bool
"""Whether any of quiescence, extensions, null moves and late moves is on; which ones, ctx says."""
BY_EVAL: bool
"""Whether EVAL orders the actions."""
SHARED: bool
"""Whether several threads share the table."""
NOTES: bool
"""Whether `note_node` is to be told."""
IMPLICIT: bool
"""Whether MCTS keeps minimax values."""
WIN: float
"""The best utility."""


# --- what a name stands for ------------------------------------------------------------------------------------------
def utility_to_any(rules: Rules) -> Any:
    """Return utility_player(s, player) of any game: its own, or made from the mover's."""
    if rules.utility_player is not None:
        return rules.utility_player
    from evallearn.compiled.specialise import specialise

    return specialise(PLAYERS, rules).utility_player


def bindings(rules: Rules, *names: str) -> dict[str, Any]:
    """Return the rules of these names, or what stands in for them.

    It is for the templates that declare nothing yet.
    """
    return {name: getattr(rules, name) or STAND_INS[name] for name in names}
