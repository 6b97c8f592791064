"""Nets that learn from games against themselves: the kernel against its oracle, what is taught, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from toys import Takeaway

from evallearn.core.game import Game, State
from evallearn.errors import SpecError
from evallearn.evaluators.net import TENSORS, NetEval, levels_of
from evallearn.registry import get_game
from evallearn.train.models.frozen_net import MAX_NODES
from evallearn.train.models.net import NetModel
from evallearn.train.models.net_learner import first_net, widened
from evallearn.train.models.plain import PlainNet
from evallearn.train.reference.td_lambda import TdLambda
from evallearn.train.selfplay.plain import PlainEpisodes
from evallearn.train.selfplay.rounds import RoundsLearner
from evallearn.train.selfplay.settings import SelfPlaySettings
from evallearn.train.targets import SEARCH_TARGETS

TTT, FOUR, PIG = get_game("tic_tac_toe"), get_game("connect_four"), get_game("pig,target=12")
BACKGAMMON = get_game("backgammon,features=tesauro")


def net_of(game: Game, seed: int = 3) -> NetEval:
    """A net with opinions: one that has just begun thinks that everything is even."""
    start = first_net(game, (8,), len(levels_of(game)) - 1, per_phase=True, seed=seed)
    rng, size = np.random.default_rng(seed), 1.5 / np.sqrt(len(game.feature_names))
    return NetEval(game, {k: rng.normal(0, size, t.shape) for k, t in start.tensors().items() if k != "activation"})


def player(game: Game, target: str, **settings: Any) -> tuple[RoundsLearner, PlainEpisodes]:
    """A net that teaches, and its oracle."""
    net = net_of(game)
    model = NetModel(game, hidden=(8,))
    how = SelfPlaySettings(target=target, seed=5, **settings).suited(model)
    it = RoundsLearner(model, how, teacher=net, threads=1)
    return it, PlainEpisodes(it.player, how)


def lessons_of(plain: PlainEpisodes, number: int) -> list[tuple[State, np.ndarray]]:
    """What a game teaches."""
    plain.model.lessons.clear()
    plain.play(number)
    return list(plain.model.lessons)


# --- the kernel and its oracle ---------------------------------------------------------------------------------------
def same_lessons(game: Game, target: str, games: int, **settings: Any) -> int:
    it, plain = player(game, target, **settings)
    found = it._bite(it.player.record, 7, games)
    wanted = [lesson for number in range(7, 7 + games) for lesson in lessons_of(plain, number)]
    assert found.words.tolist() == [[int(w) for w in game.encode(s)] for s, _ in wanted]
    assert found.targets.tobytes() == np.array([target for _, target in wanted]).tobytes()
    for (s, _), x, phase in zip(wanted, *it.player.inputs(found.words), strict=True):
        assert (x.tolist(), phase) == (it.player.net.observe(s, game.observer(s))[0], game.phase(s))
    return len(wanted)


WAYS: dict[str, dict[str, Any]] = {
    "lambda 0": {"lambda_": 0.0, "epsilon": 0.0, "max_opening_plies": 0},
    "lambda 1": {"lambda_": 1.0, "epsilon": 0.0, "max_opening_plies": 0},
    "random moves": {"lambda_": 0.7, "epsilon": 0.3, "max_opening_plies": 3},
    "no openings": {"lambda_": 0.7, "epsilon": 0.3, "max_opening_plies": 3, "train_on_openings": False},
}


@pytest.mark.parametrize("target", ["td", "expectation"])
@pytest.mark.parametrize("game", [TTT, PIG], ids=lambda g: g.name)
def test_kernel_plays_and_teaches_as_plain_python_does(game: Game, target: str) -> None:
    for way in WAYS.values():
        assert same_lessons(game, target, 12, **way) > 12


@pytest.mark.long
@pytest.mark.parametrize("target", ["td", "expectation"])
def test_kernel_plays_backgammon_as_plain_python_does(target: str) -> None:
    assert same_lessons(BACKGAMMON, target, 1, lambda_=0.7, epsilon=0.1) > 20


SEARCHED = {"lambda_": 0.6, "epsilon": 0.2, "max_opening_plies": 4}
LONG = [(name, target, 2) for name in ("connect_four", "othello", "checkers") for target in SEARCH_TARGETS]
LONG += [("chess", target, 1) for target in SEARCH_TARGETS] + [("connect_four", "treestrap", 5)]
"""Chess is searched with a depth of 1, too: a position may have occurred before."""


@pytest.mark.parametrize("target", SEARCH_TARGETS)
def test_kernel_teaches_by_searches_what_plain_python_teaches(target: str) -> None:
    assert same_lessons(TTT, target, 12, depth=2, **SEARCHED) > 12


@pytest.mark.long
@pytest.mark.parametrize(("name", "target", "depth"), LONG, ids=str)
def test_kernel_teaches_by_searches_in_every_game(name: str, target: str, depth: int) -> None:
    plies = {"max_opening_plies": 90} if name == "chess" else {}
    assert same_lessons(get_game(name), target, 2, depth=depth, **{**SEARCHED, **plies}) > 2


def test_of_a_large_tree_so_many_nodes_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both backends draw the same ones."""
    seen, on_node = [], PlainNet.on_node

    def noted(self: PlainNet, *given: Any) -> None:
        on_node(self, *given)
        seen.append(self.nodes)

    monkeypatch.setattr(PlainNet, "on_node", noted)
    lessons = same_lessons(TTT, "treestrap", 1, depth=5, epsilon=0.0, max_opening_plies=0)
    assert max(seen) > MAX_NODES
    assert lessons < len(seen)


