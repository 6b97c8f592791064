"""Star1, Star2, the table and the compiled backend against the textbook's expectiminimax; samples against all rolls."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from functools import cache
from typing import Any

import pytest
from backgammon_positions import position
from interrupting import ctrl_c_after
from toys import CoinRace, Dice
from walkers import Walkers

from evallearn import CHANCE, Expectiminimax, FunctionEval, Game, Limits, LinearEval, get_game, heuristic
from evallearn.compiled.game import CompiledGame
from evallearn.errors import Interrupted, SearchError
from evallearn.search.expectiminimax.plain import PlainExpectiminimax

PRUNING = ("none", "star1", "star2")
WAYS = [{"pruning": pruning, "table": table} for pruning, table in itertools.product(PRUNING, (False, True))]


@cache
def fast(name: str) -> tuple[CompiledGame, LinearEval]:
    """The game on compiled rules (check_game shows that they equal the plain ones) and a heuristic for it."""
    game = CompiledGame(get_game(name))
    return game, heuristic(game, list(game.heuristics)[-1])


@cache
def built(name: str, backend: Any, **options: Any) -> Expectiminimax:
    return Expectiminimax(*fast(name), backend=backend, table_bits=20, **options)


@cache
def positions(name: str, n: int, seed: int = 1, longest: int = 60) -> list[Any]:
    """Positions of random games in which somebody is to choose."""
    game, rng, found = fast(name)[0], random.Random(seed), []
    while len(found) < n:
        s, stop = game.initial(), rng.randrange(1, longest)
        for ply in itertools.count():
            if game.is_terminal(s):
                break
            if ply >= stop and game.to_play(s) != CHANCE:
                found.append(s)
                break
            s = game.result(s, rng.choice(list(game.actions(s)) or [o for o, _ in game.chances(s)]))
    return found


# --- trees that can be worked out by hand ----------------------------------------------------------------------------
class InTurn(Dice):
    """A tree whose levels are: player 0, a fair die, player 1, a fair die, and so on."""

    name = "in_turn"
    n_players = 2
    zero_sum = True

    def to_play(self, s: tuple[int, ...]) -> int:
        return CHANCE if len(s) % 2 and not self.is_terminal(s) else len(s) // 2 % 2


def search_tree(tree: Any, depth: int, **options: Any) -> Any:
    game = InTurn(tree, (-10.0, 10.0))
    return Expectiminimax(game, FunctionEval(game, lambda s, player: 0.0), **options).search((), Limits(depth=depth))


def test_star1_cuts_where_the_best_win_cannot_save_a_roll() -> None:
    # The second roll shows -8; even a 10 beside it makes 1, less than the 5 of the first.
    assert [search_tree([[6, 4], [-8, 9]], 1, pruning=p, table=False).leaf_calls for p in PRUNING] == [2, 2, 2]
    found = [search_tree([[[6, 7], [4, 8]], [[-8, 1], [9, 9]]], 2, pruning=p, table=False) for p in PRUNING]
    # Depth 1 asks the evaluator of 2 leaves; then 8 leaves in all, or 4 of the first roll and the -8.
    assert [f.leaf_calls for f in found] == [2 + 8, 2 + 5, 2 + 5]
    assert [(f.value, f.action) for f in found] == [(5.0, 0)] * 3


def test_star2_cuts_where_one_answer_to_each_outcome_bounds_the_roll() -> None:
    # The first roll is worth 6. Of the second, answers 3 and 4 bound it by 3.5: two leaves. Star1 must see the 9 after
    # the 3 (with a 10 beside it the roll would be worth more than 6), and only then knows that the 4 is enough.
    tree = [[[5, 6], [7, 9]], [[3, 9], [4, 9]]]
    found = [search_tree(tree, 2, pruning=p, table=False) for p in PRUNING]
    assert [f.leaf_calls for f in found] == [2 + 8, 2 + 7, 2 + 6]
    assert [(f.value, f.action) for f in found] == [(6.0, 0)] * 3


# --- the same answer on every way ------------------------------------------------------------------------------------
def compare(name: str, states: list[Any], depth: int, **filtered: int) -> None:
    """Every way finds what the textbook finds, and both backends visit the same nodes."""
    game, evaluator = fast(name)
    oracle, limits = PlainExpectiminimax(game, evaluator, **filtered), Limits(depth=depth)
    for i, s in enumerate(states):
        seed = None if i % 2 else i
        expected = oracle.search(s, limits, seed=seed)
        for way in WAYS:
            both = [
                built(name, backend, **way, **filtered).search(s, limits, seed=seed)
                for backend in ("python", "compiled")
            ]
            for found in both:
                where = (game.to_text(s), way)
                assert (found.value, found.action) == (expected.value, expected.action), where
                assert found.exact >= expected.exact, where  # what is pruned may prove the value sooner
                assert (found.depth == expected.depth) or found.exact, where
            a, b = both
            assert (a.depth, a.exact) == (b.depth, b.exact)
            assert (a.nodes, a.leaf_calls, a.pv) == (b.nodes, b.leaf_calls, b.pv), where
            if way == WAYS[0]:
                assert (a.nodes, a.leaf_calls, a.pv) == (expected.nodes, expected.leaf_calls, expected.pv)
        every = built(name, "compiled", **WAYS[i % 6], **filtered).search(s, limits, seed=seed, action_values=True)
        expected = oracle.search(s, limits, seed=seed, action_values=True)
        assert (every.action_values, every.action) == (expected.action_values, expected.action)


def test_every_way_equals_the_textbook_in_pig() -> None:
    compare("pig", positions("pig", 8), 3)


def test_every_way_equals_the_textbook_in_backgammon() -> None:
    """Few checkers, because the Python backend is slow: a race, blots that may be hit, a checker on the bar."""
    few = (
        position("6 5 3", "24 22 20", (6, 3)),
        position("8 6", "20 3", (4, 1)),
        position("bar 6", "22 20:2 3", (5, 2)),
    )
    compare("backgammon", list(few), 2)


def test_every_way_equals_the_filtered_textbook() -> None:
    compare("pig", positions("pig", 4), 3, width=1)
    compare("backgammon", [position("8 6", "20 3", (4, 1)), position("bar 6", "22 20:2 3", (5, 2))], 2, width=2)


def test_the_filter_keeps_the_best_by_one_ply_and_all_at_the_root_if_asked() -> None:
    game, _ = fast("backgammon")
    s = position("13:5 8:3 6:5 24:2", "24:2 13:5 8:3 6:5", (3, 1))
    first = built("backgammon", "compiled").search(s, Limits(depth=1), action_values=True)
    best = sorted(first.action_values, key=lambda a: -first.action_values[a])
    narrow = built("backgammon", "compiled", width=2)
    found, wide = narrow.search(s, Limits(depth=2)), built("backgammon", "compiled").search(s, Limits(depth=2))
    assert found.action in best[:2]
    assert found.nodes < wide.nodes
    assert found.action_values is None
    every = narrow.search(s, Limits(depth=2), action_values=True)
    assert set(every.action_values) == set(game.actions(s))
    as_wide = built("backgammon", "compiled", width=1000).search(s, Limits(depth=2))
    assert (as_wide.value, as_wide.action, as_wide.nodes) == (wide.value, wide.action, wide.nodes)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "n", "depth"), [("pig", 40, 4), ("2048", 20, 2), ("backgammon", 8, 2), ("tic_tac_toe", 30, 5)]
)
def test_every_way_equals_the_textbook_in_many_positions(name: str, n: int, depth: int) -> None:
    compare(name, positions(name, n, seed=2, longest=6 if name == "tic_tac_toe" else 60), depth)


def test_value_is_proven_where_all_lines_end() -> None:
    """Three checkers on the six point cannot be saved: any roll bears off the last opposing one."""
    s = position("6:3", "24", dice=(2, 1))
    for backend, way in itertools.product(("python", "compiled"), WAYS):
        found = built("backgammon", backend, **way).search(s, Limits(depth=3))
        assert (found.value, found.depth, found.exact) == (pytest.approx(-1.0, abs=1e-12), 2, True)


def test_pruned_search_tells_values_of_all_actions_only_if_asked() -> None:
    s = positions("backgammon", 2)[0]
    search = built("backgammon", "compiled", pruning="star2", table=True)
    quick, whole = (search.search(s, Limits(depth=2), action_values=asked) for asked in (False, True))
    assert quick.action_values is None
    assert whole.action_values is not None
    assert list(whole.action_values) == list(fast("backgammon")[0].actions(s))
    assert whole.action_values[quick.action] == max(whole.action_values.values()) == quick.value


# --- what it saves ---------------------------------------------------------------------------------------------------
def test_star2_asks_for_less_than_a_fifth_of_the_leaves_in_backgammon() -> None:
    """Depth 2: own move, 21 rolls, the answer, evaluator; 24 positions of random games."""
    leaves, answers = {}, []
    for pruning in PRUNING:
        search = built("backgammon", "compiled", pruning=pruning, table=False)
        found = [search.search(s, Limits(depth=2)) for s in positions("backgammon", 24)]
        leaves[pruning] = sum(f.leaf_calls for f in found)
        answers.append([(f.value, f.action) for f in found])
    assert answers[0] == answers[1] == answers[2]
    assert leaves["star1"] < 0.9 * leaves["none"]
    assert leaves["star2"] < 0.2 * leaves["none"]


SIGNATURE = {
    # Nodes over fixed positions: a change that should not change behaviour must not change these. In pig, with two
    # actions to a choice, the table saves and probes do not.
    ("pig", 5, "none", False): 59005,
    ("pig", 5, "none", True): 15451,
    ("pig", 5, "star1", True): 14930,
    ("pig", 5, "star2", False): 62246,
    ("pig", 5, "star2", True): 16008,
    ("backgammon", 2, "star1", True): 58984,
    ("backgammon", 2, "star2", True): 10370,
}


def test_node_signature_is_kept() -> None:
    found = {
        (name, depth, pruning, table): sum(
            built(name, "compiled", pruning=pruning, table=table).search(s, Limits(depth=depth)).nodes
            for s in positions(name, 12)[:8]
        )
        for name, depth, pruning, table in SIGNATURE
    }
    assert found == SIGNATURE


# --- samples ---------------------------------------------------------------------------------------------------------
def sampled(search: Expectiminimax, s: Any, depth: int, seeds: int) -> list[Any]:
    return [search.search(s, Limits(depth=depth), seed=seed, action_values=True) for seed in range(seeds)]


def require_unbiased(values: list[float], errors: list[float], full: float) -> None:
    """The mean is right within four standard errors, and the errors told are those that are seen."""
    spread = statistics.stdev(values)
    assert abs(statistics.fmean(values) - full) < 4 * spread / math.sqrt(len(values))
    told = math.sqrt(statistics.fmean(e * e for e in errors))
    assert spread / 1.5 < told < spread * 1.5


def test_samples_of_one_roll_are_unbiased_and_know_their_error() -> None:
    """In pig one must roll first: the root has one action, so that nobody chooses among estimates."""
    game = fast("pig")[0]
    s = game.initial()
    assert len(game.actions(s)) == 1
    full = built("pig", "compiled", pruning="none", table=False).search(s, Limits(depth=2))
    found = sampled(built("pig", "compiled", pruning="star2", table=True, samples=3), s, 2, 400)
    assert not any(f.exact for f in found)
    require_unbiased([f.value for f in found], [f.standard_error for f in found], full.value)


def test_samples_of_rolls_after_rolls_are_unbiased_and_know_their_error() -> None:
    rng = random.Random(1)
    tree = [[[[rng.randint(-9, 9) + 5 * (i % 2) - 2 for _ in range(5)]] for i in range(8)]]
    game = InTurn(tree, (-15.0, 15.0))
    evaluator = FunctionEval(game, lambda s, player: 0.0)
    full = Expectiminimax(game, evaluator).search((), Limits(depth=3))
    assert full.exact
    found = sampled(Expectiminimax(game, evaluator, samples=4), (), 3, 800)
    assert not any(f.exact for f in found)
    require_unbiased([f.value for f in found], [f.standard_error for f in found], full.value)
    some = sampled(Expectiminimax(game, evaluator, samples=6), (), 3, 800)  # the inner rolls are seen in full
    require_unbiased([f.value for f in some], [f.standard_error for f in some], full.value)


def test_every_action_of_backgammon_is_sampled_without_bias() -> None:
    s = positions("backgammon", 2)[1]
    full = built("backgammon", "compiled", pruning="none", table=False).search(s, Limits(depth=2), action_values=True)
    found = sampled(built("backgammon", "compiled", pruning="star2", table=False, samples=7), s, 2, 100)
    for a, expected in full.action_values.items():  # type: ignore[union-attr]  # asked for
        values = [f.action_values[a] for f in found]
        assert abs(statistics.fmean(values) - expected) < 5 * statistics.stdev(values) / math.sqrt(len(values))


def test_sampled_tree_is_the_same_on_every_way() -> None:
    """The throws follow from the seed and the position: not from the order of search, the table or the backend."""
    for s in positions("pig", 12)[:6]:
        found = {
            (f.value, f.action, f.standard_error, f.exact)
            for backend, way in itertools.product(("python", "compiled"), WAYS)
            for f in [built("pig", backend, **way, samples=4).search(s, Limits(depth=3), seed=9)]
        }
        assert len(found) == 1
    search = built("pig", "compiled", pruning="star2", table=True, samples=4)
    assert len({search.search(s, Limits(depth=3), seed=seed).value for seed in range(20)}) > 10


def test_rolls_with_no_more_outcomes_than_samples_are_seen_in_full() -> None:
    s = positions("pig", 12)[0]
    for backend in ("python", "compiled"):
        found = built("pig", backend, pruning="star2", table=True, samples=6).search(s, Limits(depth=3))
        full = built("pig", backend, pruning="star2", table=True).search(s, Limits(depth=3))
        assert (found.value, found.nodes, found.exact, found.standard_error) == (
            full.value,
            full.nodes,
            full.exact,
            None,
        )


# --- limits, Ctrl-C, refusals ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("backend", ["python", "compiled"])
def test_limits_leave_the_last_finished_depth(backend: Any) -> None:
    s = positions("backgammon", 2)[0]
    search = built("backgammon", backend, pruning="star2", table=True)
    few = search.search(s, Limits(nodes=700))
    assert few.nodes <= 700
    assert few.depth == 1
    again = search.search(s, Limits(depth=1))
    assert (few.value, few.action) == (again.value, again.action)
    none = search.search(s, Limits(nodes=1))
    assert (none.depth, none.nodes, none.exact) == (0, 1, False)
    assert none.value == fast("backgammon")[1].evaluate(s, none.player)
    timed = search.search(s, Limits(seconds=0.05))
    assert timed.depth >= 1
    assert timed.seconds < 0.05 * 1.05 + 0.5  # generous: other tests run beside this one


def test_ctrl_c_hands_over_the_best_so_far() -> None:
    s = positions("backgammon", 2)[0]
    search = built("backgammon", "compiled", pruning="star2", table=True)
    with ctrl_c_after(0.1), pytest.raises(Interrupted) as caught:
        search.search(s, Limits(depth=100))
    assert caught.value.result.action in fast("backgammon")[0].actions(s)
    assert caught.value.result.depth >= 1


def test_plain_game_takes_the_compiled_backend_and_rules_that_look_back_the_plain_one() -> None:
    game, walkers = get_game("pig"), Walkers()
    assert Expectiminimax(game, heuristic(game, next(iter(game.heuristics)))).backend == "compiled"
    evaluator = heuristic(walkers, "points")
    assert Expectiminimax(walkers, evaluator).backend == "python"
    with pytest.raises(SearchError, match="the rules of walkers look back, for which expectiminimax has no compiled"):
        Expectiminimax(walkers, evaluator, backend="compiled")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pruning": "star3"}, "expectiminimax knows no pruning='star3': give 'star2', 'star1', 'none'"),
        ({"width": 0}, "width=0: give a whole number from 1 to 1000000, or None for every action"),
        ({"width": 1.5}, "width=1.5: give a whole number"),
        ({"width": True}, "width=True: give a whole number"),
        ({"samples": 1}, "samples=1: give a whole number from 2 to 1000000, or None for every outcome"),
        ({"samples": 2.5}, "samples=2.5: give a whole number"),
        ({"samples": True}, "samples=True: give a whole number"),
        ({"table_bits": 31}, "table_bits=31: give 0 to 30"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    game: Game = CoinRace()
    with pytest.raises(SearchError, match=message):
        Expectiminimax(game, LinearEval.zero(game), **options)


# --- a cutoff of one's own -------------------------------------------------------------------------------------------
def between_turns(s: Any, depth_left: int) -> bool:
    """Cut where a turn has just begun, or four moves later at the latest."""
    return depth_left <= 0 and (s.turn == 0 or depth_left <= -4)


@pytest.mark.long
def test_custom_cutoff_is_obeyed_on_both_backends() -> None:
    game, evaluator = fast("pig")
    oracle = PlainExpectiminimax(game, evaluator, is_cutoff=between_turns)
    backends = [
        Expectiminimax(game, evaluator, is_cutoff=between_turns, backend=backend, **way)  # type: ignore[arg-type]  # options
        for backend, way in itertools.product(("python", "compiled"), WAYS)
    ]
    changed = 0
    for s in positions("pig", 12):
        expected = oracle.search(s, Limits(depth=1))
        changed += expected.value != PlainExpectiminimax(game, evaluator).search(s, Limits(depth=1)).value
        for search in backends:
            found = search.search(s, Limits(depth=1))
            assert (found.value, found.action) == (expected.value, expected.action)
    assert changed >= 6
