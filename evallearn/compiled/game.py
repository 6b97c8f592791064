"""A game whose every method runs on the compiled backend: the same formalism, the same answers, much faster."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np

from evallearn.compiled.records import GameRecord
from evallearn.compiled.specialise import COMPILE_ERRORS, announce, explain_failure, specialise
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.rules import Rules
from evallearn.errors import GameError

TEMPLATE = Path(__file__).with_name("game_kernel.py")

DECLARATIONS = (
    "name", "version", "n_players", "has_chance", "zero_sum", "utility_range", "levels", "wins_by_mate", "scored",
    "feature_names", "antisymmetric", "n_phases", "heuristics", "search_settings", "opening_plies",
    "parameters", "views", "n_cells", "cell_values", "stacks", "stack_contents", "symmetries", "pattern_sets",
)  # fmt: skip

PERFT_UNHEARD = 6
"""Plies that perft counts in one piece; Ctrl-C is heard between the pieces."""

Words = tuple[int, ...]


class Mailbox:
    """The record through which Python and the game's kernels talk, and views of its fields."""

    def __init__(self, game: Game, rules: Rules, kernels: ModuleType) -> None:
        self.game, self.kernels, self.looks_back = game, kernels, rules.clock is not None
        # the default decode asks for the rules at every call, which costs more than all the rest of a ply
        default = type(game).decode is Game.decode
        self.decode: Callable[..., State] = partial(tuple.__new__, rules.State) if default else game.decode
        self.box = GameRecord.one(
            words=rules.n_words,
            players=game.n_players,
            history=rules.clock_limit + 1,
            width=max(rules.max_actions, rules.max_outcomes),
            rolls=max(1, rules.max_outcomes),
            features=max(1, len(game.feature_names)),
        )
        self.words, self.actions, self.probabilities, self.utility, self.features = (
            self.box[k][0] for k in ("words", "actions", "probabilities", "utility", "features")
        )
        self.player, self.terminal, self.key, self.clock, self.n_history = (
            self.box[k] for k in ("player", "terminal", "key", "clock", "n_history")
        )

    def put(self, s: State) -> None:
        """Set up the position, and what its rules must remember."""
        self.words[:] = self.game.encode(s)
        if self.looks_back:
            history = self.game.history(s)
            self.n_history[0] = 0
            if history:
                self.kernels.recall(self.box, np.array(history, np.uint64))

    def after(self, s: State, a: int) -> State:
        """Return the state after the legal action `a`; `s` is in the record."""
        self.kernels.advance(self.box, a)
        words = self.words.tolist()
        if not self.looks_back:
            return self.decode(words)
        history = (*self.game.history(s), self.game.encode(s)) if self.clock[0] else ()
        return self.decode(words, history)


