"""Verdicts against the truth: what is called optimal is, and what is called proven is true."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache, reduce
from operator import xor
from typing import Any

import pytest
from at_the_board import (
    LooseEnds,
    PlainTicTacToe,
    judge_of,
    judged,
    walk,
)
from toys import CoinRace, DoubleMove, Takeaway, TreeGame

from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Game, State
from evallearn.core.search import Limits
from evallearn.evaluators import LinearEval
from evallearn.games.matches import Matches
from evallearn.games.matches.game import MAX_MATCHES, MAX_PILES
from evallearn.games.tic_tac_toe import TicTacToe
from evallearn.play import Judge, Verdict
from evallearn.play.formatting import verdict_text


def test_matches_verdicts_are_those_of_the_closed_form_on_a_thousand_positions() -> None:
    class Searched(Matches):
        def solved(self, s: State) -> None:
            return None

    game, rng = Searched(), random.Random(1)
    judge = judge_of(game, Limits(nodes=300_000))
    verdicts = []
    for _ in range(1000):
        s, a = random_matches(game, rng, piles=4, largest=5)
        verdicts.append(check_by_closed_form(game, judge, s, a))
    assert 300 < sum(verdict.optimal for verdict in verdicts) < 900
    assert sum(verdict.value != verdict.best_value for verdict in verdicts) > 100


def test_large_matches_verdicts_are_proven_by_the_game_itself() -> None:
    game, rng = Matches(), random.Random(2)
    judge = judge_of(game)
    for _ in range(20):
        s, a = random_matches(game, rng, piles=MAX_PILES, largest=MAX_MATCHES)
        assert check_by_closed_form(game, judge, s, a).depth is None


def random_matches(game: Matches, rng: random.Random, piles: int, largest: int) -> tuple[Any, int]:
    """A position and a move in it."""
    sizes = [rng.randint(0, largest) for _ in range(rng.randint(0, piles - 1))] + [rng.randint(1, largest)]
    s = game.from_text(f"{'-'.join(map(str, sizes))}/k={rng.randint(1, largest)}/{rng.choice(['first', 'second'])}")
    return s, rng.choice(game.actions(s))


def check_by_closed_form(game: Matches, judge: Judge, s: Any, a: int) -> Verdict:
    def value(action: int) -> float:
        after = game.result(s, action)
        rest = [pile % (after.k + 1) for pile in after.piles.to_bytes(MAX_PILES, "little")]
        wins = rest.count(1) % 2 == 0 if max(rest) <= 1 else reduce(xor, rest) != 0
        return -1.0 if wins else 1.0

    verdict, best = judge.judge(s, a), max(map(value, game.actions(s)))
    assert verdict.proven
    assert (verdict.value, verdict.best_value) == (value(a), best)
    assert value(verdict.best) == best
    assert verdict.optimal == (value(a) == best)
    assert verdict.player == s.player
    return verdict


def true_values(game: Game) -> Callable[[State], tuple[float, ...]]:
    """Each player's value of a state by the definition, without depth or evaluator: max^n with chance nodes."""

    @cache
    def values(s: State) -> tuple[float, ...]:
        everyone = range(game.n_players)
        if game.is_terminal(s):
            return tuple(game.utility(s, p) for p in everyone)
        mover = game.to_play(s)
        if mover == CHANCE:
            rolls = [(p, values(game.result(s, outcome))) for outcome, p in game.chances(s)]
            return tuple(sum(p * below[i] for p, below in rolls) for i in everyone)
        return max((values(game.result(s, a)) for a in game.actions(s)), key=lambda below: below[mover])

    return values


class PlainDoubleMove(DoubleMove):
    """Nothing to compile: the judge is the subject."""

    rules = None


@pytest.mark.parametrize("game", [PlainTicTacToe(), Takeaway(), PlainDoubleMove(), CoinRace(), LooseEnds()], ids=repr)
def test_what_is_called_proven_is_true(game: Game) -> None:
    """Short-sighted judges say "estimated" unless they are right, however bad the evaluator is."""
    values = true_values(game)
    proven = estimated = 0
    for depth in (1, 2, 3, 5):
        judge = Judge(game, wild(game), Limits(depth=depth))
        for s in [s for seed in range(6) for s in walk(game, seed)]:
            player = game.to_play(s)
            truth = {a: values(game.result(s, a))[player] for a in game.actions(s)}
            for a in game.actions(s):
                verdict = judge.judge(s, a)
                if verdict.value_proven:
                    assert verdict.value == pytest.approx(truth[a])
                if verdict.proven:
                    assert verdict.optimal == (truth[a] == pytest.approx(max(truth.values())))
                    assert verdict.loss == pytest.approx(max(truth.values()) - truth[a])
                proven, estimated = proven + verdict.proven, estimated + (not verdict.proven)
    assert min(proven, estimated) > 20


