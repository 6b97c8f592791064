"""Repetition and counts inside the search: along the game, along the line, and whatever the table remembers."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from walkers import DOWN, SPEND, UP, Hurried, State, Walkers, Words

from evallearn import AlphaBeta, Limits, LinearEval, Minimax, check_game
from evallearn.compiled.game import CompiledGame
from evallearn.data import SelfPlayConfig
from evallearn.data.selfplay import play_game

GAME = Walkers()
EVAL = LinearEval.from_heuristic(GAME, "points")
SWITCHES = [
    dict(zip(("table", "killers", "history"), on, strict=True)) for on in itertools.product((False, True), repeat=3)
]


def play(s: Any, *actions: int) -> Any:
    for a in actions:
        s = GAME.result(s, a)
    return s


def positions(n: int, seed: int) -> list[Any]:
    """Unfinished positions of random games that shuffle to and fro a good deal."""
    rng, found = random.Random(seed), []
    while len(found) < n:
        s = GAME.initial()
        while not GAME.is_terminal(s):
            found.append(s)
            s = GAME.result(s, rng.choice([a for a in GAME.actions(s) if a != SPEND or rng.random() < 0.2]))
    return rng.sample(found, n)


def test_toy_keeps_the_contract() -> None:
    assert check_game(GAME, games=20).floors == ("plain", "compiled")


@pytest.mark.parametrize("depth", [2, 5, 6, 9])
def test_alphabeta_equals_minimax_with_every_option(depth: int) -> None:
    oracle = Minimax(GAME, EVAL)
    searches = [AlphaBeta(GAME, EVAL, floor="compiled", table_bits=12, **on) for on in SWITCHES]
    drawn = 0
    for s in positions(12 if depth > 6 else 60, seed=depth):
        expected = oracle.search(s, Limits(depth=depth))
        drawn += expected.value == 0.0
        for on, search in zip(SWITCHES, searches, strict=True):
            found = search.search(s, Limits(depth=depth))
            assert (found.value, found.action) == (expected.value, expected.action), (GAME.to_text(s), on)
    assert depth < 9 or drawn  # some of these lines end by a rule that looks back


def test_table_keeps_positions_apart_that_differ_in_the_count() -> None:
    game = Hurried()
    evaluator = LinearEval.from_heuristic(game, "points")
    oracle, search = Minimax(game, evaluator), AlphaBeta(game, evaluator, floor="compiled")
    for places in itertools.product(range(4), repeat=2):
        s = State(Words(*places, 1, 2, 0, 0, 0, 0))
        for depth in (7, 8):
            expected, found = oracle.search(s, Limits(depth=depth)), search.search(s, Limits(depth=depth))
            assert (found.value, found.action) == (expected.value, expected.action), (places, depth)


def test_plain_floor_agrees_and_sees_the_same_nodes() -> None:
    plain, compiled = (AlphaBeta(GAME, EVAL, table=False, floor=f) for f in ("plain", "compiled"))  # type: ignore[arg-type]
    for s in positions(40, seed=1):
        a, b = plain.search(s, Limits(depth=7)), compiled.search(s, Limits(depth=7))
        assert (a.value, a.action, a.nodes, a.pv, a.exact) == (b.value, b.action, b.nodes, b.pv, b.exact)


@pytest.mark.parametrize("floor", ["plain", "compiled"])
def test_repetition_of_the_game_itself_is_seen(floor: str) -> None:
    """After seven plies of shuffling the eighth makes the first position for the third time."""
    search = AlphaBeta(GAME, EVAL, floor=floor)  # type: ignore[arg-type]
    start = State(Words(0, 0, 1, 1, 0, 2, 0, 0))  # the first player is behind
    s = play(start, UP, UP, DOWN, DOWN, UP, UP, DOWN)
    values = search.search(s, Limits(depth=1), action_values=True).action_values
    assert values is not None
    assert values[DOWN] == 0.0
    assert values[UP] != 0.0
    without_past = search.search(State(s.words), Limits(depth=1), action_values=True).action_values
    assert without_past is not None
    assert without_past[DOWN] != 0.0


def test_finished_by_repetition_is_refused() -> None:
    s = play(GAME.initial(), *[UP, UP, DOWN, DOWN] * 2)
    assert GAME.is_terminal(s)
    for floor in ("plain", "compiled"):
        with pytest.raises(Exception, match="the game is over in walkers position"):
            AlphaBeta(GAME, EVAL, floor=floor).search(s, Limits(depth=1))  # type: ignore[arg-type]


def test_custom_cutoff_does_not_confuse_the_table() -> None:
    def late(s, depth_left):  # type: ignore[no-untyped-def]  # compiled by Numba
        return depth_left <= -5

    oracle = Minimax(GAME, EVAL, is_cutoff=late)
    search = AlphaBeta(GAME, EVAL, is_cutoff=late, floor="compiled")
    for s in positions(30, seed=2):
        expected, found = oracle.search(s, Limits(depth=4)), search.search(s, Limits(depth=4))
        assert (found.value, found.action) == (expected.value, expected.action)


def test_self_play_on_the_compiled_floor_ends_where_the_plain_floor_does() -> None:
    class Shuffler:
        name, game = "shuffler", GAME

        def choose(self, s: Any, seed: int) -> Any:
            return AlphaBeta(GAME, LinearEval.zero(GAME), floor="plain").search(s, Limits(depth=1))

    config = SelfPlayConfig(games=1, random_plies=2, exploration=0.2)
    fast = CompiledGame(GAME)
    for number in range(30):
        records = play_game(fast, [Shuffler()] * 2, config, number)  # type: ignore[list-item]
        plain = play_game(_WithoutRules(), [Shuffler()] * 2, config, number)  # type: ignore[list-item]
        assert [(r.ply, r.player, r.outcome) for r in records] == [(r.ply, r.player, r.outcome) for r in plain]


class _WithoutRules(Walkers):
    rules = None


def test_evaluator_knows_a_draw_by_repetition_in_a_batch_too() -> None:
    s = play(GAME.initial(), *[UP, UP, DOWN, DOWN] * 2)
    t = play(GAME.initial(), UP)
    assert EVAL.evaluate_batch([s, t], [0, 0]).tolist() == [EVAL.evaluate(s, 0), EVAL.evaluate(t, 0)]
    assert EVAL.evaluate(s, 0) == 0.0 != EVAL.evaluate(t, 0)
