"""Where alpha-beta looks beyond its depth, or deliberately less deep: quiescence, extensions, null and late moves."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest
from playing import random_game

from evallearn import AlphaBeta, Limits, LinearEval, Minimax, get_game, heuristic
from evallearn.compiled.game import CompiledGame
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import State
from evallearn.errors import SearchError

SELECTIVE = {
    "quiescence": 6, "extensions": 2, "null_move": True, "late_move_reductions": True,
    "futility": True, "path_independent_table": True, "use_partial_iteration": True,
}  # fmt: skip
UNSOUND = ("null_move", "late_move_reductions", "futility", "path_independent_table", "use_partial_iteration")
SOUND = {"quiescence": 6, "extensions": 2}


@cache
def fast(name: str, which: str) -> tuple[CompiledGame, Evaluator]:
    game = CompiledGame(get_game(name))
    return game, heuristic(game, which)


def chess(backend: str = "python", **options: Any) -> AlphaBeta:
    """On the Python backend, because the kernel of chess takes long to compile; `make long` compares the backends."""
    return AlphaBeta(*fast("chess", "material"), backend=backend, **SELECTIVE | options)


def middlegames(name: str, n: int, seed: int) -> list[State]:
    """Positions of random games."""
    rng, game, found = random.Random(seed), fast(name, "material")[0], []
    for i in range(n):
        states = [s for s, _ in random_game(game, 100 * seed + i)][:-1]
        found.append(game.without_history(states[rng.randrange(min(len(states), 60))]))
    return found


@pytest.mark.long
def test_compiled_chess_equals_plain_node_for_node() -> None:
    plain, compiled = (chess(backend=backend, table=False) for backend in ("python", "compiled"))
    for i, s in enumerate(middlegames("chess", 60, seed=1)):
        a, b = (search.search(s, Limits(depth=2 + i % 3, nodes=3000)) for search in (plain, compiled))
        assert (a.value, a.action, a.depth, a.nodes, a.leaf_calls, a.exact) == (
            b.value, b.action, b.depth, b.nodes, b.leaf_calls, b.exact
        )  # fmt: skip


def test_compiled_checkers_equals_plain_node_for_node_with_unsound_options() -> None:
    options = {
        "quiescence": 6,
        "extensions": 2,
        "late_move_reductions": True,
        "futility": True,
        "use_partial_iteration": True,
    }
    game, evaluator = fast("checkers", "positional")
    plain, compiled = (AlphaBeta(game, evaluator, backend=f, table=False, **options) for f in ("python", "compiled"))
    taken = 0
    for i, s in enumerate(middlegames("checkers", 16, seed=5)):
        limits = Limits(depth=7, nodes=300 + 50 * i)
        a, b = (search.search(s, limits) for search in (plain, compiled))
        assert (a.value, a.action, a.depth, a.nodes, a.leaf_calls, a.exact) == (
            b.value, b.action, b.depth, b.nodes, b.leaf_calls, b.exact
        )  # fmt: skip
        finished = compiled.search(s, Limits(depth=max(1, b.depth)))
        taken += finished.action != b.action
    assert taken > 0  # some answers are of a depth that was not finished


def test_loose_table_transposes_where_the_past_differs() -> None:
    game, evaluator = fast("checkers", "material")
    s = game.from_text("B:WK32,K31,K24:BK1,K2,K9")
    strict, loose = (AlphaBeta(game, evaluator, quiescence=20, path_independent_table=on) for on in (False, True))
    a, b = (search.search(s, Limits(depth=9)) for search in (strict, loose))
    assert b.nodes < 0.6 * a.nodes
    assert not b.exact


@pytest.mark.long
def test_quiescence_and_extensions_equal_minimax_with_repetitions_and_table() -> None:
    game, evaluator = fast("checkers", "material")
    oracle = Minimax(game, evaluator, **SOUND)
    searches = [
        AlphaBeta(game, evaluator, **SOUND, table=table, backend="compiled", table_bits=9) for table in (False, True)
    ]
    for i, s in enumerate(middlegames("checkers", 40, seed=2)):
        limits = Limits(depth=1 + i % 3)
        expected = oracle.search(s, limits)
        for search in searches:
            found = search.search(s, limits)
            assert (found.value, found.action) == (expected.value, expected.action), game.to_text(s)


def test_quiescence_sees_that_a_capture_is_answered() -> None:
    game, _ = fast("chess", "material")
    s = game.from_text("4k3/8/2p5/3p4/8/8/3Q4/4K3 w - - 0 1")
    assert game.action_to_text(s, chess(quiescence=0).search(s, Limits(depth=1)).action) == "Qxd5"
    calm = chess().search(s, Limits(depth=1))
    assert game.action_to_text(s, calm.action) != "Qxd5"


def test_extensions_find_a_mate_by_checks_at_a_lower_depth() -> None:
    game, _ = fast("chess", "material")
    s = game.from_text("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1")  # Ra6+ f6 Bxf6+ Rg7 Rxa8#
    depths = []
    for extensions in (0, 2):
        search = chess(extensions=extensions, quiescence=0)
        depths.append(next(d for d in range(1, 7) if search.search(s, Limits(depth=d)).value == 1.0))
    assert depths == [5, 3]


@pytest.mark.long
def test_unsound_pruning_saves_nodes() -> None:
    sound, unsound = chess("compiled", **dict.fromkeys(UNSOUND, False)), chess("compiled")
    states = middlegames("chess", 12, seed=3)
    a, b = ([search.search(s, Limits(depth=6)) for s in states] for search in (sound, unsound))
    assert sum(found.nodes for found in b) < 0.7 * sum(found.nodes for found in a)


def test_unsound_pruning_is_labelled() -> None:
    game, _ = fast("chess", "material")
    sound, unsound = chess(**dict.fromkeys(UNSOUND, False)), chess()
    mate = game.from_text("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1")
    assert sound.search(mate, Limits(depth=4)).exact
    found = unsound.search(mate, Limits(depth=5))
    assert (found.value, found.exact) == (1.0, False)  # the table told of a win that another path may not have
    assert (
        chess(path_independent_table=False).search(mate, Limits(depth=5)).exact
    )  # what else is unsound overlooks wins
    drawish = CompiledGame(get_game("tic_tac_toe"))
    for late_move_reductions in (False, True):
        search = AlphaBeta(
            drawish, heuristic(drawish, "lines"), backend="python", late_move_reductions=late_move_reductions
        )
        found = search.search(drawish.initial(), Limits(depth=9))
        assert (found.value, found.exact) == (0.0, not late_move_reductions)


@pytest.mark.long
def test_unsound_pruning_is_labelled_where_the_table_hands_it_on() -> None:
    game, _ = fast("chess", "material")
    mate = game.from_text("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1")
    kept = chess("compiled", keep_table=True)
    for depth in (5, 5, 1):  # the last ones find nearly all in the table
        assert not kept.search(mate, Limits(depth=depth)).exact
    for _ in range(20):
        found = chess("compiled", threads=2).search(mate, Limits(depth=7))
        assert (found.value, found.exact) == (1.0, False)


def test_no_null_move_where_zugzwang_lurks() -> None:
    game, _ = fast("chess", "material")
    for text, allowed in (
        ("4k3/pp6/8/8/8/8/PP6/4K3 w - - 0 1", False),  # king and pawns alone
        ("4k3/pp6/8/8/8/8/PP5N/4K3 w - - 0 1", True),
        ("4k3/pp6/8/8/4r3/8/PP5N/4K3 w - - 0 1", False),  # in check
    ):
        assert game.may_pass(game.from_text(text)) is allowed


def test_kept_table_saves_nodes_and_changes_no_value() -> None:
    game, evaluator = fast("othello", "mobility")
    fresh, kept = (AlphaBeta(game, evaluator, keep_table=keep, table_bits=16) for keep in (False, True))
    s, again = game.initial(), 0
    for _ in range(12):
        a, b = (search.search(s, Limits(depth=6)) for search in (fresh, kept))
        assert (a.value, a.action) == (b.value, b.action)
        again += a.nodes - b.nodes
        s = game.result(s, a.action)
    assert again > 0


def test_what_a_game_does_not_say_is_refused() -> None:
    othello, chess_game = get_game("othello"), get_game("chess")
    zero = LinearEval.zero(othello)
    for options, message in (
        ({"null_move": True}, "null_move: othello does not say its may_pass: leave null_move out"),
        ({"quiescence": 4}, "quiescence: othello does not say its noisy_actions"),
        ({"extensions": 4}, "extensions: othello does not say its forcing"),
        ({"quiescence": 99}, "quiescence=99: give a number of plies from 0 to 60"),
        ({"quiescence": True}, "quiescence=True: give a number of plies"),
        ({"pvs": 1}, "pvs=1: give True or False"),
        ({"threads": 0}, "threads=0: give 1 to 64"),
        ({"threads": 2, "table": False}, "threads=2: they help each other through the table; use threads=1"),
        ({"threads": 2, "backend": "python"}, "threads=2: the Python backend has one; use threads=1"),
    ):
        with pytest.raises(SearchError, match=message):
            AlphaBeta(othello, zero, **options)
    assert set(chess_game.search_settings) == set(SELECTIVE)
    assert AlphaBeta(chess_game, LinearEval.zero(chess_game), backend="python", **chess_game.search_settings)
    assert not othello.search_settings