# --- what is taught --------------------------------------------------------------------------------------------------
def test_without_dice_expectations_are_the_next_positions() -> None:
    td, expected = (
        [target for n in range(20) for _, target in lessons_of(player(TTT, name, lambda_=0.7)[1], n)]
        for name in ("td", "expectation")
    )
    assert np.allclose(td, expected, atol=1e-6)


def test_expectations_have_less_noise_around_the_same_mean() -> None:
    """Lambda 1 from the start of pig: outcomes scatter, outcomes without their luck hardly; both mean the same."""
    start = np.array(PIG.encode(PIG.initial()), np.uint64)

    def of_the_start(target: str) -> np.ndarray:
        it, _ = player(PIG, target, lambda_=1.0)
        found = it._bite(it.player.record, 0, 4000)
        return found.targets[(found.words == start).all(axis=1), 0].astype(float)

    noisy, quiet = of_the_start("td"), of_the_start("expectation")
    assert len(noisy) >= 4000
    assert quiet.std() < 0.5 * noisy.std()
    assert abs(quiet.mean() - noisy.mean()) < 4 * noisy.std() / len(noisy) ** 0.5


def test_targets_are_lambda_returns_by_their_definition() -> None:
    """(1 - lambda) times the sum over n of lambda**(n-1) times the n-step return, all moves being the best ones."""
    plain = [player(TTT, "td", lambda_=x, epsilon=0.0, max_opening_plies=0)[1] for x in (0.0, 0.6)]
    one_step, mixed = (list(reversed(lessons_of(each, 0))) for each in plain)  # the last decision learns first
    for t, (s, target) in enumerate(mixed):
        same = [TTT.to_play(s) == TTT.to_play(later) for later, _ in one_step]
        steps = [p[0] if same[u] else 1 - p[0] for u, (_, p) in enumerate(one_step)][t:]
        expected = sum(0.4 * 0.6**n * g for n, g in enumerate(steps[:-1])) + 0.6 ** (len(steps) - 1) * steps[-1]
        assert target[0] == pytest.approx(expected, abs=1e-6)


def test_after_a_roll_that_ends_the_turn_the_roller_expects_what_the_other_does_not() -> None:
    """Pig: a 1 hands the turn over, and a roll may win at once."""
    _, plain = player(PIG, "td", lambda_=0.0)
    rolling = PIG.from_text("8-6 turn=2 target=12 first rolling")
    lost, won = PIG.result(rolling, 1), PIG.result(rolling, 6)
    assert PIG.to_play(lost) == 1
    assert plain.expect(lost, 0) == [-value for value in plain.expect(lost, 1)]
    assert plain.expect(won, 0) == [1.0]


def test_a_draw_is_half_a_win_to_both() -> None:
    """Tic-tac-toe has one output, loss or win: whoever takes a draw for a loss avoids it at any price."""
    drawn = TTT.from_text("XOXXOOOXX")
    _, plain = player(TTT, "td")
    assert [plain.value(drawn, who)[1] for who in (0, 1)] == [[0.0], [0.0]]
    assert TdLambda(TTT).outputs(drawn).tolist() == [0.5]
    assert player(BACKGAMMON, "td")[1].model.result_outputs(-2.0) == [1.0, -1.0, -1.0, -1.0, -1.0]


