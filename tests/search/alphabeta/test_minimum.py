"""How few leaves alpha-beta can do with: Knuth & Moore's theorem, to the leaf, and the worst order as well."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hashed_trees import BEST_FIRST, WORST_FIRST, HashedTree, Node

from evallearn import AlphaBeta, Limits, LinearEval, Minimax

BACKENDS = ("python", "compiled")
SIZES = [(2, 8), (3, 5), (4, 4), (5, 3), (7, 2), (8, 1)]
LARGE = [(2, 16), (3, 11), (5, 8), (8, 6)]
BARE = {"table": False, "killers": False, "history": False, "pvs": False, "aspiration": False, "noisy_first": False}


@cache
def search(backend: Any, **switches: bool) -> AlphaBeta:
    """The evaluator knows nothing, so no earlier iteration disturbs the order."""
    game = HashedTree()
    return AlphaBeta(game, LinearEval.zero(game), backend=backend, **{**BARE, **switches})


def tree(branching: int, levels: int, order: int) -> Node:
    return HashedTree().root(branching, branching=branching, levels=levels, order=order, grain=20)


def leaves_of_the_last_iteration(backend: str, s: Node, depth: int, **switches: bool) -> int:
    """Iterative deepening counts the leaves of all iterations: those of the shallower ones are taken off."""
    last = search(backend, **switches).search(s, Limits(depth=depth))
    assert (last.value, last.depth) == (0.0, depth)  # so are these trees made
    before = search(backend, **switches).search(s, Limits(depth=depth - 1)).leaf_calls if depth > 1 else 0
    return last.leaf_calls - before


@pytest.mark.parametrize(("branching", "depth"), SIZES)
def test_trees_are_as_ordered_as_they_say(branching: int, depth: int) -> None:
    game = HashedTree()
    for order in (BEST_FIRST, WORST_FIRST):
        s = tree(branching, depth, order)
        found = Minimax(game, LinearEval.zero(game)).search(s, Limits(depth=depth))
        assert found.leaf_calls == branching**depth
        values = list((found.action_values or {}).values())
        assert len(set(values)) == branching
        assert values == sorted(values, reverse=order == BEST_FIRST)


@pytest.mark.parametrize("pvs", [False, True])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("branching", "depth"), SIZES)
def test_perfect_order_needs_the_minimum_of_leaves(branching: int, depth: int, backend: str, pvs: bool) -> None:
    s = tree(branching, depth, BEST_FIRST)
    minimum = branching ** ((depth + 1) // 2) + branching ** (depth // 2) - 1
    assert leaves_of_the_last_iteration(backend, s, depth, pvs=pvs) == minimum


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("branching", "depth"), SIZES)
def test_worst_order_prunes_nothing(branching: int, depth: int, backend: str) -> None:
    s = tree(branching, depth, WORST_FIRST)
    assert leaves_of_the_last_iteration(backend, s, depth) == branching**depth


@pytest.mark.parametrize("pvs", [False, True])
@pytest.mark.parametrize(("branching", "depth"), LARGE)
def test_minimum_holds_in_large_trees_too(branching: int, depth: int, pvs: bool) -> None:
    s = tree(branching, depth, BEST_FIRST)
    minimum = branching ** ((depth + 1) // 2) + branching ** (depth // 2) - 1
    assert leaves_of_the_last_iteration("compiled", s, depth, pvs=pvs) == minimum
