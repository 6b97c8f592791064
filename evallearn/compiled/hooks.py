"""Every name that a kernel template is given, declared once; those of train/ alone stand in learning_hooks.py.

A template says in its block `if TYPE_CHECKING:` which of them it uses; `specialise` reads that block. A function marked
@default_hook is what a game without that rule, or a search without that part, is given: compiled at most, never
asked. All others must be given. `s` is a compiled state (`Rules.State`), `params` the record of an evaluator
(`EvalKernel`), `ctx` that of a search.
"""

# A hook that must be given has no body, hence:
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evallearn.compiled.bits import F, jitable
from evallearn.compiled.codegen import Address
from evallearn.compiled.records import Number, Record, SearchContext
from evallearn.core.rules import Rules

Hook: TypeAlias = Callable[..., object]
"""A function of a game, an evaluator or a search, marked @jitable."""
PLAYERS = Path(__file__).with_name("players_kernel.py")
DEFAULTS: dict[str, Hook] = {}


def default_hook(function: F) -> F:
    """Mark a hook whose own body stands in where nothing is given."""
    DEFAULTS[function.__name__] = jitable(function)
    return function


# --- the game's rules: see `Rules` -----------------------------------------------------------------------------------
class State(tuple[np.uint64, ...]):
    """The NamedTuple of a state's words."""

    def __new__(cls, *words: Number) -> State: ...


def actions(s: State, out: NDArray[np.int32]) -> Number:
    """Write the legal actions into out: int32[max_actions]; return their number."""


def result(s: State, a: Number) -> State:
    """Return the state after an action or outcome."""


def is_terminal(s: State) -> bool:
    """Return True if the game is over by its rules."""


def to_play(s: State) -> Number:
    """Return who is to move; -1: the dice."""


def phase(s: State) -> Number:
    """Return which weights count, from 0."""


def key(s: State) -> np.uint64:
    """Return the uint64 by which tables know the state."""


@default_hook
def utility_mover(s: State) -> Number:
    """Return the utility, float32, to the player to move, of a state that is over."""
    return np.float32(0)


@default_hook
def features_mover(s: State, out: NDArray[np.float32]) -> None:
    """Write the features as the mover sees them into out: float32[n_features]."""
    pass


@default_hook
def bounds_mover(s: State) -> tuple[Number, Number]:
    """Return (low, high) of the utility to the mover, float32."""
    return np.float32(0), np.float32(0)


@default_hook
def utility_player(s: State, player: Number) -> Number:
    """Return the utility, float32, to `player`, of a state that is over.

    It is made from `utility_mover` where that is the game's.
    """
    return np.float32(0)


@default_hook
def features_player(s: State, player: Number, out: NDArray[np.float32]) -> None:
    """Write the features as `player` sees them into out: float32[n_features]."""
    pass


@default_hook
def won_player(s: State, player: Number) -> Number:
    """Return what `player` has won for certain, float64."""
    return 0.0


@default_hook
def active_features(s: State, player: Number, places: NDArray[np.int32], values: NDArray[np.float32]) -> Number:
    """Write the features that are not 0, the last one first; return their number."""
    return 0


@default_hook
def chances(s: State, out: NDArray[np.int32], probabilities: NDArray[np.float64]) -> Number:
    """Write the outcomes of the roll and their probabilities; return their number."""
    return 0


@default_hook
def observer(s: State) -> Number:
    """Return the player from whose side an evaluator sees a state of a game with dice."""
    return 0


@default_hook
def cells(s: State, out: NDArray[np.int32]) -> None:
    """Write the cells of the board as the mover sees them into out: int32[n_cells]."""
    pass


@default_hook
def contents(s: State, out: NDArray[np.int32]) -> None:
    """Write for every stack which of its contents it holds into out: int32[stacks]."""
    pass


@default_hook
def clock(s: State) -> Number:
    """Return the plies since the last move that cannot be taken back."""
    return 0


@default_hook
def noisy_actions(s: State, out: NDArray[np.int32]) -> Number:
    """Write the actions for a quiescence search, in the order of `actions`; return their number."""
    return 0


@default_hook
def forcing(s: State) -> bool:
    """Return True if the mover must answer something."""
    return False


@default_hook
def may_pass(s: State) -> bool:
    """Return True if a null move may be tried."""
    return False


@default_hook
def passed(s: State) -> State:
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

SIZES: dict[str, Callable[[Rules], int]] = {
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


# --- Evaluators: see `EvalKernel` ------------------------------------------------------------------------------------
def evaluate_mover(s: State, params: Record) -> Number:
    """Return the value, float32, to the player to move, of a state that is not over."""


def evaluate_player(s: State, player: Number, params: Record) -> Number:
    """Return the value, float64, to `player`, of a state that is not over."""


@default_hook
def eval_bounds_mover(s: State, params: Record) -> tuple[Number, Number]:
    """Return (low, high) of the utility and of all values below `s` to the mover, float32."""
    return np.float32(0), np.float32(0)


def choose_a(s: State, history: Number, side: tuple[object, ...]) -> tuple[Number, Number]:
    """Return the action of chooser A, or -1 if the game is over by repetition, and the nodes searched."""


def choose_b(s: State, history: Number, side: tuple[object, ...]) -> tuple[Number, Number]:
    """Return what `choose_a` does, of chooser B."""


def raw(params: Record, k: Number) -> Number:
    """Return the result, float64, of an evaluator's own arithmetic on params.x in phase `k`."""


def probe(s: State, address: Address) -> Number:
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
PER_PHASE: bool
PER_PLAYER: bool
"""See `Layout`."""


# --- searches --------------------------------------------------------------------------------------------------------
def is_cutoff(s: State, depth_left: Number) -> bool:
    """Return the answer of the cutoff test."""


@default_hook
def quiet_value(
    s: State, left: Number, ply: Number, alpha: Number, beta: Number, ctx: SearchContext, params: Record
) -> Number:
    """Return the fail-soft value of `s` after a quiescence search of `left` plies, to its mover.

    See quiescence_kernel.py.
    """
    return np.float32(0)


@default_hook
def on_node(s: State, value: Number, alpha: Number, beta: Number, params: Record) -> None:
    """Learn from a quiet node that was searched."""
    pass


MAX_PLIES: int
"""How deep any line can go."""
CUTS_AT_DEPTH: bool
"""Whether `depth` bounds the plies searched, but for extensions and quiescence."""
HAS_BOUNDS: bool
"""Whether the evaluator offers bounds, and they are wanted."""
SELECTIVE: bool
"""Whether any of quiescence, extensions, null moves and late moves is on; which ones, ctx says."""
BY_EVAL: bool
"""Whether EVAL orders the actions."""
SHARED: bool
"""Whether several threads share the table."""
NOTES: bool
"""Whether `on_node` is to be told."""
IMPLICIT: bool
"""Whether MCTS keeps minimax values."""
WIN: float
"""The best utility."""


# --- what a name stands for ------------------------------------------------------------------------------------------
def utility_to_any(rules: Rules) -> Hook:
    """Return utility_player(s, player) of any game: its own, or made from the mover's."""
    if rules.utility_player is not None:
        return rules.utility_player
    from evallearn.compiled.specialise import specialise

    made: Hook = specialise(PLAYERS, rules).utility_player
    return made
