"""Monte Carlo searches: limits, Ctrl-C, what the figures mean, and what is refused."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import pytest
from interrupting import ctrl_c_after
from simulations import BACKENDS, built, game_of
from toys import CoinRace, Takeaway, TreeGame
from walkers import Walkers

from evallearn import FunctionEval, Limits, LinearEval
from evallearn.errors import Interrupted, SearchError
from evallearn.search.montecarlo.flat import FlatMonteCarlo
from evallearn.search.montecarlo.mcts import MCTS

long = pytest.mark.long


# --- limits and numbers ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("backend", BACKENDS)
def test_exactly_so_many_simulations_are_made(backend: str) -> None:
    game = game_of("pig")
    s = game.from_text("0-0/turn=6/target=100/first")
    for nodes in (1, 2, 3, 77):
        found = built(MCTS, "pig", backend).search(s, Limits(nodes=nodes, seconds=60))
        assert (found.nodes, sum(found.visits.values()), found.leaf_calls) == (nodes, nodes, nodes)
        assert (found.action_values is None) == (nodes < 2)
        assert (found.standard_error is None) == (found.visits[found.action] < 2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_time_limit_stops_the_search(backend: str) -> None:
    game = game_of("pig")
    s = game.from_text("0-0/turn=6/target=100/first")
    start = time.perf_counter()
    found = built(MCTS, "pig", backend).search(s, Limits(seconds=0.05))
    assert time.perf_counter() - start < 5  # not a speed test: only that it ends
    assert found.nodes > 1
    flat = FlatMonteCarlo(Takeaway()).search((11, 0), Limits(seconds=0.02))
    assert flat.nodes > 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_depth_keeps_the_tree_shallow_and_a_full_tree_goes_on(backend: str) -> None:
    game = game_of("tic_tac_toe")
    search = built(MCTS, "tic_tac_toe", backend)
    assert search.search(game.initial(), Limits(nodes=500)).depth > 2
    shallow = search.search(game.initial(), Limits(nodes=500, depth=2))
    assert (shallow.depth, shallow.nodes, len(shallow.pv)) == (2, 500, 2)
    tiny = built(MCTS, "tic_tac_toe", backend, ("max_nodes", 1)).search(game.initial(), Limits(nodes=500))
    assert (tiny.depth, tiny.nodes) == (1, 500)


def test_flat_search_shares_the_playouts_and_reports_mean_and_error() -> None:
    tree = [[1, 3], [[2, 2], [2, 8]]]
    found = FlatMonteCarlo(TreeGame(tree)).search((), Limits(nodes=2001))
    assert found.visits == {0: 1001, 1: 1000}
    assert found.action_values is not None
    assert found.action_values[0] == pytest.approx(2.0, abs=0.15)
    assert found.value == pytest.approx(3.5, abs=0.4)  # random play: 2, 2, 2 or 8
    assert found.standard_error == pytest.approx(math.sqrt(6.75 / 1000), rel=0.1)
    assert (found.action, found.pv, found.depth, found.exact) == (1, (1,), 1, False)


@pytest.mark.parametrize(("kind", "name"), [(MCTS, "pig"), (FlatMonteCarlo, "tic_tac_toe")])
@pytest.mark.parametrize("backend", BACKENDS)
def test_ctrl_c_brings_what_was_found_so_far(kind: type, name: str, backend: str) -> None:
    game = game_of(name)
    s, search = game.initial(), built(kind, name, backend)
    with ctrl_c_after(0.05), pytest.raises(KeyboardInterrupt) as stopped:  # a bare one ends all tests
        search.search(s, Limits(nodes=10**9, seconds=60))
    assert isinstance(stopped.value, Interrupted)
    found = stopped.value.result
    assert found.action in game.actions(s)
    assert 0 < found.nodes < 10**9


# --- refusals --------------------------------------------------------------------------------------------------------
def test_what_makes_no_sense_is_refused_with_the_remedy() -> None:
    game = game_of("tic_tac_toe")
    evaluator = LinearEval.zero(game)
    for options, message in (
        ({"exploration": -1}, "exploration=-1: give 0 or more"),
        ({"exploration": float("nan")}, "exploration=nan: give 0 or more"),
        ({"scale": "own"}, "scale='own': give 'seen' or 'declared'"),
        ({"leaf": "guess"}, "leaf='guess': give 'playout' or 'eval'"),
        ({"leaf": "eval"}, "leaf='eval' needs an evaluator: give one, or use leaf='playout'"),
        ({"playout_depth": 3}, "playout_depth=3 needs an evaluator to ask there"),
        ({"playout_depth": 3, "evaluator": evaluator}, "playout_depth=3 with leaf='eval', which plays none"),
        ({"playout_depth": -3, "evaluator": evaluator, "leaf": "playout"}, "playout_depth=-3: give 0 or more plies"),
        ({"implicit_minimax": 2}, "implicit_minimax=2: give a share of 0 to 1"),
        ({"implicit_minimax": 0.5}, r"implicit_minimax=0\.5 needs an evaluator"),
        ({"max_nodes": 0}, "max_nodes=0: give the nodes of the tree, 1 to 2147483647"),
        ({"max_nodes": 1 << 31}, "max_nodes=2147483648: give the nodes of the tree"),
        ({"evaluator": LinearEval.zero(game_of("othello"))}, "the zero evaluator is of othello, not of tic_tac_toe"),
    ):
        with pytest.raises(SearchError, match=message):
            MCTS(game, **options)  # type: ignore[arg-type]
    with pytest.raises(SearchError, match="implicit minimax needs .* without chance; coin_race rolls dice"):
        MCTS(CoinRace(), LinearEval.zero(CoinRace()), implicit_minimax=0.5)


def test_tree_for_which_there_is_no_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any) -> None:
        raise MemoryError

    search = MCTS(game_of("tic_tac_toe"), max_nodes=1000)
    monkeypatch.setattr("evallearn.search.montecarlo.mcts_compiled.np.empty", full)
    with pytest.raises(SearchError, match="no memory for a tree of 1000 nodes of 32 bytes: lower max_nodes"):
        search.search(game_of("tic_tac_toe").initial(), Limits(seconds=1))


def test_game_too_wide_for_the_compiled_backend_is_refused() -> None:
    class Wide(Walkers):
        @property
        def rules(self) -> Any:
            return replace(Walkers().rules, max_actions=1 << 16)

    with pytest.raises(
        SearchError, match="walkers has up to 65536 actions: MCTS counts to 65535; use backend='python'"
    ):
        MCTS(Wide())


def test_backend_that_does_not_exist_is_refused() -> None:
    for kind in (MCTS, FlatMonteCarlo):
        with pytest.raises(
            SearchError, match="the game takeaway has no compiled backend: give it one, or use backend='auto'"
        ):
            kind(Takeaway(), backend="compiled")
        game = game_of("tic_tac_toe")
        with pytest.raises(SearchError, match="the <lambda> evaluator has no compiled backend"):
            kind(game, FunctionEval(game, lambda s, p: 0.0), backend="compiled")


@pytest.mark.parametrize("backend", BACKENDS)
def test_positions_and_limits_that_cannot_be_searched_are_refused(backend: str) -> None:
    game = game_of("tic_tac_toe")
    over, rolling = game.from_text("XXXOO...."), game_of("pig").from_text("0-0/turn=6/target=100/first/rolling")
    for kind, name in ((MCTS, "mcts"), (FlatMonteCarlo, "flat monte carlo")):
        search = built(kind, "tic_tac_toe", backend)
        with pytest.raises(SearchError, match=f"{name} counts simulations: give nodes or time, not only depth=3"):
            search.search(game.initial(), Limits(depth=3))
        with pytest.raises(SearchError, match=r"the game is over in tic_tac_toe position 'XXXOO\.\.\.\.'"):
            search.search(over, Limits(nodes=5))
    with pytest.raises(SearchError, match="waits for the dice: roll them first"):
        built(MCTS, "pig", backend).search(rolling, Limits(nodes=5))
