"""Nets that learn from their own searches: the kernel against its oracle, and what each target means."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from evallearn.train.neural import NeuralLearner, NeuralTrainer
from evallearn.train.neural_plain import PlainActor
from evallearn.train.neural_search import MOST, SearchingActor
from evallearn.train.neural_search_plain import PlainSearchingActor, towards
from evallearn.train.neural_settings import NeuralSettings

from evallearn.errors import DataError, SpecError
from evallearn.evaluators.net import NetEval, levels_of
from evallearn.registry import get_game
from evallearn.train.models.net_learner import first_net
from evallearn.train.targets import SEARCH_TARGETS

TTT, FOUR = get_game("tic_tac_toe"), get_game("connect_four")
GIVEN = {"lambda_": 0.6, "epsilon": 0.2, "opening_plies": 4, "seed": 5}
FAST = [("tic_tac_toe", target, 2) for target in SEARCH_TARGETS]
LONG = [(name, target, 2) for name in ("connect_four", "othello", "checkers") for target in SEARCH_TARGETS]
LONG += [("chess", target, 1) for target in SEARCH_TARGETS] + [("connect_four", "treestrap", 5)]


def net_of(game, seed: int = 3) -> NetEval:
    """A net with opinions."""
    start = first_net(game, (8,), len(levels_of(game)) - 1, split=True, seed=seed)
    rng = np.random.default_rng(seed)
    size = 1.5 / np.sqrt(len(game.feature_names))
    tensors = {k: rng.normal(0, size, t.shape) for k, t in start.tensors().items() if k != "activation"}
    return NetEval(game, tensors)


# --- the kernel and its oracle ---------------------------------------------------------------------------------------
def same_rows(game, target: str, depth: int, games: int, **more) -> list:
    net, given = net_of(game), {**GIVEN, **more}
    actor, plain = (kind(net, target=target, depth=depth, **given) for kind in (SearchingActor, PlainSearchingActor))
    rows = actor.play(7, games)
    wanted = [row for number in range(7, 7 + games) for row in plain.play(number)]
    assert len(wanted) > games
    assert rows.words.tolist() == [list(map(int, game.encode(s))) for s, _ in wanted]
    assert rows.targets.tobytes() == np.array([target for _, target in wanted], np.float32).tobytes()
    return wanted


@pytest.mark.parametrize(("name", "target", "depth"), FAST, ids=str)
def test_kernel_teaches_what_plain_python_teaches_bit_for_bit(name, target, depth):
    same_rows(get_game(name), target, depth, 12)


@pytest.mark.long
@pytest.mark.parametrize(("name", "target", "depth"), LONG, ids=str)
def test_kernel_teaches_what_plain_python_teaches_in_every_game(name, target, depth):
    plies = {"opening_plies": 90} if name == "chess" else {}
    same_rows(get_game(name), target, depth, 3 if name == "chess" else 2, **plies)


def test_of_a_large_tree_so_many_nodes_are_drawn(monkeypatch):
    """Both floors draw the same ones."""
    seen, note_node = [], PlainSearchingActor.note_node

    def noted(self, *given):
        note_node(self, *given)
        seen.append(self.notes)

    monkeypatch.setattr(PlainSearchingActor, "note_node", noted)
    rows = same_rows(TTT, "treestrap", 5, 1, epsilon=0.0, opening_plies=0)
    assert max(seen) > MOST
    assert len(rows) < len(seen)


# --- what is taught --------------------------------------------------------------------------------------------------
def plain(target: str, game=TTT, depth: int = 2, **more) -> PlainSearchingActor:
    return PlainSearchingActor(net_of(game), target=target, depth=depth, **{**GIVEN, **more})


def test_td_with_lambda_0_is_rootstrap_and_a_win_in_reach_is_one():
    root, td = plain("rootstrap", epsilon=0.0), plain("td", epsilon=0.0, lambda_=0.0)
    rows = root.play(3)
    assert [(s, t.tolist()) for s, t in rows] == [(s, t.tolist()) for s, t in td.play(3)]
    leaf = root.searches.leaf_of(TTT.from_text("XX.OO...."), root.searches.search(TTT.from_text("XX.OO...."), [2])[2])
    assert root.judge(leaf, 0) == [1.0]


def test_tdleaf_learns_at_the_leaf_what_the_next_searches_say():
    """Against the definition, all moves being the best ones: the lambda-return from the next decision on."""
    given = {"epsilon": 0.0, "opening_plies": 0, "lambda_": 0.5}
    values, leaves = plain("rootstrap", FOUR, **given).play(0), dict(plain("tdleaf", FOUR, **given).play(0))
    searches = plain("tdleaf", FOUR, **given).searches
    states, searched = [s for s, _ in values], [float(p[0]) for _, p in values]
    taught = 0
    for t in range(len(states) - 1):
        _, value, line = searches.search(states[t], list(FOUR.actions(states[t])))
        leaf = searches.leaf_of(states[t], line)
        assert (value + 1) / 2 == pytest.approx(searched[t], abs=1e-6)
        if leaf in leaves:  # else another one of the same value, which was tried first
            own = [searched[u] if (u - t) % 2 == 0 else 1 - searched[u] for u in range(len(states))]
            n_step = own[t + 1 :]
            wanted = sum(0.5 * 0.5**n * v for n, v in enumerate(n_step[:-1])) + 0.5 ** (len(n_step) - 1) * n_step[-1]
            seen = float(leaves[leaf][0])
            assert (seen if FOUR.to_play(leaf) == FOUR.to_play(states[t]) else 1 - seen) == pytest.approx(
                wanted, abs=1e-5
            )
            taught += 1
    assert taught > 5


def test_after_a_move_that_was_not_the_best_nothing_is_taught_at_the_leaf():
    """With nothing but random moves hardly one is the best by chance."""
    assert len(plain("tdleaf", FOUR, epsilon=1.0).play(0)) < len(plain("tdleaf", FOUR, epsilon=0.0).play(0))


def test_treestrap_learns_only_what_bounds_contradict():
    actor, s = plain("treestrap", FOUR), FOUR.from_text("4")
    said = actor.net.evaluate(s, 1)
    actor.note_node(s, said - 0.2, -1.0, said - 0.3)  # at least
    actor.note_node(s, said + 0.2, said + 0.3, 1.0)  # at most
    assert actor.noted == []
    for value, alpha, beta in ((said + 0.2, -1.0, said + 0.1), (said - 0.2, said - 0.1, 1.0), (said + 0.1, -1.0, 1.0)):
        actor.note_node(s, value, alpha, beta)
        assert float(actor.noted[-1][1][0]) == pytest.approx((value + 1) / 2, abs=1e-6)
    assert len(actor.noted) == 3


def test_values_become_chances_of_that_mean_whatever_the_outputs():
    game = get_game("backgammon,features=tesauro")
    actor = PlainActor(net_of(game), lambda_=0.0, epsilon=0.0, opening_plies=0, seed=1)
    p = [0.9, 0.8, 0.6, 0.3, 0.1]
    for value in (-3.0, -1.0, actor.worth(p), 0.5, 3.0):
        q = towards(actor, p, value)
        assert actor.worth(q) == pytest.approx(value, abs=1e-6)
        assert all(a >= b for a, b in pairwise(q))
    assert towards(actor, p, 3.0).tolist() == [1.0] * 5
    assert towards(actor, p, -3.0).tolist() == [0.0] * 5


# --- the learner -----------------------------------------------------------------------------------------------------
def quick(**settings) -> NeuralTrainer:
    return NeuralTrainer(**{"hidden": (8,), "games_per_round": 40, "batch_size": 32, "threads": 1, **settings})


@pytest.mark.parametrize("target", ["tdleaf", "treestrap"])
def test_threads_do_not_change_the_weights(target):
    settings = NeuralSettings(hidden=(8,), games_per_round=60, epsilon=0.1, target=target, depth=2)
    one, two = (NeuralLearner(TTT, settings, threads=threads) for threads in (1, 2))
    for it in (one, two):
        it.learn(30)
    assert one.weights.tobytes() == two.weights.tobytes()
    assert (one.games, one.moves) == (two.games, two.moves)
    assert one.moves > one.games


@pytest.mark.parametrize("target", ["tdleaf", "treestrap"])
def test_resumed_learning_gives_the_same_bytes(target, tmp_path):
    file = tmp_path / "c.safetensors"
    whole = quick(target=target).fit(TTT, games=48)
    quick(target=target).fit(TTT, games=20, checkpoint=file)
    resumed = quick(target=target).fit(TTT, games=48, checkpoint=file)
    assert (resumed.games_, resumed.moves_, resumed.steps_) == (whole.games_, whole.moves_, whole.steps_)
    for name, tensor in whole.net_.tensors().items():
        assert resumed.net_.tensors()[name].tobytes() == tensor.tobytes()
    with pytest.raises(DataError, match="was made with depth 2, now 3: give the same settings"):
        quick(target=target, depth=3).fit(TTT, games=60, checkpoint=file)


def test_a_round_that_teaches_nothing_changes_nothing():
    """Searches to the end of the game have no leaf that could learn."""
    trainer = quick(target="tdleaf", depth=9, opening_plies=0).fit(TTT, games=8)
    assert (trainer.games_, trainer.moves_, trainer.steps_) == (8, 0, 0)


@pytest.mark.long
@pytest.mark.parametrize("target", ["rootstrap", "treestrap"])
def test_it_learns_that_threats_win(target):
    trainer = quick(target=target, hidden=(16,), learning_rate=1e-2).fit(FOUR, games=400)
    e = trainer.evaluator({"name": "mine"})
    assert (e.name, e.made["method"], e.made["depth"]) == ("mine", target, 2)
    assert e.evaluate(FOUR.from_text("414142"), 0) > 0.5


# --- what cannot work ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"target": "leaf"}, "target='leaf': give one of td, tdleaf, rootstrap, treestrap"),
        ({"depth": 0}, "depth=0: give a whole number from 1 to"),
        ({"target": "tdleaf", "depth": 999}, "depth=999: give a whole number from 1 to"),
        ({"depth": 2, "exact_from": 0.5}, "exact_from=0.5: give 1, or td with a depth of 1"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(settings, match):
    with pytest.raises(SpecError, match=match):
        NeuralSettings(**settings)


@pytest.mark.parametrize("settings", [{"target": "tdleaf"}, {"depth": 2}], ids=str)
def test_games_with_dice_are_refused(settings):
    with pytest.raises(
        SpecError, match=r"pig,target=12 has no rules with .* game without chance; use --target td with --depth 1"
    ):
        quick(**settings).fit(get_game("pig,target=12"), games=8)
