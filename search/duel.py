"""Whole games between two alpha-beta searches in one kernel call: for matches of quick moves, where Python between the
moves would take longer than the moves.

The same games as move by move, to the last node: tests/search/test_duel.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from evallearn.compiled.hooks import bindings
from evallearn.compiled.specialise import COMPILE_ERRORS, announce, explain_failure, specialise
from evallearn.core.game import Action, Game, State
from evallearn.core.search import Limits, Search
from evallearn.search.alphabeta.compiled import SHORT_DEPTH
from evallearn.search.alphabeta.margins import ASPIRATION
from evallearn.search.alphabeta.search import AlphaBeta
from evallearn.search.common.deepening_compiled import NO_LIMIT, SHORT_NODES
from evallearn.search.common.repetition import looking_back
from evallearn.search.common.requirements import MAX_DEPTH

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Duelled:
    """A game; pairs are those of the two searches."""

    actions: list[Action]
    utilities: list[float]
    moves: list[int]
    nodes: list[int]
    seconds: list[float]


def can_duel(search: Search, limits: Limits) -> bool:
    """True for a search whose moves take milliseconds and need no clock: one thread of alpha-beta, compiled."""
    if not isinstance(search, AlphaBeta) or search.floor != "compiled" or limits.seconds is not None:
        return False
    inner = search._search
    short = inner.cuts_at_depth and (limits.depth or MAX_DEPTH) <= SHORT_DEPTH
    return len(inner.boxes) == 1 and (short or (limits.nodes or NO_LIMIT) <= SHORT_NODES)


class Duel:
    """Two searches, each with its limits, at one table."""

    def __init__(self, game: Game, searches: tuple[AlphaBeta, AlphaBeta], limits: tuple[Limits, Limits]) -> None:
        """searches: those that `can_duel`. One object may play both sides."""
        rules = game.rules
        assert rules is not None
        self.game, self.searches = game, [search._search for search in searches]
        for search, limit in zip(self.searches, limits, strict=True):
            search.boxes[0]["node_limit"] = NO_LIMIT if limit.nodes is None else limit.nodes
        choosers = [
            specialise(HERE / "alphabeta" / "move_kernel.py", prepare=each.kernels.prepare, deepen=each.kernels.deepen)
            for each in self.searches
        ]
        self.kernels: Any = specialise(
            HERE / "duel_kernel.py",
            **bindings(rules, "State", "result", "is_terminal", "to_play", "utility_mover"),
            remember=looking_back(rules).remember,
            choose_a=choosers[0].choose,
            choose_b=choosers[1].choose,
            N_WORDS=rules.n_words,
            HAS_CLOCK=rules.clock is not None,
        )
        fields: list[Any] = [
            ("words", "u8", (rules.n_words,)), ("n_past", "i8"), ("seats", "i8", (2,)), ("utility", "f4"),
            ("depth", "i8", (2,)), ("free", "i8", (2,)), ("win", "f8"), ("margin", "f8"),
            ("moves", "i8", (2,)), ("nodes", "i8", (2,)), ("cycles", "i8", (2,)),
            ("actions", "i4", (rules.max_plies + 1,)),
        ]  # fmt: skip
        self.table = np.zeros(1, np.dtype(fields, align=True))
        self.io = self.table[0]
        self.past = np.zeros((rules.clock_limit + 2, rules.n_words), np.uint64)
        self.io["win"] = self.searches[0].win
        self.io["margin"] = ASPIRATION * self.searches[0].win
        for side, limit in enumerate(limits):
            self.io["depth"][side] = min(limit.depth or MAX_DEPTH, MAX_DEPTH)
            self.io["free"][side] = limit.nodes is not None
        what = (
            f"games of {game.name} between the {searches[0].evaluator.name} and the {searches[1].evaluator.name} Eval"
        )
        announce(what, self.kernels.play)
        try:
            self.play(game.initial(), (0, 1))
        except COMPILE_ERRORS as error:
            raise explain_failure(error, what) from None

    def play(self, s: State, seats: Sequence[int]) -> Duelled:
        """The game from `s`; seats[player]: which of the two searches plays."""
        io, history = self.io, self.game.history(s)
        io["words"] = self.game.encode(s)
        io["n_past"] = len(history)
        if history:
            self.past[: len(history)] = history
        io["seats"], io["moves"], io["nodes"], io["cycles"] = seats, 0, 0, 0
        for search in self.searches:
            search.boxes[0]["age"] = search.table.age
            search.boxes[0]["readable_age"] = 0 if search.keep_table else 1
        a, b = self.searches
        start = perf_counter()
        sides = (a.boxes[0], a.params[0], a.table.words, b.boxes[0], b.params[0], b.table.words)
        n = self.kernels.play(self.table, *sides, self.past)
        seconds = perf_counter() - start
        for search in self.searches:
            search.table.age = int(search.boxes[0]["age"][0])
        shares = io["cycles"] / max(1, int(io["cycles"].sum()))
        value = float(io["utility"]) + 0.0  # never -0.0
        return Duelled(
            io["actions"][:n].tolist(),
            [value, 0.0 - value],
            io["moves"].tolist(),
            io["nodes"].tolist(),
            (seconds * shares).tolist(),
        )
