"""Many players: max^n, paranoid and best-reply search on trees worked out by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playing import random_game
from toys import CoinRace, Seats, TreeGame
from walkers import Walkers

from evallearn import CHANCE, FunctionEval, Limits, MaxN, Minimax, get_game, heuristic
from evallearn.errors import SearchError
from evallearn.search.multiplayer.best_reply import BestReply
from evallearn.search.multiplayer.paranoid import Paranoid

A, B, C = range(3)


def blank(s: Any, player: int) -> float:
    return 0.0


def by_path(s: Any, player: int) -> float:
    """An evaluator of tree nodes: any number that depends on the path, seen by the player who is asked."""
    value = (hash(s) % 19 - 9) * 0.9
    return value if player == 0 else -value


def any_vector(s: Any, player: int) -> float:
    """An evaluator in which the players' parts have nothing to do with each other."""
    return (hash((*s, player)) % 19 - 9) * 0.9


def solve(tree: Any, order: Sequence[int] = (A, B, C), search: type = MaxN, **options: Any) -> Any:
    game = Seats(tree, order)
    return search(game, FunctionEval(game, blank), **options).search((), Limits(depth=9), action_values=True)


# --- max^n -----------------------------------------------------------------------------------------------------------
def test_max_n_follows_each_players_own_interest() -> None:
    """The three-player tree of the textbook: player 2 chooses among leaves, then 1, then 0."""
    found = solve([
        [[(1, 2, 6), (4, 2, 3)], [(6, 1, 2), (7, 4, 1)]],
        [[(5, 1, 1), (1, 5, 2)], [(7, 7, 1), (5, 4, 5)]],
    ])  # fmt: skip
    assert found.action_values == {0: 1.0, 1: 1.0}
    assert (found.value, found.player, found.pv, found.exact) == (1.0, A, (0, 0, 0), True)


# What (A, B, C) get when they choose 0 or 1 each: PAYOFFS[a, b, c].
PAYOFFS = {
    (0, 0, 0): (3, 2, 1), (0, 0, 1): (1, 3, 2), (0, 1, 0): (2, 1, 4), (0, 1, 1): (6, 0, 3),
    (1, 0, 0): (5, 4, 0), (1, 0, 1): (2, 2, 5), (1, 1, 0): (5, 3, 2), (1, 1, 1): (0, 5, 1),
}  # fmt: skip


def in_order(*order: int) -> Any:
    """The tree in which they choose one after the other, so that who moves later knows what was chosen before."""

    def leaf(*choices: int) -> Any:
        return PAYOFFS[tuple(choices[order.index(p)] for p in (A, B, C))]  # type: ignore[index]  # three of them

    return [[[leaf(i, j, k) for k in (0, 1)] for j in (0, 1)] for i in (0, 1)]


def test_max_n_in_the_order_a_b_c() -> None:
    # C, last: 00 -> 001 (2 beats 1), 01 -> 010 (4 beats 3), 10 -> 101 (5 beats 0), 11 -> 110 (2 beats 1).
    # B, knowing that: a=0 -> b=0 (3 beats 1), so (1, 3, 2); a=1 -> b=1 (3 beats 2), so (5, 3, 2). A takes 5.
    found = solve(in_order(A, B, C), (A, B, C))
    assert found.action_values == {0: 1.0, 1: 5.0}
    assert found.pv == (1, 1, 0)


def test_max_n_in_the_order_a_c_b_is_another_game() -> None:
    # B, last: a=0,c=0 -> b=0 (2 beats 1): (3, 2, 1); a=0,c=1 -> b=0 (3 beats 0): (1, 3, 2);
    #          a=1,c=0 -> b=0 (4 beats 3): (5, 4, 0); a=1,c=1 -> b=1 (5 beats 2): (0, 5, 1).
    # C takes c=1 twice (2 beats 1, 1 beats 0): (1, 3, 2) and (0, 5, 1). A takes 1; in the order A-B-C it was 5.
    found = solve(in_order(A, C, B), (A, C, B))
    assert found.action_values == {0: 1.0, 1: 0.0}
    assert found.pv == (0, 1, 0)


