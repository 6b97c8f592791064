"""Alpha-beta on the compiled floor: the kernel of alphabeta_kernel.py, specialised to a game and an Eval."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as OutOfTime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from evallearn.compiled.absent import bindings
from evallearn.compiled.bits import jitable, mix64
from evallearn.compiled.specialise import COMPILE_ERRORS, announce, explain_failure, specialise
from evallearn.compiled.table import Table
from evallearn.errors import EvallearnError, SearchError
from evallearn.protocols import EvalKernel, Evaluator, Game, IsCutoff, Limits, Rules, SearchResult, State
from evallearn.search.common import MAX_DEPTH, cut_at_depth, require_unfinished, tie_ranks

TEMPLATE = Path(__file__).with_name("alphabeta_kernel.py")
RULE_NAMES = ("State", "actions", "result", "is_terminal", "to_play", "utility_mover", "key", "clock")
MAX_ACTIONS = 1 << 15
"""Actions are kept in 16 bits, in the table and in the lines."""
NO_LIMIT = 1 << 62
SALT = 0x5EA2C4
"""Anything large, mixed twice: keys are often mix64 of a small number, and those of two searches must never meet."""
SHORT_DEPTH, SHORT_NODES = 6, 300_000
"""Up to here a search takes milliseconds and runs in the caller's thread; longer ones must hear Ctrl-C."""


def search_plies(rules: Rules) -> int:
    """How deep any line can go."""
    return min(rules.max_plies, MAX_DEPTH)


def context(rules: Rules) -> np.ndarray:
    """The one record that a search carries."""
    plies, width = search_plies(rules) + 2, rules.max_actions
    path = rules.clock_limit + plies if rules.clock else 1
    fields: list[Any] = [
        ("nodes", "i8"), ("node_limit", "i8"), ("asked", "i8"), ("stop", "i8"),
        ("table_address", "u8"), ("table_mask", "u8"), ("salt", "u8"),
        ("use_table", "i4"), ("use_killers", "i4"), ("use_history", "i4"), ("all_values", "i4"),
        ("n_root", "i8"), ("best_index", "i8"), ("depth", "i8"), ("exact", "i8"),
        ("n_past", "i8"), ("path", "u8", (path,)), ("doubled", "i1", (path,)),
        ("value", "f4"), ("line_length", "i4"),
        ("words", "u8", (rules.n_words,)),
        ("root_actions", "i4", (width,)), ("ranks", "i4", (width,)),
        ("new_values", "f4", (width,)), ("values", "f4", (width,)),
        ("killers", "i4", (plies, 2)), ("history", "i4", (2, rules.n_actions)),
        ("actions", "i4", (plies, width)), ("scores", "i4", (plies, width)),
        ("line", "i2", (plies,)), ("pv_length", "i4", (plies,)), ("pv", "i2", (plies, plies)),
    ]  # fmt: skip
    return np.zeros(1, np.dtype(fields, align=True))


