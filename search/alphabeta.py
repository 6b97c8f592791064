"""Alpha-beta: H-minimax with pruning, iterative deepening, table, killers and history, on either floor."""

from __future__ import annotations

from typing import Any, Literal

from evallearn.errors import SearchError
from evallearn.protocols import Evaluator, Game, IsCutoff, Limits, SearchResult, State
from evallearn.search.alphabeta_plain import PlainAlphaBeta
from evallearn.search.common import cut_at_depth, require_own_eval, require_two_player_zero_sum

Floor = Literal["auto", "plain", "compiled"]


class AlphaBeta:
    """A search for two-player zero-sum games without chance.

    What it promises, whatever the options: at a finished depth d the value and the action are those of `Minimax` at
    depth d; equal actions go to the earlier one (or, with a seed, to a random one). The table, killers and history
    change only how many nodes that takes: the table is trusted only where it holds what minimax would find.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        *,
        table: bool = True,
        killers: bool = True,
        history: bool = True,
        is_cutoff: IsCutoff = cut_at_depth,
        table_bits: int = 18,
        floor: Floor = "auto",
    ) -> None:
        """is_cutoff(s, depth_left) says where the Eval is asked; on the compiled floor Numba must understand it.

        table_bits: the compiled table has 2**table_bits entries of 16 bytes. floor: "auto" takes the compiled floor
        if both the game and the Eval have one.
        """
        require_two_player_zero_sum(game, "alphabeta")
        require_own_eval(game, evaluator)
        if not 0 <= table_bits <= 30:
            raise SearchError(f"table_bits={table_bits}: give 0 to 30 (2**table_bits entries of 16 bytes)")
        self.game, self.evaluator = game, evaluator
        kernel = None if floor == "plain" or game.rules is None else evaluator.kernel()
        if floor == "compiled" and kernel is None:
            who = f"the game {game.name}" if game.rules is None else f"the {evaluator.name} Eval"
            raise SearchError(f"{who} has no compiled floor: give it one, or use floor='auto'")
        switches: dict[str, Any] = {"table": table, "killers": killers, "history": history, "is_cutoff": is_cutoff}
        self._search: Any
        if kernel is None:
            self._search = PlainAlphaBeta(game, evaluator, **switches)
        else:
            from evallearn.search.alphabeta_compiled import CompiledAlphaBeta

            self._search = CompiledAlphaBeta(game, evaluator, kernel, table_bits=table_bits, **switches)
        self.floor: Floor = "plain" if kernel is None else "compiled"

    def search(self, s: State, limits: Limits, *, seed: int | None = None, action_values: bool = False) -> SearchResult:
        """Deepen until a limit strikes. `seed` breaks ties at random; `action_values` asks for every root action."""
        result: SearchResult = self._search.search(s, limits, seed=seed, action_values=action_values)
        return result
