"""Alpha-beta against its oracle: the same value and the same action as plain minimax, whatever the options."""

from __future__ import annotations

import random
import time

import pytest
from toys import DoubleMove, Pile

from evallearn import AlphaBeta, FunctionEval, Game, Limits, LinearEval, Minimax, get_game, heuristic
from evallearn.compiled.bits import popcount
from evallearn.compiled.game import CompiledGame
from evallearn.errors import SearchError

GAMES = ("tic_tac_toe", "connect_four", "othello")
SWITCHES = [
    dict(zip(("table", "killers", "history"), on, strict=True)) | {"pvs": pvs, "aspiration": aspiration}
    for on, pvs, aspiration in (
        ((False, False, False), False, False),
        ((True, False, False), False, True),
        ((False, True, False), True, False),
        ((False, False, True), False, True),
        ((True, True, False), True, False),
        ((True, False, True), True, True),
        ((False, True, True), True, True),
        ((True, True, True), True, True),
    )
]


def positions(game: Game, n: int, seed: int, longest: int = 50) -> list:
    """Random unfinished positions."""
    rng, found = random.Random(seed), []
    while len(found) < n:
        s = game.initial()
        for _ in range(rng.randrange(longest)):
            t = game.result(s, rng.choice(list(game.actions(s))))
            if game.is_terminal(t):
                break
            s = t
        found.append(s)
    return found


def fast(name: str) -> tuple[CompiledGame, LinearEval]:
    """The game on compiled rules (check_game shows that they equal the plain ones) and a heuristic for it."""
    game = CompiledGame(get_game(name))
    return game, heuristic(game, list(game.heuristics)[-1])


