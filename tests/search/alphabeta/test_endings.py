"""What is called a proven win or loss is one, whatever was pruned, and takes as many plies as is said."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from at_the_board import LooseEnds
from hashed_trees import HashedDice, HashedTree
from properties import few_or_many
from toys import Seats, Takeaway, TreeGame

from evallearn import AlphaBeta, Expectiminimax, FunctionEval, Game, Limits, MaxN, Minimax, get_game, heuristic
from evallearn.compiled.game import CompiledGame
from evallearn.core.game import State
from evallearn.core.search import SearchResult
from evallearn.search import Ending, ending, named_search, plies_to_end
from evallearn.search.alphabeta.margins import FUTILITY, INSIDE, shifted
from evallearn.search.alphabeta.options import UNSOUND
from evallearn.search.exact.solver import Solution, solve
from evallearn.search.montecarlo.mcts import MCTS
from evallearn.search.multiplayer.best_reply import BestReply
from evallearn.search.multiplayer.paranoid import Paranoid

TREE, DICE = HashedTree(), HashedDice()
SELECTIVE = {"quiescence": 2, "extensions": 1, **dict.fromkeys(UNSOUND, True)}


# --- unsound pruning: some of it overlooks wins, some invents them ---------------------------------------------------
def won_or_lost(rng: random.Random) -> State:
    """The root of a tree that ends in wins, draws and losses; a null move may lead anywhere."""
    return TREE.root(
        rng.randrange(2**32), branching=rng.randint(2, 4), levels=rng.randint(4, 6), grain=0, eval_grain=4,
        ends=rng.randint(0, 2), noisy=rng.randint(0, 4), forced=rng.randint(0, 2), passing=8,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "invents"),
    [
        (SELECTIVE, True),
        ({"late_move_reductions": True, "futility": True, "path_independent_table": True}, False),
        ({"use_partial_iteration": True}, None),
    ],
    ids=["all", "late moves, futility, loose table", "use_partial_iteration"],
)
@pytest.mark.parametrize("backend", ["python", pytest.param("compiled", marks=pytest.mark.long)])
@few_or_many(120, 1500)
def test_proven_wins_are_wins_although_unsound_pruning_invents_some(
    options: dict[str, Any], invents: bool | None, backend: Any, examples: int
) -> None:
    evaluator, rng = heuristic(TREE, "hash"), random.Random(3)
    search, oracle = (AlphaBeta(TREE, evaluator, backend=backend, **on) for on in (options, {}))
    proven = invented = 0
    for _ in range(examples):
        s = won_or_lost(rng)
        truth = oracle.search(s, Limits(depth=20)).value
        for limits in (Limits(depth=3), Limits(depth=4), Limits(nodes=100), Limits(nodes=300)):
            found = search.search(s, limits)
            if abs(found.value) == 1.0 and found.exact:
                assert found.value == truth
                proven += 1
            invented += abs(found.value) == 1.0 and found.value != truth
    assert proven > 0.9 * examples
    assert invents is None or (invented > 0) == invents


def test_futility_reckons_with_no_win_and_no_loss() -> None:
    """However sure an evaluator is: what it adds or takes off stays inside, in float32 too."""
    for share in (float(INSIDE), *(1 - k * 2.0**-24 for k in range(17, 400))):
        for margin in FUTILITY:
            for value in (np.float32(share), np.float32(-share)):
                assert -1 < shifted(value, margin) < 1
                assert -1 < shifted(value, -margin) < 1


def test_win_by_sound_settings_is_proven_however_little_was_searched() -> None:
    game = get_game("connect_four")
    search = AlphaBeta(game, heuristic(game, "threats"))
    found = search.search(game.from_text("4455"), Limits(depth=5))  # two open ends: 3 or 6, then the other
    assert (found.value, found.exact, found.depth) == (1.0, True, 5)
    assert ending(game, search, game.from_text("4455"), found) == Ending(True, 3)


# --- how long it takes -----------------------------------------------------------------------------------------------
@cache
def solution() -> Solution:
    return solve(get_game("tic_tac_toe"))


def decided_positions(n: int) -> list[Any]:
    """Won and lost ones, some of each."""
    game, rng = get_game("tic_tac_toe"), random.Random(1)
    found = [s for s in solution() if not game.is_terminal(s) and solution().value(s, 0)]
    return rng.sample(found, n)


def check_against_the_solution(search: Any, s: State, found: SearchResult) -> bool:
    """What is said of the end is true; True if all was said."""
    game = get_game("tic_tac_toe")
    end = ending(game, search, s, found)
    if end.proven:
        assert found.value == solution().value(s, found.player)
    if end.plies is not None and abs(found.value) == 1.0:
        after = solution().plies(game.result(s, found.action))
        assert after is not None
        assert end.proven
        assert end.plies == 1 + after
    return end.proven and end.plies is not None


@pytest.mark.parametrize(
    "make",
    [
        lambda game, evaluator: AlphaBeta(game, evaluator),
        lambda game, evaluator: AlphaBeta(
            game, evaluator, backend="python", late_move_reductions=True, use_partial_iteration=True
        ),
        Minimax,
        lambda game, evaluator: Expectiminimax(game, evaluator, pruning="none", table=False, backend="python"),
        lambda game, evaluator: MaxN(game, evaluator, backend="python"),
        lambda game, evaluator: MCTS(game, evaluator, backend="python"),
    ],
    ids=["alphabeta", "unsound alphabeta", "minimax", "expectiminimax", "max^n", "mcts"],
)
def test_plies_to_the_end_are_those_of_the_solution(make: Callable[..., Any]) -> None:
    game = get_game("tic_tac_toe")
    search, told = make(game, heuristic(game, "lines")), 0
    for s in decided_positions(40):
        limits = Limits(nodes=800) if isinstance(search, MCTS) else Limits(depth=6)
        found = search.search(s, limits)
        if found.value == solution().value(s, found.player):
            told += check_against_the_solution(search, s, found)
    assert told > 35


def test_plies_do_not_depend_on_what_was_found_first_or_on_the_line() -> None:
    """At a fixed depth an earlier slow win is taken, and the line shows any of the replies that all lose."""
    game = get_game("tic_tac_toe")
    search = AlphaBeta(game, heuristic(game, "lines"))
    lengths = set()
    for s in solution():
        if game.is_terminal(s) or solution().value(s, game.to_play(s)) != 1.0:
            continue
        found = search.search(s, Limits(depth=9))
        end = ending(game, search, s, found)
        assert end.plies == 1 + (solution().plies(game.result(s, found.action)) or 0)
        lengths.add((len(found.pv), end.plies))
    assert any(line != plies for line, plies in lengths)
    assert {plies for _, plies in lengths} >= {1, 3, 5}


MATES = {
    "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4": (2, "Qxf7#", 1.0, 1),
    "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1": (4, "Ra6", 1.0, 3),
    "4k3/8/4K3/8/8/8/8/R7 b - - 0 1": (6, None, -1.0, 4),
}


@pytest.mark.parametrize("text", MATES)
@pytest.mark.parametrize("backend", ["python", pytest.param("compiled", marks=pytest.mark.long)])
def test_mates_that_were_searched_out_by_the_games_own_settings_are_proven(text: str, backend: str) -> None:
    """These settings are unsound, and their table is believed by any path."""
    game = CompiledGame(get_game("chess"))
    search = named_search("alphabeta", game, heuristic(game, "material"), backend=backend, **game.search_settings)
    s, (depth, move, value, plies) = game.from_text(text), MATES[text]
    found = search.search(s, Limits(depth=depth))
    assert found.value == value
    assert move in (None, game.action_to_text(s, found.action))
    assert ending(game, search, s, found) == Ending(True, plies)


def test_small_search_leaves_the_search_as_it_was() -> None:
    game = get_game("connect_four")
    evaluator = heuristic(game, "threats")
    s, t = game.from_text("4455"), game.from_text("44")
    search, fresh = (AlphaBeta(game, evaluator, late_move_reductions=False, keep_table=keep) for keep in (True, False))
    before = search.search(t, Limits(depth=6))
    assert plies_to_end(game, search, s, game.action_from_text(s, "3"), 1.0) == 3
    after = search.search(t, Limits(depth=6))
    expected = fresh.search(t, Limits(depth=6))
    assert (after.value, after.action) == (before.value, before.action) == (expected.value, expected.action)


def test_nothing_is_said_of_plies_where_depths_are_none_or_where_nobody_has_won() -> None:
    game = get_game("tic_tac_toe")
    evaluator, s = heuristic(game, "lines"), game.from_text("X...O...X")
    two_at_a_time = AlphaBeta(game, evaluator, backend="python", is_cutoff=lambda s, depth: depth <= -1)
    t = game.from_text("XO..X....")  # X wins in 3
    found = two_at_a_time.search(t, Limits(depth=4))
    assert ending(game, two_at_a_time, t, found) == Ending(True, None)
    draw = AlphaBeta(game, evaluator).search(s, Limits(depth=9))
    assert ending(game, AlphaBeta(game, evaluator), s, draw) == Ending(True, None)
    assert plies_to_end(game, None, s, draw.action, draw.value) is None


# --- games that minimax does not decide ------------------------------------------------------------------------------
def wins_on_the_board() -> list[Any]:
    """Roots of trees with dice in which an action ends the game with a win."""
    roots = (DICE.root(seed, branching=4, levels=3, grain=0, eval_grain=4, ends=4, chance=5) for seed in range(100))
    return [s for s in roots if any(ends_with_a_win(DICE, s, a) for a in DICE.actions(s))]


def ends_with_a_win(game: Game, s: Any, action: Any) -> bool:
    after, win = game.result(s, action), game.utility_range[1]
    return game.is_terminal(after) and game.utility(after, game.to_play(s)) == win


@pytest.mark.parametrize("backend", ["python", "compiled"])
def test_win_on_the_board_is_proven_also_with_dice(backend: Any) -> None:
    """Nothing else is proven at this depth: the evaluator was asked about other actions."""
    search = Expectiminimax(DICE, heuristic(DICE, "hash"), backend=backend)
    assert len(wins_on_the_board()) > 20
    for s in wins_on_the_board():
        found = search.search(s, Limits(depth=1))
        assert found.value == 1.0
        assert ending(DICE, search, s, found) == Ending(True, 1)


@pytest.mark.parametrize(
    ("game", "text", "backend"),
    [
        (LooseEnds(), "X.XO.O...", "python"),
        (get_game("three_player_connect"), "123123123", "python"),
        (get_game("three_player_connect"), "123123123", "compiled"),
    ],
    ids=str,
)
def test_win_on_the_board_is_proven_also_among_three(game: Game, text: str, backend: Any) -> None:
    for kind in (MaxN, Paranoid):
        search = kind(game, heuristic(game, list(game.heuristics)[-1]), backend=backend)
        found = search.search(game.from_text(text), Limits(depth=1))
        assert found.value == 1.0
        assert ending(game, search, game.from_text(text), found) == Ending(True, 1)


def test_filter_of_moves_proves_no_win() -> None:
    """The reply that refutes it was left out."""
    tree = TreeGame([[(15, 15), (-15, -15)], -3])
    evaluator = FunctionEval(tree, lambda s, player: 0.5 if (s == (0, 0)) == (player == 1) else -0.5)
    narrow, wide = (Expectiminimax(tree, evaluator, width=w, backend="python") for w in (1, None))
    wrong, right = (search.search((), Limits(depth=3), action_values=True) for search in (narrow, wide))
    assert (wrong.value, wrong.exact) == (15.0, False)
    assert (right.value, right.exact) == (-3.0, True)


def test_best_reply_proves_nothing_among_three() -> None:
    """Both opponents together would take everything from the first player; one alone does not."""
    game = Seats([[[(1, 0, 0), (1, 0, 0)], [(1, 0, 0), (0, 0, 1)]], [[(0, 1, 0)]]])
    evaluator = FunctionEval(game, lambda s, player: 0.0)
    reply, paranoid = (
        kind(game, evaluator, **on) for kind, on in ((BestReply, {"usual": lambda s: 0}), (Paranoid, {}))
    )
    found = reply.search((), Limits(depth=9))
    assert (found.value, found.exact) == (1.0, False)
    assert paranoid.search((), Limits(depth=9)).value == 0.0
    two = BestReply(Takeaway(), heuristic(Takeaway(), "pile")).search((5, 0), Limits(depth=9))
    assert (two.value, two.exact) == (1.0, True)


# --- Evaluators stay inside ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("game", [get_game("tic_tac_toe"), Takeaway(), TreeGame(), LooseEnds()], ids=repr)
def test_function_that_returns_the_ends_of_the_range_stays_inside(game: Game) -> None:
    low, high = game.utility_range
    s = game.initial()
    for value in (low, high):
        told = FunctionEval(game, lambda s, player, value=value: value).evaluate(s, 0)  # type: ignore[misc]
        assert low < told < high
        assert told == pytest.approx(value)
    for value in (0.25, high * (1 - 1e-9)):
        told = FunctionEval(game, lambda s, player, value=value: value).evaluate(s, 0)  # type: ignore[misc]
        assert told == value


def test_boastful_eval_makes_nothing_proven() -> None:
    game = get_game("tic_tac_toe")
    boast = FunctionEval(game, lambda s, player: 1.0 if player == 0 else -1.0)
    s = game.initial()
    for search in (
        AlphaBeta(game, boast), AlphaBeta(game, boast, futility=True), Minimax(game, boast), MaxN(game, boast),
        Expectiminimax(game, boast), Expectiminimax(game, boast, pruning="none", table=False),
    ):  # fmt: skip
        found = search.search(s, Limits(depth=2))
        assert found.value < 1.0
        assert not found.exact
        assert ending(game, search, s, found) == Ending(False)