def test_alliance_of_a_and_c_changes_the_game_where_c_can_give_way() -> None:
    # In the order A-C-B, from B's choices above: C now takes the larger sum of A and C, 4 (not 3) and 5 (not 1), that
    # is (3, 2, 1) and (5, 4, 0). A prefers the sum of 5. C gives up 2 for 0, A has 5 instead of 1.
    found = solve(in_order(A, C, B), (A, C, B), alliance=(A, C))
    assert found.action_values == {0: 4.0, 1: 5.0}
    assert found.pv == (1, 0, 0)
    # In the order A-B-C: C takes 000 (4), 011 (9), 101 (7), 110 (7). B: a=0 -> b=0 (2 beats 0), a=1 -> b=1 (3 beats 2).
    found = solve(in_order(A, B, C), (A, B, C), alliance=(C, A))
    assert found.action_values == {0: 4.0, 1: 7.0}
    assert found.pv == (1, 1, 0)  # as without


def test_indifferent_player_follows_the_rule_that_was_named() -> None:
    """B has 1 either way after A's first action; A has 0 or 5."""
    for leaves, expected in (
        ([(0, 1, 9), (5, 1, 0)], {"first": 0.0, "paranoid": 0.0, "friendly": 5.0}),
        ([(5, 1, 0), (0, 1, 9)], {"first": 5.0, "paranoid": 0.0, "friendly": 5.0}),
    ):
        for ties, value in expected.items():
            found = solve([leaves, [(3, 2, 0)]], ties=ties)
            assert found.action_values == {0: value, 1: 3.0}
            assert found.action == int(value < 3)


def test_tie_of_an_ally_is_broken_by_what_the_alliance_has() -> None:
    """B is indifferent: the alliance of A and C has 9 or 5, A alone 0 or 5."""
    found = solve([[(0, 1, 9), (5, 1, 0)]], ties="paranoid", alliance=(A, C))
    assert found.value == 5.0


def test_unknown_ties_and_impossible_alliances_are_refused() -> None:
    with pytest.raises(SearchError, match=r"max\^n knows no ties='random': give 'first', 'paranoid', 'friendly'"):
        solve([(1, 2, 3)], ties="random")
    for alliance in ((0, 3), (1,), (0, 0)):
        with pytest.raises(SearchError, match=r"of seats: give two or more different players of 0..2"):
            solve([(1, 2, 3)], alliance=alliance)


def test_max_n_equals_expectiminimax_where_two_players_roll_dice() -> None:
    from evallearn import Expectiminimax

    game, rng = CoinRace(), random.Random(3)
    evaluator = FunctionEval(game, lambda s, player: (s[player] - s[1 - player]) / 9)
    for _ in range(40):
        s = position_of(game, rng)
        a, b = (kind(game, evaluator).search(s, Limits(depth=3)) for kind in (Expectiminimax, MaxN))
        assert a.action == b.action
        assert a.value == pytest.approx(b.value, abs=1e-12)


def position_of(game: CoinRace, rng: random.Random) -> Any:
    """A position of a random game in which somebody is to move."""
    s: Any = game.initial()
    while game.to_play(s) == CHANCE or rng.random() < 0.7:
        s = game.result(s, rng.choice(game.actions(s) or [o for o, _ in game.chances(s)]))
        if game.is_terminal(s):
            s = game.initial()
    return s


def test_allies_share_their_values_even_where_no_depth_was_finished() -> None:
    game = Seats([[(1, 2, 3)], [(4, 5, 6)]])
    search = MaxN(game, FunctionEval(game, lambda s, player: 1.0 + player), alliance=(A, C))
    found = search.search((), Limits(nodes=1))
    assert (found.depth, found.value) == (0, 4.0)


VARIANTS: list[dict[str, Any]] = [{}, {"ties": "paranoid"}, {"ties": "friendly"}, {"alliance": (2, 0)}]


def test_both_backends_agree_node_for_node() -> None:
    game, rng = get_game("three_player_connect"), random.Random(6)
    evaluator = heuristic(game, "lines")
    lines = [s for s, _ in random_game(game, 2)[8:-1]]
    for options in VARIANTS:
        plain, compiled = (MaxN(game, evaluator, backend=backend, **options) for backend in ("python", "compiled"))
        for s in rng.sample(lines, 2):
            for limits, seed in (
                (Limits(depth=2), None), (Limits(depth=2), 7), (Limits(nodes=50), None), (Limits(nodes=1), None)
            ):  # fmt: skip
                a, b = (search.search(s, limits, seed=seed) for search in (plain, compiled))
                assert a.values is not None
                assert len(a.values) == 3
                assert replace(a, seconds=0.0) == replace(b, seconds=0.0)


