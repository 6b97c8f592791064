"""TD(lambda) by the book: forward and backward view, Monte Carlo, the random walk, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest
from toys import CoinRace, Takeaway

from evallearn.errors import SpecError
from evallearn.games.pig.game import State
from evallearn.games.pig.solver import solve_pig, win_probability
from evallearn.registry import get_game
from evallearn.train.reference.td_lambda import Mlp, TdLambda, Traces, backward_update, forward_update, lambda_returns

TTT, PIG = get_game("tic_tac_toe"), get_game("pig,target=12")


class Table:
    """One weight for every state of a random walk."""

    def __init__(self, states: int, weights: np.ndarray | None = None) -> None:
        self.weights = np.full(states, 0.5) if weights is None else weights

    def outputs(self, x: np.ndarray) -> np.ndarray:
        return np.array([x @ self.weights])

    def gradient(self, x: np.ndarray) -> np.ndarray:
        return x[None, :]


def walk(states: int, rng: np.random.Generator) -> tuple[list[int], float]:
    """From the middle to one of the ends: the states on the way, 1 if it ended on the right."""
    s, path = states // 2, []
    while 0 <= s < states:
        path.append(s)
        s += rng.choice((-1, 1))
    return path, float(s == states)


def seen(model, inputs, result) -> tuple[np.ndarray, np.ndarray]:
    """Values (the result last) and gradients along a chain."""
    values = np.array([*(model.outputs(x) for x in inputs), np.atleast_1d(result)])
    return values, np.array([model.gradient(x) for x in inputs])


# --- both views ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("lambda_", [0.0, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("states", [5, 7])
def test_backward_view_equals_forward_view_on_random_walks(states, lambda_):
    rng = np.random.default_rng(states)
    for _ in range(20):
        path, result = walk(states, rng)
        table = Table(states, rng.random(states))
        values, gradients = seen(table, np.eye(states)[path], result)
        forward, backward = (view(values, gradients, lambda_) for view in (forward_update, backward_update))
        assert np.abs(forward - backward).max() < 1e-12


@pytest.mark.parametrize("lambda_", [0.0, 0.7, 1.0])
def test_backward_view_equals_forward_view_with_a_network_of_several_outputs(lambda_):
    rng, mlp = np.random.default_rng(1), Mlp(4, 6, 3)
    values, gradients = seen(mlp, rng.normal(0, 1, (9, 4)), [1.0, 1.0, 0.0])
    forward, backward = (view(values, gradients, lambda_) for view in (forward_update, backward_update))
    assert np.abs(forward - backward).max() < 1e-12
    assert np.abs(forward).max() > 0.01


def test_with_lambda_1_a_chain_teaches_its_result():
    """The Monte Carlo gradient: every state moves towards the end."""
    rng, mlp = np.random.default_rng(2), Mlp(3, 5, 2)
    values, gradients = seen(mlp, rng.normal(0, 1, (8, 3)), [1.0, 0.0])
    monte_carlo = sum((values[-1] - v) @ g for v, g in zip(values[:-1], gradients, strict=True))
    assert np.abs(backward_update(values, gradients, 1.0) - monte_carlo).max() < 1e-12
    assert lambda_returns(values, 0.0).tolist() == values[1:].tolist()


def test_gradient_is_what_a_small_change_of_a_weight_does():
    mlp, x, small = Mlp(3, 4, 2), np.array([0.5, -1.0, 2.0]), 1e-6
    gradient = mlp.gradient(x)
    for i in range(len(mlp.weights)):
        mlp.weights[i] += small
        up = mlp.outputs(x)
        mlp.weights[i] -= 2 * small
        down = mlp.outputs(x)
        mlp.weights[i] += small
        assert (up - down) / (2 * small) == pytest.approx(gradient[:, i], abs=1e-8)


def test_online_steps_use_the_weights_of_the_moment():
    """By hand: states a, b and a win, alpha 0.5, lambda 0.5, all values 0 at first."""
    table, traces = Table(2, np.zeros(2)), Traces(0.5, 0.5)
    a, b = np.eye(2)
    traces.step(table.weights, table.outputs(a), table.gradient(a), table.outputs(b))
    traces.step(table.weights, table.outputs(b), table.gradient(b), np.array([1.0]))
    assert table.weights.tolist() == [0.25, 0.5]
    traces.begin()
    traces.step(table.weights, table.outputs(a), table.gradient(a), table.outputs(b))
    assert table.weights.tolist() == [0.375, 0.5]


@pytest.mark.parametrize("lambda_", [0.0, 0.8])
def test_random_walk_is_learned(lambda_):
    """Sutton 1988: the chance to end on the right is 1/6, 2/6, ... 5/6."""
    rng, table, traces = np.random.default_rng(3), Table(5), Traces(0.02, lambda_)
    for _ in range(1500):
        path, result = walk(5, rng)
        inputs = np.eye(5)[path]
        traces.begin()
        for x, after in zip(inputs, [*inputs[1:], None], strict=True):
            following = np.array([result]) if after is None else table.outputs(after)
            traces.step(table.weights, table.outputs(x), table.gradient(x), following)
    assert np.sqrt(np.mean((table.weights - np.arange(1, 6) / 6) ** 2)) < 0.1  # at first it is 0.24


# --- games -----------------------------------------------------------------------------------------------------------
def test_one_more_player_sees_the_same_game():
    td = TdLambda(Takeaway(), hidden=3)
    s = (7, 1)
    assert td.evaluate(s, 0) == -td.evaluate(s, 1)
    assert td.outputs(s)[0] == 1 - td.outputs((7, 0))[0]
    assert td.gradient(s).tolist() == (-td.gradient((7, 0))).tolist()
    assert td.outputs((0, 1)).tolist() == [1.0]
    assert td.evaluate((0, 1), 0) == td.evaluator().evaluate((0, 1), 0) == 1.0


def test_chain_of_a_game_is_what_moves_leave_behind_and_its_end():
    game = CoinRace()
    td = TdLambda(game, hidden=3, seed=2)
    chain = list(td.play())
    assert chain[0] == game.initial()
    assert game.is_terminal(chain[-1])
    assert all(s[3] == 0 for s in chain)  # before the coin is thrown
    assert [s[4] for s in chain] == list(range(len(chain)))


def test_five_outputs_of_backgammon_are_turned_for_the_other_player():
    game = get_game("backgammon,features=tesauro")
    td, s = TdLambda(game, hidden=2), game.initial()
    chain = td.play()
    next(chain)
    after = next(chain)
    assert td.outputs(s).shape == td.gradient(s).shape[:1] == (5,)
    assert {game.observer(s), game.observer(after)} == {0, 1}
    other = s if game.observer(s) == 1 else after
    y = td.model.outputs(td.inputs(other))
    assert td.outputs(other).tolist() == (1 - y[::-1]).tolist()


def test_it_learns_who_wins_takeaway():
    """A multiple of three is lost for whoever is to move."""
    td = TdLambda(Takeaway(), hidden=8, alpha=0.3, lambda_=0.7, epsilon=0.2)
    before = mean_error(td)
    td.learn(600)
    assert td.games == 600
    assert mean_error(td) < 0.5 * before


def mean_error(td: TdLambda) -> float:
    """The distance to what every pile is worth, on average."""
    truth = {pile: -1.0 if pile % 3 == 0 else 1.0 for pile in range(1, 12)}
    return float(np.mean([abs(td.evaluate((pile, 0), 0) - value) for pile, value in truth.items()]))


def test_it_learns_pig_with_dice():
    """Nearer to the exact chances than at first; the same seed gives the same weights."""
    td, again = (TdLambda(PIG, hidden=8, alpha=0.1, seed=3) for _ in range(2))
    table = solve_pig(12)
    rolling = [State(i, j, k, 0, 1, 12) for i in range(0, 12, 3) for j in range(0, 12, 3) for k in range(0, 12 - i, 2)]
    truth = np.array([2 * win_probability(table, s, 0) - 1 for s in rolling])

    def error() -> float:
        return float(np.abs([td.evaluate(s, 0) for s in rolling] - truth).mean())

    before = error()
    td.learn(500)
    again.learn(500)
    assert td.model.weights.tobytes() == again.model.weights.tobytes()
    assert error() < 0.7 * before


def test_it_plays_tic_tac_toe_better_than_it_did():
    td = TdLambda(TTT, hidden=10, alpha=0.1, lambda_=0.7, epsilon=0.1)
    before = points_against_random(td)
    td.learn(400)
    assert points_against_random(td) > before + 0.1


def points_against_random(td: TdLambda, games: int = 60) -> float:
    """Points per game from both seats."""
    rng, total, epsilon = np.random.default_rng(7), 0.0, td.epsilon
    td.epsilon = 0.0
    for number in range(games):
        s, seat = TTT.initial(), number % 2
        while not TTT.is_terminal(s):
            s = TTT.result(s, td.choose(s) if TTT.to_play(s) == seat else rng.choice(TTT.actions(s)))
        total += TTT.utility(s, seat)
    td.epsilon = epsilon
    return total / games


def test_games_that_it_cannot_learn_are_refused():
    with pytest.raises(SpecError, match="2048 is no two-player zero-sum game with features: TD"):
        TdLambda(get_game("2048"))