class CompiledAlphaBeta:
    """See `AlphaBeta` for what it promises. One search at a time: it owns one record and one table."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        kernel: EvalKernel,
        *,
        table: bool,
        killers: bool,
        history: bool,
        is_cutoff: IsCutoff,
        table_bits: int,
    ) -> None:
        rules = game.rules
        assert rules is not None
        if rules.n_actions > MAX_ACTIONS:
            raise SearchError(
                f"rules.n_actions={rules.n_actions} of {game.name}: number its actions below {MAX_ACTIONS}, "
                "or use floor='plain'"
            )
        self.game, self.evaluator = game, evaluator
        self.kernels: Any = specialise(
            TEMPLATE,
            **bindings(rules, *RULE_NAMES),
            evaluate_mover=kernel.evaluate_mover,
            is_cutoff=jitable(is_cutoff),
            N_WORDS=rules.n_words,
            CUTS_AT_DEPTH=is_cutoff is cut_at_depth,
            HAS_CLOCK=rules.clock is not None,
            CLOCK_LIMIT=rules.clock_limit,
            MAX_PLIES=search_plies(rules),
            SIZES=(rules.n_actions, rules.max_actions),  # of the record: a kernel is compiled for one only
            ALTERNATES=rules.alternates,
        )
        self.params = kernel.params.copy()
        self.box = context(rules)
        self.at = {name: self.box[name] for name in self.box.dtype.names or ()}
        self.row = {name: self.box[name][0] for name in ("words", "root_actions", "ranks", "values", "line")}
        for name, switch in (("use_table", table), ("use_killers", killers), ("use_history", history)):
            self.at[name][0] = switch
        self.table = Table(table_bits if table else 0)
        self.at["table_address"][0] = self.table.address
        self.at["table_mask"][0] = len(self.table.entries) - 1
        self.searches = 0
        self.no_past = np.zeros((0, rules.n_words), np.uint64)
        self.win = float(game.utility_range[1])
        self.thread: ThreadPoolExecutor | None = None
        self._warm_up()

    def _warm_up(self) -> None:
        """Compile, or fetch from the disk, before the first clock starts to run."""
        announce(f"alpha-beta for {self.game.name} with the {self.evaluator.name} Eval", self.kernels.deepen)
        try:
            self.search(self.game.initial(), Limits(depth=1), seed=None, action_values=False)
        except COMPILE_ERRORS as error:
            raise explain_failure(error, f"alpha-beta for {self.game.name}") from None
        if len(self.kernels.value_mover.signatures) > 1:  # it would crash when loaded from the disk (Numba #6061)
            raise EvallearnError(f"the kernel of {self.game.name} was compiled twice: please report this as a bug")

    def search(self, s: State, limits: Limits, *, seed: int | None, action_values: bool) -> SearchResult:
        start = perf_counter()
        at, row = self.at, self.row
        row["words"][:] = self.game.encode(s)
        player = int(self.kernels.prepare(self.box, self._past(s)))
        if player < 0:
            require_unfinished(self.game, s)
        n = int(at["n_root"][0])
        ranks = tie_ranks(n, seed)
        row["ranks"][:n] = ranks
        at["best_index"][0] = ranks.index(0)
        at["all_values"][0] = action_values
        at["node_limit"][0] = NO_LIMIT if limits.nodes is None else limits.nodes
        self.searches += 1
        at["salt"][0] = mix64(mix64(self.searches + SALT))
        at["stop"][0] = 0
        self._run(limits, start)
        actions = row["root_actions"][:n].tolist()
        depth, value = int(at["depth"][0]), float(at["value"][0]) + 0.0  # a draw is 0.0, not -0.0
        return SearchResult(
            action=actions[int(at["best_index"][0])],
            value=value,
            player=player,
            depth=depth,
            nodes=int(at["nodes"][0]),
            pv=tuple(row["line"][: int(at["line_length"][0])].tolist()),
            exact=bool(at["exact"][0]) or (depth > 0 and abs(value) == self.win),
            seconds=perf_counter() - start,
            action_values=dict(zip(actions, row["values"][:n].tolist(), strict=True))
            if action_values and depth
            else None,
        )

    def _past(self, s: State) -> np.ndarray:
        """The words of the positions that the rules may look back to."""
        history = self.game.history(s)
        return np.array(history, np.uint64) if history else self.no_past

    def _run(self, limits: Limits, start: float) -> None:
        free = limits.nodes is not None or limits.seconds is not None
        arguments: Any = (self.box, self.params, min(limits.depth or MAX_DEPTH, MAX_DEPTH), free, self.win)
        short = (limits.depth or MAX_DEPTH) <= SHORT_DEPTH or (limits.nodes or NO_LIMIT) <= SHORT_NODES
        if limits.seconds is None and short:
            self.kernels.deepen(*arguments)
            return
        if self.thread is None:
            self.thread = ThreadPoolExecutor(1, "search")
        running = self.thread.submit(self.kernels.deepen, *arguments)
        try:
            left = None if limits.seconds is None else max(0.0, limits.seconds - (perf_counter() - start))
            running.result(timeout=left)
        except OutOfTime:
            self.at["stop"][0] = 1
            running.result()
        except BaseException:  # Ctrl-C: the kernel must not go on behind our back
            self.at["stop"][0] = 1
            running.result()
            raise
