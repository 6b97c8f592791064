"""Alpha-beta prunes by the bounds of an evaluator, and answers what minimax answers with the same evaluator.

On random trees whose bounds narrow with every move (narrowing.py), and on Connect Four and Pacman near their ends.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest
from hypothesis import strategies as st
from narrowing import Narrowing
from properties import WAYS, answer, few_or_many, for_all, seeds, ties

from evallearn import AlphaBeta, BoundedEval, Evaluator, Game, Limits, LinearEval, Minimax, get_game, heuristic
from evallearn.compiled.game import CompiledGame
from evallearn.core.game import State
from evallearn.errors import EvaluatorError
from evallearn.games.pacman.state import cells_of

PLAIN_WAYS = ("bare", "table", "pvs, ordered", "all")
DEEP = 12


@cache
def setting(name: str) -> tuple[Game, BoundedEval]:
    """A game on compiled rules, and its last heuristic within the bounds."""
    game = CompiledGame(Narrowing() if name == "narrowing" else get_game(name))
    return game, BoundedEval(heuristic(game, list(game.heuristics)[-1]))


@cache
def search(name: str, way: str, backend: Any, **options: Any) -> AlphaBeta:
    game, evaluator = setting(name)
    return AlphaBeta(game, evaluator, backend=backend, **WAYS[way], **options)


def ending(name: str, seed: int) -> State:
    """A position from which the end of the game is in sight."""
    if name == "narrowing":
        return Narrowing().root(seed)
    game, rng = get_game(name), random.Random(seed)
    plies = rng.randrange(26, 36) if name == "connect_four" else 8
    s = game.initial()
    for left in range(plies, 0, -1):
        s = game.result(s, rng.choice(list(game.actions(s))))
        if game.is_terminal(s):
            return ending(name, seed + left)  # another game
    if name == "connect_four":
        return s
    dots = rng.sample(list(cells_of(s.food)), min(3, s.food.bit_count()))
    return s._replace(food=sum(1 << dot for dot in dots), moves=rng.choice((3, 6, 100)), score=rng.randrange(-50, 300))


def check_equals_minimax(name: str, backend: Any, ways: tuple[str, ...], examples: int, deepest: int) -> None:
    game, evaluator = setting(name)
    oracle = Minimax(game, evaluator)

    def check(seed: int, depth: int, tie: int | None) -> None:
        s, limits = ending(name, seed), Limits(depth=depth)
        expected = oracle.search(s, limits, seed=tie)
        for way in ways:
            found = search(name, way, backend).search(s, limits, seed=tie)
            assert answer(found) == answer(expected), (game.to_text(s), way)
            assert found.exact or not expected.exact
        every = search(name, ways[seed % len(ways)], backend).search(s, limits, seed=tie, action_values=True)
        assert (answer(every), every.action_values) == (answer(expected), expected.action_values)

    for_all(examples, check, seed=seeds, depth=st.integers(1, deepest), tie=ties)


@few_or_many(60, 3000)
def test_pruning_by_bounds_changes_no_answer_on_random_trees(examples: int) -> None:
    check_equals_minimax("narrowing", "python", PLAIN_WAYS, examples, 7)


@few_or_many(20, 300)
def test_pruning_by_bounds_changes_no_answer_in_connect_four(examples: int) -> None:
    check_equals_minimax("connect_four", "compiled", tuple(WAYS), examples, 4)


@pytest.mark.long
@pytest.mark.parametrize(("name", "deepest"), [("narrowing", 7), ("pacman", 5), ("pacman,maze=two_ghosts", 5)])
def test_pruning_by_bounds_changes_no_answer_in_any_game(name: str, deepest: int) -> None:
    check_equals_minimax(name, "compiled", tuple(WAYS), 600, deepest)


@few_or_many(60, 3000)
def test_what_is_called_proven_is_the_value_of_the_game(examples: int) -> None:
    """A cut by the bounds of the rules is a proof: no other evaluator, and no greater depth, finds anything else."""
    game, _ = setting("narrowing")
    truth = Minimax(game, LinearEval.zero(game))
    early = []

    def check(seed: int, depth: int) -> None:
        s = ending("narrowing", seed)
        found = search("narrowing", "all", "python").search(s, Limits(depth=depth))
        if found.exact:
            value = truth.search(s, Limits(depth=DEEP)).value
            assert found.value == value
            early.append(truth.search(s, Limits(depth=found.depth)).exact)

    for_all(examples, check, seed=seeds, depth=st.integers(1, 7))
    assert False in early  # proven by bounds alone, where the lines were not played to their ends


def same_on_both_backends(name: str, way: str, states: list[State], depth: int) -> None:
    for s in states:
        a, b = (search(name, way, backend).search(s, Limits(depth=depth)) for backend in ("python", "compiled"))
        assert (answer(a), a.nodes, a.leaf_calls, a.exact, a.pv) == (answer(b), b.nodes, b.leaf_calls, b.exact, b.pv)


@pytest.mark.parametrize("way", ["bare", "pvs, ordered"])
@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("connect_four", 20),
        pytest.param("narrowing", 2000, marks=pytest.mark.long),
        pytest.param("pacman", 60, marks=pytest.mark.long),
    ],
)
def test_both_backends_prune_the_same_nodes(name: str, way: str, n: int) -> None:
    same_on_both_backends(name, way, [ending(name, seed) for seed in range(n)], 7)


SAVED = {"narrowing": (7, 0.4), "connect_four": (6, 0.2)}
"""The depth and the share of nodes that bounds save at least."""


@pytest.mark.parametrize("name", SAVED)
def test_bounds_save_nodes_and_change_nothing_else(name: str) -> None:
    depth, share = SAVED[name]
    nodes = dict.fromkeys((True, False), 0)
    for seed in range(20):
        s, limits = ending(name, seed), Limits(depth=depth)
        cut, whole = (search(name, "bare", "python", bounds=on).search(s, limits) for on in (True, False))
        assert answer(cut) == answer(whole)
        nodes[True] += cut.nodes
        nodes[False] += whole.nodes
    assert nodes[True] < (1 - share) * nodes[False]


def test_pacman_is_pruned_on_the_plain_backend_too() -> None:
    game = get_game("pacman,maze=thrash")
    s = game.from_text("%%%%%%%/%P-.--%/%%%%%%%/%G----%/%%%%%%% moves=9")
    evaluator = BoundedEval(heuristic(game, "score"))
    whole, cut = (AlphaBeta(game, evaluator, backend="python", table=False, bounds=on) for on in (False, True))
    limits = Limits(depth=9)
    a, b = whole.search(s, limits), cut.search(s, limits)
    assert answer(a) == answer(b) == (508.0, 1)
    assert b.nodes < a.nodes / 2
    assert (a.exact, b.exact) == (False, True)  # nobody can do better than to go there at once


def test_line_reaches_the_depth_the_end_or_what_the_bounds_decide() -> None:
    game, _ = setting("connect_four")
    for seed in range(30):
        s = ending("connect_four", seed)
        found = search("connect_four", "bare", "compiled").search(s, Limits(depth=6))
        for a in found.pv:
            s = game.result(s, a)
        low, high = game.bounds(s, found.player)
        assert game.is_terminal(s) or len(found.pv) == found.depth or low == high == found.value


class Boast(Evaluator):
    """Offers bounds and does not keep them."""

    def __init__(self, game: Game) -> None:
        self.game, self.name = game, "boast"

    def evaluate(self, s: State, player: int) -> float:
        return self.game.utility(s, player) if self.game.is_terminal(s) else 0.25

    def bounds(self, s: State, player: int) -> tuple[float, float]:
        return -1.0, 0.0


def test_eval_outside_its_own_bounds_is_refused() -> None:
    game = get_game("tic_tac_toe")
    with pytest.raises(
        EvaluatorError, match=r"the boast evaluator finds 0\.25 in tic_tac_toe position '.*', outside the"
    ):
        AlphaBeta(game, Boast(game)).search(game.initial(), Limits(depth=1))
