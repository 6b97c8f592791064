"""Repetition and counts inside the search: along the game, along the line, and whatever the table remembers."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from walkers import DOWN, SPEND, UP, Hurried, State, Walkers, Words

from evallearn import AlphaBeta, Limits, LinearEval, Minimax, check_game, get_game, heuristic
from evallearn.compiled.game import CompiledGame
from evallearn.data import RecordSettings
from evallearn.data.generate import play_game
from evallearn.search.alphabeta.options import sound

GAME = Walkers()
EVAL = heuristic(GAME, "points")
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
    assert check_game(GAME, games=20).backends == ("python", "compiled")


@pytest.mark.parametrize("depth", [2, 5, 6, 9])
def test_alphabeta_equals_minimax_with_every_option(depth: int) -> None:
    oracle = Minimax(GAME, EVAL)
    searches = [AlphaBeta(GAME, EVAL, backend="compiled", table_bits=12, **on) for on in SWITCHES]
    drawn = 0
    for s in positions(12 if depth > 6 else 60, seed=depth):
        expected = oracle.search(s, Limits(depth=depth))
        drawn += expected.value == 0.0
        for on, search in zip(SWITCHES, searches, strict=True):
            found = search.search(s, Limits(depth=depth))
            assert (found.value, found.action) == (expected.value, expected.action), (GAME.to_text(s), on)
    assert depth < 9 or drawn  # some of these lines end by a rule that looks back


@pytest.mark.parametrize("backend", ["python", pytest.param("compiled", marks=pytest.mark.long)])
def test_table_keeps_positions_apart_that_differ_in_the_count(backend: str) -> None:
    game = Hurried()
    evaluator = heuristic(game, "points")
    oracle, search = Minimax(game, evaluator), AlphaBeta(game, evaluator, backend=backend)  # type: ignore[arg-type]
    for places in itertools.product(range(4), repeat=2):
        s = State(Words(*places, 1, 2, 0, 0, 0, 0))
        for depth in (7, 8):
            expected, found = oracle.search(s, Limits(depth=depth)), search.search(s, Limits(depth=depth))
            assert (found.value, found.action) == (expected.value, expected.action), (places, depth)


def test_plain_backend_agrees_and_sees_the_same_nodes() -> None:
    plain, compiled = (AlphaBeta(GAME, EVAL, table=False, backend=f) for f in ("python", "compiled"))  # type: ignore[arg-type]
    for s in positions(40, seed=1):
        a, b = plain.search(s, Limits(depth=7)), compiled.search(s, Limits(depth=7))
        assert (a.value, a.action, a.nodes, a.pv, a.exact) == (b.value, b.action, b.nodes, b.pv, b.exact)


@pytest.mark.parametrize("backend", ["python", "compiled"])
def test_repetition_of_the_game_itself_is_seen(backend: str) -> None:
    """After seven plies of shuffling the eighth makes the first position for the third time."""
    search = AlphaBeta(GAME, EVAL, backend=backend)  # type: ignore[arg-type]
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
    for backend in ("python", "compiled"):
        with pytest.raises(Exception, match="the game is over in walkers position"):
            AlphaBeta(GAME, EVAL, backend=backend).search(s, Limits(depth=1))  # type: ignore[arg-type]


@pytest.mark.long
def test_custom_cutoff_does_not_confuse_the_table() -> None:
    def late(s, depth_left):  # type: ignore[no-untyped-def]  # compiled by Numba
        return depth_left <= -5

    oracle = Minimax(GAME, EVAL, is_cutoff=late)
    search = AlphaBeta(GAME, EVAL, is_cutoff=late, backend="compiled")
    for s in positions(12, seed=2):
        expected, found = oracle.search(s, Limits(depth=4)), search.search(s, Limits(depth=4))
        assert (found.value, found.action) == (expected.value, expected.action)


def test_self_play_on_the_compiled_backend_ends_where_the_plain_backend_does() -> None:
    class Shuffler:
        name, game = "shuffler", GAME

        def choose(self, s: Any, seed: int) -> Any:
            return AlphaBeta(GAME, LinearEval.zero(GAME), backend="python").search(s, Limits(depth=1))

    config = RecordSettings(games=1, opening_plies=2, epsilon=0.2)
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


LOOKING_BACK = {
    # White is a queen down, and moves the knight back for the third occurrence of the position.
    "chess, third occurrence": (
        "chess", "6k1/8/8/q7/8/2N5/8/7K b - - 0 1 moves g8h8 c3b1 h8g8 b1c3 g8h8 c3b1 h8g8", "Nc3", {"Nc3"},
    ),
    # White has a rook and a pawn more, but only a move of the pawn starts the count of fifty moves anew.
    "chess, fifty moves": ("chess", "7k/8/8/8/8/8/R6P/K7 w - - 99 100", "h4 h3", {"Ra8+", "Rb2", "Kb1"}),
    # White has one king against two, and goes back for the third occurrence.
    "checkers, third occurrence": (
        "checkers", "B:WK32:BK1,K5 moves 1-6 32-28 6-1 28-32 1-6 32-28 6-1", "28-32", {"28-32"},
    ),
    # Black has two pieces against one; the 40th move without progress is due unless the man moves.
    "checkers, forty moves": ("checkers", "B:WK32:BK1,5:H79", "5-9", {"1-6"}),
}  # fmt: skip


@pytest.mark.parametrize(
    "case",  # the kernel of chess takes long to compile
    [pytest.param(case, marks=[pytest.mark.long] if case.startswith("chess") else []) for case in LOOKING_BACK],
)
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_rules_that_look_back_decide_inside_the_search(case: str, depth: int) -> None:
    name, text, best, drawn = LOOKING_BACK[case]
    game = get_game(name)
    evaluator = heuristic(game, "material")
    s = game.from_text(text)
    settings = sound(game.search_settings)
    for table in (False, True):
        found = AlphaBeta(game, evaluator, table=table, **settings).search(s, Limits(depth=depth), action_values=True)
        values = {game.action_to_text(s, a): v for a, v in (found.action_values or {}).items()}
        assert game.action_to_text(s, found.action) in best.split(), values
        assert {move for move in drawn if values[move] == 0.0} == drawn
        others = [v for move, v in values.items() if move not in drawn and move in best.split()]
        assert all(v > 0 for v in others)
    forgotten = game.from_text(text.split(" moves ")[0].replace(" 99 ", " 0 ").replace(":H79", ""))
    if " moves " not in text:  # with the count at 0 the same moves are worth something
        again = (
            AlphaBeta(game, evaluator, **settings)
            .search(forgotten, Limits(depth=depth), action_values=True)
            .action_values
        )
        assert again is not None
        assert all(v != 0.0 for a, v in again.items() if game.action_to_text(forgotten, a) in drawn)
    if depth <= 2:
        plain = AlphaBeta(game, evaluator, backend="python", **settings).search(
            s, Limits(depth=depth), action_values=True
        )
        assert (plain.value, plain.action, plain.action_values) == (found.value, found.action, found.action_values)
