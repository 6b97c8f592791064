"""Expectiminimax: minimax with dice, pruned by Star1 or Star2, with a table, exact or on samples, on either backend."""

from __future__ import annotations

from typing import get_args

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import A, Game, S
from evallearn.core.memory import require_memory
from evallearn.core.search import IsCutoff, Limits, Search, SearchResult
from evallearn.core.settings import whole
from evallearn.errors import SearchError
from evallearn.search.common.backend import Backend, eval_kernel
from evallearn.search.common.requirements import cut_at_depth, require_own_eval
from evallearn.search.expectiminimax.plain import PlainExpectiminimax
from evallearn.search.expectiminimax.star import Pruning, Star

SAMPLES, WIDTHS = whole(2, 10**6), whole(1, 10**6)


class Expectiminimax(Search[S, A]):
    """A search for games with or without dice of two players (zero-sum), or of one player alone.

    What it promises, whatever pruning and table: at a finished depth d the value and the action are those of
    `PlainExpectiminimax`, the textbook's, at depth d, to the last bit; equal actions go to the earlier one (or, with a
    seed, to a random one). It relies on the evaluator to lie between the worst loss and the best win of the game.
    The evaluator's values matter here, not only their order: they are averaged.

    With `samples` it is an estimate: where a roll has more outcomes than that, so many are drawn, with replacement, and
    their mean is taken. The throws follow from the seed (0 if there is none) and the position, so that all that was
    said above holds of the sampled tree. `standard_error` is the square root of the value's estimated variance under
    other seeds, the choices of action kept: of drawn outcomes their sample variance over their number, through full
    rolls and choices carried on to the root. It does not tell the bias: who chooses the best of several estimates
    expects too much.

    With `width` it looks only at so many actions wherever two or more plies are left: those that the evaluator likes
    best right after them, as programs of backgammon do (a move filter). Then all of this holds of the tree that is
    left; whoever asks for the values of all root actions gets them, for the filter begins below the root.
    """

    def __init__(
        self,
        game: Game[S, A],
        evaluator: Evaluator[S],
        *,
        pruning: Pruning = "star2",
        table: bool = True,
        samples: int | None = None,
        width: int | None = None,
        is_cutoff: IsCutoff = cut_at_depth,
        table_bits: int = 18,
        backend: Backend = "auto",
    ) -> None:
        """is_cutoff(s, depth_left) says where the evaluator is asked; on the compiled backend Numba must understand it.

        samples: outcomes drawn at a roll with more of them. width: actions that are followed; None: all.
        table_bits: the compiled table has 2**table_bits entries of 32 bytes. backend: "auto" takes the compiled
        backend if both the game and the evaluator have one.
        """
        if game.n_players > 2 or (game.n_players == 2 and not game.zero_sum):
            why = f"has {game.n_players} players" if game.n_players > 2 else "is not zero-sum"
            raise SearchError(
                f"expectiminimax needs one player, or two in a zero-sum game; {game.name} {why}: use max^n"
            )
        require_own_eval(game, evaluator)
        if pruning not in get_args(Pruning):
            raise SearchError(
                f"expectiminimax knows no pruning={pruning!r}: give {', '.join(map(repr, get_args(Pruning)))}"
            )
        if samples is not None and samples not in SAMPLES:
            raise SearchError(f"samples={samples!r}: give {SAMPLES}, or None for every outcome")
        if width is not None and width not in WIDTHS:
            raise SearchError(f"width={width!r}: give {WIDTHS}, or None for every action")
        if not 0 <= table_bits <= 30:
            raise SearchError(f"table_bits={table_bits}: give 0 to 30 (2**table_bits entries of 32 bytes)")
        require_memory(32 << table_bits, f"table_bits={table_bits}")
        self.game, self.evaluator = game, evaluator
        kernel = eval_kernel(game, evaluator, backend, "expectiminimax")
        self._search: PlainExpectiminimax | Star | CompiledExpectiminimax
        if kernel is not None:
            from evallearn.search.expectiminimax.compiled import CompiledExpectiminimax

            self._search = CompiledExpectiminimax(
                game, evaluator, kernel,
                table_bits=table_bits, pruning=pruning, table=table, samples=samples, width=width, is_cutoff=is_cutoff,
            )  # fmt: skip
        elif pruning == "none" and not table and samples is None:
            self._search = PlainExpectiminimax(game, evaluator, width=width, is_cutoff=is_cutoff)
        else:
            self._search = Star(
                game, evaluator, pruning=pruning, table=table, samples=samples, width=width, is_cutoff=is_cutoff
            )
        self.backend: Backend = "python" if kernel is None else "compiled"

    def search(self, s: S, limits: Limits, *, seed: int | None = None, action_values: bool = False) -> SearchResult[A]:
        """Deepen until a limit strikes. `seed` breaks ties at random; `action_values` asks for every root action."""
        result: SearchResult[A] = self._search.search(s, limits, seed=seed, action_values=action_values)
        return result
