"""The common tongue: what a game, an evaluator and a search are.

The names are the textbook's (Russell & Norvig, Artificial Intelligence, chapter on adversarial search):
initial state, TO-PLAY, ACTIONS, RESULT, IS-TERMINAL, UTILITY(s, p), IS-CUTOFF, EVAL.

One sign rule: every public value is the utility *to the player that is named beside it*.
Numbers relative to the player to move live in compiled kernels only and carry `_mover` in their name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from evallearn.errors import BadNotation, SearchError

if TYPE_CHECKING:
    import numpy as np

State = Hashable
Action = Hashable
CHANCE = -1
"""What `to_play` answers when dice, not a player, make the next move."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """A game's rules as functions that Numba can compile: the lower floor.

    A compiled state is `State`, a NamedTuple whose fields are all unsigned 64-bit words. Every function is
    plain Python marked `@jitable` (see `evallearn.compiled`), so it also runs and can be debugged uncompiled.
    Actions are the same small integers on both floors, and `actions` writes them in the same order.
    """

    State: type
    """NamedTuple of 64-bit words."""
    actions: Callable[[Any, Any], int]
    """actions(s, out: int32[max_actions]) -> n: writes the legal actions of a non-terminal state."""
    result: Callable[[Any, int], Any]
    is_terminal: Callable[[Any], bool]
    to_play: Callable[[Any], int]
    phase: Callable[[Any], int]
    key: Callable[[Any], int]
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
    utility_mover: Callable[[Any], float] | None = None
    """Utility of a terminal state to the player that `to_play` names there, float32."""
    features_mover: Callable[[Any, Any], None] | None = None
    """features_mover(s, out: float32[n_features]): the features seen by the player to move."""

    bounds_mover: Callable[[Any], tuple[float, float]] | None = None
    """bounds_mover(s) -> (low, high), float32: what Game.bounds answers for the player to move."""

    # --- every other game: as any player sees it ---------------------------------------------------------------------
    utility_player: Callable[[Any, int], float] | None = None
    """utility_player(s, player): utility of a terminal state to `player`, float32."""
    features_player: Callable[[Any, int, Any], None] | None = None
    """features_player(s, player, out: float32[n_features]): the features seen by `player`."""
    active_features: Callable[[Any, int, Any, Any], int] | None = None
    """active_features(s, player, places: int32[n_features + 1], values: float32[n_features + 1]) -> n: those that are
    not 0, the last one first: where most are 0 a net saves the search for them.
    """
    chances: Callable[[Any, Any, Any], int] | None = None
    """chances(s, out: int32[max_outcomes], probabilities: float64[max_outcomes]) -> n, where to_play(s) is CHANCE.

    `result` takes the outcomes as it takes actions.
    """
    max_outcomes: int = 0
    """No roll has more outcomes than this."""
    won_player: Callable[[Any, int], float] | None = None
    """won_player(s, player) -> float64: what Game.won answers."""
    viewer: Callable[[Any], int] | None = None
    """What Game.viewer answers: two players with dice need it, an Eval asks it at every state."""

    # --- the board, for pattern tables -------------------------------------------------------------------------------
    cells: Callable[[Any, Any], None] | None = None
    """cells(s, out: int32[n_cells]): what Game.cells answers for the player to move."""
    contents: Callable[[Any, Any], None] | None = None
    """contents(s, out: int32[number of stacks]): the places of what the stacks hold in their `stack_contents`; `cells`
    says as much, but more slowly.
    """

    # --- rules that look back ----------------------------------------------------------------------------------------
    clock: Callable[[Any], int] | None = None
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
    noisy_actions: Callable[[Any, Any], int] | None = None
    """noisy_actions(s, out: int32[max_actions]) -> n: those that Game.noisy_actions names, in the same order."""
    forcing: Callable[[Any], bool] | None = None
    """What Game.forcing answers."""

    # --- null moves --------------------------------------------------------------------------------------------------
    may_pass: Callable[[Any], bool] | None = None
    """What Game.may_pass answers."""
    passed: Callable[[Any], Any] | None = None
    """What Game.passed answers: the opponent is to move, and the clock is 0."""

    @property
    def n_words(self) -> int:
        """Words of a state."""
        return len(self.State._fields)  # type: ignore[attr-defined]  # by contract a NamedTuple


NOT_KNOWN = 1 << 30
"""What a kernel answers where `Endgames.steps` answers None."""


@dataclass(frozen=True, kw_only=True)
class Endgames:
    """Positions of which the game knows for certain who wins, as an Eval consults them (`SolvedEval`).

    Steps are what `s` is to the player to move: 0 a draw, n a win, -n a loss. Whoever plays best can always go on to
    fewer steps, so that fewer mean nearer to the end; they need not be plies.
    """

    steps: Callable[[Any], int | None]
    """steps(s) of an unfinished position; None where it is not known."""
    probe: Callable[[Any, Any], int]
    """probe(s, address of memory) -> steps of a compiled state, or NOT_KNOWN; marked @jitable."""
    memory: np.ndarray
    """The table that `probe` reads: byte_at(address, i) of evallearn.compiled.memory."""


@dataclass(frozen=True, kw_only=True)
class KnownValues:
    """Positions of a two-player game with dice whose value the game can look up, as an Eval consults them.

    `SolvedEval` asks them first. Values are to the game's `viewer`, who is to roll.
    """

    value: Callable[[Any], float | None]
    """value(s) of an unfinished position; None where it is not known."""
    probe: Callable[[Any, Any], float]
    """probe(s, address of memory) -> the same of a compiled state, float64, or NaN; marked @jitable."""
    memory: np.ndarray
    """float32: what `probe` reads by float_at(address, i) of evallearn.compiled.memory."""


@dataclass(frozen=True)
class Heuristic:
    """A hand-written Eval as data: weights on named features, squashed like every other Eval."""

    weights: Mapping[str, float] | Sequence[Mapping[str, float]]
    """{feature name: weight}, or one such mapping per game phase."""
    note: str
    """Where the weights come from, in one sentence."""
    unit: float = 1.0
    """What a weight of 1 adds before the squashing: the weights may be written in pawns or in points."""
    view: str = ""
    """The name of the game whose features it weighs, where they are not this one's: see `Game.views`."""


