"""Chess engines that speak UCI (Kahlen & Meyer-Kahlen 2004), such as Stockfish and GNU Chess."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import ClassVar

from evallearn.agents.base import default_limits
from evallearn.agents.engine import Answer, EngineAgent
from evallearn.core.game import Action, State
from evallearn.errors import GameError, SpecError, unknown
from evallearn.evaluators.squash import BOUND, squash

PAWNS_PER_RAW = 8 / math.log(10)
"""An advantage of 4 pawns is taken for 10 wins to 1 loss: value = tanh(pawns / PAWNS_PER_RAW)."""

WHOLE = re.compile(r"-?[0-9]{1,18}")


@dataclass
class UciAgent(EngineAgent):
    """Chess by a UCI engine.

    It is sent the position with the moves since the last one that cannot be taken back, and `go depth`, `nodes` or
    `movetime`. Unless time is the limit it forgets its hash table before each move (`ucinewgame`), so that the same
    position gets the same answer, as agents promise; an engine with several threads may still differ.
    """

    protocol: ClassVar[str] = "uci"

    _spoken: list[str] = field(default_factory=list, init=False, repr=False, compare=False)
    """Names of the options that the engine knows."""

    def __post_init__(self) -> None:
        if self.game.plays[0] != "chess":
            raise SpecError(f"uci engines play chess, not {self.game.name}: use gtp:PROGRAM or cmd:PROGRAM")
        self.limits = self.limits or default_limits(self.game)
        super().__post_init__()

    def _greet(self) -> None:
        self._say("uci")
        lines = self._until("uciok", self._deadline())
        names = [line.removeprefix("option name ") for line in lines if line.startswith("option name ")]
        self._spoken = [name.split(" type ")[0].strip() for name in names]
        for name, value in self.options.items():
            if name not in self.own_options:
                self._set(name, value)
        self._ready()

    def _set(self, name: str, value: str) -> None:
        known = {spoken.lower(): spoken for spoken in self._spoken}
        if name.lower() not in known:
            raise unknown(f"option of {self.command}", name, [*self._spoken, *self.own_options])
        self._say(f"setoption name {known[name.lower()]}" + (f" value {value}" if value else ""))

    def _ready(self) -> None:
        self._say("isready")
        for _ in self._until("readyok", self._deadline()):
            pass

    def _ask(self, s: State, seed: int) -> Answer:
        if self.limits is None or self.limits.seconds is None:
            self._say("ucinewgame")
            self._ready()
        self._say(f"position fen {self.game.to_text(s)}")
        self._say(self._go())
        found, words = Info(), [""]
        for line in self._until("bestmove", self._deadline()):
            words = line.split()
            found = found.after(words)
        move = words[1] if len(words) > 1 else ""
        return Answer(self._move(s, move), found.value, found.depth, found.nodes, self._line(s, found.pv))

    def _go(self) -> str:
        limits = self.limits
        assert limits is not None
        millis = None if limits.seconds is None else max(1, round(1000 * limits.seconds))
        parts = (("depth", limits.depth), ("nodes", limits.nodes), ("movetime", millis))
        return " ".join(["go", *(f"{name} {value}" for name, value in parts if value is not None)])

    def _line(self, s: State, moves: Sequence[str]) -> tuple[Action, ...]:
        """Return the expected line as far as it can be read."""
        actions: list[Action] = []
        try:
            for move in moves:
                actions.append(self.game.action_from_text(s, move))
                s = self.game.result(s, actions[-1])
        except GameError:
            pass
        return tuple(actions)

    def _until(self, word: str, deadline: float) -> Iterator[str]:
        """Yield the lines up to the one that begins with `word`, which is the last."""
        while True:
            line = self._hear(deadline).strip()
            yield line
            if line.split()[:1] == [word]:
                return


@dataclass(frozen=True)
class Info:
    """What an engine's info lines say, the latest of each."""

    value: float = 0.0
    depth: int = 0
    nodes: int = 0
    pv: tuple[str, ...] = ()

    def after(self, words: Sequence[str]) -> Info:
        """Add what one more line says. Only the best line (multipv 1) counts, and no mere bound of a score."""
        found = _pairs(words)
        if words[:1] != ["info"] or "string" in words or found.get("multipv", 1) != 1:
            return self
        nodes = found.get("nodes", self.nodes)
        if "pv" not in words or "score" not in words or "lowerbound" in words or "upperbound" in words:
            return replace(self, nodes=nodes)
        pv = tuple(words[words.index("pv") + 1 :])
        return Info(value_of(found), found.get("depth", 0), nodes, pv)


def _pairs(words: Sequence[str]) -> dict[str, int]:
    """Return {word: the whole number that follows it}."""
    return {word: int(n) for word, n in pairwise(words) if WHOLE.fullmatch(n)}


def value_of(score: Mapping[str, int]) -> float:
    """Return {"cp": 100} as a value to the player to move: tanh(pawns / PAWNS_PER_RAW). A mate is all but 1 or -1."""
    if "mate" in score:
        return BOUND if score["mate"] > 0 else -BOUND
    return squash(score.get("cp", 0) / 100 / PAWNS_PER_RAW)
