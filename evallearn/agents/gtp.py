"""Engines that speak GTP 2, the Go Text Protocol (Farnebäck 2002), such as Debian's gtp-rhino for Othello."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from evallearn.agents.engine import Answer, EngineAgent, quoted, refuse_options
from evallearn.agents.process import Failure
from evallearn.core.game import Action, State
from evallearn.errors import EngineError, GameError, SpecError

COLOURS = ("b", "w")
"""Player 0 is black."""
KNOWN: Mapping[str, Mapping[str, str]] = {"othello": {"game": "Othello", "size": "8"}}
"""How GTP engines call our games, and the size of their boards."""


@dataclass
class GtpAgent(EngineAgent):
    """A two-player game without dice by a GTP engine that understands our way to write its moves.

    It keeps a board of its own, so it must know every move (`follows`): what happened is written down, and played
    on its board when it is asked for a move. GTP knows no limits: how long it thinks, its command line must say.
    """

    protocol: ClassVar[str] = "gtp"
    follows: ClassVar[bool] = True
    own_options: ClassVar[tuple[str, ...]] = ("timeout", "size", "game")

    _record: list[str] = field(default_factory=list, init=False, repr=False, compare=False)
    """The game so far: `b f5`, `w f6`."""
    _told: list[str] | None = field(default=None, init=False, repr=False, compare=False)
    """What was played on the engine's own board; None if nobody knows."""
    _last: tuple[State, Action] | None = field(default=None, init=False, repr=False, compare=False)
    """Where the last action was played; None before the first."""
    _commands: frozenset[str] = field(default=frozenset(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.game.n_players != 2 or self.game.has_chance:
            why = "rolls dice" if self.game.has_chance else f"has {self.game.n_players} players"
            raise SpecError(f"gtp engines play two-player games without dice; {self.game.name} {why}: use cmd:PROGRAM")
        if self.limits is not None:
            raise SpecError(
                f"limits @{self.limits} of gtp:{self.command}: GTP has no such command; leave them out and set the "
                "strength in the engine's own command line, as in gtp:gtp-rhino --level=2"
            )
        refuse_options(self.options, self.own_options, self.protocol)
        super().__post_init__()

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "_record": [], "_told": None, "_last": None}

    # --- what is reported to it ------------------------------------------------------------------------------------
    def begin(self, opening: Sequence[Action]) -> None:
        """Begin a new game: the engine's board is cleared before the next move."""
        self._record, self._told, self._last = [], None, None
        s = self.game.initial()
        for a in opening:
            self.played(s, a)
            s = self.game.result(s, a)

    def played(self, s: State, a: Action) -> None:
        """Write the action down.

        Twice the same in a row is once: an agent that sits on both sides may be informed by both.
        """
        if self._last != (s, a):
            self._record.append(f"{COLOURS[self.game.to_play(s)]} {self.game.action_to_text(s, a)}")
            self._last = s, a

    # --- what it is asked ------------------------------------------------------------------------------------------
    def _greet(self) -> None:
        self._told = None
        self._commands = frozenset(self._command("list_commands").split())
        settings = {**KNOWN.get(self.game.name, {}), **self.options}
        if "game" in settings and ("set_game" in self._commands or "game" in self.options):
            self._command(f"set_game {settings['game']}")
        if "size" in settings:
            self._command(f"boardsize {settings['size']}")

    def _ask(self, s: State, seed: int) -> Answer:
        self._require_told(s)
        self._catch_up()
        colour = COLOURS[self.game.to_play(s)]
        text = self._command(f"genmove {colour}")
        action = self._move(s, text)
        assert self._told is not None
        self._told.append(f"{colour} {self.game.action_to_text(s, action)}")
        return Answer(action)

    def _require_told(self, s: State) -> None:
        """Refuse a position that the record does not lead to."""
        known = self.game.result(*self._last) if self._last else self.game.initial()
        if known != s and self.game.to_text(known) != self.game.to_text(s):
            raise EngineError(
                f"agent {self.name} was not told how {self.game.name} position {self.game.to_text(s)!r} came about: "
                "call begin(), and played() after every move"
            )

    def _catch_up(self) -> None:
        """Play on the engine's board what it lacks; all of it if the two have gone different ways."""
        told = self._told
        if told is None or told != self._record[: len(told)]:
            self._command("clear_board")
            told = self._told = []
        for move in self._record[len(told) :]:
            self._play(move)
            told.append(move)

    def _play(self, move: str) -> None:
        """Play one move. A pass may be refused: an engine that passes by itself knows where one must."""
        try:
            self._command(f"play {move}")
        except Refusal:
            if not move.lower().endswith(" pass"):
                raise

    def _move(self, s: State, text: str) -> Action:
        """Return the action; GTP answers in capitals, and a game may want small letters."""
        try:
            return self.game.action_from_text(s, text)
        except GameError:
            return super()._move(s, text.lower())

    def _command(self, command: str) -> str:
        """Return the answer to a command: `= text`, perhaps over several lines, and an empty one. Raises Failure."""
        self._say(command)
        deadline = self._deadline()
        while not (line := self._hear(deadline)).startswith(("=", "?")):
            pass  # a banner
        answer = [line[1:].strip()]
        while text := self._hear(deadline).strip():
            answer.append(text)
        if line.startswith("?"):
            raise Refusal(f"refused {quoted(command)} ({quoted(answer[0])})")
        return "\n".join(answer)


class Refusal(Failure):
    """The engine understood, and will not."""
