"""What of an evaluator's values counts: their order without dice, their proportions with dice, and their bounds.

Decisions are compared with those after all values, utilities and evaluators alike, were put through a function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hashed_trees import HashedDice, HashedTree, Shape
from hypothesis import strategies as st
from properties import PRUNING, WAYS, alphabeta, answer, few_or_many, for_all, seeds, shapes, ties

from evallearn import CHANCE, AlphaBeta, Expectiminimax, FunctionEval, Game, Limits, LinearEval, heuristic
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import State

BENDS: dict[str, Callable[[float], float]] = {
    "cube": lambda x: x**3,
    "root": lambda x: math.copysign(math.sqrt(abs(x)), x),
    "sine": lambda x: math.sin(x * math.pi / 2),
}
"""Strictly increasing, odd, and the ends stay where they are."""


def bent(game: Game, function: Callable[[float], float]) -> Game:
    """The same game with every utility bent."""

    class Bent(type(game)):  # type: ignore[misc]  # the kind of the game is only known here
        rules = None

        def utility(self, s: State, player: int) -> float:
            return function(game.utility(s, 0)) * (1 if player == 0 else -1)

    other = Bent()
    most = max(abs(function(end)) for end in game.utility_range)  # to either player
    other.utility_range = (-most, most)
    return other


def bent_eval(game: Game, evaluator: Any, function: Callable[[float], float]) -> FunctionEval:
    return FunctionEval(game, lambda s, p: function(evaluator.evaluate(s, 0)) * (1 if p == 0 else -1))


@few_or_many(20, 500)
def test_monotone_bending_of_all_values_keeps_every_decision_without_dice(examples: int) -> None:
    game = HashedTree()
    evaluator = heuristic(game, "hash")
    straight = alphabeta("hashed_tree", "all", "compiled")
    games = {name: bent(game, bend) for name, bend in BENDS.items()}
    searches = {
        name: AlphaBeta(games[name], bent_eval(games[name], evaluator, bend), backend="python")
        for name, bend in BENDS.items()
    }

    def check(seed: int, shape: Shape, depth: int, tie: int | None, name: str) -> None:
        s, limits = game.root(seed, **shape._asdict()), Limits(depth=depth)
        expected = straight.search(s, limits, seed=tie)
        found = searches[name].search(s, limits, seed=tie)
        assert (found.action, found.value) == (expected.action, BENDS[name](expected.value))

    for_all(
        examples, check, seed=seeds, shape=shapes, depth=st.integers(1, 4), tie=ties, name=st.sampled_from(list(BENDS))
    )


@few_or_many(40, 1000)
def test_steeper_weights_keep_every_decision_of_the_compiled_backend_without_dice(examples: int) -> None:
    """tanh(2 x) is a monotone function of tanh(x) that leaves loss, draw and win alone."""
    game = HashedTree()
    gentle, steep = (
        AlphaBeta(game, LinearEval(game, [[weight]]), backend="compiled", **WAYS["all"])  # type: ignore[arg-type]
        for weight in (0.5, 1.0)
    )

    def check(seed: int, shape: Shape, depth: int, tie: int | None) -> None:
        shape = shape._replace(grain=0, eval_grain=min(shape.eval_grain, 10))  # so that float32 tells all values apart
        s, limits = game.root(seed, **shape._asdict()), Limits(depth=depth)
        assert gentle.search(s, limits, seed=tie).action == steep.search(s, limits, seed=tie).action

    for_all(examples, check, seed=seeds, shape=shapes, depth=st.integers(1, 6), tie=ties)


@pytest.mark.parametrize("pruning", PRUNING)
@few_or_many(12, 300)
def test_positive_linear_change_of_all_values_keeps_every_decision_with_dice(pruning: Any, examples: int) -> None:
    game = HashedDice()
    evaluator = heuristic(game, "hash")
    straight = Expectiminimax(game, evaluator, pruning="none", backend="python")

    def check(seed: int, shape: Shape, depth: int, slope: float, shift: float) -> None:
        def line(x: float) -> float:
            return slope * x + shift

        s, limits = game.root(seed, **shape._asdict()), Limits(depth=depth)
        expected = straight.search(s, limits, action_values=True)
        other = bent(game, line)
        search = Expectiminimax(other, bent_eval(other, evaluator, line), pruning=pruning, backend="python")
        found, values = search.search(s, limits), expected.action_values or {}
        sign = 1 if found.player == 0 else -1
        assert found.value == pytest.approx(slope * expected.value + sign * shift, abs=1e-9 * (slope + abs(shift)))
        assert values[found.action] == pytest.approx(expected.value, abs=1e-9)  # a sum is rounded: ties may be broken

    for_all(
        examples, check, seed=seeds, shape=shapes, depth=st.integers(1, 3),
        slope=st.sampled_from([0.25, 3.0, 1000.0]), shift=st.sampled_from([0.0, -0.5, 7.0]),
    )  # fmt: skip


class Lottery(Game):
    """Player 0 takes what is certain (action 0) or one of two equally likely prizes (action 1)."""

    name = "lottery"
    has_chance = True
    sure, prizes = 0.5, (0.0, 0.875)
    utility_range = (-1.0, 1.0)

    def initial(self) -> str:
        return "start"

    def to_play(self, s: str) -> int:
        return CHANCE if s == "draw" else 0

    def actions(self, s: str) -> Sequence[int]:
        return (0, 1) if s == "start" else ()

    def chances(self, s: str) -> Sequence[tuple[int, float]]:
        return ((0, 0.5), (1, 0.5))

    def result(self, s: str, a: int) -> str:
        return ("sure", "draw")[a] if s == "start" else ("first prize", "second prize")[a]

    def is_terminal(self, s: str) -> bool:
        return s not in ("start", "draw")

    def utility(self, s: str, player: int) -> float:
        worth = {"sure": self.sure, "first prize": self.prizes[0], "second prize": self.prizes[1]}[s]
        return worth if player == 0 else -worth

    def to_text(self, s: str) -> str:
        return s

    def from_text(self, text: str) -> str:
        return text


@pytest.mark.parametrize("pruning", PRUNING)
def test_monotone_bending_changes_a_decision_with_dice(pruning: Any) -> None:
    """0.5 for certain beats an even chance of 0.875 (0.4375 on average); cubed, 0.125 does not beat 0.335."""
    game = Lottery()
    cubed = bent(game, BENDS["cube"])
    for lottery, action, value in ((game, 0, 0.5), (cubed, 1, 0.875**3 / 2)):
        search = Expectiminimax(lottery, FunctionEval(lottery, lambda s, p: 0.0), pruning=pruning, backend="python")
        found = search.search("start", Limits(depth=2))
        assert answer(found) == (value, action)


class Boast(Lottery):
    """The first prize is a loss; the second is a ticket for later, and the evaluator says what that is worth."""

    prizes = (-1.0, 0.0)

    def is_terminal(self, s: str) -> bool:
        return s in ("sure", "first prize")

    def actions(self, s: str) -> Sequence[int]:
        return {"start": (0, 1), "second prize": (0,), "later": (0,)}.get(s, ())

    def result(self, s: str, a: int) -> str:
        return {"second prize": "later", "later": "first prize"}.get(s) or super().result(s, a)


class Boastful(Evaluator):
    """Says what the ticket is worth. FunctionEval would keep it within the range."""

    def __init__(self, game: Game, boast: float) -> None:
        self.game, self.boast = game, boast

    def evaluate(self, s: State, player: int) -> float:
        if self.game.is_terminal(s):
            return self.game.utility(s, player)
        worth = self.boast if s == "later" else 0.0
        return worth if player == 0 else -worth


def test_star1_trusts_that_the_eval_lies_between_loss_and_win() -> None:
    """With one half already lost, no evaluator within (-1, 1) lifts the lottery above 0, and Star1 looks no further.

    An evaluator of 5 would: the plain search believes it, Star1 never asks. So an evaluator that breaks its promise
    makes Star1 and Star2 answer something else than expectiminimax.
    """
    game = Boast()
    answers = {}
    for boast in (0.9, 5.0):
        for pruning in PRUNING:
            search = Expectiminimax(game, Boastful(game, boast), pruning=pruning, backend="python")
            answers[boast, pruning] = search.search("start", Limits(depth=2)).action
    assert answers[0.9, "none"] == answers[0.9, "star1"] == answers[0.9, "star2"] == 0
    assert (answers[5.0, "none"], answers[5.0, "star1"], answers[5.0, "star2"]) == (1, 0, 0)