def test_compiled_backend_keeps_the_limits() -> None:
    game = get_game("three_player_connect")
    search = MaxN(game, heuristic(game, "lines"))
    assert search.backend == "compiled"
    assert 990 <= search.search(game.initial(), Limits(nodes=1000)).nodes <= 1000
    found = search.search(game.initial(), Limits(seconds=0.1))
    assert 0.1 <= found.seconds < 0.3
    with pytest.raises(SearchError, match="the game is over in three_player_connect position"):
        search.search(game.from_text("1231231231"), Limits(depth=1))


@pytest.mark.long
def test_both_backends_agree_where_dice_are_rolled() -> None:
    game, rng = get_game("pig,target=30"), random.Random(1)
    evaluator = heuristic(game, "hold20")
    plain, compiled = (MaxN(game, evaluator, backend=backend) for backend in ("python", "compiled"))
    for _ in range(20):
        s = game.from_text(f"{rng.randrange(30)}-{rng.randrange(30)}")
        a, b = (search.search(s, Limits(depth=3)) for search in (plain, compiled))
        assert replace(a, seconds=0.0) == replace(b, seconds=0.0)
    with pytest.raises(SearchError, match="waits for the dice"):
        compiled.search(game.result(game.initial(), 0), Limits(depth=1))


def test_compiled_backend_is_refused_to_whom_has_none() -> None:
    for game, why in (
        (Seats([(1, 2, 3)]), "the game seats has no compiled backend"),
        (Walkers(), "the rules of walkers look back, for which max\\^n has no compiled backend"),
        (get_game("tic_tac_toe"), "the blank evaluator has no compiled backend"),
    ):
        with pytest.raises(SearchError, match=f"{why}: give it one, or use backend='auto'"):
            MaxN(game, FunctionEval(game, blank), backend="compiled")
    with pytest.raises(SearchError, match="the blank evaluator has no compiled backend: give it one"):
        Paranoid(get_game("tic_tac_toe"), FunctionEval(get_game("tic_tac_toe"), blank), backend="compiled")
    with pytest.raises(SearchError, match="the best-reply search has no compiled backend: use backend='auto'"):
        BestReply(TreeGame(), FunctionEval(TreeGame(), blank), backend="compiled")


# --- paranoid and best reply -----------------------------------------------------------------------------------------
leaf = st.integers(-9, 9)
trees = st.lists(
    st.recursive(leaf, lambda inner: st.lists(inner, min_size=1, max_size=3), max_leaves=25), min_size=1, max_size=3
)
vectors = st.tuples(leaf, leaf, leaf)
vector_trees = st.lists(
    st.recursive(vectors, lambda inner: st.lists(inner, min_size=1, max_size=3), max_leaves=25), min_size=1, max_size=3
)


@settings(max_examples=50)
@given(tree=trees, depth=st.integers(1, 4), seed=st.none() | st.integers(0, 99))
def test_with_two_players_all_three_are_minimax(tree: Any, depth: int, seed: int | None) -> None:
    game = TreeGame(tree, (-10.0, 10.0))
    evaluator = FunctionEval(game, by_path)
    expected = Minimax(game, evaluator).search((), Limits(depth=depth), seed=seed)
    for search in (MaxN, Paranoid, BestReply):
        found = search(game, evaluator).search((), Limits(depth=depth), seed=seed, action_values=True)
        assert (found.value, found.action, found.player) == (expected.value, expected.action, 0)
        assert found.action_values == expected.action_values


def guaranteed(game: Seats, s: tuple[int, ...], depth: int, me: int) -> float:
    """What `me` has at least, by the definition."""
    if game.is_terminal(s):
        return game.utility(s, me)
    if depth == 0:
        return any_vector(s, me)
    below = [guaranteed(game, game.result(s, a), depth - 1, me) for a in game.actions(s)]
    return max(below) if game.to_play(s) == me else min(below)


@settings(max_examples=60)
@given(tree=vector_trees, depth=st.integers(1, 5), order=st.permutations((A, B, C)))
def test_paranoid_is_what_the_player_has_at_least_and_best_reply_is_never_less(
    tree: Any, depth: int, order: list[int]
) -> None:
    game = Seats(tree, order)
    evaluator = FunctionEval(game, any_vector)
    limits, me = Limits(depth=depth), order[0]
    pruned, whole = (Paranoid(game, evaluator, pruning=p).search((), limits) for p in (True, False))
    assert pruned.value == whole.value == guaranteed(game, (), depth, me)
    assert (pruned.action, pruned.player) == (whole.action, me)
    reply, every_line = (BestReply(game, evaluator, pruning=p).search((), limits) for p in (True, False))
    assert reply.value == every_line.value >= whole.value
    assert reply.action == every_line.action


