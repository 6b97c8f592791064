"""The searches of models that learn from them, linear ones and nets: alpha-beta of a small depth, then quiescence.

`leaves.py` says how they look; here is what a kernel of games is handed to make them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evallearn.core.evaluator import EvalKernel
from evallearn.core.game import Game
from evallearn.train.leaves import leaves_kernel, search_options

TEMPLATE = Path(__file__).with_name("search_kernel.py")


def searching_kernels(game: Game, own: EvalKernel, note_node: Any) -> dict[str, Any]:
    """Return begin, remember, shuffle, search and leaf_of for an evaluator whose record is its own.

    note_node(s, value, alpha, beta, params) is told of every quiet node; None: nobody is.
    """
    from evallearn.compiled.hooks import bindings
    from evallearn.compiled.specialise import specialise
    from evallearn.search.alphabeta.compiled import kernels
    from evallearn.search.common.principal_variation import note_line
    from evallearn.search.common.repetition import looking_back
    from evallearn.train.draws import uniform

    rules, options = game.rules, search_options(game)
    assert rules is not None
    tree = kernels(game, own, options, False, note_node)
    module: Any = specialise(
        TEMPLATE,
        **bindings(rules, "result", "to_play"),
        value_mover=tree.value_mover,
        tell=tree.tell,
        prepare=tree.prepare,
        note_line=note_line,
        uniform=uniform,
        EVERY_NODE=note_node is not None,
    )
    return {
        "begin": module.begin,
        "remember": looking_back(rules).remember,
        "shuffle": module.shuffle,
        "search": module.search,
        "leaf_of": leaves_kernel(game, tree, own.evaluate_mover, options).leaf_of,
    }
