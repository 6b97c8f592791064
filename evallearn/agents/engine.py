"""What all engines have in common: a process that is started when it is needed, and what happens when it fails."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic, perf_counter
from typing import ClassVar

from evallearn.agents.base import Agent
from evallearn.agents.process import EngineProcess, Failure, Silence, split_command
from evallearn.core.game import Action, Game, State
from evallearn.core.search import Limits, SearchResult
from evallearn.errors import EngineError, GameError, SpecError

TIMEOUT = 60.0
"""Seconds that a move may take beyond the time limit."""
STARTING = 10.0
"""Seconds that an engine has for its start, however short its timeout: it may have tables to load."""
LONGEST_QUOTE = 80
"""Characters of an engine's own words in a message."""


@dataclass(frozen=True)
class Answer:
    """What an engine said of a position; `value` is to the player to move."""

    action: Action
    value: float = 0.0
    depth: int = 0
    nodes: int = 0
    pv: tuple[Action, ...] = ()


@dataclass
class EngineAgent(Agent):
    """A program that plays. It runs from `prepare`, or from the first move, until `close`.

    Any failure (it ends, is silent for too long, makes no legal move) raises EngineError, and the process is killed:
    the next game, or the next move, is played by a fresh one. Pickled, only the description travels.
    """

    protocol: ClassVar[str]
    """How its descriptions begin."""
    goodbye: ClassVar[str] = "quit"
    """What it is sent before it is ended."""
    own_options: ClassVar[tuple[str, ...]] = ("timeout",)
    """The options that are for us, not for the program."""

    game: Game
    command: str
    limits: Limits | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    argv: list[str] = field(init=False, repr=False)
    timeout: float = field(init=False, repr=False)
    _process: EngineProcess | None = field(default=None, init=False, repr=False, compare=False)
    _starting: bool = field(default=False, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.argv = split_command(self.command)
        self.timeout = seconds_of(self.options.get("timeout", f"{TIMEOUT:g}"), self.protocol)
        written = ",".join([self.command, *(f"{k}={v}" for k, v in self.options.items())])
        self.name = self.name or f"{self.protocol}:{written}" + (f"@{self.limits}" if self.limits else "")

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_process": None}

    # --- what agents do --------------------------------------------------------------------------------------------
    def prepare(self) -> None:
        """Start the program, unless it runs, and check that it answers. Raises EngineError."""
        with self._or_failed("at its start"):
            self._running()

    def choose(self, s: State, seed: int) -> SearchResult:
        """Return what the program plays in `s`; its `seconds` are the move's, not of a start. Raises EngineError."""
        self.prepare()
        start = perf_counter()
        with self._or_failed(f"in {self.game.name} position {self.game.to_text(s)!r}"):
            found = self._ask(s, seed)
        seconds, player = perf_counter() - start, self.game.to_play(s)
        pv = found.pv if found.pv[:1] == (found.action,) else (found.action,)
        return SearchResult(found.action, found.value, player, found.depth, found.nodes, pv, False, seconds)

    def close(self) -> None:
        """End the process, if there is one: politely, then for certain."""
        process, self._process = self._process, None
        if process is not None:
            process.end(self.goodbye)

    # --- what each protocol says -----------------------------------------------------------------------------------
    @abstractmethod
    def _greet(self) -> None:
        """Greet a fresh process, and wait for an answer."""

    @abstractmethod
    def _ask(self, s: State, seed: int) -> Answer:
        """Ask what to play in `s`."""

    # --- for the protocols -----------------------------------------------------------------------------------------
    def _running(self) -> EngineProcess:
        if self._process is None:
            self._process = EngineProcess(self.argv)
            self._starting = True
            self._greet()
            self._starting = False
        return self._process

    def _say(self, line: str) -> None:
        assert self._process is not None
        self._process.send(line)

    def _hear(self, deadline: float) -> str:
        assert self._process is not None
        return self._process.line(deadline)

    def _deadline(self) -> float:
        """Return when an answer must be there: the time limit and the timeout from now; a little more at its start."""
        limit = self.limits.seconds if self.limits and self.limits.seconds else 0.0
        return monotonic() + limit + (max(self.timeout, STARTING) if self._starting else self.timeout)

    def _move(self, s: State, text: str) -> Action:
        """Return the legal action that the program names. Raises Failure."""
        try:
            return self.game.action_from_text(s, text)
        except GameError:
            raise Failure(f"answered {quoted(text)}, which is no legal move,") from None

    @contextmanager
    def _or_failed(self, place: str) -> Iterator[None]:
        """End the process on any error inside; turn a Failure into an EngineError."""
        try:
            yield
        except Failure as failure:
            words = self._process.last_words() if self._process else ""
            self._abandon()
            said = f"; the last line of its stderr: {quoted(words)}" if words else ""
            remedy = f"run {self.command!r} by hand to see why"
            if isinstance(failure, Silence):
                remedy += f", or allow it more than timeout={self.timeout:g} seconds"
            raise EngineError(f"agent {self.name} {failure} {place}{said}: {remedy}") from None
        except BaseException:  # Ctrl-C in the middle of an answer: the next question must not get it
            self._abandon()
            raise

    def _abandon(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()


def seconds_of(text: str, protocol: str) -> float:
    """Return the timeout that `text` says."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 1e6:
        raise SpecError(f"option timeout={text} of a {protocol} engine: give seconds above 0, as timeout=5")
    return seconds


def refuse_options(options: Mapping[str, str], known: tuple[str, ...], protocol: str) -> None:
    """Refuse what would silently do nothing."""
    for name in options:
        if name not in known:
            raise SpecError(
                f"option {name!r} of a {protocol} engine: it takes {', '.join(known)} only; what else it should know "
                "belongs to its command line"
            )


def quoted(text: str) -> str:
    """Return the text in quotes, and not too much of it."""
    return repr(text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}...")
