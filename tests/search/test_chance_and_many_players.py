"""Expectiminimax on trees that can be worked out by hand, and against minimax; which search suits which game."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import CoinRace, Dice, DoubleMove, Seats, TreeGame

from evallearn import AlphaBeta, Expectiminimax, FunctionEval, Limits, LinearEval, MaxN, Minimax, search_for
from evallearn.core.game import Game
from evallearn.errors import SearchError

leaf = st.integers(-9, 9)
trees = st.lists(
    st.recursive(leaf, lambda inner: st.lists(inner, min_size=1, max_size=3), max_leaves=25), min_size=1, max_size=3
)


def by_path(s: Any, player: int) -> float:
    value = (hash(s) % 19 - 9) * 0.9
    return value if player == 0 else -value


def blank(s: Any, player: int) -> float:
    return 0.0


def test_expectation_is_taken_over_the_dice() -> None:
    game = Dice([[10, -10], [3, 1], [[6, 8], 0]])
    found = Expectiminimax(game, FunctionEval(game, blank)).search((), Limits(depth=2), action_values=True)
    # a fair coin on +-10 is worth 0, on 3 and 1 it is 2; the last rolls a choice of 6 or 8, or 0
    assert found.action_values == {0: 0.0, 1: 2.0, 2: 4.0}
    assert (found.value, found.action, found.pv, found.exact) == (4.0, 2, (2,), True)


def test_roll_is_free_and_the_eval_is_asked_after_the_own_move() -> None:
    game, asked = Dice([[[1], [2]], [[3], [4]]]), []

    def note(s: Any, player: int) -> float:
        asked.append(s)
        return 0.0

    Expectiminimax(game, FunctionEval(game, note)).search((), Limits(depth=1))
    assert asked == [(0,), (1,)]


@settings(max_examples=150, deadline=None)
@given(tree=trees, depth=st.integers(1, 4), seed=st.none() | st.integers(0, 99))
def test_without_chance_it_equals_minimax(tree: Any, depth: int, seed: int | None) -> None:
    game = TreeGame(tree, (-10.0, 10.0))
    evaluator = FunctionEval(game, by_path)
    expected = Minimax(game, evaluator).search((), Limits(depth=depth), seed=seed)
    found = Expectiminimax(game, evaluator).search((), Limits(depth=depth), seed=seed, action_values=True)
    assert (found.value, found.action) == (expected.value, expected.action)
    assert found.action_values == expected.action_values


def test_limits_stop_a_search_in_the_middle() -> None:
    game = CoinRace()
    s = game.result(game.initial(), 1)
    search = Expectiminimax(game, FunctionEval(game, lambda s, player: 0.0))
    few = search.search(s, Limits(nodes=30))
    assert few.nodes <= 30
    assert (few.depth, few.action_values) == (
        search.search(s, Limits(depth=few.depth)).depth,
        search.search(s, Limits(depth=few.depth)).action_values,
    )
    none = search.search(s, Limits(nodes=1))
    assert (none.depth, none.action_values, none.action) == (0, None, 0)
    assert search.search(s, Limits(seconds=0.02)).depth >= 1
    whole = search.search(game.from_text("2 3 0 1 5"), Limits(depth=100))
    assert whole.exact
    assert whole.depth < 20


def test_search_waits_for_the_dice() -> None:
    game = CoinRace()
    with pytest.raises(SearchError, match="coin_race position '0 0 0 0 0' waits for the dice: roll them first"):
        Expectiminimax(game, LinearEval.zero(game)).search(game.initial(), Limits(depth=1))


def test_expectiminimax_refuses_what_max_n_can_play() -> None:
    game = Seats([(1, 2, 3)])
    with pytest.raises(SearchError, match=r"seats has 3 players: use max\^n"):
        Expectiminimax(game, FunctionEval(game, blank))

    class Friends(CoinRace):
        zero_sum = False

    with pytest.raises(SearchError, match=r"coin_race is not zero-sum: use max\^n"):
        Expectiminimax(Friends(), LinearEval.zero(Friends()))


@pytest.mark.parametrize(
    ("game", "kind"),
    [(TreeGame(), AlphaBeta), (DoubleMove(), AlphaBeta), (CoinRace(), Expectiminimax), (Dice([[1, 2]]), Expectiminimax),
     (Seats([(1, 2, 3)]), MaxN)],
)  # fmt: skip
def test_search_that_suits_the_game_is_chosen(game: Game, kind: type) -> None:
    evaluator = LinearEval.zero(game) if game.feature_names else FunctionEval(game, blank)
    assert type(search_for(game, evaluator)) is kind
