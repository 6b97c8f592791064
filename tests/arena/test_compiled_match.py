"""Whole games in one kernel call are the games that are played move by move."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from toys import python_path

from evallearn import AlphaBeta, Limits, LinearEval, get_game, heuristic, search_for
from evallearn.arena.compiled_match import CompiledMatch, plays_in_kernel
from evallearn.arena.openings import openings
from evallearn.core.game import Game


def move_by_move(game: Game, s: Any, searches: Any, limits: Any, seats: tuple[int, int]) -> tuple[Any, ...]:
    actions, nodes, moves = [], [0, 0], [0, 0]
    while not game.is_terminal(s):
        side = seats[game.to_play(s)]
        found = searches[side].search(s, limits[side])
        actions.append(found.action)
        nodes[side] += found.nodes
        moves[side] += 1
        s = game.result(s, found.action)
    return actions, [game.utility(s, 0), game.utility(s, 1)], moves, nodes


long = pytest.mark.long


@pytest.mark.parametrize(
    ("name", "limits", "games"),
    [
        ("connect_four", (Limits(depth=3), Limits(nodes=200)), 70),  # more searches than a table has ages
        pytest.param("othello", (Limits(depth=2), Limits(depth=3, nodes=100)), 3, marks=long),
        pytest.param("checkers", (Limits(depth=2), Limits(depth=3)), 6, marks=long),
        pytest.param("chess", (Limits(depth=1), Limits(nodes=150)), 4, marks=long),
        pytest.param("pacman", (Limits(depth=2), Limits(depth=1)), 2, marks=long),
    ],
)
def test_compiled_matches_are_the_games_move_by_move(name: str, limits: Any, games: int) -> None:
    game = get_game(name)
    kinds = list(game.heuristics)
    searches = [search_for(game, heuristic(game, h)) for h in (kinds[-1], kinds[0])]
    match = CompiledMatch(game, tuple(searches), limits)  # type: ignore[arg-type]  # they are alpha-beta
    for opening in openings(game, games, game.opening_plies, seed=3):
        for seats in ((0, 1), (1, 0)):
            found = match.play(opening.state, seats)
            expected = move_by_move(game, opening.state, searches, limits, seats)
            assert (found.actions, found.utilities, found.moves, found.nodes) == expected
            assert min(found.seconds) >= 0
            assert sum(found.seconds) > 0


def test_one_search_may_play_both_sides() -> None:
    game = get_game("connect_four")
    search, limit = AlphaBeta(game, heuristic(game, "threats")), Limits(depth=2)
    found = CompiledMatch(game, (search, search), (limit, limit)).play(game.initial(), (0, 1))
    expected = move_by_move(game, game.initial(), (search, search), (limit, limit), (0, 1))
    assert (found.actions, found.utilities, found.moves, found.nodes) == expected


def test_the_kernels_say_the_same_uncompiled() -> None:
    script = (
        "from test_quick_match import *; from test_compiled_match import test_one_search_may_play_both_sides as both\n"
        "for game, opening in ((TTT, 3), (PIG, 0)): test_quick_match_equals_games_in_plain_python(game, opening)\n"
        "both()"
    )
    here = Path(__file__).parent
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": python_path(here, here.parent)}
    subprocess.run([sys.executable, "-c", script], env=env, check=True)


def test_who_plays_in_the_kernel() -> None:
    game = get_game("connect_four")
    evaluator = LinearEval.zero(game)
    search = AlphaBeta(game, evaluator)
    assert plays_in_kernel(search, Limits(depth=4))
    assert plays_in_kernel(search, Limits(nodes=300_000))
    assert not plays_in_kernel(search, Limits(depth=20))
    assert not plays_in_kernel(search, Limits(seconds=0.1))
    assert not plays_in_kernel(search, Limits(depth=2, seconds=0.1))
    assert not plays_in_kernel(AlphaBeta(game, evaluator, backend="python"), Limits(depth=2))
    assert not plays_in_kernel(AlphaBeta(game, evaluator, threads=2), Limits(depth=2))
    pig = get_game("pig")
    assert not plays_in_kernel(search_for(pig, LinearEval.zero(pig)), Limits(depth=1))