def wild(game: Game) -> Evaluator:
    """An evaluator that believes in nonsense."""
    weights = [[(-1.0) ** i * (i + 1) for i in range(len(game.feature_names))]] * game.n_phases
    return LinearEval(game, weights)  # type: ignore[arg-type]


def test_an_edge_against_a_corner_is_a_proven_blunder() -> None:
    game = TicTacToe()
    blunder, good = judged(game, "X........", "2"), judged(game, "X........", "5")
    assert (blunder.optimal, blunder.proven, blunder.value, blunder.best_value, blunder.loss) == (False, True, -1, 0, 1)
    assert (good.optimal, good.proven, good.value, good.loss) == (True, True, 0, 0)
    s = game.from_text("X........")
    told = verdict_text(game, s, blunder).splitlines()
    assert told[0] == "2 is not minimax-optimal (proven), worth -1, a loss in 6 plies: 1 given away"
    assert told[1].startswith("better: 5, worth 0, a draw; then ")
    assert verdict_text(game, s, good) == "5 is minimax-optimal (proven), worth 0, a draw"


def test_moves_that_are_all_the_same_are_said_to_be() -> None:
    game = TicTacToe()
    first = judged(game, ".........", "2")
    assert (first.optimal, first.indifferent) == (True, True)
    assert verdict_text(game, game.initial(), first).endswith("worth 0, a draw, like every other move")


@pytest.mark.parametrize("game", [PlainTicTacToe(), TicTacToe()], ids=["plain", "compiled"])
@pytest.mark.parametrize("move", ["2", "6"])
def test_a_slower_win_is_as_optimal_as_a_quick_one(game: Game, move: str) -> None:
    verdict = judged(game, "..X.O.XOX", move)  # 2 wins at once, 6 two moves later
    assert (verdict.optimal, verdict.proven, verdict.value) == (True, True, 1)
    assert not judged(game, "..X.O.XOX", "4").optimal


def test_a_missed_win_is_proven_where_the_move_ends_the_game() -> None:
    tree = TreeGame((5, (15, 15), (-3, -2)))
    verdict = judged(tree, "root", "0")
    assert (verdict.optimal, verdict.proven, verdict.value, verdict.best_value) == (False, True, 5, 15)


def test_a_win_at_once_is_proven_also_among_three() -> None:
    for move, optimal in (("2", True), ("9", False)):
        verdict = judged(LooseEnds(), "X.XO.O...", move, Limits(depth=1))
        assert (verdict.optimal, verdict.best_value, verdict.best_proven, verdict.proven) == (optimal, 1, True, optimal)


def test_a_horizon_too_near_gives_an_estimate() -> None:
    verdict = judged(PlainTicTacToe(), ".........", "2", Limits(depth=2))
    assert (verdict.proven, verdict.depth, verdict.optimal) == (False, 2, False)
    told = verdict_text(TicTacToe(), TicTacToe().initial(), verdict)
    assert told.startswith("2 is probably not minimax-optimal (estimated, depth 2), worth -")


def test_limits_that_are_too_tight_still_give_one_ply() -> None:
    assert judged(PlainTicTacToe(), ".........", "2", Limits(nodes=1)).depth == 1


def test_a_game_that_knows_its_values_is_believed() -> None:
    class Known(Takeaway):
        def solved(self, s: tuple[int, int]) -> dict[int, float] | None:
            return None if s[0] > 8 else {a: 1.0 if (s[0] - a) % 3 == 0 else -1.0 for a in self.actions(s)}

    good, far = judged(Known(), "8:0", "2"), judged(Known(), "11:0", "1", Limits(depth=2))
    assert (good.optimal, good.proven, good.depth, good.line) == (True, True, None, (2, 1, 2, 1, 2))
    assert (far.proven, far.depth) == (False, 2)


def test_verdicts_name_the_sense_in_which_a_move_is_optimal() -> None:
    for game, sense in ((CoinRace(), "in expectation"), (LooseEnds(), "by max^n")):
        s = next(walk(game, 1))
        assert f"optimal {sense} (" in verdict_text(
            game, s, judge_of(game, Limits(depth=1)).judge(s, game.actions(s)[0])
        )
