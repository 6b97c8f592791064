"""One MAX against many MINs: Pacman and ghosts who share one aim."""

from __future__ import annotations

from functools import cache

from evallearn import AlphaBeta, Limits, LinearEval, Minimax, heuristic
from evallearn.games.pacman import Pacman
from evallearn.games.pacman.moves import ghost_actions
from evallearn.games.pacman.state import EAST, WEST
from evallearn.games.pacman.state import State as Maze

# --- one MAX, many MINs ----------------------------------------------------------------------------------------------
RING = """
    %%%%%%
    %.--.%
    %-%%P%
    %.--.%
    %%G%%%
    %%G%%%
    %%%%%%"""
"""Both ghosts come out of the same door, and the shorter way to Pacman is the same for both."""
ALONE = RING.replace("%%G%%%\n    %%%%%%", "%%%%%%")


def chase(s: Maze) -> int:
    """A greedy ghost's move: as near to Pacman as one step can bring it."""
    ghost, away = s.ghosts[s.turn - 1], s.distances([s.pacman])
    return min(ghost_actions(s, ghost), key=lambda a: away[s.steps(ghost.cell)[a]])


def best_against_greed(game: Pacman) -> float:
    """What Pacman can have against ghosts that only chase, all his games tried."""

    @cache
    def best(s: Maze) -> float:
        while s.turn and not game.is_terminal(s):
            s = game.result(s, chase(s))
        if game.is_terminal(s):
            return game.utility(s, 0)
        return max(best(game.result(s, a)) for a in game.actions(s))

    return best(game.initial())


def test_many_minimisers_in_a_row_are_plain_minimax() -> None:
    game = Pacman(maze=RING, moves=20)
    evaluator = heuristic(game, "hungry")
    pruned, whole = AlphaBeta(game, evaluator, backend="python"), Minimax(game, evaluator)
    s, turns = game.initial(), set()
    for _ in range(4):
        turns.add(s.turn)
        found = pruned.search(s, Limits(depth=7))
        expected = whole.search(s, Limits(depth=7))
        assert (found.value, found.action) == (expected.value, expected.action)
        s = game.result(s, found.action)
    assert turns == {0, 1, 2}


def test_ghosts_trap_pacman_together_though_greedy_ones_let_him_escape() -> None:
    """Nobody tells them to come from both sides: the shared aim does."""
    game = Pacman(maze=RING, moves=10)
    assert best_against_greed(game) > 500  # he runs around the ring before them, and has eaten everything
    search = AlphaBeta(game, LinearEval.zero(game), backend="python")
    s = game.initial()
    found = search.search(s, Limits(depth=40))
    assert found.exact
    assert found.value < -400  # caught, whatever he does
    turned: dict[int, int] = {}  # which way each ghost turned into the ring
    while not game.is_terminal(s):
        s = game.result(s, search.search(s, Limits(depth=40)).action)
        for i, ghost in enumerate(s.ghosts):
            if ghost.heading in (EAST, WEST):
                turned.setdefault(i, ghost.heading)
    assert s.caught
    assert set(turned.values()) == {EAST, WEST}


def test_one_ghost_alone_does_not_catch_him() -> None:
    game = Pacman(maze=ALONE, moves=10)
    assert len(game.initial().ghosts) == 1
    found = AlphaBeta(game, LinearEval.zero(game), backend="python").search(game.initial(), Limits(depth=40))
    assert found.exact
    assert found.value > 500
