"""Evaluators of games whose utility accumulates: what is won already, and what is still to come."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harvest import CROP, Field, Harvest
from nets import random_net

import evallearn
from evallearn.agents import SearchAgent
from evallearn.compiled.game import CompiledGame
from evallearn.core.game import CHANCE, Game
from evallearn.core.search import Limits
from evallearn.data import RecordSettings
from evallearn.data.generate import play_game
from evallearn.errors import EvaluatorError
from evallearn.evaluators import FunctionEval, LinearEval, heuristic, load_evaluator, save
from evallearn.evaluators.quantised import quantise
from evallearn.registry import get_game
from evallearn.search import Expectiminimax, MaxN

GAME = get_game("2048")
FAST = CompiledGame(GAME)
SHAPE = GAME.n_phases, len(GAME.feature_names)


def linear(size: float) -> LinearEval:
    rng = np.random.default_rng(1)
    return LinearEval(GAME, rng.normal(0, size, SHAPE), rng.normal(0, size, SHAPE[0]))


EVALS = {
    **{name: heuristic(GAME, name) for name in GAME.heuristics},
    "zoo": evallearn.load("2048/linear"),
    "zero": LinearEval.zero(GAME),
    "any": linear(0.1),
    "huge": linear(1e6),
    "the least": LinearEval(GAME, np.full(SHAPE, -1e6)),
    "net": random_net(GAME, (8, 8), per_phase=("b1",)),
    "huge net": random_net(GAME, size=1e6),
    "quantised": quantise(random_net(GAME)),
}


def depth_1(seed: int) -> list[Any]:
    """The positions of a game of the zoo's evaluator, one ply ahead."""
    search, rng, s = Expectiminimax(FAST, EVALS["zoo"]), random.Random(seed), GAME.initial()
    seen = [s]
    while not FAST.is_terminal(s):
        if FAST.to_play(s) == CHANCE:
            outcomes, weights = zip(*FAST.chances(s), strict=True)
            s = FAST.result(s, rng.choices(outcomes, weights)[0])
        else:
            s = FAST.result(s, search.search(s, Limits(depth=1)).action)
        seen.append(s)
    return seen


@cache
def positions() -> list[Any]:
    """Many games: random ones with their ends, and every 25th position of some in which much is won."""
    found = []
    for seed in range(20):
        rng, s = random.Random(seed), GAME.initial()
        while not FAST.is_terminal(s):
            found += [s] if rng.random() < 0.05 else []
            s = FAST.result(s, rng.choice(list(FAST.actions(s)) or [a for a, _ in FAST.chances(s)]))
        found.append(s)
    for seed in range(3):
        found += depth_1(seed)[::25]
    return found


@pytest.mark.parametrize("name", EVALS)
def test_an_eval_never_says_less_than_what_is_won(name: str) -> None:
    best = GAME.utility_range[1]
    assert max(s.score for s in positions()) > 10_000
    for s in positions():
        value = EVALS[name].evaluate(s, 0)
        if FAST.is_terminal(s):
            assert value == s.score
        else:
            assert s.score < value < best
            assert s.score < np.float32(value) < best  # as records and batches hold it


def test_more_won_is_worth_as_much_more_but_for_what_is_left() -> None:
    """The same board with 64 points more: what is still to come is the same share of a little less."""
    s, evaluator = GAME.from_text("512.256.64.8/4.8.2.0/2.0.0.0/0.0.0.0"), EVALS["zoo"]
    less = GAME.from_text(f"512.256.64.8/4.8.2.0/2.0.0.0/0.0.0.0 {s.score - 64}")
    assert evaluator.evaluate(s, 0) - evaluator.evaluate(less, 0) == pytest.approx(64, abs=2)
    assert evaluator.explain(s, 0) == evaluator.explain(less, 0)


