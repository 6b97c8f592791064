"""Actions in the order in which EVAL likes the positions after them: the same answers, other nodes."""

from __future__ import annotations

import random

import pytest
from hashed_trees import HashedTree, Shape
from hypothesis import strategies as st
from properties import OFF, answer, fast, few_or_many, for_all, position, seeds, shapes, ties

from evallearn import AlphaBeta, Limits, Minimax
from evallearn.search.alphabeta.margins import EVAL_SCORES, eval_score

BARE = {**OFF, "order_by_eval": True}
FULL = {"order_by_eval": True, "table": False}


def test_scores_keep_the_order_of_values_and_stay_below_those_of_killers() -> None:
    rng = random.Random(1)
    for win in (1.0, 3.0, 4096.0):
        values = sorted(rng.uniform(-win, win) for _ in range(100))
        scores = [eval_score(v, win) for v in (-win, *values, win)]
        assert scores == sorted(scores)
        assert (scores[0], scores[-1]) == (0, 2 * EVAL_SCORES)


@few_or_many(30, 2000)
def test_order_by_eval_changes_no_answer_on_random_trees(examples: int) -> None:
    game, evaluator = fast("hashed_tree")
    oracle = Minimax(game, evaluator)
    searches = [AlphaBeta(game, evaluator, backend="python", **way) for way in (BARE, {"order_by_eval": True})]

    def check(seed: int, shape: Shape, depth: int, tie: int | None) -> None:
        s, limits = HashedTree().root(seed, **shape._asdict()), Limits(depth=depth)
        expected = oracle.search(s, limits, seed=tie)
        for search in searches:
            found = search.search(s, limits, seed=tie)
            assert answer(found) == answer(expected)
            assert found.exact or not expected.exact

    for_all(examples, check, seed=seeds, shape=shapes, depth=st.integers(3, 6), tie=ties)


@pytest.mark.parametrize(
    "name", ["tic_tac_toe", *(pytest.param(n, marks=pytest.mark.long) for n in ("connect_four", "pacman"))]
)
@pytest.mark.parametrize("way", [BARE, FULL], ids=["bare", "full"])
def test_both_backends_try_actions_in_the_same_order(name: str, way: dict[str, bool]) -> None:
    game, evaluator = fast(name)
    plain, compiled = (AlphaBeta(game, evaluator, backend=backend, **way) for backend in ("python", "compiled"))
    for seed in range(12):
        s, limits = position(game, seed, 8 if name == "tic_tac_toe" else 20), Limits(depth=5)
        a, b = plain.search(s, limits), compiled.search(s, limits)
        assert (answer(a), a.nodes, a.leaf_calls, a.exact, a.pv) == (answer(b), b.nodes, b.leaf_calls, b.exact, b.pv)


def test_it_saves_nodes_where_nothing_else_orders_the_actions() -> None:
    game, evaluator = fast("tic_tac_toe")
    whole, ordered = (AlphaBeta(game, evaluator, **{**OFF, "order_by_eval": on}) for on in (False, True))
    a, b = (search.search(game.initial(), Limits(depth=9)) for search in (whole, ordered))
    assert answer(a) == answer(b)
    assert b.nodes < 0.6 * a.nodes  # its own looks are counted


@pytest.mark.parametrize("backend", ["python", "compiled"])
def test_its_looks_count_against_a_limit_of_nodes(backend: str) -> None:
    game, evaluator = fast("tic_tac_toe")
    search = AlphaBeta(game, evaluator, backend=backend, **FULL)  # type: ignore[arg-type]
    for nodes in (1, 150, 160, 161, 162, 170, 300, 1000):
        assert search.search(game.initial(), Limits(nodes=nodes)).nodes == nodes
