"""Any program as a player: a question in JSON on one line, a move on the next. The protocol is in docs/agents.md."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import ClassVar

from evallearn.agents.base import default_limits
from evallearn.agents.engine import Answer, EngineAgent, quoted, refuse_options
from evallearn.agents.process import Failure, Silence
from evallearn.core.game import CHANCE, Action, State
from evallearn.core.json_shapes import JsonDict


@dataclass
class CmdAgent(EngineAgent):
    """Any game by any program: it need not know the rules, for the question lists the legal moves.

    Whenever it is started it is first asked about the first position of the game; what it prints before its answer is
    taken for a banner, and the answer is not played.
    """

    protocol: ClassVar[str] = "cmd"
    goodbye: ClassVar[str] = ""  # the end of its input is enough

    def __post_init__(self) -> None:
        refuse_options(self.options, self.own_options, self.protocol)
        self.limits = self.limits or default_limits(self.game)
        super().__post_init__()

    def _greet(self) -> None:
        s = self.game.initial()
        while self.game.to_play(s) == CHANCE and not self.game.is_terminal(s):
            s = self.game.result(s, self.game.chances(s)[0][0])
        if self.game.is_terminal(s):
            return
        self._say(json.dumps(self.question(s, 0)))
        deadline, heard = self._deadline(), ""
        while True:
            try:
                heard = self._hear(deadline)
                self._read(s, heard)
                return
            except Silence:
                if not heard:
                    raise
                raise Silence(f"gave no legal move in time (it said {quoted(heard)})") from None
            except Unreadable:
                continue

    def question(self, s: State, seed: int) -> JsonDict:
        """Return what the program is asked: everything it may want to know."""
        return {
            "game": self.game.name,
            "position": self.game.to_text(s),
            "legal": [self.game.action_to_text(s, a) for a in self.game.actions(s)],
            "player": self.game.to_play(s),
            "limits": str(self.limits),
            "seed": seed,
        }

    def _ask(self, s: State, seed: int) -> Answer:
        assert self._process is not None
        self._process.forget()
        self._say(json.dumps(self.question(s, seed)))
        return self._read(s, self._hear(self._deadline()))

    def _read(self, s: State, line: str) -> Answer:
        """Read `f5`, or `{"move": "f5", "value": 0.3}`. Raises Unreadable."""
        text, value = line.strip(), 0.0
        if text.startswith("{"):
            text, value = _fields(text)
        return Answer(self._move(s, text), value)

    def _move(self, s: State, text: str) -> Action:
        legal = {self.game.action_to_text(s, a): a for a in self.game.actions(s)}
        if text in legal:
            return legal[text]
        try:
            return super()._move(s, text)
        except Failure as failure:
            raise Unreadable(str(failure)) from None


class Unreadable(Failure):
    """A line that says no legal move."""


def _fields(text: str) -> tuple[str, float]:
    """Return the move and the value of a JSON object."""
    try:
        found = json.loads(text)
        move, value = found["move"], float(found.get("value") or 0.0)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        move, value = None, math.nan
    if not isinstance(move, str) or not math.isfinite(value):
        raise Unreadable(f'answered {quoted(text)}, which is not {{"move": "...", "value": number}},')
    return move, value
