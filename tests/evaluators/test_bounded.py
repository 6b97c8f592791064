"""BoundedEval: another evaluator within the bounds of the game; and the bounds of the games that have them."""

from __future__ import annotations

import random
from itertools import product

import pytest
from narrowing import Narrowing
from playing import random_game

from evallearn import BoundedEval, FunctionEval, Game, LinearEval, get_game, heuristic
from evallearn.agents import parse_evaluator
from evallearn.compiled.game import CompiledGame
from evallearn.core.game import State
from evallearn.errors import EvaluatorError
from evallearn.evaluators import SolvedEval

BOUNDED = ("connect_four", "pacman", "pacman,maze=capsule", "pacman,maze=two_ghosts,moves=40", "narrowing")


ENDINGS = {
    "": (-1.0, 1.0),
    "6776775745433434337262222261511141413": (0.0, 1.0),
    "55757766756464544736363332322424211211": (-1.0, 0.0),
    "66667656557577757434343333524222411111412": (0.0, 0.0),
}
"""Connect Four: between what and what X can still end, by the lines without stones of the other side."""


def game_of(name: str) -> Game:
    return Narrowing() if name == "narrowing" else get_game(name)


def positions(game: Game) -> list[State]:
    """Those of five random games, and of Connect Four some that few random games reach."""
    games = [random_game(CompiledGame(game), seed) for seed in range(5)]
    late = [game.from_text(text) for text in ENDINGS] if game.name == "connect_four" else []
    return [s for played in games for s, _ in played] + late


@pytest.mark.parametrize("name", BOUNDED)
def test_every_end_lies_within_the_bounds_of_all_positions_before(name: str) -> None:
    game = game_of(name)
    fast, decided = CompiledGame(game), 0
    for seed in range(30):
        states = [s for s, _ in random_game(fast, seed)]
        for player in (0, 1):
            value = game.utility(states[-1], player)
            seen = [game.bounds(s, player) for s in states]
            assert all(low <= value <= high for low, high in seen)
            assert seen == [fast.bounds(s, player) for s in states]
            decided += seen[0] != seen[-1]
    assert decided


@pytest.mark.parametrize("name", BOUNDED)
def test_values_are_those_below_unless_they_are_clipped(name: str) -> None:
    game = game_of(name)
    worst, best = game.utility_range
    clipped = 0
    for s, weight in product(positions(game), (5.0, -5.0)):
        wild = LinearEval(game, [[weight] * len(game.feature_names)] * game.n_phases)
        bounded = BoundedEval(wild)
        value, below = bounded.evaluate(s, 0), wild.evaluate(s, 0)
        assert value == -bounded.evaluate(s, 1)
        if game.is_terminal(s):
            assert value == below
            continue
        low, high = bounded.bounds(s, 0)
        assert worst < value < best
        assert value == min(max(below, low), high)
        assert bounded.explain(s, 0) == (wild.explain(s, 0) if value == below else {})
        clipped += value != below
    assert clipped


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.long] if n != "connect_four" else []) for n in BOUNDED]
)
def test_compiled_values_are_the_plain_ones(name: str) -> None:
    game = game_of(name)
    bounded = BoundedEval(LinearEval(game, [[5.0] * len(game.feature_names)] * game.n_phases))
    states, rng = positions(game), random.Random(1)
    players = [rng.randrange(2) for _ in states]
    compiled = bounded.evaluate_batch(states, players).tolist()
    assert compiled == [bounded.evaluate(s, p) for s, p in zip(states, players, strict=True)]


def test_connect_four_is_at_most_a_draw_for_a_side_without_a_line() -> None:
    game = get_game("connect_four")
    for text, to_x in ENDINGS.items():
        s = game.from_text(text)
        assert game.bounds(s, 0) == to_x, game.board(s)
        assert game.bounds(s, 1) == (0.0 - to_x[1], 0.0 - to_x[0])


def test_pacman_scores_what_is_left_at_most() -> None:
    game = get_game("pacman")
    s = game.from_text("%%%%%%%/%P-.-.%/%%%%%%%/%G----%/%%%%%%% score=7 moves=9")
    assert game.bounds(s, 0) == (7 - 9 - 500, 7 + 20 + 500 - 4)
    assert game.bounds(s, 1) == (-523.0, 502.0)
    late = s._replace(moves=3)
    assert game.bounds(late, 0)[1] == 7 + 2 * 9  # he cannot eat both, and no more than a dot with each move
    scared = game.from_text("%%%%%%%/%Po.--%/%%%%%%% ghosts=f2-!3,e2- moves=9")
    assert game.bounds(scared, 0)[1] == 3 * 200 + 10 + 500 - 2
    between = game.from_text("%%%%%%%/%.-P-.%/%%%%%%%/%G----%/%%%%%%%")
    assert game.bounds(between, 0)[1] == 20 + 500 - 6


def test_an_eval_stays_inside_where_the_rules_promise_the_win() -> None:
    class Won(type(get_game("tic_tac_toe"))):  # type: ignore[misc]
        rules = None

        def bounds(self, s: State, player: int) -> tuple[float, float]:
            return (1.0, 1.0) if player == 0 else (-1.0, -1.0)

    game = Won()
    evaluator = BoundedEval(LinearEval.zero(game))
    for player, sign in ((0, 1), (1, -1)):
        value = evaluator.evaluate(game.initial(), player)
        assert 0 < 1 - sign * value < 1e-5
        low, high = evaluator.bounds(game.initial(), player)
        assert low <= value <= high


def test_agents_name_it() -> None:
    game = get_game("connect_four")
    evaluator = parse_evaluator("bounded:handwritten:threats", game)
    assert isinstance(evaluator, BoundedEval)
    assert evaluator.below.name == heuristic(game, "threats").name
    assert evaluator.name.endswith("+bounds")


def test_without_a_kernel_below_there_is_none_above() -> None:
    game = get_game("connect_four")
    assert BoundedEval(FunctionEval(game, lambda s, p: 0.0)).kernel() is None
    assert SolvedEval(LinearEval.zero(get_game("matches"))).bounds((3, 5), 0) is None  # offers none


def test_games_without_bounds_or_alphabeta_are_refused() -> None:
    othello = get_game("othello")
    with pytest.raises(
        EvaluatorError, match="othello knows no bounds: give it `bounds`, or use the zero evaluator alone"
    ):
        BoundedEval(LinearEval.zero(othello))

    class Bounded(type(get_game("pig"))):  # type: ignore[misc]
        def bounds(self, s: State, player: int) -> tuple[float, float]:
            return -1.0, 1.0

    with pytest.raises(EvaluatorError, match="bounds serve alpha-beta, which cannot play pig"):
        BoundedEval(LinearEval.zero(Bounded()))