@pytest.mark.parametrize("name", ["zoo", "snake", "any", "huge", "the least"])
def test_both_backends_say_the_same_to_the_last_bit(name: str) -> None:
    """A search of one ply tells what the evaluator says of each board after a move."""
    compiled, told = Expectiminimax(GAME, EVALS[name], backend="compiled"), 0
    for s in positions()[::3]:
        if GAME.to_play(s) != CHANCE and not GAME.is_terminal(s):
            found = compiled.search(s, Limits(depth=1), action_values=True).action_values or {}
            assert found == {a: EVALS[name].evaluate(GAME.result(s, a), 0) for a in GAME.actions(s)}
            told += len(found)
    assert told > 100


def test_two_plies_say_less_than_what_is_won_in_no_position_with_28_to_36_thousand() -> None:
    """By an evaluator of the final score it was 54 % of those up to 32,000, and 90 % beyond."""
    agent, config = SearchAgent(GAME, EVALS["zoo"], Limits(depth=2)), RecordSettings(seed=1, epsilon=0.0)
    games = (play_game(FAST, [agent], config, number) for number in range(50))
    rich = next(records for records in games if records[-1].outcome >= 36_000)
    seen = [r for r in rich if 28_000 <= r.won < 36_000]
    assert seen[0].won < 29_000 < 35_000 < seen[-1].won
    assert all(r.value >= r.won for r in seen)


# --- a game for two --------------------------------------------------------------------------------------------------
def harvest(bias: float) -> LinearEval:
    return LinearEval(Harvest(), np.zeros((1, 2)), np.array([bias]))


def test_each_player_has_won_something_else() -> None:
    s = Field(4, 6, 2, 0)
    for bias in (-100.0, 0.0, 100.0):
        for player, won in ((0, 6.0), (1, 2.0)):
            assert won < harvest(bias).evaluate(s, player) < CROP
    assert [harvest(0.0).evaluate(s, p) for p in (0, 1)] == [9.0, 7.0]
    assert harvest(0.0).evaluate_batch([s, s], [0, 1]).tolist() == [9.0, 7.0]


def test_a_search_of_an_eval_that_expects_nothing_takes_all_it_can() -> None:
    found = MaxN(Harvest(), harvest(-100.0)).search(Field(9, 2, 1, 0), Limits(depth=1))
    assert (found.action, found.value) == (3, pytest.approx(5.0, abs=1e-3))


@pytest.mark.parametrize("value", [5.5, 12.5, float("nan")])
def test_a_function_that_says_less_than_what_is_won_is_refused(value: float) -> None:
    evaluator = FunctionEval(Harvest(), lambda s, p: value)
    with pytest.raises(EvaluatorError, match="stays between 6, which is won already, and 12, the best there is; add"):
        evaluator.evaluate(Field(4, 6, 2, 0), 0)
    assert FunctionEval(Harvest(), lambda s, p: 6.0).evaluate(Field(4, 6, 2, 0), 0) == 6.0


def test_nothing_is_won_for_certain_in_a_zero_sum_game() -> None:
    class ZeroSum(Harvest):
        zero_sum = True

    with pytest.raises(EvaluatorError, match="harvest is zero-sum, and nothing is won for certain there: leave out"):
        LinearEval.zero(ZeroSum())


# --- files -----------------------------------------------------------------------------------------------------------
class Forgetful(Harvest):
    """The same game as it was before it told what is won."""

    def has(self, hook: str) -> bool:
        return hook != "won" and super().has(hook)


@pytest.mark.parametrize(("made_by", "read_by"), [(Forgetful, Harvest), (Harvest, Forgetful)])
def test_a_file_of_an_eval_that_learned_the_other_thing_is_refused(
    made_by: type[Game], read_by: type[Game], tmp_path: Path
) -> None:
    path = save(LinearEval.zero(made_by()), tmp_path / "e.safetensors")
    assert load_evaluator(path, made_by()).kind == "linear"
    with pytest.raises(EvaluatorError, match="does not say .*, as an evaluator of harvest must: refit it"):
        load_evaluator(path, read_by())