@dataclass(frozen=True, kw_only=True)
class PatternSet:
    """Groups of cells whose contents a pattern Eval looks up in tables; symmetric groups share one table."""

    patterns: Sequence[Sequence[int]]
    """The cells of each pattern; the game's `symmetries` give the other places where it is looked for."""
    note: str
    """What they are, in one sentence."""
    by_phase: bool = False
    """A table of its own for every phase of the game."""
    by_player: bool = False
    """A table of its own for every player to move: where the first player's position is not the second's."""
    learning: Mapping[str, Any] = field(default_factory=dict)
    """Settings of `TdSettings` that suit the set, where they are not the usual ones."""


class Game(ABC):
    """The rules of a game, in plain Python: the upper floor. Subclass it and run `check_game` on it."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    """Raise it whenever the rules, the features or their order change."""
    n_players: ClassVar[int] = 2
    has_chance: ClassVar[bool] = False
    zero_sum: ClassVar[bool] = True
    utility_range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    """The utility of the worst loss and of the best win."""
    hidden_information: ClassVar[bool] = False
    """True: a player sees a part of the state, as in poker. No search here can play that; `check_game` refuses it."""
    levels: ClassVar[tuple[float, ...]] = ()
    """All results that a game can end with, lowest first, where a net shall foretell each (`NetEval`); (): only loss
    and win.
    """
    wins_by_mate: ClassVar[bool] = False
    """True if a win is a mate, as in chess: `mate in 3` counts the winner's moves, other games count plies."""
    scored: ClassVar[bool] = False
    """True if the utility counts points from which nobody can tell who won, as Pacman's. Matches compare the means."""
    feature_names: ClassVar[tuple[str, ...]] = ()
    antisymmetric: ClassVar[bool] = True
    """features(s, 0) == -features(s, 1) in every state (two players only)."""
    n_phases: ClassVar[int] = 1
    heuristics: ClassVar[Mapping[str, Heuristic]] = {}
    search_settings: ClassVar[Mapping[str, Any]] = {}
    """Options of alpha-beta with which agents search this game, such as {"quiescence": 8}."""
    opening_plies: ClassVar[int] = 4
    """Random plies with which self-play and matches open, unless told otherwise: enough that games differ."""
    n_cells: ClassVar[int] = 0
    """How many numbers `cells` answers; 0: this game has none."""
    cell_values: ClassVar[int] = 0
    """A cell is 0 .. cell_values - 1."""
    stacks: ClassVar[Sequence[Sequence[int]]] = ()
    """Groups of cells, each cell in one of them, that do not hold every combination: smaller tables."""
    stack_contents: ClassVar[Sequence[Sequence[Sequence[int]]]] = ()
    """For each stack, what its cells can hold, as whoever is to move sees them."""
    symmetries: ClassVar[Sequence[Sequence[int]]] = ()
    """Rearrangements of the board that change nothing: cell i goes to symmetry[i]. The identity may be left out."""
    pattern_sets: ClassVar[Mapping[str, PatternSet]] = {}
    """Patterns that suit the game, the best first: `evallearn patterns` learns tables for them."""
    parameters: ClassVar[Mapping[str, str]] = {}
    """{parameter: what it means}. `get_game("matches,piles=3-4-5,k=3")` calls Matches(piles="3-4-5", k="3").

    The constructor reads the texts (SpecError if it cannot), and sets `name` to such a text unless all are defaults.
    """
    views: ClassVar[tuple[str, ...]] = ()
    """Those of the parameters that change only what an Eval sees: Evals of either kind play the same game."""

    # --- the formalism ---------------------------------------------------------------------------------------------
    @abstractmethod
    def initial(self) -> State:
        """The state in which the game begins."""

    @abstractmethod
    def to_play(self, s: State) -> int:
        """The player (0 .. n_players - 1) whose move it is, or CHANCE. Also defined on terminal states."""

    @abstractmethod
    def actions(self, s: State) -> Sequence[Action]:
        """The legal actions, always in the same order; empty only on terminal states and chance nodes."""

    @abstractmethod
    def result(self, s: State, a: Action) -> State:
        """The state after `a`; `s` itself does not change. Raises IllegalAction for an action not in actions(s)."""

    @abstractmethod
    def is_terminal(self, s: State) -> bool:
        """True if the game is over."""

    @abstractmethod
    def utility(self, s: State, player: int) -> float:
        """What the terminal state `s` is worth to `player`."""

    def chances(self, s: State) -> Sequence[tuple[Action, float]]:
        """(outcome, probability) of every roll, where to_play(s) is CHANCE."""
        raise NotImplementedError(f"{self.name} has no chance nodes")

    def noisy_actions(self, s: State) -> Sequence[Action]:
        """The actions after which the value may jump (captures, promotions): a quiescence search tries them."""
        return ()

    def forcing(self, s: State) -> bool:
        """True where the mover must answer something (a check, a forced capture): not a place to stop and judge."""
        return False

    def may_pass(self, s: State) -> bool:
        """True where some move is almost surely better than none, so that a search may try a null move."""
        return False

    def passed(self, s: State) -> State:
        """The state after a null move, where `may_pass`: the opponent is to move, nothing can be taken back."""
        raise NotImplementedError(f"{self.name} has no null moves")

    def bounds(self, s: State, player: int) -> tuple[float, float]:
        """(low, high) of the utilities to `player` with which a game that goes on from `s` can end.

        A move never widens them. Games without them answer the whole `utility_range`.
        """
        return self.utility_range

    def won(self, s: State, player: int) -> float:
        """What `player` has won for certain: the points so far, where points are only ever added and are the utility.

        A move never lowers it, and where the game is over it is the utility. An Eval of a game that answers it learns
        what is still to come, and adds this. Not for zero-sum games, in which one player's gain is another's loss.
        """
        return self.utility_range[0]

    def has(self, hook: str) -> bool:
        """True if the game answers `hook` (noisy_actions, forcing, may_pass, bounds, won, solved) itself."""
        return getattr(type(self), hook) is not getattr(Game, hook)

    def solved(self, s: State) -> Mapping[Action, float] | None:
        """The exact value of every action to the player to move, where the game knows it (a closed form, a table).

        Of equal ones the first is to be preferred: it wins sooner, say.
        """
        return None

    def endgames(self) -> Endgames | KnownValues | None:
        """The game's endgame table, or None if there can be none. Raises GameError where it has yet to be made."""
        return None

    def perft_children(self, s: State) -> Sequence[State]:
        """The positions with which perft goes on: as a rule none where the game is over; a roll is a ply too."""
        if self.is_terminal(s):
            return ()
        chance = self.to_play(s) == CHANCE
        return [self.result(s, a) for a in ([o for o, _ in self.chances(s)] if chance else self.actions(s))]

    # --- what an Eval sees -----------------------------------------------------------------------------------------
    def viewer(self, s: State) -> int:
        """Whose eyes an Eval of a two-player game sees `s` with: who is to move, or is to move after the roll."""
        while (player := self.to_play(s)) == CHANCE:
            s = self.result(s, self.chances(s)[0][0])
        return player

    def features(self, s: State, player: int) -> Sequence[float]:
        """One number per feature_names, as `player` sees the non-terminal state `s`."""
        return ()

    def cells(self, s: State, player: int) -> Sequence[int]:
        """What stands on each of the n_cells squares of the non-terminal state `s`, as `player` sees it."""
        return ()

    def images(self, s: State) -> Sequence[Any]:
        """What `s` becomes by each symmetry of the game, in a form that sorts, and that tells all that the state does.

        Each symmetry once, the identity first, always in the same order.
        Two positions with the same images are one for whoever wants different openings. Without symmetries: itself.
        """
        return (s,)

    def cell_name(self, cell: int) -> str:
        """A square as players of the game call it."""
        return str(cell)

    def phase(self, s: State) -> int:
        """0 .. n_phases - 1: which weight vector a phase-dependent Eval uses here."""
        return 0

    # --- text ------------------------------------------------------------------------------------------------------
    @abstractmethod
    def to_text(self, s: State) -> str:
        """The position in the game's usual notation; from_text reads it back."""

    @abstractmethod
    def from_text(self, text: str) -> State:
        """The position that `text` says. Raises BadNotation."""

    def action_to_text(self, s: State, a: Action) -> str:
        """The action in the game's usual notation."""
        return str(a)

    def action_from_text(self, s: State, text: str) -> Action:
        """The legal action of `s` that `text` says. Raises BadNotation or IllegalAction."""
        for a in self.actions(s):
            if self.action_to_text(s, a) == text.strip():
                return a
        legal = " ".join(self.action_to_text(s, a) for a in self.actions(s))
        raise BadNotation(f"no legal action {text!r} in {self.name} position {self.to_text(s)!r}; legal: {legal}")

    def board(self, s: State) -> str:
        """The position as a picture of several lines, for a terminal."""
        return self.to_text(s)

    # --- the compiled floor ----------------------------------------------------------------------------------------
    @property
    def rules(self) -> Rules | None:
        """The same rules for the compiled floor, or None. Import Numba inside, not at the top of the module."""
        return None

    def encode(self, s: State) -> tuple[int, ...]:
        """The 64-bit words of rules.State. The default fits a state that is such a NamedTuple already."""
        return tuple(s)  # type: ignore[arg-type]  # by contract a NamedTuple of ints where `rules` exists

    def decode(self, words: Sequence[int], history: Sequence[tuple[int, ...]] = ()) -> State:
        """The inverse of `encode` and `history`."""
        rules = self.rules
        assert rules is not None
        return rules.State(*words)  # type: ignore[no-any-return]

    def history(self, s: State) -> Sequence[tuple[int, ...]]:
        """What `encode` gave for the positions since the last move that cannot be taken back, oldest first, but `s`.

        Only games whose rules look back (`Rules.clock`) have one: their states carry it.
        """
        return ()

    def without_history(self, s: State) -> State:
        """The position alone, as if nothing had been played before it."""
        return self.decode(self.encode(s)) if self.history(s) else s

    # --- the same game through other eyes ---------------------------------------------------------------------------
    def seen_as(self, name: str) -> Game:
        """This game as an Eval of the game `name` sees it; itself where the two differ in more than a view."""
        base, theirs = _settings(name)
        if name == self.name or (base, self._rules_of(theirs)) != self.plays:
            return self
        return type(self)(**theirs)

    @property
    def plays(self) -> tuple[str, frozenset[tuple[str, str]]]:
        """Name and parameters, less the views: games that have it in common have the same rules."""
        base, settings = _settings(self.name)
        return base, self._rules_of(settings)

    @property
    def baselines(self) -> tuple[str, ...]:
        """The heuristics that see what this game shows: Elo figures are told against the best of them."""
        return tuple(name for name, h in self.heuristics.items() if h.view in ("", self.name))

    def _rules_of(self, settings: Mapping[str, str]) -> frozenset[tuple[str, str]]:
        return frozenset((k, v) for k, v in settings.items() if k not in self.views)

    def __repr__(self) -> str:
        return f"<game {self.name} v{self.version}>"


