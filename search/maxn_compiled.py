"""Max^n on the compiled floor: the kernel of maxn_kernel.py, specialised to a game and an Eval."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from evallearn.compiled.absent import bindings, utility_to_any
from evallearn.compiled.bits import jitable
from evallearn.compiled.specialise import COMPILE_ERRORS, announce, explain_failure, specialise
from evallearn.errors import EvallearnError, Interrupted
from evallearn.protocols import CHANCE, EvalKernel, Evaluator, Game, IsCutoff, Limits, Rules, SearchResult, State
from evallearn.search.common import MAX_DEPTH, require_decision, tie_ranks
from evallearn.search.maxn_plain import TIES
from evallearn.search.running import KernelThreads

TEMPLATE = Path(__file__).with_name("maxn_kernel.py")
RULE_NAMES = ("State", "actions", "result", "is_terminal", "to_play", "chances")
NO_LIMIT = 1 << 62
SHORT_DEPTH, SHORT_NODES = 3, 300_000
"""Up to here a search takes milliseconds and runs in the caller's thread; longer ones must hear Ctrl-C."""


def search_plies(rules: Rules) -> int:
    """How deep any line can go: a move and a roll for each step of depth, and room for rolls in a row."""
    return min(rules.max_plies, (3 if rules.chances else 1) * MAX_DEPTH)


def context(rules: Rules, n_players: int) -> np.ndarray:
    """The one record that a search carries. Most of its rows are never touched, and so take no memory."""
    plies, width, rolls = search_plies(rules) + 2, rules.max_actions, max(1, rules.max_outcomes)
    fields: list[Any] = [
        ("nodes", "i8"), ("node_limit", "i8"), ("stop", "i8"), ("asked", "i8"), ("ended", "i8"),
        ("player", "i8"), ("n_root", "i8"), ("best_index", "i8"), ("depth", "i8"), ("exact", "i8"),
        ("tie_sign", "f8"), ("allied", "i8", (n_players,)), ("worth", "f8", (plies, n_players)),
        ("words", "u8", (rules.n_words,)), ("ranks", "i4", (width,)),
        ("new_values", "f8", (width,)), ("values", "f8", (width,)),
        ("actions", "i4", (plies, width)), ("outcomes", "i4", (plies, rolls)), ("odds", "f8", (plies, rolls)),
        ("line_length", "i8"), ("line", "i4", (plies,)), ("pv_length", "i4", (plies,)), ("pv", "i4", (plies, plies)),
    ]  # fmt: skip
    return np.zeros(1, np.dtype(fields, align=True))


class CompiledMaxN:
    """See `MaxN` for what it promises. One search at a time: it owns one record."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        kernel: EvalKernel,
        *,
        ties: str,
        alliance: tuple[int, ...],
        is_cutoff: IsCutoff,
    ) -> None:
        rules = game.rules
        assert rules is not None
        self.game, self.evaluator = game, evaluator
        self.kernels: Any = specialise(
            TEMPLATE,
            **bindings(rules, *RULE_NAMES),
            utility_player=utility_to_any(rules),
            evaluate_player=kernel.evaluate_player,
            is_cutoff=jitable(is_cutoff),
            N_WORDS=rules.n_words,
            N_PLAYERS=game.n_players,
            HAS_CHANCE=rules.chances is not None,
            MAX_PLIES=search_plies(rules),
            SIZES=(rules.max_actions, rules.max_outcomes),  # of the record: a kernel is compiled for one only
        )
        self.params = kernel.params.copy()
        self.box = context(rules, game.n_players)
        self.at = {name: self.box[name] for name in self.box.dtype.names or ()}
        self.row = {name: self.box[name][0] for name in ("words", "ranks", "values", "line")}
        self.row["actions"] = self.box["actions"][0, 0]  # the root's
        self.at["tie_sign"][0] = TIES[ties]
        self.at["allied"][0, list(alliance)] = 1
        self.threads = KernelThreads([self.at["stop"]])
        self._warm_up()

    def _warm_up(self) -> None:
        """Compile, or fetch from the disk, before the first clock starts to run."""
        announce(f"max^n for {self.game.name} with the {self.evaluator.name} Eval", self.kernels.deepen)
        s = self.game.initial()
        while self.game.to_play(s) == CHANCE:
            s = self.game.result(s, self.game.chances(s)[0][0])
        try:
            self.search(s, Limits(depth=1), seed=None, action_values=False)
        except COMPILE_ERRORS as error:
            raise explain_failure(error, f"max^n for {self.game.name}") from None
        if len(self.kernels.vector.signatures) > 1:  # it would crash when loaded from the disk (Numba #6061)
            raise EvallearnError(f"the kernel of {self.game.name} was compiled twice: please report this as a bug")

    def search(self, s: State, limits: Limits, *, seed: int | None, action_values: bool) -> SearchResult:
        start = perf_counter()
        at, row = self.at, self.row
        row["words"][:] = self.game.encode(s)
        player = int(self.kernels.prepare(self.box))
        if player < 0:
            require_decision(self.game, s)
        n = int(at["n_root"][0])
        ranks = tie_ranks(n, seed)
        row["ranks"][:n] = ranks
        at["best_index"][0] = ranks.index(0)
        at["node_limit"][0] = NO_LIMIT if limits.nodes is None else limits.nodes
        interrupted = self._run(limits, start)
        actions, values = row["actions"][:n].tolist(), row["values"][:n].tolist()
        best, depth = int(at["best_index"][0]), int(at["depth"][0])
        result = SearchResult(
            action=actions[best],
            value=(values[best] if depth else self.evaluator.evaluate(s, player)) + 0.0,  # a draw is 0.0, not -0.0
            player=player,
            depth=depth,
            nodes=int(at["nodes"][0]),
            pv=tuple(row["line"][: int(at["line_length"][0])].tolist()),
            exact=bool(at["exact"][0]),
            seconds=perf_counter() - start,
            action_values=dict(zip(actions, values, strict=True)) if depth else None,
            leaves=int(at["asked"][0] + at["ended"][0]),
        )
        if interrupted:
            raise Interrupted(result)
        return result

    def _run(self, limits: Limits, start: float) -> bool:
        """True if Ctrl-C ended it."""
        depth = min(limits.depth or MAX_DEPTH, MAX_DEPTH)
        return self.threads.run(
            [lambda: self.kernels.deepen(self.box, self.params, depth)],
            deadline=None if limits.seconds is None else start + limits.seconds,
            short=depth <= SHORT_DEPTH or (limits.nodes or NO_LIMIT) <= SHORT_NODES,
        )