def test_treestrap_learns_only_what_bounds_contradict() -> None:
    net, s = player(FOUR, "treestrap")[1].model, FOUR.from_text("4")
    said = net.evaluator.evaluate(s, 1)
    net.on_node(s, said - 0.2, -1.0, said - 0.3)  # at least
    net.on_node(s, said + 0.2, said + 0.3, 1.0)  # at most
    assert net.noted == []
    for value, alpha, beta in ((said + 0.2, -1.0, said + 0.1), (said - 0.2, said - 0.1, 1.0), (said + 0.1, -1.0, 1.0)):
        net.on_node(s, value, alpha, beta)
        assert float(net.noted[-1][1][0]) == pytest.approx((value + 1) / 2, abs=1e-6)
    assert len(net.noted) == 3


# --- the net to begin with -------------------------------------------------------------------------------------------
def wild(hidden: tuple[int, ...]) -> NetEval:
    shapes = first_net(TTT, hidden, 1, per_phase=True).tensors()
    rng = np.random.default_rng(2)
    return NetEval(TTT, {k: rng.normal(0, 0.5, shapes[k].shape) for k in TENSORS}, "sigmoid")


@pytest.mark.parametrize(("old", "new"), [((8,), (24,)), ((8, 8), (16, 8)), ((8, 8), (16, 24))])
def test_a_net_that_grows_says_the_same_at_first(old: tuple[int, ...], new: tuple[int, ...]) -> None:
    small = wild(old)
    large = NetModel(TTT, start=small, hidden=new).start
    assert large.hidden == new
    for s in (TTT.initial(), TTT.from_text("XX.OO....")):
        assert large.evaluate(s, 0) == small.evaluate(s, 0)


@pytest.mark.parametrize("hidden", [(8,), (24, 8), (8, 16)])
def test_a_net_does_not_shrink_nor_get_another_layer(hidden: tuple[int, ...]) -> None:
    start = first_net(TTT, (16, 16) if len(hidden) > 1 else (16,), 1)
    with pytest.raises(SpecError, match=r"hidden=.* does not work with a net of 16.* units to begin with: give"):
        widened(start, hidden, 1)
    with pytest.raises(SpecError, match="or let that net be the teacher of a new one"):
        widened(first_net(TTT, (8,), 1), (16, 8), 1)


# --- what cannot work ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"hidden": (0,)}, r"hidden=\(0,\): give one or two multiples of 8, 4096 at most, such as 80"),
        ({"hidden": (12,)}, r"hidden=\(12,\): give"),
        ({"hidden": (8, 0)}, r"hidden=\(8, 0\): give"),
        ({"hidden": (8, 8, 8)}, r"hidden=\(8, 8, 8\): give"),
        ({"activation": "tanh"}, "unknown activation 'tanh': known: clipped, relu, sigmoid"),
        ({"ema_decay": 1.0}, "ema_decay=1.0: give a number from 0 to below 1"),
    ],
    ids=str,
)
def test_nets_that_make_no_sense_are_refused(settings: dict[str, Any], match: str) -> None:
    with pytest.raises(SpecError, match=match):
        NetModel(TTT, **settings)


@pytest.mark.parametrize("game", [Takeaway(), get_game("three_player_connect"), get_game("2048")], ids=lambda g: g.name)
def test_games_that_nets_cannot_learn_are_refused(game: Game) -> None:
    with pytest.raises(SpecError, match=f"{game.name} is no two-player zero-sum game with features on the compiled"):
        NetModel(game)


@pytest.mark.parametrize("settings", [{"target": "tdleaf"}, {"target": "td", "depth": 2}], ids=str)
def test_searches_in_games_with_dice_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match=r"pig,target=12 has no rules with .* game without chance; use target td"):
        player(PIG, **settings)


def test_searches_of_several_outputs_are_refused() -> None:
    class WithDraws(type(TTT)):  # type: ignore[misc]  # a class that is asked for
        levels = (-1.0, 0.0, 1.0)

    model = NetModel(WithDraws())
    assert not model.searches("td", 1)
    with pytest.raises(SpecError, match="ends with one of 3 results, and a search compares single values: use target"):
        model.searches("tdleaf", 2)


def test_nets_of_other_games_are_refused() -> None:
    with pytest.raises(SpecError, match="the net to begin with is one of pig,target=12, not of tic_tac_toe"):
        NetModel(TTT, start=net_of(PIG))
    model = NetModel(TTT)
    with pytest.raises(SpecError, match="the teacher is one of pig,target=12, not of tic_tac_toe"):
        RoundsLearner(model, SelfPlaySettings().suited(model), teacher=net_of(PIG))
