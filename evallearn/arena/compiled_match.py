"""Whole games in one kernel call, where Python between the moves would take longer than the moves.

`WholeGames` plays any two choosers; `CompiledMatch` two alpha-beta searches of quick moves. The games are those that
are played move by move, to the last node: tests/arena/test_compiled_match.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

from evallearn.arena.seating import Played, Seats
from evallearn.compiled.hooks import Hook
from evallearn.compiled.specialise import Kernel, compiling, specialise
from evallearn.core.game import Game, State
from evallearn.core.search import Limits, Search
from evallearn.search.alphabeta.compiled import SHORT_DEPTH, CompiledAlphaBeta
from evallearn.search.alphabeta.search import AlphaBeta
from evallearn.search.common.deepening_compiled import NO_LIMIT, SHORT_NODES
from evallearn.search.common.repetition import repetition_kernels
from evallearn.search.common.requirements import MAX_DEPTH

TEMPLATE = Path(__file__).with_name("match_kernel.py")


class Chooser(NamedTuple):
    """How one side finds its moves inside a kernel."""

    name: str
    """Of its evaluator."""
    choose: Hook
    """choose(s, past, side) -> (action, or -1 if the game is over by repetition; nodes)."""
    side: tuple[object, ...]
    """What it carries from move to move."""


class WholeGames:
    """Games of two choosers, A and B, each inside the kernel from its first ply to its last."""

    def __init__(self, game: Game, a: Chooser, b: Chooser, *, longest: int) -> None:
        """Prepare the kernels; longest: plies, rolls included, after which a game is cut and counts as even."""
        rules = game.rules
        assert rules is not None
        self.game, self.sides = game, (a.side, b.side)
        self.what = f"games of {game.name} between the {a.name} and the {b.name} evaluator"
        self.kernels = specialise(TEMPLATE, rules, repetition_kernels(rules), choose_a=a.choose, choose_b=b.choose)
        rolls = max(1, rules.max_outcomes)
        fields: list[tuple[str, str] | tuple[str, str, tuple[int, ...]]] = [
            ("words", "u8", (rules.n_words,)), ("n_history", "i8"), ("longest", "i8"), ("opening_plies", "i8"),
            ("seed", "u8"), ("counter", "u8"), ("seats", "i8", (game.n_players,)),
            ("utilities", "f8", (game.n_players,)), ("moves", "i8", (2,)), ("nodes", "i8", (2,)),
            ("cycles", "i8", (2,)), ("actions", "i4", (longest,)), ("choices", "i4", (rules.max_actions,)),
            ("outcomes", "i4", (rolls,)), ("odds", "f8", (rolls,)),
        ]  # fmt: skip
        self.box = np.zeros(1, np.dtype(fields, align=True))
        self.row = self.box[0]
        self.row["longest"] = longest
        self.history = np.zeros((rules.clock_limit + 2, rules.n_words), np.uint64)

    def warm_up(self, kernel: Kernel, run: Callable[[], object]) -> None:
        """Compile, or fetch from the disk, before the first clock starts to run."""
        with compiling(self.what, kernel):
            run()

    def place(self, s: State) -> None:
        """Let the next game begin at `s`."""
        row, history = self.row, self.game.history(s)
        row["words"], row["n_history"] = self.game.encode(s), len(history)
        row["moves"], row["nodes"], row["cycles"] = 0, 0, 0
        if history:
            self.history[: len(history)] = history


def plays_in_kernel(search: Search, limits: Limits) -> bool:
    """Return whether its moves take milliseconds and need no clock: one thread of alpha-beta, compiled."""
    inner = search._search if isinstance(search, AlphaBeta) else None
    if not isinstance(inner, CompiledAlphaBeta) or limits.seconds is not None:
        return False
    short = inner.cuts_at_depth and (limits.depth or MAX_DEPTH) <= SHORT_DEPTH
    return len(inner.boxes) == 1 and (short or (limits.nodes or NO_LIMIT) <= SHORT_NODES)


class CompiledMatch:
    """Games between two searches, each with its limits."""

    def __init__(self, game: Game, searches: tuple[AlphaBeta, AlphaBeta], limits: tuple[Limits, Limits]) -> None:
        """Prepare games between two searches that `plays_in_kernel` accepts. One object may play both sides."""
        assert game.rules is not None
        self.searches: list[CompiledAlphaBeta] = [
            s._search for s in searches if isinstance(s._search, CompiledAlphaBeta)
        ]
        a, b = (Chooser(s.evaluator.name, *s.chooser(limit)) for s, limit in zip(self.searches, limits, strict=True))
        self.games = WholeGames(game, a, b, longest=game.rules.max_plies + 1)
        self.games.warm_up(self.games.kernels.play, lambda: self.play(game.initial(), (0, 1)))

    def play(self, s: State, seats: Seats) -> Played:
        """Play the game from `s` and return it; seats[player]: which of the two searches plays."""
        games, row = self.games, self.games.row
        games.place(s)
        row["seats"] = seats
        for search in self.searches:
            search.write_age()
        start = perf_counter()
        n = games.kernels.play(games.box, *games.sides, games.history)
        seconds = perf_counter() - start
        for search in self.searches:
            search.read_age()
        shares = row["cycles"] / max(1, int(row["cycles"].sum()))
        return Played(
            seats,
            row["actions"][:n].tolist(),
            (row["utilities"] + 0.0).tolist(),  # never -0.0
            row["moves"].tolist(),
            row["nodes"].tolist(),
            (seconds * shares).tolist(),
        )
