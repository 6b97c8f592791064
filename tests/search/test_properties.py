"""A pruned search answers what the plain one answers, and searches agree on the games that several of them can play.

On random trees (hashed_trees.py: any shape is searched by the same kernel) and on random positions of every game;
`make long` looks at many more.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hashed_trees import HashedDice, HashedMany, HashedTree, Shape
from hypothesis import strategies as st
from playing import compare_backends
from properties import (
    PRUNING,
    WAYS,
    alphabeta,
    answer,
    expectiminimax,
    fast,
    few_or_many,
    for_all,
    position,
    seeds,
    shapes,
    ties,
)

from evallearn import AlphaBeta, Expectiminimax, Game, Limits, MaxN, Minimax, check_game, heuristic
from evallearn.search.multiplayer.best_reply import BestReply
from evallearn.search.multiplayer.paranoid import Paranoid


# --- the trees themselves --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("game", [HashedTree(), HashedDice(), HashedMany(3)], ids=lambda game: game.name)
def test_hashed_trees_keep_the_contract(game: Game) -> None:
    check_game(game, games=5)


@few_or_many(25, 500)
def test_hashed_trees_of_any_shape_are_the_same_on_both_backends(examples: int) -> None:
    def check(seed: int, shape: Shape) -> None:
        for game in (HashedTree(), HashedDice()):
            s = game.root(seed, **shape._asdict())
            rng = random.Random(seed)
            compare_backends(game, s)
            while not game.is_terminal(s):
                s = game.result(s, rng.randrange(game.n_choices(s)))
                compare_backends(game, s)

    for_all(examples, check, seed=seeds, shape=shapes)


# --- alpha-beta is minimax -------------------------------------------------------------------------------------------
@few_or_many(50, 2000)
def test_alphabeta_equals_minimax_on_random_trees_whatever_its_settings(examples: int) -> None:
    game, evaluator = fast("hashed_tree")
    oracle = Minimax(game, evaluator)

    def check(seed: int, shape: Shape, depth: int, tie: int | None, plain: str) -> None:
        s, limits = HashedTree().root(seed, **shape._asdict()), Limits(depth=depth)
        expected = oracle.search(s, limits, seed=tie)
        searches = [alphabeta("hashed_tree", way, "compiled") for way in WAYS]
        for search in (*searches, alphabeta("hashed_tree", plain, "python")):
            assert answer(search.search(s, limits, seed=tie)) == answer(expected)
        every = searches[seed % len(searches)].search(s, limits, seed=tie, action_values=True)
        assert (answer(every), every.action_values) == (answer(expected), expected.action_values)

    for_all(
        examples, check, seed=seeds, shape=shapes, depth=st.integers(1, 6), tie=ties, plain=st.sampled_from(list(WAYS))
    )


MINIMAX_GAMES = {"tic_tac_toe": 4, "connect_four": 3, "othello": 3, "checkers": 3, "chess": 2}
"""Games and the depth to which the oracle is quick."""


@pytest.mark.parametrize(
    "name",  # the kernels of checkers and chess take long to compile
    [pytest.param(n, marks=[pytest.mark.long] if n in ("checkers", "chess") else []) for n in MINIMAX_GAMES],
)
@few_or_many(8, 150)
def test_alphabeta_equals_minimax_in_every_game(name: str, examples: int) -> None:
    check_alphabeta(name, MINIMAX_GAMES[name], examples)


@pytest.mark.long
@pytest.mark.parametrize("name", ["matches", "matches,piles=3-4-5,k=3", "pacman"])
def test_alphabeta_equals_minimax_where_players_may_move_twice_or_piles_vary(name: str) -> None:
    check_alphabeta(name, 3, 100)


def check_alphabeta(name: str, deepest: int, examples: int) -> None:
    game, evaluator = fast(name)
    oracle = Minimax(game, evaluator)

    def check(seed: int, depth: int, tie: int | None, plain: str) -> None:
        s, limits = position(game, seed), Limits(depth=depth)
        expected = answer(oracle.search(s, limits, seed=tie))
        for search in (*(alphabeta(name, way, "compiled") for way in WAYS), alphabeta(name, plain, "python")):
            assert answer(search.search(s, limits, seed=tie)) == expected, game.to_text(s)

    for_all(examples, check, seed=seeds, depth=st.integers(1, deepest), tie=ties, plain=st.sampled_from(list(WAYS)))


@pytest.mark.parametrize("beyond", [{"quiescence": 3}, {"extensions": 2}, {"quiescence": 4, "extensions": 3}], ids=str)
@pytest.mark.parametrize(
    ("backend", "examples"), [("python", 12), pytest.param("compiled", 1000, marks=pytest.mark.long)]
)
def test_alphabeta_equals_minimax_beyond_the_horizon_too(beyond: dict[str, int], backend: Any, examples: int) -> None:
    game, evaluator = fast("hashed_tree")
    oracle = Minimax(game, evaluator, **beyond)
    searches = [AlphaBeta(game, evaluator, backend=backend, **beyond, **WAYS[way]) for way in ("bare", "all")]

    def check(seed: int, shape: Shape, depth: int, tie: int | None) -> None:
        s, limits = HashedTree().root(seed, **shape._asdict()), Limits(depth=depth)
        expected = oracle.search(s, limits, seed=tie)
        for search in searches:
            assert answer(search.search(s, limits, seed=tie)) == answer(expected)

    for_all(examples, check, seed=seeds, shape=shapes, depth=st.integers(1, 3), tie=ties)


@pytest.mark.long
@pytest.mark.parametrize("examples", [1500])
def test_unsound_pruning_is_the_same_on_both_backends_node_for_node(examples: int) -> None:
    game, evaluator = fast("hashed_tree")
    options = {"quiescence": 2, "extensions": 1, "null_move": True, "late_move_reductions": True, "table": False}
    plain, compiled = (AlphaBeta(game, evaluator, backend=backend, **options) for backend in ("python", "compiled"))
    changed = []

    def check(seed: int, shape: Shape, tie: int | None) -> None:
        s = HashedTree().root(seed, **(shape._asdict() | {"levels": 7, "passing": 6}))
        a, b = (search.search(s, Limits(depth=5), seed=tie) for search in (plain, compiled))
        assert (answer(a), a.nodes, a.leaf_calls, a.exact, a.pv) == (answer(b), b.nodes, b.leaf_calls, b.exact, b.pv)
        changed.append(a.exact)

    for_all(examples, check, seed=seeds, shape=shapes, tie=ties)
    assert True in changed
    assert False in changed


@pytest.mark.long
@pytest.mark.parametrize("threads", [2, 3])
def test_several_threads_answer_as_one(threads: int) -> None:
    """Short searches use one of the threads, deep ones all: neither may see what the other left."""
    game, evaluator = fast("hashed_tree")
    one = alphabeta("hashed_tree", "bare", "compiled")
    several = AlphaBeta(game, evaluator, threads=threads, table_bits=10)

    def check(seed: int, shape: Shape, depth: int, tie: int | None) -> None:
        s = HashedTree().root(seed, **shape._replace(levels=shape.levels + 6)._asdict())
        expected, found = (search.search(s, Limits(depth=depth), seed=tie) for search in (one, several))
        assert (answer(found), found.player) == (answer(expected), expected.player)

    for_all(1000, check, seed=seeds, shape=shapes, depth=st.integers(1, 9), tie=ties)


# --- Star1 and Star2 are expectiminimax ------------------------------------------------------------------------------
@few_or_many(40, 1500)
def test_pruned_expectiminimax_equals_the_plain_one_on_random_trees(examples: int) -> None:
    game, evaluator = fast("hashed_dice")
    oracle = Expectiminimax(game, evaluator, pruning="none", table=False, backend="python")

    def check(seed: int, shape: Shape, depth: int, tie: int | None, plain: str) -> None:
        s, limits = HashedDice().root(seed, **shape._asdict()), Limits(depth=depth)
        expected = oracle.search(s, limits, seed=tie)
        for pruning in PRUNING:
            for table in (False, True):
                found = expectiminimax("hashed_dice", pruning, "compiled", table).search(s, limits, seed=tie)
                assert answer(found) == answer(expected), (pruning, table)
        found = expectiminimax("hashed_dice", plain, "python", seed % 2 == 0).search(s, limits, seed=tie)
        assert answer(found) == answer(expected)

    for_all(
        examples, check, seed=seeds, shape=shapes, depth=st.integers(1, 4), tie=ties, plain=st.sampled_from(PRUNING)
    )


@pytest.mark.long
@pytest.mark.parametrize(("name", "deepest", "examples"), [("pig", 3, 100), ("backgammon", 1, 60), ("2048", 2, 40)])
def test_pruned_expectiminimax_equals_the_plain_one_in_every_game(name: str, deepest: int, examples: int) -> None:
    game, evaluator = fast(name)
    oracle = Expectiminimax(game, evaluator, pruning="none", table=False, backend="python")

    def check(seed: int, depth: int) -> None:
        s, limits = position(game, seed), Limits(depth=depth)
        expected = oracle.search(s, limits)
        for pruning in PRUNING:
            for backend in ("python", "compiled"):
                found = expectiminimax(name, pruning, backend, seed % 2 == 0).search(s, limits)
                assert answer(found) == answer(expected), (game.to_text(s), pruning, backend)

    for_all(examples, check, seed=seeds, depth=st.integers(1, deepest))


# --- searches that can play the same game ----------------------------------------------------------------------------
@few_or_many(25, 1000)
def test_every_search_of_two_players_is_minimax_where_there_are_no_dice(examples: int) -> None:
    game, evaluator = fast("hashed_tree")
    oracle, best_reply = Minimax(game, evaluator), BestReply(game, evaluator)

    def check(seed: int, shape: Shape, depth: int, tie: int | None) -> None:
        s, limits = HashedTree().root(seed, **shape._asdict()), Limits(depth=depth)
        expected = oracle.search(s, limits, seed=tie)
        for search in two_player_searches("hashed_tree"):
            assert answer(search.search(s, limits, seed=tie)) == answer(expected), search
        if not (shape.random_mover or shape.width):  # else a side may move twice, of which one is the reply
            assert answer(best_reply.search(s, limits, seed=tie)) == answer(expected)

    for_all(examples, check, seed=seeds, shape=shapes, depth=st.integers(1, 4), tie=ties)


@pytest.mark.long
def test_compiled_searches_of_two_players_are_minimax_where_there_are_no_dice() -> None:
    game, evaluator = fast("hashed_tree")
    oracle = Minimax(game, evaluator)
    searches: list[Any] = [expectiminimax("hashed_tree", pruning, "compiled", True) for pruning in PRUNING]
    searches += [kind(game, evaluator, backend="compiled") for kind in (MaxN, Paranoid)]

    def check(seed: int, shape: Shape, depth: int, tie: int | None) -> None:
        s, limits = HashedTree().root(seed, **shape._asdict()), Limits(depth=depth)
        expected = oracle.search(s, limits, seed=tie)
        for search in searches:
            assert answer(search.search(s, limits, seed=tie)) == answer(expected), search

    for_all(1000, check, seed=seeds, shape=shapes, depth=st.integers(1, 5), tie=ties)


@pytest.mark.long
@pytest.mark.parametrize("name", ["connect_four", "othello", "pacman", "matches", "checkers"])
def test_every_search_of_two_players_is_minimax_in_every_game_without_dice(name: str) -> None:
    game, evaluator = fast(name)
    oracle = Minimax(game, evaluator)

    def check(seed: int, depth: int) -> None:
        s, limits = position(game, seed), Limits(depth=depth)
        expected = answer(oracle.search(s, limits))
        for search in two_player_searches(name):
            assert answer(search.search(s, limits)) == expected, (search, game.to_text(s))

    for_all(60, check, seed=seeds, depth=st.integers(1, 2))


@cache
def two_player_searches(name: str) -> list[Any]:
    game, evaluator = fast(name)
    rivals = [Expectiminimax(game, evaluator, pruning=pruning, backend="python") for pruning in PRUNING]
    return [*rivals, *(kind(game, evaluator, backend="python") for kind in (MaxN, Paranoid))]


class Against(HashedMany):
    """The game that the paranoid player sees: all others are one player, who gains what the first loses."""

    zero_sum, antisymmetric = True, True

    def __init__(self, me: int) -> None:
        super().__init__(3)
        self.me, self.n_players, self.name = me, 2, "against"

    def observer(self, s: Any) -> int:
        return 0 if HashedMany(3).observer(s) == self.me else 1

    def utility(self, s: Any, player: int) -> float:
        return super().utility(s, self.me) * (1 if player == 0 else -1) + 0.0

    def features(self, s: Any, player: int) -> Sequence[float]:
        return [x * (1 if player == 0 else -1) for x in super().features(s, self.me)]


@few_or_many(25, 500)
def test_paranoid_is_minimax_against_all_the_others(examples: int) -> None:
    game = HashedMany(3)
    search = Paranoid(game, heuristic(game, "hash"))

    def check(seed: int, shape: Shape, depth: int) -> None:
        s, limits = game.root(seed, **shape._asdict()), Limits(depth=depth)
        other = Against(game.to_play(s))
        expected = Minimax(other, heuristic(other, "hash")).search(s, limits)
        assert answer(search.search(s, limits)) == answer(expected)

    for_all(examples, check, seed=seeds, shape=shapes, depth=st.integers(1, 4))