class CompiledGame(Game):
    """Wraps a game that has `rules`. Not for two threads at once: it has one scratch record."""

    name = "compiled"  # replaced by the wrapped game's in __init__

    def __init__(self, plain: Game) -> None:
        rules = plain.rules
        assert rules is not None, f"{plain.name} has no compiled backend"
        self.plain, self.compiled_rules = plain, rules
        for attribute in DECLARATIONS:
            setattr(self, attribute, getattr(plain, attribute))
        self.by_mover = rules.features_mover is not None
        self.kernels = specialise(TEMPLATE, rules, N_PLAYERS=plain.n_players)
        self.io = self.mailbox()
        self._seen: State = None  # what `look` saw last, and what it answered
        self._answer: tuple[int, list[int]] = (0, [])
        self._over: tuple[bool, list[float]] = (False, [])
        announce(f"the rules of {self.name}", self.kernels.measure)  # the last of the three
        try:
            self._warm_up()
        except COMPILE_ERRORS as error:
            raise explain_failure(error, f"{self.name}.rules") from None

    def mailbox(self) -> Mailbox:
        """Return a record of one's own, for whoever plays on it while others ask this game."""
        return Mailbox(self.plain, self.compiled_rules, self.kernels)

    def _warm_up(self) -> None:
        """Compile, or fetch from the disk, all but perft: a rule that Numba does not understand is found here."""
        s = self.plain.initial()
        player, choices = self.look(s)
        for a in choices[:1]:
            self.after(s, a)
        self.features_and_phase(s, max(player, 0))

    # --- two questions in one ----------------------------------------------------------------------------------------
    def look(self, s: State) -> tuple[int, list[int]]:
        """Return who is to play, and the legal actions, or the outcomes of a roll: none if the game is over."""
        if s is not self._seen:  # states do not change: a search asks several things about the same one
            io = self.io
            io.put(s)
            n = self.kernels.look(io.box)
            self._seen, self._answer = s, (io.player.item(), io.actions[:n].tolist())
            self._over = io.terminal.item() != 0, io.utility.tolist()
        return self._answer

    def after(self, s: State, a: int) -> State:
        """Return the state after `a`, which `look` has found legal in `s`."""
        self.io.put(s)
        return self.io.after(s, a)

    # --- the formalism ---------------------------------------------------------------------------------------------
    def initial(self) -> State:
        return self.plain.initial()

    def to_play(self, s: State) -> int:
        return self.look(s)[0]

    def actions(self, s: State) -> Sequence[Action]:
        player, actions = self.look(s)
        return actions if player != CHANCE else ()

    def result(self, s: State, a: Action) -> State:
        if a not in self.look(s)[1]:
            return self.plain.result(s, a)  # which says why it is illegal
        return self.after(s, int(a))  # a NumPy integer would compile it again

    def is_terminal(self, s: State) -> bool:
        self.look(s)
        return self._over[0]

    def utility(self, s: State, player: int) -> float:
        self.look(s)
        return self._over[1][player] + 0.0  # a draw is 0.0, not -0.0

    def chances(self, s: State) -> Sequence[tuple[Action, float]]:
        self._seen = None  # the probabilities are of the last look
        player, outcomes = self.look(s)
        if player != CHANCE:
            return self.plain.chances(s)
        return list(zip(outcomes, self.io.probabilities[: len(outcomes)].tolist(), strict=True))

    def noisy_actions(self, s: State) -> Sequence[Action]:
        self.io.put(s)
        n = self.kernels.noisy(self.io.box)
        return self.io.actions[:n].tolist()  # type: ignore[no-any-return]  # NumPy does not say of what

    def forcing(self, s: State) -> bool:
        self.io.put(s)
        return bool(self.kernels.is_forcing(self.io.box))

    def may_pass(self, s: State) -> bool:
        self.io.put(s)
        return bool(self.kernels.can_pass(self.io.box))

    def passed(self, s: State) -> State:
        return self.plain.passed(s)

    def bounds(self, s: State, player: int) -> tuple[float, float]:
        if self.compiled_rules.bounds_mover is None:
            return self.plain.bounds(s, player)
        self.io.put(s)
        mover = self.kernels.bound(self.io.box)
        low, high = self.io.box["bounds"][0].tolist()
        return (low, high) if player == mover else (0.0 - high, 0.0 - low)

    def won(self, s: State, player: int) -> float:
        if self.compiled_rules.won_player is None:
            return self.plain.won(s, player)
        self.io.put(s)
        return float(self.kernels.won(self.io.box, int(player)))

    def has(self, hook: str) -> bool:
        return self.plain.has(hook)

    def observer(self, s: State) -> int:
        return self.plain.observer(s)

    def features(self, s: State, player: int) -> Sequence[float]:
        if self.by_mover and player != self.to_play(s):
            mine = self.features_and_phase(s)[0]
            return [0.0 - x for x in mine] if self.antisymmetric else self.plain.features(s, player)
        return self.features_and_phase(s, player)[0]

    def cells(self, s: State, player: int) -> Sequence[int]:
        return self.plain.cells(s, player)

    def images(self, s: State) -> Sequence[Hashable]:
        return self.plain.images(s)

    def cell_name(self, cell: int) -> str:
        return self.plain.cell_name(cell)

    def features_and_phase(self, s: State, player: int = 0) -> tuple[list[float], int]:
        """Return both in one call: for the player to move where the rules are by mover, else for `player`."""
        self.io.put(s)
        self.io.player[0] = player
        phase = int(self.kernels.measure(self.io.box))
        return self.io.features[: len(self.feature_names)].tolist(), phase

    def phase(self, s: State) -> int:
        return self.features_and_phase(s)[1]

    def key(self, s: State) -> int:
        """Return the hash by which a transposition table knows the state."""
        self.features_and_phase(s)
        return int(self.io.key[0])

    def perft(self, s: State, depth: int) -> int:
        """Return how many positions lie exactly `depth` plies below `s`; a roll of the dice is a ply too."""
        if depth < 0:
            raise GameError(f"perft depth {depth}: give 0 or more")
        self.io.put(s)
        if depth > PERFT_UNHEARD:
            below = self.io.actions[: self.kernels.branch(self.io.box)].tolist()
            return sum(self.perft(self.after(s, a), depth - 1) for a in below)
        rows = np.zeros((depth + 1, len(self.io.actions)), np.int32)
        announce(f"perft of {self.name}", self.kernels.perft)
        return int(self.kernels.perft(self.io.box, int(depth), rows))

    def seen_as(self, name: str) -> Game:
        seen = self.plain.seen_as(name)
        return self if seen is self.plain else CompiledGame(seen)

    # --- text and encoding: the plain game's -------------------------------------------------------------------------
    def to_text(self, s: State) -> str:
        return self.plain.to_text(s)

    def from_text(self, text: str) -> State:
        return self.plain.from_text(text)

    def action_to_text(self, s: State, a: Action) -> str:
        return self.plain.action_to_text(s, a)

    def action_from_text(self, s: State, text: str) -> Action:
        return self.plain.action_from_text(s, text)

    def board(self, s: State) -> str:
        return self.plain.board(s)

    @property
    def rules(self) -> Rules | None:
        return self.compiled_rules

    def encode(self, s: State) -> tuple[int, ...]:
        return self.plain.encode(s)

    def decode(self, words: Sequence[int], history: Sequence[Words] = ()) -> State:
        return self.plain.decode(words, history) if history else self.plain.decode(words)

    def history(self, s: State) -> Sequence[Words]:
        return self.plain.history(s)
