"""The position on the table during self-play, on either floor, and how a record stores it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evallearn.compiled.game import CompiledGame
    from evallearn.protocols import Action, Game, State


class PlainBoard:
    """The position on the table, upper floor: a state is stored as its text."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.pack = struct.Struct(f"<{len(game.feature_names)}f").pack

    def reset(self) -> None:
        self.s: State = self.game.initial()

    def look(self) -> Sequence[Action]:
        """The legal actions, none if the game is over; sets `player`, who is to move."""
        self.player = self.game.to_play(self.s)
        return () if self.game.is_terminal(self.s) else self.game.actions(self.s)

    def state(self) -> State:
        return self.s

    def seen(self) -> tuple[bytes | str, bytes, int]:
        """State, features and phase as they are stored."""
        features = self.pack(*self.game.features(self.s, self.player))
        return self.game.to_text(self.s), features, self.game.phase(self.s)

    def stored(self, a: Action) -> int | str:
        return self.game.action_to_text(self.s, a)

    def advance(self, a: Any) -> None:
        self.s = self.game.result(self.s, a)

    def utility(self) -> float:
        """What the end is worth to player 0."""
        return float(self.game.utility(self.s, 0))


class CompiledBoard:
    """The same on the lower floor: the position stays in a record of ours, three kernel calls per ply."""

    def __init__(self, game: CompiledGame) -> None:
        self.game, self.kernels = game, game.kernels
        self.io = game.mailbox()  # not game.io: an agent may play on the same CompiledGame
        self.features = self.io.features[: len(game.feature_names)]
        self.history: tuple[tuple[int, ...], ...] = ()

    def reset(self) -> None:
        self.io.put(self.game.initial())
        self.history = ()

    def look(self) -> Sequence[Action]:
        n = self.kernels.look(self.io.box)
        self.player = int(self.io.player[0])
        return self.io.actions[:n].tolist()  # type: ignore[no-any-return]  # NumPy does not say of what

    def state(self) -> State:
        return self.game.decode(self.io.words.tolist(), self.history)

    def seen(self) -> tuple[bytes | str, bytes, int]:
        phase = self.kernels.measure(self.io.box)
        return self.io.words.tobytes(), self.features.tobytes(), phase

    def stored(self, a: Action) -> int | str:
        return int(a)  # type: ignore[call-overload, no-any-return]  # by contract an integer

    def advance(self, a: Any) -> None:
        words = tuple(self.io.words.tolist()) if self.io.looks_back else ()
        self.kernels.advance(self.io.box, int(a))  # a NumPy integer would compile the kernel again
        if words:
            self.history = (*self.history, words) if self.io.clock[0] else ()

    def utility(self) -> float:
        return float(self.io.utility[0]) + 0.0  # never -0.0


def on_fastest_floor(game: Game) -> Game:
    """The game on the compiled floor if it has one, for `play_game`; building it takes a few milliseconds."""
    if game.rules is None:
        return game
    from evallearn.compiled.game import CompiledGame

    return game if isinstance(game, CompiledGame) else CompiledGame(game)


def board_of(game: Game) -> Any:
    """The board for a game that `on_fastest_floor` gave."""
    return PlainBoard(game) if game.rules is None else CompiledBoard(game)  # type: ignore[arg-type]  # it is compiled