def _settings(name: str) -> tuple[str, dict[str, str]]:
    """A game's name as `get_game` takes it: what stands before the parameters, and these."""
    base, *settings = name.split(",")
    return base, {k: v for k, _, v in (setting.partition("=") for setting in settings)}


class Evaluator(ABC):
    """An EVAL. On a terminal state it is the utility; on any other it lies strictly between loss and win.

    Where utility accumulates (`Game.won`) it never says less than what is won.

    Searches rely on that: a value at an end of `utility_range` is a proven win or loss.
    """

    game: Game
    name: str = "evaluator"
    unit: float = 1.0
    """What 1 in its weights as they were written adds before the squashing (`Heuristic.unit`)."""

    @abstractmethod
    def evaluate(self, s: State, player: int) -> float:
        """What `s` is worth to `player`."""

    def evaluate_batch(self, states: Sequence[State], players: Sequence[int]) -> np.ndarray:
        """float32[n]: evaluate(states[i], players[i])."""
        import numpy as np

        return np.array([self.evaluate(s, p) for s, p in zip(states, players, strict=True)], dtype=np.float32)

    def bounds(self, s: State, player: int) -> tuple[float, float] | None:
        """(low, high) of all utilities and of all values of this Eval to `player` at and below `s`; None: not offered.

        A move never widens them. Alpha-beta prunes by them. `BoundedEval` offers those of the game.
        """
        return None

    def explain(self, s: State, player: int) -> dict[str, float]:
        """How much each named part adds to the unsquashed value, largest first."""
        return {}

    def kernel(self) -> EvalKernel | None:
        """The same Eval for the compiled floor, or None if it only runs upstairs."""
        return None