def test_paranoid_expects_the_worst_of_everybody() -> None:
    # With max^n A has 5 (above). Paranoid: after a=0 B and C together can hold A to min(3, 1, 2, 6) = 1, after a=1 to
    # min(5, 2, 5, 0) = 0.
    found = solve(in_order(A, B, C), search=Paranoid, pruning=False)
    assert found.action_values == {0: 1.0, 1: 0.0}
    assert (found.value, found.action, found.exact) == (1.0, 0, True)


def test_best_reply_lets_one_opponent_at_a_time_be_nasty() -> None:
    # Everybody's usual choice is 0. After a=0 the leaves in reach are 000, 010 (B replies), 001 (C replies): 3, 2, 1.
    # After a=1: 5, 5, 2 - that both do 1, which would cost A everything, is not looked at. So A has 2, not 1.
    found = solve(in_order(A, B, C), search=BestReply, pruning=False, usual=lambda s: 0)
    assert found.action_values == {0: 1.0, 1: 2.0}
    assert not found.exact


def test_usual_move_is_what_the_eval_promises_most() -> None:
    game = Seats(in_order(A, B, C))
    liked = {(0, 0): 0.5, (0, 1): 1.5, (0, 1, 0): 7.0}
    search = BestReply(game, FunctionEval(game, lambda s, player: liked.get(s, 0.0) if player == B else 0.0))
    assert search.usual((0,)) == 1
    assert search.usual((0, 1)) == 0  # C's own: the utilities of the leaves, 4 against 3


def test_both_average_over_dice() -> None:
    game, rng = CoinRace(), random.Random(5)
    evaluator = FunctionEval(game, lambda s, player: (s[player] - s[1 - player]) / 9)
    for _ in range(10):
        s = position_of(game, rng)
        expected = MaxN(game, evaluator).search(s, Limits(depth=3))
        for kind in (Paranoid, BestReply):
            found = kind(game, evaluator).search(s, Limits(depth=3))
            assert found.action == expected.action
            assert found.value == pytest.approx(expected.value, abs=1e-12)


def test_pruning_saves_nodes_and_best_reply_more_of_them() -> None:
    game = get_game("three_player_connect")
    evaluator = heuristic(game, "lines")
    s = game.from_text("5555")
    limits = Limits(depth=3)
    plain, compiled = (
        [Paranoid(game, evaluator, pruning=p, backend=backend).search(s, limits) for p in (False, True)]
        for backend in ("python", "compiled")
    )
    whole = plain[0]
    for found in (*plain, *compiled):
        assert (found.value, found.action, found.player) == (whole.value, whole.action, game.to_play(s))
    assert plain[1].nodes < whole.nodes / 2
    assert compiled[0].nodes == whole.nodes
    assert compiled[1].nodes < whole.nodes / 2
    reply = BestReply(game, evaluator, pruning=False).search(s, limits)
    assert reply.nodes < whole.nodes / 2
    assert reply.value >= whole.value


def test_limits_and_cutoffs_reach_the_search_below() -> None:
    game = Seats([[[[(1, 2, 3), (4, 5, 6)]] * 2] * 2] * 3)
    for kind in (Paranoid, BestReply):
        few = kind(game, FunctionEval(game, blank)).search((), Limits(nodes=10))
        assert 0 < few.nodes <= 10
        shallow = kind(game, FunctionEval(game, any_vector), is_cutoff=lambda s, depth: len(s) >= 1)
        found = shallow.search((), Limits(depth=4))
        assert found.value == max(any_vector((a,), A) for a in range(3))


@pytest.mark.parametrize("kind", [MaxN, Paranoid, BestReply])
def test_refusals_name_the_reason(kind: type) -> None:
    race, tree = CoinRace(), TreeGame()
    with pytest.raises(SearchError, match="the blank evaluator is of coin_race, not of tree: choose another"):
        kind(tree, FunctionEval(race, blank))
    search = kind(race, FunctionEval(race, blank))
    with pytest.raises(SearchError, match="coin_race position '0 0 0 0 0' waits for the dice: roll them first"):
        search.search(race.initial(), Limits(depth=1))
    with pytest.raises(SearchError, match="the game is over in coin_race position '4 0 1 0 3'"):
        search.search((4, 0, 1, 0, 3), Limits(depth=1))


def test_every_payoff_is_named() -> None:
    assert set(PAYOFFS) == set(product((0, 1), repeat=3))