@pytest.mark.parametrize("n", [120, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", GAMES)
def test_compiled_equals_minimax_with_every_option(name: str, n: int) -> None:
    game, evaluator = fast(name)
    oracle = Minimax(game, evaluator)
    searches = [AlphaBeta(game, evaluator, backend="compiled", table_bits=10, **on) for on in SWITCHES]
    for i, s in enumerate(positions(game, n, seed=1)):
        limits = Limits(depth=1 + i % (3 if name != "othello" or i % 5 == 0 else 2))  # the oracle is slow there
        expected = oracle.search(s, limits)
        for search in searches:
            found = search.search(s, limits)
            assert (found.value, found.action) == (expected.value, expected.action), (game.to_text(s), limits)
            assert found.player == expected.player
        asked = searches[i % 8].search(s, limits, action_values=True)
        assert asked.action_values == expected.action_values
        assert asked.action == expected.action


@pytest.mark.parametrize("name", GAMES)
def test_plain_equals_minimax_and_compiled_with_every_option(name: str) -> None:
    game, evaluator = fast(name)
    oracle = Minimax(game, evaluator)
    pairs = [
        (AlphaBeta(game, evaluator, backend="python", **on), AlphaBeta(game, evaluator, backend="compiled", **on))
        for on in SWITCHES
    ]
    for i, s in enumerate(positions(game, 24, seed=2)):
        limits = Limits(depth=1 + i % 3)
        expected = oracle.search(s, limits)
        for on, (plain, compiled) in zip(SWITCHES, pairs, strict=True):
            found, other = plain.search(s, limits), compiled.search(s, limits)
            assert (found.value, found.action) == (expected.value, expected.action), (game.to_text(s), limits, on)
            assert (found.depth, found.exact) == (other.depth, other.exact)
            if not on["table"]:  # the compiled table is smaller, so nodes may differ
                assert (found.nodes, found.pv) == (other.nodes, other.pv)


def test_plain_backend_of_the_plain_game_equals_the_compiled_backend() -> None:
    for name in GAMES:
        game = get_game(name)
        evaluator = heuristic(game, next(iter(game.heuristics)))
        plain, compiled = AlphaBeta(game, evaluator, backend="python"), AlphaBeta(game, evaluator)
        assert (plain.backend, compiled.backend) == ("python", "compiled")
        for s in positions(game, 4, seed=3, longest=20):
            a, b = plain.search(s, Limits(depth=3)), compiled.search(s, Limits(depth=3))
            assert (a.value, a.action, a.depth, a.exact) == (b.value, b.action, b.depth, b.exact)


SIGNATURE = {
    # Nodes of a fixed search from the start: a change that should not change behaviour must not change these.
    ("connect_four", 9, False): 59294,
    ("connect_four", 9, True): 20197,
    ("othello", 7, False): 3123,
    ("othello", 7, True): 2250,
    ("tic_tac_toe", 9, False): 17708,
    ("tic_tac_toe", 9, True): 4539,
}


@pytest.mark.parametrize(("name", "depth", "table"), SIGNATURE)
def test_node_signature_is_kept(name: str, depth: int, table: bool) -> None:
    game = get_game(name)
    search = AlphaBeta(game, heuristic(game, next(iter(game.heuristics))), table=table, table_bits=20)
    assert search.search(game.initial(), Limits(depth=depth)).nodes == SIGNATURE[name, depth, table]


def quiet(s, depth_left):  # type: ignore[no-untyped-def]  # compiled by Numba
    """Cut two plies later where the number of stones is odd: a made-up quiescence test."""
    return depth_left <= 0 and (popcount(s.mask) % 2 == 0 or depth_left <= -2)


def test_custom_cutoff_is_obeyed_on_both_backends() -> None:
    game, evaluator = fast("connect_four")
    oracle = Minimax(game, evaluator, is_cutoff=quiet)
    backends = [AlphaBeta(game, evaluator, is_cutoff=quiet, backend=f) for f in ("python", "compiled")]
    default = AlphaBeta(game, evaluator)
    changed = 0
    for s in positions(game, 60, seed=4, longest=30):
        expected = oracle.search(s, Limits(depth=2))
        for search in backends:
            found = search.search(s, Limits(depth=2))
            assert (found.value, found.action) == (expected.value, expected.action)
        changed += default.search(s, Limits(depth=2)).value != expected.value
    assert changed > 10  # the hook made a difference


@pytest.mark.parametrize("backend", ["python", "compiled"])
def test_node_limit_is_kept(backend: str) -> None:
    game, evaluator = fast("othello")
    search = AlphaBeta(game, evaluator, backend=backend)
    for nodes in (1, 2, 5, 50, 3000):
        found = search.search(game.initial(), Limits(nodes=nodes))
        assert found.nodes <= nodes
        assert found.nodes > nodes * 0.99 - 1
        assert found.action in game.actions(game.initial())
        deep = search.search(game.initial(), Limits(depth=found.depth)) if found.depth else None
        assert deep is None or (deep.value, deep.action) == (found.value, found.action)


@pytest.mark.parametrize("backend", ["python", "compiled"])
def test_time_limit_stops_the_search(backend: str) -> None:
    game, evaluator = fast("othello")
    search = AlphaBeta(game, evaluator, backend=backend)
    start = time.perf_counter()
    found = search.search(game.initial(), Limits(seconds=0.05))
    assert time.perf_counter() - start < 5  # not a speed test: only that it ends
    assert found.depth >= 1
    assert not found.exact


@pytest.mark.parametrize("backend", ["python", "compiled"])
def test_limits_combine_and_the_first_counts(backend: str) -> None:
    game, evaluator = fast("connect_four")
    search = AlphaBeta(game, evaluator, backend=backend)
    assert search.search(game.initial(), Limits(depth=3, nodes=10**9, seconds=60)).depth == 3
    assert search.search(game.initial(), Limits(depth=30, nodes=500, seconds=60)).nodes <= 500


@pytest.mark.parametrize("backend", ["python", "compiled"])
def test_ties_go_to_the_earlier_action_or_to_a_seeded_one(backend: str) -> None:
    game = CompiledGame(get_game("tic_tac_toe"))
    search = AlphaBeta(game, LinearEval.zero(game), backend=backend)
    earliest = search.search(game.initial(), Limits(depth=2))
    assert earliest.action == 0
    chosen = [search.search(game.initial(), Limits(depth=2), seed=i).action for i in range(200)]
    assert set(chosen) == set(range(9))
    again = [search.search(game.initial(), Limits(depth=2), seed=i).action for i in range(200)]
    assert chosen == again


def test_random_ties_choose_only_among_the_best() -> None:
    game, evaluator = fast("connect_four")
    oracle, search = Minimax(game, evaluator), AlphaBeta(game, evaluator)
    for i, s in enumerate(positions(game, 100, seed=5)):
        values = oracle.search(s, Limits(depth=2)).action_values
        assert values is not None
        best = max(values.values())
        assert values[search.search(s, Limits(depth=2), seed=i).action] == best


@pytest.mark.parametrize("backend", ["python", "compiled"])
def test_value_is_proven_where_the_game_ends_in_reach(backend: str) -> None:
    game = CompiledGame(get_game("tic_tac_toe"))
    search = AlphaBeta(game, heuristic(game, "lines"), backend=backend)
    draw = search.search(game.initial(), Limits(depth=9))
    assert (draw.value, draw.exact) == (0.0, True)
    win = search.search(game.from_text("XX.OO...."), Limits(depth=3))
    assert (win.value, win.exact, win.action) == (1.0, True, 2)
    assert not search.search(game.initial(), Limits(depth=2)).exact


def test_proven_win_ends_a_search_by_nodes_or_time() -> None:
    game, evaluator = fast("connect_four")
    s = game.from_text("112233")  # X completes the bottom row
    for backend in ("python", "compiled"):
        found = AlphaBeta(game, evaluator, backend=backend).search(s, Limits(nodes=10**7, seconds=30))
        assert (found.value, found.depth, found.exact) == (1.0, 1, True)


@pytest.mark.parametrize("table", [False, True])
def test_principal_variation_is_playable_and_leads_to_the_value(table: bool) -> None:
    for name in GAMES:
        game, evaluator = fast(name)
        search = AlphaBeta(game, evaluator, table=table)
        for s in positions(game, 40, seed=6, longest=25):
            found = search.search(s, Limits(depth=5))
            assert found.pv[0] == found.action
            assert len(found.pv) <= found.depth
            end = s
            for a in found.pv:
                assert a in game.actions(end)
                end = game.result(end, a)
            if not table:  # the table may cut the line short
                assert game.is_terminal(end) or len(found.pv) == found.depth
                assert evaluator.evaluate(end, found.player) == found.value


def test_searches_do_not_depend_on_earlier_ones() -> None:
    game, evaluator = fast("othello")
    used, states = AlphaBeta(game, evaluator, table_bits=8), positions(game, 30, seed=7)
    for s in states:
        used.search(s, Limits(depth=4))
    for s in states:
        a, b = used.search(s, Limits(depth=4)), AlphaBeta(game, evaluator, table_bits=8).search(s, Limits(depth=4))
        assert (a.value, a.action) == (b.value, b.action)


def test_keys_of_small_numbers_do_not_meet_those_of_other_searches() -> None:
    """A key that is mix64 of a small number once met the salt of a later search, and the table answered wrongly."""
    game = DoubleMove()
    evaluator = heuristic(game, "phased")
    used, oracle = AlphaBeta(game, evaluator, backend="compiled", table_bits=10), Minimax(game, evaluator)
    rng = random.Random(8)
    for _ in range(600):
        s, limits = Pile(rng.randint(1, 12), rng.randint(0, 1)), Limits(depth=rng.randint(1, 5))
        found, expected = used.search(s, limits), oracle.search(s, limits)
        assert (found.value, found.action) == (expected.value, expected.action), (s, limits)


def test_python_evaluator_runs_on_the_plain_backend() -> None:
    game = get_game("tic_tac_toe")
    search = AlphaBeta(game, FunctionEval(game, lambda s, player: 0.0))
    assert search.backend == "python"
    assert search.search(game.initial(), Limits(depth=9)).value == 0.0


def test_what_cannot_be_searched_is_refused_with_the_remedy() -> None:
    game = get_game("tic_tac_toe")
    evaluator = LinearEval.zero(game)

    class Dice(type(game)):  # type: ignore[misc]
        has_chance = True

    class Three(type(game)):  # type: ignore[misc]
        n_players = 3

    class Friends(type(game)):  # type: ignore[misc]
        zero_sum = False

    for other, remedy in ((Dice(), "expectiminimax"), (Three(), r"max\^n"), (Friends(), r"max\^n")):
        with pytest.raises(SearchError, match=f"tic_tac_toe .*: use {remedy}"):
            AlphaBeta(other, evaluator)
    with pytest.raises(SearchError, match="has no compiled backend: give it one, or use backend='auto'"):
        AlphaBeta(game, FunctionEval(game, lambda s, p: 0.0), backend="compiled")
    othello = get_game("othello")
    for search in (AlphaBeta, Minimax):
        with pytest.raises(SearchError, match="the zero evaluator is of othello, not of tic_tac_toe"):
            search(game, LinearEval.zero(othello))
    with pytest.raises(SearchError, match="table_bits=99: give 0 to 30"):
        AlphaBeta(game, evaluator, table_bits=99)
    over = game.from_text("XXXOO....")
    for backend in ("python", "compiled"):
        with pytest.raises(SearchError, match=r"the game is over in tic_tac_toe position 'XXXOO\.\.\.\.'"):
            AlphaBeta(game, evaluator, backend=backend).search(over, Limits(depth=1))


def test_limits_that_make_no_sense_are_refused() -> None:
    for settings, message in (
        ({}, "no limit was given"),
        ({"depth": 0}, "depth=0 is no limit"),
        ({"nodes": -5}, "nodes=-5 is no limit"),
        ({"depth": 2.5}, r"depth=2\.5 is no limit"),
        ({"seconds": 0}, "seconds=0 is no limit"),
        ({"seconds": float("nan")}, "seconds=nan is no limit"),
        ({"seconds": "1"}, "seconds='1' is no limit"),
        ({"depth": float("inf")}, "depth=inf is no limit"),
        ({"nodes": 10**20}, "nodes=100000000000000000000 is no limit: give at most 2\\*\\*62"),
        ({"seconds": 1e300}, r"seconds=1e\+300 is no limit: give a number above 0, at most 1e\+09"),
    ):
        with pytest.raises(SearchError, match=message):
            Limits(**settings)  # type: ignore[arg-type]
