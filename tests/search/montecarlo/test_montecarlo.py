"""Monte Carlo searches: both backends simulation by simulation, proofs against alpha-beta, trees worked out by hand."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from simulations import BACKENDS, built, game_of
from toys import CoinRace, Dice, DoubleMove, Seats, Takeaway, TreeGame, python_path
from walkers import DOWN, UP, State, Words

from evallearn import CHANCE, AlphaBeta, FunctionEval, Limits, LinearEval
from evallearn.compiled.game import CompiledGame
from evallearn.core.game import Action, Game
from evallearn.core.search import SearchResult
from evallearn.errors import SearchError
from evallearn.games.pig import game as pig
from evallearn.search.montecarlo.flat import FlatMonteCarlo
from evallearn.search.montecarlo.mcts import MCTS
from evallearn.search.montecarlo.result import SampledAction, most_visited

long = pytest.mark.long


def positions(game: Game, plies: Sequence[int]) -> list[Any]:
    """After so many random plies, or fewer if the game ends; where dice are due, after the roll."""
    found = []
    for seed, n in enumerate(plies):
        rng, s = random.Random(seed), game.initial()
        while n > 0 or game.to_play(s) == CHANCE:
            t = game.result(s, rng.choice(game.actions(s) or [o for o, _ in game.chances(s)]))
            if game.is_terminal(t):
                break
            s, n = t, n - 1
        if game.to_play(s) != CHANCE:
            found.append(s)
    return found


def told(found: SearchResult) -> list[Any]:
    """Everything but the time."""
    fields = (
        "action",
        "value",
        "player",
        "depth",
        "nodes",
        "pv",
        "exact",
        "action_values",
        "leaf_calls",
        "standard_error",
    )
    return [*(getattr(found, f) for f in fields), found.visits]


# --- both backends ---------------------------------------------------------------------------------------------------
NO_EVAL: list[dict[str, Any]] = [
    {},
    {"solver": False, "exploration": 0.3},
    {"max_nodes": 40, "scale": "declared"},
    {"exploration": 0.0},
]
WITH_EVAL: list[dict[str, Any]] = [
    {"eval": True},
    {"eval": True, "leaf": "playout"},
    {"eval": True, "leaf": "playout", "playout_depth": 3},
]
IMPLICIT: list[dict[str, Any]] = [
    {"eval": True, "implicit_minimax": 0.4},
    {"eval": True, "implicit_minimax": 0.8, "leaf": "playout", "playout_depth": 4, "solver": False},
    {"eval": True, "implicit_minimax": 0.1, "max_nodes": 30},
]


def compare(kind: type, name: str, options: dict[str, Any], plies: Sequence[int], simulations: int) -> None:
    plain, compiled = (built(kind, name, backend, *options.items()) for backend in BACKENDS)
    assert (plain.backend, compiled.backend) == BACKENDS
    for i, s in enumerate(positions(game_of(name), plies)):
        limits = Limits(nodes=simulations, depth=3 if i % 3 == 2 else None)
        seed = None if i % 2 else i
        assert told(plain.search(s, limits, seed=seed)) == told(compiled.search(s, limits, seed=seed)), (options, s)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *(("tic_tac_toe", o) for o in NO_EVAL),
        *(("walkers", o) for o in IMPLICIT),
        ("pig", {}),
        ("pig", {"exploration": 0.2}),
    ],
)
def test_backends_agree_simulation_by_simulation(name: str, options: dict[str, Any]) -> None:
    compare(MCTS, name, options, (0, 1, 4, 9, 20), 40 if name == "pig" else 250)


def test_flat_search_agrees_on_both_backends() -> None:
    compare(FlatMonteCarlo, "tic_tac_toe", {}, (0, 1, 2, 3, 4, 5), 100)


EVERY_GAME = (
    "double_move", "walkers", "tic_tac_toe", "connect_four", "othello", "matches", "pacman", "three_player_connect",
    "pig", "2048", "checkers", "chess", "backgammon",
)  # fmt: skip


@long
@pytest.mark.parametrize("name", EVERY_GAME)
def test_backends_agree_on_every_game(name: str) -> None:
    game = game_of(name)
    slow = name in ("chess", "checkers", "backgammon", "pacman")
    two_sided = game.n_players == 2 and not game.has_chance
    for options in NO_EVAL[:2] + WITH_EVAL + (IMPLICIT if two_sided else []):
        playing = not options.get("eval") or (options.get("leaf") and "playout_depth" not in options)
        compare(MCTS, name, options, (0, 5, 12, 30), 5 if slow and playing else 60)
    for options in ({}, {"eval": True, "playout_depth": 3}):
        compare(FlatMonteCarlo, name, options, (0, 5, 12), 4 if slow and not options else 40)


@long
def test_kernels_say_the_same_uncompiled() -> None:
    script = (
        "from test_montecarlo import *\n"
        "for kind, options in ((MCTS, NO_EVAL[0]), (MCTS, IMPLICIT[0]), (FlatMonteCarlo, {})):\n"
        "    for name in ('tic_tac_toe', 'walkers'):\n"
        "        compare(kind, name, options, (0, 4), 40)\n"
    )
    here = Path(__file__).parent
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": python_path(here, here.parent)}
    subprocess.run([sys.executable, "-c", script], env=env, check=True)


@pytest.mark.parametrize("backend", BACKENDS)
def test_same_seed_gives_the_same_answer_and_none_is_zero(backend: str) -> None:
    game = game_of("tic_tac_toe")
    for kind in (MCTS, FlatMonteCarlo):
        search = built(kind, "tic_tac_toe", backend)
        ask = [search.search(game.initial(), Limits(nodes=100), seed=seed) for seed in (None, 0, 1, 1)]
        assert told(ask[2]) == told(ask[3])
        assert ask[0].action_values == ask[1].action_values != ask[2].action_values


def test_ties_go_to_the_earlier_action_or_to_a_seeded_one() -> None:
    game = TreeGame([1, 1, 1, 1])
    search = MCTS(game, solver=False)
    assert search.search((), Limits(nodes=4)).action == 0
    assert {search.search((), Limits(nodes=4), seed=i).action for i in range(40)} == {0, 1, 2, 3}


# --- what is proven --------------------------------------------------------------------------------------------------
def test_empty_board_of_tic_tac_toe_is_proven_a_draw() -> None:
    found = built(MCTS, "tic_tac_toe", "compiled").search(game_of("tic_tac_toe").initial(), Limits(nodes=200_000))
    assert (found.value, found.exact, found.standard_error) == (0.0, True, 0.0)
    assert found.nodes < 100_000
    assert found.action_values == dict.fromkeys(range(9), 0.0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_proven_values_are_those_of_alpha_beta(backend: str) -> None:
    game = game_of("tic_tac_toe")
    oracle = AlphaBeta(CompiledGame(game), LinearEval.zero(CompiledGame(game)), backend="python")
    search = built(MCTS, "tic_tac_toe", backend)
    for s in positions(game, [3, 4, 4, 5, 5, 5, 6, 6, 7]):
        expected = oracle.search(s, Limits(depth=9), action_values=True)
        found = search.search(s, Limits(nodes=30_000))
        assert (found.value, found.exact) == (expected.value, True)
        assert expected.action_values is not None
        assert expected.action_values[found.action] == expected.value


@pytest.mark.parametrize("backend", BACKENDS)
def test_forced_win_is_found_and_its_line_is_played(backend: str) -> None:
    game = game_of("tic_tac_toe")
    search = built(MCTS, "tic_tac_toe", backend)
    found = search.search(game.from_text("XX.OO...."), Limits(nodes=20_000))
    assert (found.action, found.value, found.exact, found.pv) == (2, 1.0, True, (2,))
    draw = search.search(game.from_text("X...O...X"), Limits(nodes=20_000))
    assert (draw.value, draw.exact, draw.action in (1, 3, 5, 7)) == (0.0, True, True)  # a corner would lose
    fork = search.search(game.from_text("X.O.....X"), Limits(nodes=20_000))  # O must stop it, and cannot
    assert (fork.value, fork.exact, fork.player) == (-1.0, True, 1)


def test_proof_works_where_a_player_moves_twice() -> None:
    game = DoubleMove()
    evaluator = LinearEval.zero(game)
    for pile in range(1, 10):
        s = type(game.initial())(pile, pile % 2)
        expected = AlphaBeta(game, evaluator, backend="python").search(s, Limits(depth=12))
        found = MCTS(game, backend="python").search(s, Limits(nodes=5000))
        assert (found.value, found.exact, found.player) == (expected.value, True, pile % 2)


def test_proven_loss_is_not_chosen_while_another_action_exists() -> None:
    found = MCTS(TreeGame([-15, [[[-9, -9], -9], [[-9, -9], -9]]])).search((), Limits(nodes=5))
    assert found.action == 1
    lost = MCTS(TreeGame([-15, [-15, 3]])).search((), Limits(nodes=50))
    assert (lost.value, lost.exact) == (-15.0, True)


def test_choice_prefers_a_proven_value_only_if_it_is_as_good() -> None:
    game = TreeGame([0])

    def chosen(*found: tuple[int, float, float | None]) -> int:
        actions = [SampledAction(i, n, total, 0.0, exact) for i, (n, total, exact) in enumerate(found)]
        return most_visited(actions, range(len(actions)), game)

    assert chosen((10, 9.0, None), (90, 0.0, 0.0)) == 0  # the draw was visited more often, but looks worse
    assert chosen((10, -9.0, None), (5, 0.0, 0.0)) == 1
    assert chosen((10, -150.0, None), (50, -15.0, -15.0)) == 0  # anything but a proven loss
    assert chosen((10, 150.0, None), (1, 15.0, 15.0)) == 1
    assert chosen((10, 50.0, None), (20, 20.0, None)) == 1


def test_without_solver_nothing_is_proven_and_all_simulations_are_made() -> None:
    game = game_of("tic_tac_toe")
    found = built(MCTS, "tic_tac_toe", "compiled", ("solver", False)).search(
        game.from_text("XX.OO...."), Limits(nodes=500)
    )
    assert (found.action, found.exact, found.nodes) == (2, False, 500)
    assert not MCTS(CoinRace()).solver
    assert MCTS(Takeaway()).solver


@long
@pytest.mark.parametrize(
    ("text", "wins"), [("112233", "4"), ("4455", "3 6"), ("435262", "1 3 4 5 7"), ("4141412", "1")]
)
def test_connect_four_tactics_are_proven(text: str, wins: str) -> None:
    game = game_of("connect_four")
    s = game.from_text(text)
    evaluator = LinearEval.zero(game)
    values = AlphaBeta(game, evaluator).search(s, Limits(depth=7), action_values=True).action_values
    assert values is not None
    found = built(MCTS, "connect_four", "compiled").search(s, Limits(nodes=500_000))
    assert found.exact == (max(values.values()) == 1.0)
    assert values[found.action] == max(values.values())
    assert not found.exact or game.action_to_text(s, found.action) in wins


# --- chance, one player, many players --------------------------------------------------------------------------------
def test_one_player_maximises_the_expectation_over_the_dice() -> None:
    found = MCTS(Dice([[10, -10], [3, 1], [[6, 8], 0]])).search((), Limits(nodes=3000))
    assert found.action == 2
    assert found.value == pytest.approx(4.0, abs=0.3)  # a choice of 6 or 8, or 0
    assert found.action_values is not None
    assert found.action_values[1] == pytest.approx(2.0, abs=0.2)
    assert found.pv == (2,)  # the line ends where the die is rolled


def test_each_of_three_players_follows_the_own_interest() -> None:
    game = Seats([
        [[(1, 2, 6), (4, 2, 3)], [(6, 1, 2), (7, 4, 1)]],
        [[(5, 1, 1), (1, 5, 2)], [(7, 7, 1), (5, 4, 5)]],
        [[(2, 6, 6), (9, 2, 3)], [(6, 1, 2), (7, 4, 1)]],
    ])  # fmt: skip
    found = MCTS(game, exploration=0.3).search((), Limits(nodes=4000))
    assert found.pv == (2, 0, 0)  # worth 2 to player 0; the others are worth 1, since 1 and 2 look after themselves
    assert found.value == pytest.approx(2.0, abs=0.3)


def test_clear_decisions_in_pig_are_those_of_the_solution() -> None:
    game = pig.Pig()
    search = built(MCTS, "pig", "compiled")
    for text, best in (
        ("0-0/turn=6/target=100/first", pig.ROLL),
        ("50-50/turn=3/target=100/second", pig.ROLL),
        ("0-0/turn=40/target=100/first", pig.HOLD),
        ("50-50/turn=35/target=100/second", pig.HOLD),
        ("80-95/turn=10/target=100/first", pig.ROLL),
    ):
        s = game.from_text(text)
        assert search.search(s, Limits(nodes=10_000)).action == best, text


@long
def test_clear_decisions_in_pig_are_the_best_in_the_table() -> None:
    """An evaluator finds all. Random playouts flatter the leader, because a random opponent seldom holds in time."""
    game, rng, clear, found = pig.Pig(), random.Random(1), 0, {"eval": 0, "playout": 0}
    searches = {"eval": built(MCTS, "pig", "compiled", ("eval", True)), "playout": built(MCTS, "pig", "compiled")}
    for _ in range(200):
        s = pig.State(rng.randint(0, 80), rng.randint(0, 80), rng.randint(1, 19), rng.randint(0, 1), 0, 100)
        values = game.solved(s)
        assert values is not None
        if abs(values[pig.ROLL] - values[pig.HOLD]) > 0.1:
            clear += 1
            for leaf, search in searches.items():
                action = search.search(s, Limits(nodes=20_000)).action
                found[leaf] += values[action] == max(values.values())
    assert clear > 30
    assert found["eval"] == clear
    assert found["playout"] >= 0.9 * clear


def score(game: Game, players: Sequence[Any], seed: int) -> list[float]:
    """A game between players, functions (s, seed) -> action; the dice by the same seed."""
    rng, s, ply = random.Random(seed), game.initial(), 0
    while not game.is_terminal(s):
        ply += 1
        if (player := game.to_play(s)) == CHANCE:
            outcomes, odds = zip(*game.chances(s), strict=True)
            s = game.result(s, rng.choices(outcomes, odds)[0])
        else:
            s = game.result(s, players[player](s, 1000 * seed + ply))
    return [game.utility(s, p) for p in range(game.n_players)]


@long
@pytest.mark.parametrize("kind", [MCTS, FlatMonteCarlo])
@pytest.mark.parametrize(
    ("name", "simulations", "games"), [("2048", 60, 3), ("backgammon", 60, 10), ("three_player_connect", 300, 20)]
)
def test_it_beats_random_play(kind: type, name: str, simulations: int, games: int) -> None:
    game = CompiledGame(game_of(name))
    search = built(kind, name, "compiled")

    def clever(s: Any, seed: int) -> Action:
        return search.search(s, Limits(nodes=simulations), seed=seed).action  # type: ignore[no-any-return]

    def blind(s: Any, seed: int) -> Action:
        return random.Random(seed).choice(list(game.actions(s)))

    ours, theirs = 0.0, 0.0
    for i in range(games):
        seat = i % game.n_players
        ours += score(game, [clever if p == seat else blind for p in range(game.n_players)], i)[seat]
        theirs += score(game, [blind] * game.n_players, i)[seat]
    assert ours / games > 2 * max(0.2, theirs / games) if name != "2048" else ours > 5 * theirs


# --- rules that look back --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("backend", BACKENDS)
def test_repetition_of_the_game_itself_is_seen(backend: str) -> None:
    """After seven plies of shuffling the eighth makes the first position for the third time."""
    game = game_of("walkers")
    s: Any = State(Words(0, 0, 1, 1, 0, 2, 0, 0))  # the first player is behind
    for a in (UP, UP, DOWN, DOWN, UP, UP, DOWN):
        s = game.result(s, a)
    search = built(MCTS, "walkers", backend, *IMPLICIT[1].items())
    values = search.search(s, Limits(nodes=60)).action_values
    assert values[DOWN] == 0.0 != values[UP]
    assert search.search(State(s.words), Limits(nodes=60)).action_values[DOWN] != 0.0
    over = game.result(s, DOWN)
    with pytest.raises(SearchError, match="the game is over in walkers position"):
        search.search(over, Limits(nodes=1))


@long
def test_drawing_by_repetition_saves_a_lost_chess_game() -> None:
    """White is a queen down, and moves the knight back for the third occurrence of the position."""
    game = game_of("chess")
    s = game.from_text("6k1/8/8/q7/8/2N5/8/7K b - - 0 1 moves g8h8 c3b1 h8g8 b1c3 g8h8 c3b1 h8g8")
    search = built(MCTS, "chess", "compiled", ("eval", True), ("exploration", 0.2))
    found = search.search(s, Limits(nodes=3000))
    assert game.action_to_text(s, found.action) == "Nc3"
    assert found.value == 0.0
    mate = game.from_text("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    found = search.search(mate, Limits(nodes=3000))
    assert (game.action_to_text(mate, found.action), found.exact, found.value) == ("Ra8#", True, 1.0)


# --- Evaluators ------------------------------------------------------------------------------------------------------
def counting(game: Game) -> tuple[FunctionEval, list[Any]]:
    asked: list[Any] = []

    def note(s: Any, player: int) -> float:
        asked.append(s)
        return 0.25 if player == 0 else -0.25

    return FunctionEval(game, note), asked


def test_eval_answers_at_the_leaves_and_where_playouts_are_cut() -> None:
    game = Takeaway()
    evaluator, asked = counting(game)
    found = MCTS(game, evaluator).search(game.initial(), Limits(nodes=2))
    assert asked == [(10, 1), (9, 1)] or asked == [(9, 1), (10, 1)]
    assert (found.action_values, found.leaf_calls) == ({1: 0.25, 2: 0.25}, 2)
    asked.clear()
    MCTS(game, evaluator, leaf="playout").search(game.initial(), Limits(nodes=50))
    assert not asked
    for kind in (FlatMonteCarlo, lambda g, e, **k: MCTS(g, e, leaf="playout", **k)):
        asked.clear()
        kind(game, evaluator, playout_depth=2).search(game.initial(), Limits(nodes=2))
        assert len(asked) == 2
        assert all(pile in (5, 6, 7, 8) for pile, _ in asked)  # after the own move and two more


def test_playout_without_end_counts_as_the_middle_or_as_the_eval_says() -> None:
    class Endless(Takeaway):
        def result(self, s: tuple[int, int], a: int) -> tuple[int, int]:
            return (s[0], 1 - s[1])

    game = Endless()
    assert MCTS(game).search(game.initial(), Limits(nodes=1)).value == 0.0
    evaluator, _ = counting(game)
    assert FlatMonteCarlo(game, evaluator).search(game.initial(), Limits(nodes=1)).value == 0.25


def test_implicit_minimax_sees_the_trap_that_means_hide() -> None:
    """Below action 0 one reply of six loses, and an evaluator knows which; action 1 is a modest gain."""
    trap = [[9, 9]] * 5 + [[[-9, -9], [-9, -9]]]
    game = TreeGame([trap, [[2, 2], [2, 2]]], (-10.0, 10.0))

    def knows(s: tuple[int, ...], player: int) -> float:
        value = -8.0 if s[:2] == (0, 5) else (5.0 if s[:1] == (0,) else 2.0)
        return value if player == 0 else -value

    evaluator = FunctionEval(game, knows)
    few = Limits(nodes=16)
    assert MCTS(game, evaluator, leaf="playout", solver=False).search((), few).action == 0
    assert MCTS(game, evaluator, leaf="playout", solver=False, implicit_minimax=0.8).search((), few).action == 1
