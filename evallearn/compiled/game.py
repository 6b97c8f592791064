"""A game whose every method runs on the compiled floor: the same formalism, the same answers, much faster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evallearn.compiled.specialise import COMPILE_ERRORS, announce, explain_failure, specialise
from evallearn.errors import GameError
from evallearn.protocols import Action, Game, Rules, State

TEMPLATE = Path(__file__).with_name("game_kernel.py")
RULE_NAMES = (
    "State", "actions", "result", "is_terminal", "to_play", "utility_mover", "features_mover", "phase", "key",
)  # fmt: skip

DECLARATIONS = (
    "name", "version", "n_players", "has_chance", "zero_sum", "utility_range",
    "feature_names", "antisymmetric", "n_phases", "heuristics", "opening_plies",
)  # fmt: skip


class Mailbox:
    """The record through which Python and the game's kernels talk, and views of its fields."""

    def __init__(self, rules: Rules, n_features: int) -> None:
        fields: list[Any] = [
            ("words", "u8", (rules.n_words,)),
            ("player", "i8"),
            ("terminal", "i8"),
            ("utility_mover", "f8"),
            ("key", "u8"),
            ("actions", "i4", (rules.max_actions,)),
            ("features", "f4", (max(1, n_features),)),
        ]
        self.box = np.zeros(1, np.dtype(fields, align=True))
        self.words, self.actions, self.features = (self.box[k][0] for k in ("words", "actions", "features"))
        self.player, self.terminal, self.utility_mover = (self.box[k] for k in ("player", "terminal", "utility_mover"))
        self.key = self.box["key"]


class CompiledGame(Game):
    """Wraps a game that has `rules`. Not for two threads at once: it has one scratch record."""

    name = "compiled"  # replaced by the wrapped game's in __init__

    def __init__(self, plain: Game) -> None:
        rules = plain.rules
        assert rules is not None, f"{plain.name} has no compiled floor"
        self.plain, self.compiled_rules = plain, rules
        for attribute in DECLARATIONS:
            setattr(self, attribute, getattr(plain, attribute))
        bindings = {name: getattr(rules, name) for name in RULE_NAMES}
        self.kernels: Any = specialise(TEMPLATE, **bindings, N_WORDS=rules.n_words)
        self.io = Mailbox(rules, len(self.feature_names))
        announce(f"the rules of {self.name}", self.kernels.measure)  # the last of the three
        try:
            self._warm_up()
        except COMPILE_ERRORS as error:
            raise explain_failure(error, f"{self.name}.rules") from None

    def _warm_up(self) -> None:
        """Compile, or fetch from the disk, all but perft: a rule that Numba does not understand is found here."""
        s = self.plain.initial()
        for a in self.actions(s)[:1]:
            self.result(s, a)
        self.features_and_phase(s)

    def _look(self, s: State) -> int:
        self.io.words[:] = self.plain.encode(s)
        return int(self.kernels.look(self.io.box))

    # --- the formalism ---------------------------------------------------------------------------------------------
    def initial(self) -> State:
        return self.plain.initial()

    def to_play(self, s: State) -> int:
        self._look(s)
        return int(self.io.player[0])

    def actions(self, s: State) -> Sequence[Action]:
        n = self._look(s)
        return self.io.actions[:n].tolist()  # type: ignore[no-any-return]

    def result(self, s: State, a: Action) -> State:
        if a not in self.actions(s):
            return self.plain.result(s, a)  # which says why it is illegal
        self.kernels.advance(self.io.box, int(a))  # type: ignore[call-overload]  # a NumPy integer would compile it again
        return self.plain.decode(self.io.words.tolist())

    def is_terminal(self, s: State) -> bool:
        self._look(s)
        return bool(self.io.terminal[0])

    def utility(self, s: State, player: int) -> float:
        self._look(s)
        value = float(self.io.utility_mover[0])
        return (value if player == self.io.player[0] else -value) + 0.0  # a draw is 0.0, not -0.0

    def features(self, s: State, player: int) -> Sequence[float]:
        if player != self.to_play(s):
            mine = self.features_and_phase(s)[0]
            return [0.0 - x for x in mine] if self.antisymmetric else self.plain.features(s, player)
        return self.features_and_phase(s)[0]

    def features_and_phase(self, s: State) -> tuple[list[float], int]:
        """Both for the player to move, in one call."""
        self.io.words[:] = self.plain.encode(s)
        phase = int(self.kernels.measure(self.io.box))
        return self.io.features[: len(self.feature_names)].tolist(), phase

    def phase(self, s: State) -> int:
        return self.features_and_phase(s)[1]

    def key(self, s: State) -> int:
        """The hash by which a transposition table knows the state."""
        self.features_and_phase(s)
        return int(self.io.key[0])

    def perft(self, s: State, depth: int) -> int:
        """How many positions lie exactly `depth` plies below `s`."""
        if depth < 0:
            raise GameError(f"perft depth {depth}: give 0 or more")
        if depth > 8:  # in pieces, so that Ctrl-C is heard between them
            return sum(self.perft(self.result(s, a), depth - 1) for a in self.actions(s))
        self.io.words[:] = self.plain.encode(s)
        rows = np.zeros((depth + 1, self.compiled_rules.max_actions), np.int32)
        announce(f"perft of {self.name}", self.kernels.perft)
        return int(self.kernels.perft(self.io.box, int(depth), rows))

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

    def decode(self, words: Sequence[int]) -> State:
        return self.plain.decode(words)
