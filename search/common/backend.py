"""Which backend a search runs on."""

from __future__ import annotations

from typing import Literal

from evallearn.core.evaluator import EvalKernel, Evaluator
from evallearn.core.game import Game
from evallearn.errors import SearchError

Backend = Literal["auto", "python", "compiled"]


def eval_kernel(
    game: Game, evaluator: Evaluator | None, backend: Backend, forgetful: str | None = None
) -> EvalKernel | None:
    """Return the evaluator for the compiled backend, or None if the search is to run on the python backend.

    "auto" takes the compiled backend where there is one; "compiled" where there is none is refused. Without an
    evaluator something stands in for it that is never asked. forgetful: the name of a search whose kernel remembers no
    past, and so cannot play a game whose rules look back.
    """
    if backend == "python":
        return None
    kernel = None
    if game.rules is None:
        why = f"the game {game.name} has no compiled backend"
    elif forgetful and game.rules.clock is not None:
        why = f"the rules of {game.name} look back, for which {forgetful} has no compiled backend"
    elif evaluator is None:
        from evallearn.search.montecarlo.playouts_compiled import no_eval

        return no_eval(game)
    else:
        kernel = evaluator.kernel()
        why = f"the {evaluator.name} evaluator has no compiled backend"
    if backend == "compiled" and kernel is None:
        raise SearchError(f"{why}: give it one, or use backend='auto'")
    return kernel
