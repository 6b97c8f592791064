"""Alpha-beta on the compiled backend: the kernels beside it, specialised to a game, an evaluator and the options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from types import ModuleType

import numpy as np

from evallearn.compiled.bits import jitable
from evallearn.compiled.hooks import Hook
from evallearn.compiled.records import SearchContext
from evallearn.compiled.specialise import specialise
from evallearn.compiled.table import MOST_ACTIONS, Table
from evallearn.core.evaluator import EvalKernel, Evaluator
from evallearn.core.game import Game, State
from evallearn.core.rules import Rules
from evallearn.core.search import Limits, SearchResult
from evallearn.errors import Interrupted, SearchError
from evallearn.search.alphabeta.margins import ASPIRATION
from evallearn.search.alphabeta.options import UNSOUND, Options
from evallearn.search.common.deepening_compiled import NO_LIMIT, SHORT_NODES, WARM_UP_NODES, warm_up
from evallearn.search.common.repetition import repetition_kernels
from evallearn.search.common.requirements import MAX_DEPTH, cut_at_depth, require_unfinished, tie_ranks, values_to_all
from evallearn.search.common.threads import KernelThreads

HERE = Path(__file__).parent
COUNTS = ("depth", "value_depth", "nodes", "leaf_calls", "unsound", "unproven")
SHORT_DEPTH = 4
"""Up to here a search takes milliseconds."""
LOOKS_BITS = 15
"""Of the notes by which threads see what others are looking at."""


def search_plies(rules: Rules) -> int:
    """How deep any line can go."""
    return min(rules.max_plies, MAX_DEPTH)


def context(rules: Rules, threads: int) -> np.ndarray:
    """Return the one record that a thread of a search carries."""
    plies, width = search_plies(rules) + 2, rules.max_actions
    return SearchContext.one(
        words=rules.n_words,
        width=width,
        n_actions=rules.n_actions,
        plies=plies,
        path=rules.clock_limit + plies if rules.clock else 1,
        shared_plies=plies if threads > 1 else 1,
        shared_width=width if threads > 1 else 1,
    )


def kernels(game: Game, kernel: EvalKernel, options: Options, shared: bool, on_node: Hook | None = None) -> ModuleType:
    """Return the specialised templates.

    on_node(s, value, alpha, beta, params) is told of every quiet node it searched.
    """
    rules = game.rules
    assert rules is not None
    repetition = repetition_kernels(rules, cuts_at_depth=options.is_cutoff is cut_at_depth)
    common: dict[str, object] = {"evaluate_mover": kernel.evaluate_mover}
    plies = search_plies(rules)
    if options.selective:
        quiescence = specialise(HERE / "quiescence_kernel.py", rules, repetition, **common, MAX_PLIES=plies)
        common["quiet_value"] = quiescence.quiet_value
    else:  # what is never asked need not be compiled
        rules = replace(rules, forcing=None, may_pass=None, passed=None)
    common["SHARED"] = shared
    tree = specialise(
        HERE / "tree_kernel.py",
        rules,
        repetition,
        **common,
        eval_bounds_mover=kernel.bounds_mover,
        on_node=on_node,
        MAX_PLIES=plies,
        is_cutoff=jitable(options.is_cutoff),
        HAS_BOUNDS=options.bounds and kernel.bounds_mover is not None,
        SELECTIVE=options.selective,
        BY_EVAL=options.order_by_eval,
        NOTES=on_node is not None,
    )
    return specialise(HERE / "root_kernel.py", rules, repetition, tree, **common)


class CompiledAlphaBeta:
    """See `AlphaBeta` for what it promises. One search at a time: it owns a record for each thread and one table."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        kernel: EvalKernel,
        options: Options,
        *,
        table_bits: int,
        keep_table: bool,
        threads: int,
    ) -> None:
        rules = game.rules
        assert rules is not None
        if rules.n_actions > MOST_ACTIONS:
            raise SearchError(
                f"rules.n_actions={rules.n_actions} of {game.name}: number its actions below {MOST_ACTIONS}, "
                "or use backend='python'"
            )
        self.game, self.evaluator, self.keep_table = game, evaluator, keep_table
        self.cuts_at_depth = options.is_cutoff is cut_at_depth
        self.keeps_unsound = keep_table and any(getattr(options, name) for name in UNSOUND)
        self.kept_unproven = False
        """True if the table that is kept may hold a win or a loss that is not proven."""
        self.kernels = kernels(game, kernel, options, threads > 1)
        self.params = [kernel.params.copy() for _ in range(threads)]
        self.boxes = [context(rules, threads) for _ in range(threads)]
        self.table = Table(table_bits if options.table else 0)
        self.looks = Table(LOOKS_BITS if threads > 1 else 0)
        for box in self.boxes:
            box["table_address"], box["table_mask"] = self.table.address, self.table.mask
            box["looks_address"], box["looks_mask"] = self.looks.address, len(self.looks.entries) - 1
            box["use_table"], box["use_killers"], box["use_history"] = options.table, options.killers, options.history
            box["use_pvs"], box["use_aspiration"] = options.pvs, options.aspiration
            box["noisy_first"] = options.noisy_first
            box["quiescence"], box["extensions"] = options.quiescence, options.extensions
            for name in UNSOUND:
                box[name] = getattr(options, name)
            box["win"] = game.utility_range[1]
        self.at = {name: self.boxes[0][name] for name in self.boxes[0].dtype.names or ()}
        self.row = {name: self.boxes[0][name][0] for name in ("words", "root_actions", "ranks")}
        self.no_past = np.zeros((0, rules.n_words), np.uint64)
        self.win = float(game.utility_range[1])
        self.threads = KernelThreads([box["stop"] for box in self.boxes])
        what = f"alpha-beta for {game.name} with the {evaluator.name} evaluator"
        warm_up(game, what, self.kernels.deepen, self.kernels.value_mover, self._once)

    def _once(self, s: State) -> None:
        self.search(s, Limits(depth=1, nodes=WARM_UP_NODES))

    def search(self, s: State, limits: Limits, *, seed: int | None = None, action_values: bool = False) -> SearchResult:
        start = perf_counter()
        at, row = self.at, self.row
        row["words"][:] = self.game.encode(s)
        player = int(self.kernels.prepare(self.boxes[0], self._past(s)))
        if player < 0:
            require_unfinished(self.game, s)
        n = int(at["n_root"][0])
        ranks = tie_ranks(n, seed)
        row["ranks"][:n] = ranks
        at["best_index"][0] = ranks.index(0)
        at["all_values"][0] = action_values
        at["age"][0] = age = self.table.new_age()
        at["readable_age"][0] = 0 if self.keep_table else age
        interrupted = self._run(limits, start)
        result = self._result(player, row["root_actions"][:n].tolist(), start, action_values)
        if interrupted:
            raise Interrupted(result)
        return result

    def chooser(self, limits: Limits) -> tuple[Hook, tuple[object, ...]]:
        """Return what finds a move inside another kernel, by one thread, and what it carries."""
        module = specialise(HERE / "one_move_kernel.py", self.kernels)
        depth = min(limits.depth or MAX_DEPTH, MAX_DEPTH)
        nodes = NO_LIMIT if limits.nodes is None else int(limits.nodes)
        own = (self.boxes[0], self.params[0], self.table.words)
        return module.choose, (*own, depth, nodes, limits.nodes is not None, self.win, ASPIRATION * self.win)

    def write_age(self) -> None:
        """Let a kernel go on with the table where Python left it."""
        self.at["age"][0] = self.table.age
        self.at["readable_age"][0] = 0 if self.keep_table else 1

    def read_age(self) -> None:
        """Go on with the table where a kernel left it."""
        self.table.age = int(self.at["age"][0])

    def search_without(self, off: Sequence[str], s: State, limits: Limits) -> SearchResult:
        """See `AlphaBeta`."""
        before, keep = {name: self.at[name][0].item() for name in off}, self.keep_table
        try:
            self.keep_table = False
            for name in off:
                self.at[name][0] = 0
            return self.search(s, limits)
        finally:
            for name, value in before.items():
                self.at[name][0] = value
            self.keep_table = keep
            if keep:  # other options, other values
                self.table.words.fill(0)

    def _past(self, s: State) -> np.ndarray:
        """Return the words of the positions that the rules may look back to."""
        history = self.game.history(s)
        return np.array(history, np.uint64) if history else self.no_past

    def _run(self, limits: Limits, start: float) -> bool:
        """Run the kernels and return True if Ctrl-C ended the search.

        Threads that start together deepen together; the first to finish ends all.
        """
        depth = min(limits.depth or MAX_DEPTH, MAX_DEPTH)
        for name in COUNTS:  # of the search before: an idle thread must not answer with them
            self.at[name][0] = 0
        for box in self.boxes[1:]:
            box[:] = self.boxes[0]
        for i, box in enumerate(self.boxes):  # the first takes what cannot be shared evenly
            share, rest = divmod(NO_LIMIT if limits.nodes is None else limits.nodes, len(self.boxes))
            box["node_limit"] = share + (rest if i == 0 else 0)
        free = limits.nodes is not None or limits.seconds is not None
        margin = ASPIRATION * self.win
        works = [
            partial(self.kernels.deepen, box, params, depth, free, self.win, margin)
            for box, params in zip(self.boxes, self.params, strict=True)
        ]
        short = (self.cuts_at_depth and depth <= SHORT_DEPTH) or (limits.nodes or NO_LIMIT) <= SHORT_NODES
        deadline = None if limits.seconds is None else start + limits.seconds
        if short:  # not worth a second thread
            works = works[:1]
            self.boxes[0]["node_limit"] = NO_LIMIT if limits.nodes is None else limits.nodes
        return self.threads.run(works, deadline=deadline, short=short)

    def _result(self, player: int, actions: list[int], start: float, action_values: bool) -> SearchResult:
        """Return what the thread that went deepest has found."""
        box = max(self.boxes, key=lambda box: int(box["depth"][0]))[0]
        depth, value = int(box["depth"]), float(box["value"]) + 0.0  # a draw is 0.0, not -0.0
        # what one thread pruned, or an earlier search whose table is kept, another may have read
        unsound = self.keeps_unsound or any(each["unsound"][0] for each in self.boxes)
        unproven = any(each["unproven"][0] for each in self.boxes) or (self.keep_table and self.kept_unproven)
        self.kept_unproven = self.kept_unproven or unproven
        decided = box["value_depth"] > 0 and abs(value) == self.win and not unproven
        return SearchResult(
            action=actions[int(box["best_index"])],
            value=value,
            player=player,
            depth=depth,
            nodes=sum(int(each["nodes"][0]) for each in self.boxes),
            pv=tuple(box["line"][: int(box["line_length"])].tolist()),
            exact=bool((box["exact"] and not unsound) or decided),
            seconds=perf_counter() - start,
            action_values=dict(zip(actions, box["values"][: len(actions)].tolist(), strict=True))
            if action_values and depth
            else None,
            leaf_calls=sum(int(each["leaf_calls"][0]) for each in self.boxes),
            value_depth=int(box["value_depth"]),
            values=values_to_all(self.game, player, value),
        )
