"""The rules of a game in plain Python, by the names of the textbook.

The names are those of Russell & Norvig, Artificial Intelligence, chapter on adversarial search: initial state,
TO-PLAY, ACTIONS, RESULT, IS-TERMINAL, UTILITY(s, p).

One sign rule: every public value is the utility *to the player that is named beside it*.
Numbers relative to the player to move live in compiled kernels only and carry `_mover` in their name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias

from evallearn.core.patterns import PatternSet
from evallearn.core.rules import Endgames, KnownValues, Rules
from evallearn.errors import BadNotation

State: TypeAlias = Any
Action: TypeAlias = Any
"""A state and an action of any game: both are hashable."""

if TYPE_CHECKING:  # with a default, so that a bare `Game` is a Game[State, Action]; Python has that from 3.13 on
    from typing_extensions import TypeVar

    S = TypeVar("S", bound=Hashable, default=State)
    A = TypeVar("A", bound=Hashable, default=Action)
else:
    from typing import TypeVar

    S = TypeVar("S", bound=Hashable)
    A = TypeVar("A", bound=Hashable)

CHANCE = -1
"""What `to_play` answers when dice, not a player, make the next move."""


@dataclass(frozen=True)
class Heuristic:
    """A hand-written evaluator as data: weights on named features, squashed like every other evaluator."""

    weights: Mapping[str, float] | Sequence[Mapping[str, float]]
    """{feature name: weight}, or one such mapping per game phase."""
    note: str
    """Where the weights come from, in one sentence."""
    unit: float = 1.0
    """What a weight of 1 adds before the squashing: the weights may be written in pawns or in points."""
    view: str = ""
    """The name of the game whose features it weighs, where they are not this one's: see `Game.views`."""


