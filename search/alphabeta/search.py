"""Alpha-beta: H-minimax with pruning, on either backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import A, Game, S, State
from evallearn.core.memory import require_memory
from evallearn.core.search import Limits, Search, SearchResult
from evallearn.errors import SearchError, unknown
from evallearn.search.alphabeta.options import Options
from evallearn.search.alphabeta.plain import PlainAlphaBeta
from evallearn.search.common.backend import Backend, eval_kernel
from evallearn.search.common.requirements import require_own_eval, require_two_player_zero_sum

MOST_THREADS = 64


class AlphaBeta(Search[S, A]):
    """A search for two-player zero-sum games without chance; several moves in a row are fine (Pacman's ghosts).

    What it promises, unless an unsound option is on: at a finished depth d the value and the action are those of
    `Minimax` at depth d (with the same `quiescence`, `extensions` and `is_cutoff`); equal actions go to the earlier one
    or, with a seed, to a random one. The other options, and threads, change only how many nodes that takes.
    """

    def __init__(
        self,
        game: Game[S, A],
        evaluator: Evaluator[S],
        *,
        table_bits: int = 18,
        keep_table: bool = False,
        threads: int = 1,
        backend: Backend = "auto",
        **options: Any,
    ) -> None:
        """options: those of `evallearn.search.alphabeta.options.Options`, whose help says what each does.

        For nodes alone: table, killers, history, noisy_first, pvs, aspiration, bounds, order_by_eval. What is asked:
        quiescence, extensions, is_cutoff. Unsound:
        null_move, late_move_reductions, futility, path_independent_table, use_partial_iteration.
        backend: "auto" takes the compiled backend if both the game and the evaluator have one.

        On the compiled backend the table has 2**table_bits entries of 16 bytes. keep_table lets a search use what
        earlier ones of this object found: faster in a game, but then a node limit's answer depends on them. With
        `threads` that many share the table and the work.
        """
        require_two_player_zero_sum(game, "alphabeta")
        require_own_eval(game, evaluator)
        if wrong := options.keys() - Options.__dataclass_fields__.keys():
            raise unknown("option of alphabeta", min(wrong), Options.__dataclass_fields__)
        self.options = Options(**options)
        self.options.require_hooks(game)
        if not 0 <= table_bits <= 30:
            raise SearchError(f"table_bits={table_bits}: give 0 to 30 (2**table_bits entries of 16 bytes)")
        require_memory(16 << table_bits, f"table_bits={table_bits}")
        if not 1 <= threads <= MOST_THREADS:
            raise SearchError(f"threads={threads}: give 1 to {MOST_THREADS}")
        self.game, self.evaluator = game, evaluator
        kernel = eval_kernel(game, evaluator, backend)
        if threads > 1 and (kernel is None or not self.options.table):
            why = "the Python backend has one" if kernel is None else "they help each other through the table"
            raise SearchError(f"threads={threads}: {why}; use threads=1")
        self._search: PlainAlphaBeta | CompiledAlphaBeta
        if kernel is None:
            self._search = PlainAlphaBeta(game, evaluator, self.options)
        else:
            from evallearn.search.alphabeta.compiled import CompiledAlphaBeta

            self._search = CompiledAlphaBeta(
                game, evaluator, kernel, self.options, table_bits=table_bits, keep_table=keep_table, threads=threads
            )
        self.backend: Backend = "python" if kernel is None else "compiled"

    def search(self, s: S, limits: Limits, *, seed: int | None = None, action_values: bool = False) -> SearchResult[A]:
        """Deepen until a limit strikes. `seed` breaks ties at random; `action_values` asks for every root action."""
        result: SearchResult[A] = self._search.search(s, limits, seed=seed, action_values=action_values)
        return result

    def search_without(self, off: Sequence[str], s: State, limits: Limits) -> SearchResult:
        """One search with these options off, by the same kernel; nothing in the table that is kept is used or left."""
        result: SearchResult[A] = self._search.search_without(off, s, limits)
        return result
