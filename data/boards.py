"""The current position during self-play and matches, for either backend, and how a record stores it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from evallearn.core.game import CHANCE

if TYPE_CHECKING:
    from evallearn.compiled.game import CompiledGame
    from evallearn.core.game import Action, Game, State


class PlainBoard:
    """The current position of a plain game: a state is stored as its text."""

    player: int
    """Who is to move (or CHANCE), as of the last `look`."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.pack = struct.Struct(f"<{len(game.feature_names)}f").pack

    def reset(self, s: State = None) -> None:
        """Set up `s`, or the initial state."""
        self.s: State = self.game.initial() if s is None else s

    def look(self) -> Sequence[Action]:
        """Return the legal actions, or the outcomes of the dice; none if the game is over. Sets `player`."""
        self.player = self.game.to_play(self.s)
        if self.game.is_terminal(self.s):
            self.legal: Sequence[Action] = ()
        else:
            chance = self.player == CHANCE
            self.legal = [a for a, _ in self.game.chances(self.s)] if chance else self.game.actions(self.s)
        return self.legal

    def probabilities(self) -> Sequence[float]:
        """Return the probabilities of the outcomes that `look` has just given."""
        return [p for _, p in self.game.chances(self.s)]

    def state(self) -> State:
        return self.s

    def seen(self) -> tuple[bytes | str, bytes, int]:
        """Return state, features and phase as they are stored."""
        features = self.pack(*self.game.features(self.s, self.player))
        return self.game.to_text(self.s), features, self.game.phase(self.s)

    def won(self) -> float | None:
        """Return what the player to move has won already, where utility accumulates."""
        return self.game.won(self.s, self.player) if self.game.has("won") else None

    def stored(self, a: Action) -> int | str:
        return self.game.action_to_text(self.s, a)

    def advance(self, a: Action) -> None:
        self.s = self.game.result(self.s, a)

    def choices(self) -> Sequence[Action]:
        """Return the choices of the last `look` or `step`."""
        return self.legal

    def step(self, a: Action) -> int:
        """Apply a choice of the last `look` and look again; return the number of new choices, -1 if `a` was none."""
        if a not in self.legal:
            return -1
        self.advance(a)
        return len(self.look())

    def utilities(self) -> list[float]:
        """Return the utility of the end, which `look` has reached, to each player."""
        return [float(self.game.utility(self.s, p)) + 0.0 for p in range(self.game.n_players)]  # never -0.0


class CompiledBoard:
    """The current position of a compiled game: it stays in a record of ours, three kernel calls per ply."""

    def __init__(self, game: CompiledGame) -> None:
        self.game, self.kernels = game, game.kernels
        self.io = game.mailbox()  # not game.io: an agent may play on the same CompiledGame
        self.features = self.io.features[: len(game.feature_names)]
        self.history: tuple[tuple[int, ...], ...] = ()
        self.accumulates = game.has("won")

    def reset(self, s: State = None) -> None:
        s = self.game.initial() if s is None else s
        self.io.put(s)
        self.history = tuple(self.game.history(s))

    def look(self) -> Sequence[Action]:
        self.n = self.kernels.look(self.io.box)
        self.player = self.io.player.item()
        return self.choices()

    def choices(self) -> Sequence[Action]:
        return self.io.actions[: self.n].tolist()  # type: ignore[no-any-return]  # NumPy does not say of what

    def step(self, a: Action) -> int:
        io = self.io
        words = tuple(io.words.tolist()) if io.looks_back else ()
        n: int = self.kernels.step(io.box, a if type(a) is int else int(a), self.n)
        if n >= 0:
            self.n, self.player = n, io.player.item()
            if words:
                self.history = (*self.history, words) if io.clock[0] else ()
        return n

    def probabilities(self) -> Sequence[float]:
        return self.io.probabilities[: self.n].tolist()  # type: ignore[no-any-return]  # NumPy does not say of what

    def state(self) -> State:
        words = self.io.words.tolist()
        return self.io.decode(words, self.history) if self.io.looks_back else self.io.decode(words)

    def seen(self) -> tuple[bytes | str, bytes, int]:
        phase = self.kernels.measure(self.io.box)
        return self.io.words.tobytes(), self.features.tobytes(), phase

    def won(self) -> float | None:
        return float(self.kernels.won(self.io.box, self.player)) if self.accumulates else None

    def stored(self, a: Action) -> int | str:
        return int(a)  # by contract an integer

    def advance(self, a: Action) -> None:
        words = tuple(self.io.words.tolist()) if self.io.looks_back else ()
        self.kernels.advance(self.io.box, int(a))  # a NumPy integer would compile the kernel again
        if words:
            self.history = (*self.history, words) if self.io.clock[0] else ()

    def utilities(self) -> list[float]:
        return [u + 0.0 for u in self.io.utility.tolist()]  # never -0.0


Board: TypeAlias = PlainBoard | CompiledBoard


def on_fastest_backend(game: Game) -> Game:
    """Return the compiled game if there is one, else `game`, for `play_game`; building it takes a few milliseconds."""
    if game.rules is None:
        return game
    from evallearn.compiled.game import CompiledGame

    return game if isinstance(game, CompiledGame) else CompiledGame(game)


def board_of(game: Game) -> Board:
    """Return the board for a game that `on_fastest_backend` gave."""
    return PlainBoard(game) if game.rules is None else CompiledBoard(game)  # type: ignore[arg-type]  # it is compiled