class Game(ABC, Generic[S, A]):
    """The rules of a game, in plain Python: the python backend. Subclass it and run `check_game` on it.

    With types: `class Mine(Game[MyState, int])`, whose states are MyState and whose actions are int.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    """Raise it whenever the rules, the features or their order change."""
    rules_module: ClassVar[str] = ""
    """The module whose `RULES` are these rules for the compiled backend; it is imported when they are asked for."""
    n_players: ClassVar[int] = 2
    has_chance: ClassVar[bool] = False
    zero_sum: ClassVar[bool] = True
    utility_range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    """The utility of the worst loss and of the best win."""
    hidden_information: ClassVar[bool] = False
    """True: a player sees a part of the state, as in poker. No search here can play that; `check_game` refuses it."""
    levels: ClassVar[tuple[float, ...]] = ()
    """All results that a game can end with, lowest first, where a net shall predict each (`NetEval`); (): only loss
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
    search_settings: ClassVar[Mapping[str, int]] = {}
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
    """Patterns that suit the game, the best first: `evallearn learn --recipe patterns` learns tables for them."""
    parameters: ClassVar[Mapping[str, str]] = {}
    """{parameter: what it means}. `get_game("matches,piles=3-4-5,k=3")` calls Matches(piles="3-4-5", k="3").

    The constructor reads the texts (SpecError if it cannot), and sets `name` to such a text unless all are defaults.
    """
    views: ClassVar[tuple[str, ...]] = ()
    """Those of the parameters that change only what an evaluator sees: evaluators of either kind play the same game."""

    # --- the formalism ---------------------------------------------------------------------------------------------
    @abstractmethod
    def initial(self) -> S:
        """Return the state in which the game begins."""

    @abstractmethod
    def to_play(self, s: S) -> int:
        """Return the player (0 .. n_players - 1) whose move it is, or CHANCE. Also defined on terminal states."""

    @abstractmethod
    def actions(self, s: S) -> Sequence[A]:
        """Return the legal actions, always in the same order; empty only on terminal states and chance nodes."""

    @abstractmethod
    def result(self, s: S, a: A) -> S:
        """Return the state after `a`; `s` itself does not change.

        Raises IllegalAction for an action not in actions(s).
        """

    @abstractmethod
    def is_terminal(self, s: S) -> bool:
        """Return True if the game is over."""

    @abstractmethod
    def utility(self, s: S, player: int) -> float:
        """Return what the terminal state `s` is worth to `player`."""

    def chances(self, s: S) -> Sequence[tuple[A, float]]:
        """Return (outcome, probability) of every roll, where to_play(s) is CHANCE."""
        raise NotImplementedError(f"{self.name} has no chance nodes")

    def noisy_actions(self, s: S) -> Sequence[A]:
        """Return the actions after which the value may jump (captures, promotions): a quiescence search tries them."""
        return ()

    def forcing(self, s: S) -> bool:
        """Return True where the mover must answer something: a check, a forced capture.

        A search should not stop and evaluate there.
        """
        return False

    def may_pass(self, s: S) -> bool:
        """Return True where some move is almost surely better than none, so that a search may try a null move."""
        return False

    def passed(self, s: S) -> S:
        """Return the state after a null move, where `may_pass`: the opponent is to move, nothing can be taken back."""
        raise NotImplementedError(f"{self.name} has no null moves")

    def bounds(self, s: S, player: int) -> tuple[float, float]:
        """Return (low, high) of the utilities to `player` with which a game that goes on from `s` can end.

        A move never widens them. Games without them answer the whole `utility_range`.
        """
        return self.utility_range

    def won(self, s: S, player: int) -> float:
        """Return what `player` has won for certain: the points so far, where points are only added and are the utility.

        A move never lowers it, and where the game is over it is the utility. An evaluator of a game that answers it
        learns what is still to come, and adds this. Not for zero-sum games, where one player's gain is another's loss.
        """
        return self.utility_range[0]

    def has(self, hook: str) -> bool:
        """Return True if the game answers `hook` (noisy_actions, forcing, may_pass, bounds, won, solved) itself."""
        return getattr(type(self), hook) is not getattr(Game, hook)

    def solved(self, s: S) -> Mapping[A, float] | None:
        """Return the exact value of every action to the player to move, where the game knows it.

        It may know it from a closed form or a table. Of equal ones the first is to be preferred: it wins sooner, say.
        """
        return None

    def endgames(self) -> Endgames[S] | KnownValues[S] | None:
        """Return the game's endgame table, or None if there can be none. Raises GameError where it is not made yet."""
        return None

    def perft_children(self, s: S) -> Sequence[S]:
        """Return the positions with which perft goes on: as a rule none where the game is over; a roll is a ply too."""
        if self.is_terminal(s):
            return ()
        chance = self.to_play(s) == CHANCE
        return [self.result(s, a) for a in ([o for o, _ in self.chances(s)] if chance else self.actions(s))]

    # --- what an evaluator sees --------------------------------------------------------------------------------------
    def observer(self, s: S) -> int:
        """Return the player as whom an evaluator of a two-player game sees `s`.

        It is the player to move, or to move after the roll.
        """
        while (player := self.to_play(s)) == CHANCE:
            s = self.result(s, self.chances(s)[0][0])
        return player

    def features(self, s: S, player: int) -> Sequence[float]:
        """Return one number per feature_names, as `player` sees the non-terminal state `s`."""
        return ()

    def cells(self, s: S, player: int) -> Sequence[int]:
        """Return what stands on each of the n_cells squares of the non-terminal state `s`, as `player` sees it."""
        return ()

    def images(self, s: S) -> Sequence[Hashable]:
        """Return what `s` becomes by each symmetry of the game, in a form that sorts and holds all that the state does.

        Each symmetry once, the identity first, always in the same order.
        Two positions with the same images are one for whoever wants different openings. Without symmetries: itself.
        """
        return (s,)

    def cell_name(self, cell: int) -> str:
        """Return the name of a square that players of the game use."""
        return str(cell)

    def phase(self, s: S) -> int:
        """Return 0 .. n_phases - 1: which weight vector a phase-dependent evaluator uses here."""
        return 0

    # --- text ------------------------------------------------------------------------------------------------------
    @abstractmethod
    def to_text(self, s: S) -> str:
        """Return the position in the game's usual notation; from_text reads it back."""

    @abstractmethod
    def from_text(self, text: str) -> S:
        """Return the position that `text` says. Raises BadNotation."""

    def action_to_text(self, s: S, a: A) -> str:
        """Return the action in the game's usual notation."""
        return str(a)

    def action_from_text(self, s: S, text: str) -> A:
        """Return the legal action of `s` that `text` says. Raises BadNotation or IllegalAction."""
        for a in self.actions(s):
            if self.action_to_text(s, a) == text.strip():
                return a
        legal = " ".join(self.action_to_text(s, a) for a in self.actions(s))
        raise BadNotation(f"no legal action {text!r} in {self.name} position {self.to_text(s)!r}; legal: {legal}")

    def line_to_text(self, s: S, line: Iterable[A]) -> tuple[str, ...]:
        """Return the actions and rolls of a line of play from `s`, each in the game's usual notation."""
        texts = []
        for a in line:
            texts.append(self.action_to_text(s, a))
            s = self.result(s, a)
        return tuple(texts)

    def board(self, s: S) -> str:
        """Return the position as a picture of several lines, for a terminal."""
        return self.to_text(s)

    # --- the compiled backend ----------------------------------------------------------------------------------------
    @property
    def rules(self) -> Rules | None:
        """The same rules for the compiled backend, or None."""
        if not self.rules_module:
            return None
        rules: Rules = import_module(self.rules_module).RULES  # not at the top of a game: Numba takes a second
        return rules

    def encode(self, s: S) -> tuple[int, ...]:
        """Return the 64-bit words of rules.State. The default fits a state that is such a NamedTuple already."""
        return tuple(s)  # type: ignore[arg-type]  # by contract a NamedTuple of ints where `rules` exists

    def decode(self, words: Sequence[int], history: Sequence[tuple[int, ...]] = ()) -> S:
        """Return the state from what `encode` and `history` gave: their inverse."""
        rules = self.rules
        assert rules is not None
        return rules.State(*words)  # type: ignore[no-any-return]

    def history(self, s: S) -> Sequence[tuple[int, ...]]:
        """Return what `encode` gave for the positions since the last move that cannot be taken back.

        Oldest first, without `s`. Only games whose rules depend on earlier positions (`Rules.clock`) have one: their
        states carry it.
        """
        return ()

    def without_history(self, s: S) -> S:
        """Return the position alone, as if nothing had been played before it."""
        return self.decode(self.encode(s)) if self.history(s) else s

    # --- the same game through other eyes ---------------------------------------------------------------------------
    def seen_as(self, name: str) -> Game:
        """Return this game as an evaluator of the game `name` sees it; itself where they differ in more than a view."""
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
        """The heuristics that see what this game shows: Elo figures are given against the best of them."""
        return tuple(name for name, h in self.heuristics.items() if h.view in ("", self.name))

    def _rules_of(self, settings: Mapping[str, str]) -> frozenset[tuple[str, str]]:
        return frozenset((k, v) for k, v in settings.items() if k not in self.views)

    def __repr__(self) -> str:
        return f"<game {self.name} v{self.version}>"


def _settings(name: str) -> tuple[str, dict[str, str]]:
    """Return what stands before the parameters in a game's name as `get_game` takes it, and these parameters."""
    base, *settings = name.split(",")
    return base, {k: v for k, _, v in (setting.partition("=") for setting in settings)}