@dataclass(frozen=True, kw_only=True)
class EvalKernel:
    """A compiled Eval: functions and one NumPy record with its weights and its working memory."""

    params: Any
    """np.record; each search works on a copy of its own, because it is scratch space too."""
    evaluate_player: Callable[[Any, int, Any], float]
    """evaluate_player(s, player, params) -> float64, the value of a non-terminal state (a roll, too) to `player`."""
    evaluate_mover: Callable[[Any, Any], float] | None = None
    """evaluate_mover(s, params) -> float32, to the player to move; only where the rules are `_mover` ones."""
    bounds_mover: Callable[[Any, Any], tuple[float, float]] | None = None
    """bounds_mover(s, params) -> (low, high), float32: what Evaluator.bounds answers for the player to move."""


IsCutoff = Callable[[Any, int], bool]
"""is_cutoff(s, depth_left) -> True where the search must stop and ask the Eval."""


MOST_NODES, MOST_SECONDS = 1 << 62, 1e9
"""What a kernel can count, and what a clock can wait: thirty years."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search must stop: any combination; at least one. The first that is reached counts."""

    depth: int | None = None
    """Plies of look-ahead, 1 or more."""
    nodes: int | None = None
    """Positions visited, 1 or more; a Monte Carlo search counts its simulations."""
    seconds: float | None = None
    """Wall time, above 0."""

    def __post_init__(self) -> None:
        if self.depth is None and self.nodes is None and self.seconds is None:
            raise SearchError("no limit was given: name at least one of depth, nodes, seconds")
        for name, value in (("depth", self.depth), ("nodes", self.nodes)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < 1):
                raise SearchError(f"{name}={value!r} is no limit: give a whole number of 1 or more")
            if value is not None and value > MOST_NODES:
                raise SearchError(f"{name}={value!r} is no limit: give at most 2**62, or leave it out")
        if self.seconds is not None and not (isinstance(self.seconds, Real) and 0 < self.seconds <= MOST_SECONDS):
            raise SearchError(f"seconds={self.seconds!r} is no limit: give a number above 0, at most {MOST_SECONDS:g}")

    def __str__(self) -> str:
        parts = (("depth", self.depth), ("nodes", self.nodes), ("time", self.seconds))
        return ",".join(f"{k}={v:g}" if k == "time" else f"{k}={v}" for k, v in parts if v is not None)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found. `value` and `action_values` are utilities to `player`, the one to move at the root.

    `action`, `value`, `pv`, `action_values` and `values` are of one iteration, `value_depth`. Where `action_values` are
    told, `value` is that of `action`, and no other is higher. MCTS alone chooses by `visits`: there the mean of another
    action may be higher.
    """

    action: Any
    value: float
    player: int
    depth: int
    """The deepest iteration that was finished; 0 if a limit struck before the first was."""
    nodes: int
    pv: tuple[Any, ...]
    """The principal variation: the line both sides are expected to play, `action` first."""
    exact: bool
    """True if the value is proven: no Eval was asked on the way to it and nothing unsound was pruned, or it is a win or
    a loss that only the end of the game can have told: see "What is promised" in search/README.md."""
    seconds: float
    action_values: dict[Any, float] | None = None
    """The value of every root action, if they were asked for and an iteration was finished."""
    leaves: int = 0
    """How often UTILITY or EVAL was asked: what pruning saves."""
    standard_error: float | None = None
    """Of `value`, where it was sampled."""
    visits: dict[Any, int] | None = None
    """Simulations of every root action, where a Monte Carlo search counts them."""
    value_depth: int | None = None
    """The iteration that the value is of: `depth`, or the next one where a better action of an iteration that was not
    finished was taken (`Options.unfinished`). None where there are no iterations, as in a Monte Carlo search."""
    values: tuple[float, ...] | None = None
    """What the line is expected to be worth to each player, where the search knows: `value` is the entry of `player`.

    In max^n with an alliance, `value` is the sum of the entries of the allies. None in a game of more than two players
    (or of two that is not zero-sum) for every other search: paranoid, best-reply and Monte Carlo searches know what
    `player` gets, and nothing of the others."""


class Search(Protocol):
    """What every search is: made for one game and one Eval, it answers for any position."""

    game: Game
    floor: Literal["auto", "plain", "compiled"]
    """Where it runs; never "auto" once it is made."""

    def search(self, s: State, limits: Limits, *, seed: int | None = None, action_values: bool = False) -> SearchResult:
        """The best action of `s` as far as the limits allow.

        The same seed gives the same answer, unless time is the limit. Without one, ties go to the earliest action.
        Ctrl-C raises `Interrupted`, which carries what was found so far.
        """
