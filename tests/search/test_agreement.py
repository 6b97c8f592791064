"""A result agrees with itself: action, value, values of all actions and line come from one iteration, and say which.

Every search, on small games and random trees, stopped wherever a limit may strike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hashed_trees import HashedDice, HashedMany, HashedTree, Shape
from hypothesis import strategies as st
from playing import random_game
from properties import WAYS, fast, few_or_many, for_all, position, seeds, shapes, ties
from simulations import built
from toys import Seats

from evallearn import (
    AlphaBeta,
    Expectiminimax,
    FunctionEval,
    Game,
    Limits,
    LinearEval,
    MaxN,
    Minimax,
    get_game,
    heuristic,
)
from evallearn.compiled.game import CompiledGame
from evallearn.core.game import State
from evallearn.core.search import SearchResult
from evallearn.errors import Interrupted
from evallearn.search.montecarlo.flat import FlatMonteCarlo
from evallearn.search.montecarlo.mcts import MCTS
from evallearn.search.multiplayer.best_reply import BestReply
from evallearn.search.multiplayer.paranoid import Paranoid

TREE, DICE, THREE = HashedTree(), HashedDice(), HashedMany(3)
SELECTIVE = {
    "quiescence": 2, "extensions": 1, "null_move": True, "late_move_reductions": True,
    "futility": True, "path_independent_table": True, "use_partial_iteration": True,
}  # fmt: skip
LIMITS = [
    *(Limits(nodes=n) for n in (1, 2, 3, 6, 13, 29, 61, 150, 400)), Limits(depth=3, nodes=50), Limits(seconds=1e-5),
    Limits(seconds=1e-3),
]  # fmt: skip
limits_of = st.sampled_from(LIMITS)


def agrees(game: Game, s: State, found: SearchResult) -> None:
    """All that a result says of itself."""
    assert found.player == game.to_play(s)
    assert found.action in game.actions(s)
    assert found.pv[0] == found.action
    if found.action_values is not None:
        assert set(found.action_values) == set(game.actions(s))
        assert found.action_values[found.action] == found.value
    if found.values is not None:
        assert len(found.values) == game.n_players
        assert found.values[found.player] == found.value
        if game.n_players == 2 and game.zero_sum:
            assert sum(found.values) == 0


def agrees_by_value(game: Game, s: State, found: SearchResult) -> None:
    """Of a search that chooses by values."""
    agrees(game, s, found)
    if found.action_values is not None:
        assert found.value == max(found.action_values.values())
        assert found.value_depth == found.depth
    assert found.value_depth is not None
    assert found.depth <= found.value_depth <= found.depth + 1


# --- searches that go deeper and deeper ------------------------------------------------------------------------------
def linear(game: Game) -> LinearEval:
    return heuristic(game, list(game.heuristics)[-1])


DEEPENING: dict[str, tuple[Game, Callable[[], Any]]] = {
    "alphabeta": (TREE, lambda: AlphaBeta(TREE, linear(TREE), backend="python")),
    "unsound alphabeta": (TREE, lambda: AlphaBeta(TREE, linear(TREE), backend="python", **SELECTIVE)),
    "compiled alphabeta": (TREE, lambda: AlphaBeta(TREE, linear(TREE), backend="compiled", **WAYS["all"])),
    "compiled alphabeta, unfinished": (
        TREE,
        lambda: AlphaBeta(TREE, linear(TREE), backend="compiled", use_partial_iteration=True),
    ),
    "expectiminimax": (DICE, lambda: Expectiminimax(DICE, linear(DICE), pruning="none", table=False, backend="python")),
    "expectiminimax, width": (DICE, lambda: Expectiminimax(DICE, linear(DICE), width=2, backend="python")),
    "star1": (DICE, lambda: Expectiminimax(DICE, linear(DICE), pruning="star1", backend="python")),
    "star2 sampled": (DICE, lambda: Expectiminimax(DICE, linear(DICE), samples=2, backend="python")),
    "compiled star2": (DICE, lambda: Expectiminimax(DICE, linear(DICE), backend="compiled")),
    "compiled star2 sampled": (DICE, lambda: Expectiminimax(DICE, linear(DICE), samples=2, backend="compiled")),
    "max^n": (THREE, lambda: MaxN(THREE, linear(THREE))),
    "max^n of two": (TREE, lambda: MaxN(TREE, linear(TREE), backend="python")),
    "paranoid": (THREE, lambda: Paranoid(THREE, linear(THREE))),
    "best reply": (THREE, lambda: BestReply(THREE, linear(THREE))),
}


@pytest.mark.parametrize("name", DEEPENING)
@few_or_many(40, 1000)
def test_deepening_results_agree_with_themselves_wherever_a_limit_strikes(name: str, examples: int) -> None:
    game, make = DEEPENING[name]
    search: Any = make()

    def check(seed: int, shape: Shape, limits: Limits, tie: int | None, every: bool) -> None:
        s = game.root(seed, **shape._asdict())  # type: ignore[attr-defined]  # all are hashed trees
        found = search.search(s, limits, seed=tie, action_values=every)
        agrees_by_value(game, s, found)
        if found.action_values is not None and tie is None and found.depth < 4:  # they are of the depth that they name
            again = search.search(s, Limits(depth=found.depth), action_values=True)
            assert again.action_values == found.action_values
            assert (again.action, again.value, again.values) == (found.action, found.value, found.values)
            assert again.standard_error == found.standard_error

    for_all(examples, check, seed=seeds, shape=shapes, limits=limits_of, tie=ties, every=st.booleans())


@pytest.mark.parametrize("ways", [{"threads": 2}, {"use_partial_iteration": True}], ids=str)
def test_compiled_connect_four_agrees_with_itself(ways: dict[str, Any]) -> None:
    game = get_game("connect_four")
    search = AlphaBeta(game, heuristic(game, "threats"), **ways)
    states = [s for s, _ in random_game(CompiledGame(game), 3)[:-1]]
    for i, s in enumerate(states):
        for limits in (Limits(nodes=500 + 370 * i), Limits(seconds=0.002), Limits(nodes=400_000, seconds=0.01)):
            for every in (False, True):
                agrees_by_value(game, s, search.search(s, limits, action_values=every))


@pytest.mark.parametrize("kind", [MaxN, Paranoid])
def test_compiled_searches_of_three_players_agree_with_themselves(kind: Any) -> None:
    game = get_game("three_player_connect")
    search = kind(game, heuristic(game, "lines"), backend="compiled")
    for i, (s, _) in enumerate(random_game(game, 4)[:-1]):
        for limits in (Limits(nodes=1), Limits(nodes=10 + 3 * i), Limits(nodes=200 + 41 * i), Limits(seconds=0.001)):
            for every in (False, True):
                agrees_by_value(game, s, search.search(s, limits, seed=i, action_values=every))


@pytest.mark.parametrize("backend", ["python", "compiled"])
def test_unfinished_depth_is_not_mixed_with_the_values_of_the_one_before(backend: Any) -> None:
    """Whoever asks for all values gets the finished depth; else a better action of the next one is taken, and told."""
    game = CompiledGame(get_game("checkers"))
    options = {
        "quiescence": 6,
        "extensions": 2,
        "late_move_reductions": True,
        "futility": True,
        "use_partial_iteration": True,
    }
    search = AlphaBeta(game, heuristic(game, "positional"), backend=backend, **options)
    taken = 0
    for seed in range(8):
        s = position(game, seed, longest=40)
        for nodes in range(200, 900, 100):
            told, found = (search.search(s, Limits(nodes=nodes), action_values=every) for every in (True, False))
            agrees_by_value(game, s, told)
            agrees_by_value(game, s, found)
            taken += found.value_depth == found.depth + 1
    assert taken > 0


@pytest.mark.parametrize("backend", ["python", "compiled"])
def test_value_is_no_sample_because_the_unfinished_depth_drew_one(backend: Any) -> None:
    search = Expectiminimax(DICE, linear(DICE), samples=2, backend=backend)
    found = [
        search.search(DICE.root(seed, branching=4, levels=6, uniform=1, chance=6), Limits(nodes=nodes))
        for seed in range(20)
        for nodes in (8, 12, 16, 400)
    ]
    assert all((f.standard_error is None) == (f.depth < 2) for f in found if not f.exact)
    assert {f.depth < 2 for f in found} == {True, False}


def test_minimax_says_which_depth_its_values_are_of() -> None:
    game, evaluator = fast("tic_tac_toe")
    s = game.from_text("X...O....")
    found = Minimax(game, evaluator).search(s, Limits(depth=3), seed=2)
    agrees_by_value(game, s, found)
    assert (found.depth, found.value_depth) == (3, 3)


@pytest.mark.parametrize("asked", [0, 2, 40, 10**6])
def test_minimax_that_was_stopped_tells_values_only_if_it_has_them_all(asked: int) -> None:
    game, calls = get_game("tic_tac_toe"), []

    class Stopping(Minimax):
        def value(self, *arguments: Any) -> Any:
            calls.append(1)
            if len(calls) > asked:
                raise KeyboardInterrupt
            return super().value(*arguments)

    search = Stopping(game, heuristic(game, "lines"))
    try:
        found = search.search(game.initial(), Limits(depth=2))
    except Interrupted as stopped:
        found = stopped.result
    agrees(game, game.initial(), found)
    assert (found.action_values is None) == (asked < 10**6)
    assert found.value_depth == (2 if asked > 8 else 0)


# --- searches that choose by simulations -----------------------------------------------------------------------------
MONTE_CARLO = [
    (MCTS, "tic_tac_toe", ()), (MCTS, "tic_tac_toe", (("solver", False),)), (FlatMonteCarlo, "tic_tac_toe", ()),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["python", "compiled"])
@pytest.mark.parametrize(("kind", "name", "options"), MONTE_CARLO)
def test_monte_carlo_results_agree_with_themselves(kind: Any, name: str, options: Any, backend: str) -> None:
    search = built(kind, name, backend, *options)
    game = search.game
    for s, _ in random_game(game, 5)[:-1]:
        for nodes in (1, 2, 5, 9, 20, 100, 400):
            found = search.search(s, Limits(nodes=nodes), seed=nodes)
            agrees(game, s, found)
            assert found.value_depth is None
            values = found.action_values or {}
            if kind is FlatMonteCarlo and values:
                assert found.value == max(values.values())
            if options:  # nothing is proven: the visits decide
                assert found.visits[found.action] == max(found.visits.values())


def test_monte_carlo_knows_only_what_the_mover_gets_among_three() -> None:
    for kind in (MCTS, FlatMonteCarlo):
        assert kind(THREE).search(THREE.initial(), Limits(nodes=30)).values is None


# --- the values to all players ---------------------------------------------------------------------------------------
def payoffs() -> Seats:
    """The three-player tree of the textbook: player 2 chooses among leaves, then 1, then 0."""
    return Seats([
        [[(1, 2, 6), (4, 2, 3)], [(6, 1, 2), (7, 4, 1)]],
        [[(5, 1, 1), (1, 5, 2)], [(7, 7, 1), (5, 4, 5)]],
    ])  # fmt: skip


def ones(s: Any, player: int) -> float:
    return 1.0 + player


@pytest.mark.parametrize(
    ("options", "limits", "value", "values"),
    [
        ({}, Limits(depth=9), 1.0, (1.0, 2.0, 6.0)),
        ({}, Limits(depth=1), 1.0, (1.0, 2.0, 3.0)),  # the evaluator's
        ({}, Limits(nodes=1), 1.0, (1.0, 2.0, 3.0)),  # no depth was finished
        ({"alliance": (0, 2)}, Limits(depth=9), 10.0, (5.0, 4.0, 5.0)),
        ({"alliance": (0, 2)}, Limits(nodes=1), 4.0, (1.0, 2.0, 3.0)),
    ],
)
def test_max_n_tells_what_the_line_is_worth_to_every_player(
    options: dict[str, Any], limits: Limits, value: float, values: tuple[float, ...]
) -> None:
    game = payoffs()
    found = MaxN(game, FunctionEval(game, ones), **options).search((), limits)
    assert (found.value, found.values) == (value, values)
    end: Any = ()
    for a in found.pv:
        end = game.result(end, a)
    if limits.depth == 9:
        assert tuple(game.utility(end, p) for p in range(3)) == values


def test_paranoid_and_best_reply_know_only_what_the_mover_gets() -> None:
    game = payoffs()
    for kind in (Paranoid, BestReply):
        assert kind(game, FunctionEval(game, ones)).search((), Limits(depth=9)).values is None
        two = kind(TREE, linear(TREE)).search(TREE.initial(), Limits(depth=2))
        assert two.values == (two.value, -two.value)
