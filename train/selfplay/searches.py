"""The searches of models that learn from them, linear ones and nets: alpha-beta of a small depth, then quiescence.

`leaves.py` says how they look; here is what a kernel of games is handed to make them.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from evallearn.compiled.hooks import Hook
from evallearn.core.evaluator import EvalKernel
from evallearn.core.game import Game
from evallearn.train.leaves import leaves_kernel, search_options

TEMPLATE = Path(__file__).with_name("search_kernel.py")


def searching_kernels(game: Game, own: EvalKernel, on_node: Hook | None) -> tuple[ModuleType, ModuleType]:
    """Return search_kernel.py and leaves_kernel.py for an evaluator whose record is its own.

    on_node(s, value, alpha, beta, params) is told of every quiet node; None: nobody is.
    """
    from evallearn.compiled.specialise import specialise
    from evallearn.search.alphabeta.compiled import kernels

    rules, options = game.rules, search_options(game)
    assert rules is not None
    tree = kernels(game, own, options, False, on_node)
    search = specialise(TEMPLATE, rules, tree, value_mover=tree.value_mover, EVERY_NODE=on_node is not None)
    return search, leaves_kernel(game, tree, own.evaluate_mover, options)
