"""Agents: who plays. An agent is a game, an Eval and limits; it can be written as a short text.

random                                        any legal action
zero@depth=4                                  a search that only knows how games end
handwritten:NAME@depth=4                      a heuristic of the game
runs/x/evaluators/linear.safetensors@nodes=20000,time=0.1
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evallearn.errors import SearchError, SpecError, unknown
from evallearn.evaluators import LinearEval, load_evaluator
from evallearn.protocols import Evaluator, Game, Limits, SearchResult, State
from evallearn.search import search_for

DEFAULT_LIMITS = Limits(depth=4)


def default_limits(game: Game) -> Limits:
    """A look-ahead that takes well under a second: only alpha-beta goes deep quickly."""
    if game.has_chance:
        return Limits(depth=1)
    return DEFAULT_LIMITS if game.n_players == 2 else Limits(depth=3)


class Agent(ABC):
    """Someone who chooses. Agents can be pickled: a worker process builds its own kernels."""

    name: str
    game: Game

    def prepare(self) -> None:  # noqa: B027  # most agents need nothing
        """Compile, or fetch from the disk, whatever the first move needs: before a clock runs or workers start."""

    @abstractmethod
    def choose(self, s: State, seed: int) -> SearchResult:
        """A legal action in `s`. The same state and seed give the same answer (unless time is the limit)."""


@dataclass
class RandomAgent(Agent):
    """Every legal action is equally likely."""

    game: Game
    name: str = "random"

    def choose(self, s: State, seed: int) -> SearchResult:
        actions = self.game.actions(s)
        action = actions[random.Random(seed).randrange(len(actions))]
        return SearchResult(action, 0.0, self.game.to_play(s), 0, 1, (action,), False, 0.0)


@dataclass
class SearchAgent(Agent):
    """The search that suits the game, with an Eval."""

    game: Game
    evaluator: Evaluator
    limits: Limits = DEFAULT_LIMITS
    random_ties: bool = False
    """Choose at random among equally good actions instead of the earliest: for self-play."""
    name: str = ""
    _search: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.name = self.name or f"{self.evaluator.name}@{self.limits}"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_search": None}  # kernels stay where they were compiled

    def prepare(self) -> None:
        if self._search is None:
            self._search = search_for(self.game, self.evaluator)

    def choose(self, s: State, seed: int) -> SearchResult:
        self.prepare()
        result: SearchResult = self._search.search(s, self.limits, seed=seed if self.random_ties else None)
        return result


def parse_limits(text: str) -> Limits:
    """Limits as in `depth=4`, `nodes=20000` or `depth=8,time=0.1`."""
    kinds = {"depth": int, "nodes": int, "time": float}
    found: dict[str, Any] = {}
    for part in text.split(","):
        key, _, value = part.partition("=")
        if key not in kinds:
            raise unknown("limit", key, kinds)
        try:
            found["seconds" if key == "time" else key] = kinds[key](value)
        except ValueError:
            raise SpecError(f"limit {part!r}: {value!r} is no number; write for example depth=4") from None
    try:
        return Limits(**found)
    except SearchError as error:
        raise SpecError(f"limits {text!r}: {error}") from None


def parse_agent(text: str, game: Game, limits: Limits | None = None) -> Agent:
    """The agent that `text` describes; `limits` where it names none, or else a depth that suits the game."""
    limits = limits or default_limits(game)
    what, _, after = text.rpartition("@")
    if not what or "=" not in after:  # no limit; an @ may well be part of a path
        what = text
    else:
        limits = parse_limits(after)
    if what == "random":
        return RandomAgent(game)
    return SearchAgent(game, parse_evaluator(what, game, others=("random",)), limits, name=f"{what}@{limits}")


def parse_evaluator(text: str, game: Game, others: tuple[str, ...] = ()) -> Evaluator:
    """The Eval that `text` names: zero, handwritten:NAME, or a file. `others` are suggested too."""
    kind, colon, name = text.partition(":")
    if text == "zero":
        return LinearEval.zero(game)
    if kind == "handwritten" and colon:
        return LinearEval.from_heuristic(game, name)
    if Path(text).suffix == ".safetensors" or Path(text).exists():
        return load_evaluator(text, game)
    known = [*others, "zero", *(f"handwritten:{h}" for h in game.heuristics)]
    error = unknown("agent" if others else "Eval", text, known)
    limits = "; then @depth=4, @nodes=20000 or @time=0.1" if others else ""
    raise SpecError(f"{error}, or the path of a .safetensors file{limits}")
