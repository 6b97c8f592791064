"""Minimax on the textbook's tree, and alpha-beta against it on random trees and on a game with double moves."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import FIGURE_5_2, DoubleMove, TreeGame

from evallearn import AlphaBeta, FunctionEval, Limits, Minimax, heuristic
from evallearn.errors import SearchError

leaf = st.integers(-9, 9)
trees = st.recursive(leaf, lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=40)


def by_path(s: Any, player: int) -> float:
    """An evaluator of tree nodes: any number that depends on the path, seen by the player who is asked."""
    value = (hash(s) % 19 - 9) * 0.9
    return value if player == 0 else -value


def test_figure_5_2_is_worth_3() -> None:
    game = TreeGame(FIGURE_5_2)
    found = Minimax(game, FunctionEval(game, by_path)).search((), Limits(depth=2))
    assert (found.value, found.action, found.pv, found.exact) == (3.0, 0, (0, 0), True)
    assert found.action_values == {0: 3.0, 1: 2.0, 2: 2.0}
    assert found.nodes == 13


def test_alphabeta_prunes_figure_5_2_as_the_book_does() -> None:
    game = TreeGame(FIGURE_5_2)
    search = AlphaBeta(game, FunctionEval(game, by_path), table=False, killers=False, history=False)
    found = search.search((), Limits(depth=2))
    assert (found.value, found.action, found.pv) == (3.0, 0, (0, 0))
    # Depth 1 asks about 3 states; depth 2 skips the last two leaves of the middle branch: 1 + 3 + (3 + 1 + 3) nodes.
    assert found.nodes == (1 + 3) + (1 + 3 + 7)


@settings(max_examples=100)
@given(tree=st.lists(trees, min_size=1, max_size=4), depth=st.integers(1, 5), seed=st.none() | st.integers(0, 99))
def test_alphabeta_equals_minimax_on_random_trees(tree: Any, depth: int, seed: int | None) -> None:
    game = TreeGame(tree, (-10.0, 10.0))
    evaluator = FunctionEval(game, by_path)
    expected = Minimax(game, evaluator).search((), Limits(depth=depth), seed=seed)
    for table in (False, True):
        found = AlphaBeta(game, evaluator, table=table).search((), Limits(depth=depth), seed=seed)
        assert (found.value, found.action) == (expected.value, expected.action)
        assert found.exact <= expected.exact or found.exact


@pytest.mark.parametrize("backend", ["python", "compiled"])
def test_a_player_may_move_twice(backend: str) -> None:
    game = DoubleMove()
    evaluator = heuristic(game, "phased")
    oracle = Minimax(game, evaluator)
    searches = [AlphaBeta(game, evaluator, backend=backend, table=table) for table in (False, True)]  # type: ignore[arg-type]
    s = game.initial()
    for pile in range(1, 12):
        s = s._replace(pile=pile, player=pile % 2)
        for depth in range(1, 8):
            expected = oracle.search(s, Limits(depth=depth))
            for search in searches:
                found = search.search(s, Limits(depth=depth))
                assert (found.value, found.action) == (expected.value, expected.action)


def test_minimax_wants_a_depth_and_nothing_else() -> None:
    game = TreeGame(FIGURE_5_2)
    search = Minimax(game, FunctionEval(game, by_path))
    for limits in (Limits(nodes=5), Limits(depth=2, seconds=1.0)):
        with pytest.raises(SearchError, match="minimax runs to a fixed depth; got .*: give depth alone"):
            search.search((), limits)
    with pytest.raises(SearchError, match="the game is over in tree position 'root.0.0'"):
        search.search((0, 0), Limits(depth=1))
