"""The promises of an evaluator, for every game we ship: the utility at the end, strictly inside elsewhere, one sign."""

from __future__ import annotations

import math
import random
import re
from functools import cache
from itertools import count
from typing import Any

import numpy as np
import pytest
from nets import random_net
from playing import random_game
from toys import DoubleMove, Takeaway, TreeGame

from evallearn.compiled.game import CompiledGame
from evallearn.core.game import Game, Heuristic
from evallearn.core.search import Limits
from evallearn.errors import EvaluatorError, SpecError
from evallearn.evaluators import FunctionEval, LinearEval, heuristic
from evallearn.evaluators.batch import evaluate_words
from evallearn.registry import game_names, get_game
from evallearn.search import AlphaBeta

SHIPPED = game_names()
GAMES = [*SHIPPED, "double_move"]


@cache
def game(name: str) -> Game:
    """It computes the features of a position once: all evaluators of a test see the same ones."""
    g = DoubleMove() if name == "double_move" else get_game(name)
    g.features = cache(g.features)
    return g


def two_sided(name: str) -> bool:
    return game(name).n_players == 2 and game(name).zero_sum


def by_mover(name: str) -> bool:
    return game(name).rules.features_mover is not None


@cache
def positions(name: str) -> tuple:
    """Positions of random games: terminal ones, and a hundred or more others."""
    fast, ends, others = CompiledGame(game(name)), [], []
    for seed in count():
        *going_on, (end, _) = random_game(fast, seed)
        ends.append(end)
        others += [s for s, _ in going_on]
        if len(ends) >= 4 and len(others) > 110:
            return (*others[:: -(-len(others) // 220)], *ends)
    raise AssertionError


def random_linear(g: Game, size: float) -> LinearEval:
    rng, shape = np.random.default_rng(1), (g.n_phases, len(g.feature_names))
    return LinearEval(g, rng.normal(0, size, shape), rng.normal(0, size, shape[0]))


def evals(name: str) -> list:
    g = game(name)
    return [
        *(heuristic(g, h) for h in g.heuristics),
        LinearEval.zero(g),
        random_linear(g, 0.1),
        LinearEval(g, np.full((g.n_phases, len(g.feature_names)), 1e6)),
        LinearEval(g, np.full((g.n_phases, len(g.feature_names)), -1e6), np.full(g.n_phases, 1e6)),
        random_net(g, (8, 8), per_phase=("b1",)),
        random_net(g, (8, 8), per_phase=("b1",), seed=1, size=1e6),
        random_net(g, (8, 8), per_phase=("b1",), seed=2, size=1e37),  # sums overflow float32
    ]


@cache
def values(name: str) -> list:
    """(evaluator, its plain values of all positions to player 0, to player 1 and so on)."""
    players = range(game(name).n_players)
    return [(e, *([e.evaluate(s, p) for s in positions(name)] for p in players)) for e in evals(name)]


@pytest.mark.parametrize("name", GAMES)
def test_terminal_states_are_worth_their_utility(name):
    g = game(name)
    ends = [(i, s) for i, s in enumerate(positions(name)) if g.is_terminal(s)]
    assert len(ends) >= 4
    for e, *of_players in values(name):
        for i, s in ends:
            assert [v[i] for v in of_players] == [g.utility(s, p) for p in range(g.n_players)], e.name


@pytest.mark.parametrize("name", GAMES)
def test_other_states_lie_strictly_between_loss_and_win(name):
    low, high = game(name).utility_range
    going_on = [i for i, s in enumerate(positions(name)) if not game(name).is_terminal(s)]
    assert len(going_on) > 100
    for e, *both in values(name):
        for of_player in both:
            assert all(low < of_player[i] < high for i in going_on), e.name


@pytest.mark.parametrize("name", [n for n in GAMES if two_sided(n)])
def test_what_one_player_gains_the_other_loses(name):
    for e, first, second in values(name):
        assert first == [-v for v in second], e.name


@pytest.mark.parametrize("name", [n for n in GAMES if by_mover(n)])
def test_compiled_value_equals_plain_value_bit_for_bit(name):
    states = positions(name)
    rng = random.Random(3)
    players = [rng.randrange(2) for _ in states]
    for e, *both in values(name):
        compiled = e.evaluate_batch(states, players)
        plain = np.array([both[p][i] for i, p in enumerate(players)])
        assert compiled.dtype == np.float32
        assert compiled.astype(np.float64).tobytes() == plain.tobytes(), e.name  # so -0.0 is not 0.0


@pytest.mark.parametrize("name", [n for n in GAMES if by_mover(n)])
def test_kernel_values_are_those_of_the_player_to_move(name):
    g, e = game(name), random_linear(game(name), 0.1)
    states = [s for s in positions(name) if not g.history(s)][:100]  # the words alone do not know the past
    assert len(states) >= 4
    words = np.array([g.encode(s) for s in states], np.uint64)
    assert evaluate_words(e, words).tolist() == [e.evaluate(s, g.to_play(s)) for s in states]


@pytest.mark.parametrize("name", GAMES)
def test_explanation_sums_to_the_raw_value(name):
    g = game(name)
    for e in (x for x in evals(name) if isinstance(x, LinearEval)):
        for s in (s for s in positions(name)[:40] if not g.is_terminal(s)):
            for player in range(g.n_players):
                observer = g.observer(s) if two_sided(name) else player
                raw = e.raw(np.asarray(e.game.features(s, observer), np.float32).tolist(), g.phase(s))
                parts = e.explain(s, player)
                assert set(parts) == {*e.game.feature_names, "to move"}
                signed = raw if player == observer else -raw
                assert math.isclose(
                    math.fsum(parts.values()), signed, rel_tol=1e-9, abs_tol=1e-9 * max(map(abs, parts.values()))
                )
                sizes = [abs(v) for v in parts.values()]
                assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("name", SHIPPED)
def test_value_grows_with_a_feature_that_weighs_more(name):
    """Not only bounds: a larger raw value is a larger value."""
    g = game(name)
    small, large = random_linear(g, 0.001), random_linear(g, 0.002)  # the same draws, twice as large
    middle = sum(g.utility_range) / 2
    s = next(s for s in positions(name) if not g.is_terminal(s) and any(g.features(s, 0)))
    assert 0 < abs(small.evaluate(s, 0) - middle) < abs(large.evaluate(s, 0) - middle)


def test_zero_eval_knows_nothing_and_says_plus_zero():
    g = game("othello")
    for player in (0, 1):
        assert math.copysign(1.0, LinearEval.zero(g).evaluate(g.initial(), player)) == 1.0
        assert LinearEval.zero(g).evaluate(g.initial(), player) == 0.0


def test_phases_use_their_own_weights():
    g = DoubleMove()
    e = LinearEval(g, [[1, 0, 0], [0, 0, 0]], [0.0, 0.25])
    early, late = g.from_text("9:0"), g.from_text("5:0")
    assert e.evaluate(early, 0) == pytest.approx(math.tanh(1))
    assert e.evaluate(late, 0) == pytest.approx(math.tanh(0.25))


def test_batch_of_nothing_is_empty():
    e = LinearEval.zero(game("tic_tac_toe"))
    assert e.evaluate_batch([], []).shape == (0,)


def test_batch_of_a_plain_game_answers_one_by_one():
    g = Takeaway()
    e = heuristic(g, "remainder")
    assert e.kernel() is None
    values = e.evaluate_batch([(11, 0), (10, 1), (0, 1)], [0, 0, 0])
    assert values.tolist() == pytest.approx([math.tanh(1.0), -math.tanh(0.5), 1.0])


def test_batch_refuses_fewer_players_than_states():
    g = game("tic_tac_toe")
    with pytest.raises(ValueError, match="shorter"):
        LinearEval.zero(g).evaluate_batch([g.initial(), g.initial()], [0])


def test_words_above_two_to_the_63_arrive_unchanged():
    """Othello's last square is the highest bit of its word."""
    g = game("othello")
    s = g.decode([1 << 63 | 1, 1 << 62 | 2, *g.encode(g.initial())[2:]])
    assert max(g.encode(s)) > 2**63
    e = random_linear(g, 0.1)
    assert e.evaluate_batch([s], [0])[0] == e.evaluate(s, 0)


class Shared(Takeaway):
    zero_sum = False


class Trio(Takeaway):
    n_players = 3


@pytest.mark.parametrize("kind", [Shared, Trio])
def test_eval_of_a_game_that_is_not_two_sided_sees_it_as_the_player_asked(kind):
    e = heuristic(kind(), "remainder")
    first, second = ([e.evaluate((pile, 0), p) for pile in range(1, 9)] for p in (0, 1))
    assert first != second
    assert first == [e.evaluate((pile, 1), 1) for pile in range(1, 9)]


# --- what cannot be an evaluator -------------------------------------------------------------------------------------
class Misspelt(Takeaway):
    heuristics = {"typo": Heuristic({"remaindre": 1.0}, "A typo.")}  # noqa: RUF012


def test_feature_eval_refuses_a_game_without_features():
    with pytest.raises(EvaluatorError, match="tree has no features: give it feature_names and features"):
        LinearEval.zero(TreeGame())


@pytest.mark.parametrize(
    ("weights", "bias"), [(np.zeros((2, 2)), None), (np.zeros((1, 2)), [0, 0]), (np.zeros(2), None)]
)
def test_linear_refuses_wrong_shapes(weights, bias):
    with pytest.raises(EvaluatorError, match=r"takeaway needs weights of shape \(1, 2\) and bias \(1,\), got"):
        LinearEval(Takeaway(), weights, bias)


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e39])
def test_linear_refuses_numbers_that_float32_cannot_hold(bad):
    with pytest.raises(EvaluatorError, match="not a finite number: refit it"):
        LinearEval(Takeaway(), [[bad, 0]])
    with pytest.raises(EvaluatorError, match="not a finite number: refit it"):
        LinearEval(Takeaway(), [[0, 0]], [bad])


def test_heuristic_with_a_misspelt_name_suggests_the_nearest():
    with pytest.raises(SpecError, match="unknown heuristic of takeaway 'remander': did you mean 'remainder'"):
        heuristic(Takeaway(), "remander")
    with pytest.raises(SpecError, match="unknown feature in heuristic 'typo' of takeaway 'remaindre'"):
        heuristic(Misspelt(), "typo")


def test_function_eval_answers_utility_at_the_end_and_the_function_elsewhere():
    g = Takeaway()

    def half(s, player):
        return 0.5 if player == s[1] else -0.5

    e = FunctionEval(g, half)
    assert e.name == "half"
    assert (e.evaluate((3, 0), 0), e.evaluate((3, 0), 1), e.evaluate((0, 0), 0)) == (0.5, -0.5, -1.0)
    assert e.evaluate_batch([(3, 0), (0, 0)], [1, 1]).tolist() == [-0.5, 1.0]
    assert e.kernel() is None
    assert e.explain((3, 0), 0) == {}


@pytest.mark.parametrize("value", [37.0, -1.0000001, math.inf, math.nan, None, np.zeros(2)])
def test_a_function_that_leaves_the_range_is_refused_at_the_first_position(value: Any) -> None:
    game = get_game("tic_tac_toe")
    evaluator = FunctionEval(game, lambda s, p: value)
    told = f"<lambda>(s, 0) is {value!r} in tic_tac_toe position '.........': an evaluator stays between -1 and 1"
    with pytest.raises(EvaluatorError, match=re.escape(told)):
        evaluator.evaluate(game.initial(), 0)
    with pytest.raises(EvaluatorError, match="in tic_tac_toe position '"):
        AlphaBeta(game, evaluator).search(game.initial(), Limits(depth=2))
