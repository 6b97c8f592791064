"""Nets that teach themselves: kernels against their oracle, the same bytes however it is cut, divergence."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from nets import random_net
from toys import Takeaway, python_path

from evallearn.cli import run
from evallearn.errors import DataError, SpecError
from evallearn.evaluators import load_evaluator
from evallearn.evaluators.net import TENSORS, NetEval
from evallearn.registry import get_game
from evallearn.train.neural import EARLY_ROUNDS, NeuralLearner, NeuralTrainer
from evallearn.train.neural_net import NetLearner, first_net, widened
from evallearn.train.neural_plain import PlainActor
from evallearn.train.neural_play import BITE, Actor
from evallearn.train.neural_settings import NeuralSettings
from evallearn.train.reference.td_lambda import TdLambda
from evallearn.train.training import LARGEST

TTT, PIG = get_game("tic_tac_toe"), get_game("pig,target=12")
QUICK = {"hidden": (8,), "games_per_round": 40, "batch_size": 32, "threads": 1}


def quick(**settings) -> NeuralTrainer:
    return NeuralTrainer(**{**QUICK, **settings})


def learner(threads: int = 1, game=TTT, **settings) -> NeuralLearner:
    settings = {"hidden": (8,), "games_per_round": 40, "batch_size": 32, "epsilon": 0.1, **settings}
    return NeuralLearner(game, NeuralSettings(**settings), threads=threads)


def net_of(game, seed: int = 3, size: float = 0.5):
    """A net with opinions: one that has just begun thinks that everything is even."""
    start = first_net(game, (8,), 5 if game.name.startswith("backgammon") else 1, split=True, seed=seed)
    rng = np.random.default_rng(seed)
    tensors = {k: rng.normal(0, size, t.shape) for k, t in start.tensors().items() if k != "activation"}
    return type(start)(game, tensors)


# --- the kernels and their oracle ------------------------------------------------------------------------------------
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("settings", [(0.0, 0.0, 0), (1.0, 0.0, 0), (0.7, 0.3, 3)], ids=str)
@pytest.mark.parametrize("game", [TTT, PIG], ids=lambda g: g.name)
def test_kernel_plays_and_teaches_as_plain_python_does(game, settings, exact):
    same_rows(game, settings, 12, exact)


@pytest.mark.long
@pytest.mark.parametrize("exact", [False, True])
def test_kernel_plays_backgammon_as_plain_python_does(exact):
    same_rows(get_game("backgammon,features=tesauro"), (0.7, 0.1, 0), 1, exact)


def same_rows(game, settings, games, exact):
    net, given = net_of(game), dict(zip(("lambda_", "epsilon", "opening_plies"), settings, strict=True))
    actor, plain = Actor(net, **given, seed=5), PlainActor(net, **given, seed=5)
    rows = actor.play(7, games, exact=exact)
    wanted = [row for number in range(7, 7 + games) for row in plain.play(number, exact=exact)]
    assert [game.decode([int(w) for w in words]) for words in rows.words] == [s for s, _ in wanted]
    assert rows.targets.tobytes() == np.array([t for _, t in wanted]).tobytes()
    seen, phases = actor.inputs(rows.words)
    for (s, _), x, phase in zip(wanted, seen, phases, strict=True):
        assert (x.tolist(), phase) == (net.see(s, game.viewer(s))[0], game.phase(s))


def test_without_dice_exact_targets_are_the_usual_ones():
    actor = Actor(net_of(TTT), lambda_=0.7, epsilon=0.2, opening_plies=2, seed=3)
    assert np.allclose(actor.play(0, 20).targets, actor.play(0, 20, exact=True).targets, atol=1e-6)


def test_exact_targets_have_less_noise_around_the_same_mean():
    """Lambda 1 from the start of pig: outcomes scatter, outcomes without their luck hardly; both mean the same."""
    actor = Actor(net_of(PIG), lambda_=1.0, epsilon=0.0, opening_plies=0, seed=3)
    start = np.array(PIG.encode(PIG.initial()), np.uint64)

    def of_the_start(exact):
        rows = actor.play(0, 4000, exact=exact)
        return rows.targets[(rows.words == start).all(axis=1), 0].astype(float)

    noisy, quiet = of_the_start(False), of_the_start(True)
    assert len(noisy) >= 4000
    assert quiet.std() < 0.5 * noisy.std()
    assert abs(quiet.mean() - noisy.mean()) < 4 * noisy.std() / len(noisy) ** 0.5


def test_targets_are_lambda_returns_by_their_definition():
    """(1 - lambda) times the sum over n of lambda**(n-1) times the n-step return, all moves being the best ones."""
    net, lam = net_of(TTT), 0.6
    plain = [PlainActor(net, lambda_=x, epsilon=0.0, opening_plies=0, seed=2) for x in (0.0, lam)]
    (one_step, mixed) = (actor.play(0) for actor in plain)
    for t, (s, target) in enumerate(mixed):
        sign = [TTT.to_play(s) == TTT.to_play(later) for later, _ in one_step]
        steps = [p[0] if sign[u] else 1 - p[0] for u, (_, p) in enumerate(one_step)][t:]
        expected = sum((1 - lam) * lam**n * g for n, g in enumerate(steps[:-1])) + lam ** (len(steps) - 1) * steps[-1]
        assert target[0] == pytest.approx(expected, abs=1e-6)


def test_after_a_roll_that_ends_the_turn_the_roller_expects_what_the_other_does_not():
    """Pig: a 1 hands the turn over, and a roll may win at once."""
    net = net_of(PIG)
    plain = PlainActor(net, lambda_=0.0, epsilon=0.0, opening_plies=0, seed=1)
    rolling = PIG.from_text("8-6 turn=2 target=12 first rolling")
    lost, won = PIG.result(rolling, 1), PIG.result(rolling, 6)
    assert PIG.to_play(lost) == 1
    assert plain.expect(lost, 0)[0][0] == 1.0 - plain.expect(lost, 1)[0][0]
    assert plain.expect(won, 0) == ([1.0], None)


def test_a_draw_is_half_a_win_to_both():
    """Tic-tac-toe has one output, loss or win: whoever takes a draw for a loss avoids it at any price."""
    drawn = TTT.from_text("XOXXOOOXX")
    plain = PlainActor(net_of(TTT), lambda_=0.0, epsilon=0.0, opening_plies=0, seed=1)
    assert [plain.judge(drawn, player) for player in (0, 1)] == [[0.5], [0.5]]
    assert TdLambda(TTT).outputs(drawn).tolist() == [0.5]
    backgammon = PlainActor(
        net_of(get_game("backgammon,features=tesauro")), lambda_=0.0, epsilon=0.0, opening_plies=0, seed=1
    )
    assert backgammon.ended(-2.0) == [1.0, 0.0, 0.0, 0.0, 0.0]


# --- the same bytes --------------------------------------------------------------------------------------------------
def same(a: NeuralLearner, b: NeuralLearner) -> bool:
    return a.weights.tobytes() == b.weights.tobytes() and all(
        getattr(a, name) == getattr(b, name) for name in ("games", "moves", "rounds", "steps", "errors")
    )


def test_threads_and_pieces_do_not_change_the_weights():
    settings = {"games_per_round": 5 * (2 * BITE + 3)}  # early rounds have a fifth, in three bites
    one, two, pieces, other = learner(**settings), learner(2, **settings), learner(**settings), learner(seed=2)
    for it in (one, two, other):
        it.learn(3 * one.round_size(0))
    for _ in range(3):
        pieces.learn(1)  # a round is the least
    assert one.games == 3 * (2 * BITE + 3)
    assert same(one, two)
    assert same(one, pieces)
    assert not same(one, other)
    assert np.abs(one.weights - learner(**settings).weights).max() > 1e-3


def test_early_rounds_are_short():
    it = learner()
    assert [it.round_size(n) for n in (0, EARLY_ROUNDS - 1, EARLY_ROUNDS)] == [8, 8, 40]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"hidden": (16, 8), "activation": "sigmoid", "exact_from": 0.5, "horizon": 60, "epochs": 2},
        {"remembered": 3, "epochs": 2},
    ],
)
def test_resumed_learning_gives_the_same_bytes(tmp_path, more):
    file = tmp_path / "c.safetensors"
    whole = quick(**more).fit(TTT, games=80)
    quick(**more).fit(TTT, games=30, checkpoint=file)
    resumed = quick(**more).fit(TTT, games=80, checkpoint=file)
    assert (resumed.games_, resumed.moves_, resumed.steps_) == (whole.games_, whole.moves_, whole.steps_)
    for name, tensor in whole.net_.tensors().items():
        assert resumed.net_.tensors()[name].tobytes() == tensor.tobytes()
    again = quick(**more).fit(TTT, games=80, checkpoint=file)  # nothing is left to do
    assert again.games_ == resumed.games_


def test_interrupted_learning_goes_on_to_the_same_bytes(tmp_path):
    file = tmp_path / "c.safetensors"

    def interrupt(now):
        if now.games > 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quick().fit(TTT, games=80, checkpoint=file, on_progress=interrupt)
    whole, resumed = quick().fit(TTT, games=80), quick().fit(TTT, games=80, checkpoint=file)
    assert resumed.net_.tensors()["w1"].tobytes() == whole.net_.tensors()["w1"].tobytes()


ALWAYS = """
import sys
from evallearn.cli import run
from evallearn.train.self_taught import SelfTaughtTrainer
SelfTaughtTrainer.fit.__kwdefaults__["every"] = 0.0  # a checkpoint at every report
sys.exit(run(sys.argv[1:]))
"""


def test_killed_run_goes_on_to_the_same_bytes(tmp_path, capsys):
    def words(folder):
        more = ("--hidden", "8", "--games-per-round", "100", "--batch-size", "32", "--pairs", "2", "--threads", "1")
        return ["td", "tic_tac_toe", "--games", "2500", "--run", str(tmp_path / folder), *more]

    process = subprocess.Popen(
        [sys.executable, "-c", ALWAYS, *words("killed")], env={**os.environ, "PYTHONPATH": python_path()},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    checkpoint = tmp_path / "killed" / "checkpoint.safetensors"
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(random.uniform(0.0, 0.2))
    process.send_signal(signal.SIGKILL)
    assert process.wait() in (-signal.SIGKILL, 0)  # 0: it was faster
    assert run(words("killed")) == run(words("whole")) == 0
    assert "going on from" in capsys.readouterr().err
    killed, whole = (load_evaluator(tmp_path / name / "net.safetensors", TTT) for name in ("killed", "whole"))
    assert killed.made["games"] == whole.made["games"] >= 2500
    for name, tensor in whole.tensors().items():
        assert killed.tensors()[name].tobytes() == tensor.tobytes()


def test_checkpoints_of_other_settings_and_other_files_are_refused(tmp_path):
    file = tmp_path / "c.safetensors"
    quick().fit(TTT, games=8, checkpoint=file)
    with pytest.raises(DataError, match="was made with lambda_ 0.7, now 0.5: give the same settings, or delete it"):
        quick(lambda_=0.5).fit(TTT, games=16, checkpoint=file)
    with pytest.raises(DataError, match="was made with start others"):
        quick(start=net_of(TTT)).fit(TTT, games=16, checkpoint=file)
    with pytest.raises(DataError, match=r"was made with game 'tic_tac_toe', now 'pig,target=12'"):
        quick(epsilon=0.05).fit(PIG, games=16, checkpoint=file)
    file.write_bytes(b"no safetensors file")
    with pytest.raises(DataError, match=r"c\.safetensors is damaged, or no checkpoint .*: delete it to begin"):
        quick().fit(TTT, games=16, checkpoint=file)


# --- what is learned -------------------------------------------------------------------------------------------------
def test_it_learns_to_take_the_win():
    trainer = quick(learning_rate=1e-2, opening_plies=4).fit(TTT, games=4000)
    e = trainer.evaluator({"name": "mine"})
    assert (e.name, e.made["method"], e.made["games"]) == ("mine", "td", trainer.games_)
    wins, fork = TTT.from_text("XX.OO...."), TTT.from_text("X.....O.X")
    assert e.evaluate(wins, 0) > 0.5
    assert trainer.progress_.error < 0.69  # the loss of a net that knows nothing
    assert e.evaluate(wins, 0) > e.evaluate(fork, 0)


def test_exact_targets_begin_at_their_share_of_the_horizon(monkeypatch):
    asked, play = [], Actor.play

    def noted(self, first, games, *, exact=False):
        asked.append((first, exact))
        return play(self, first, games, exact=exact)

    monkeypatch.setattr(Actor, "play", noted)
    it = learner(exact_from=0.5, horizon=64)
    it.limit = 64
    it.learn(64)
    assert [first for first, exact in asked if exact] == [32, 40, 48, 56]
    asked.clear()
    never = learner(exact_from=1.0, horizon=16)
    never.limit = 32
    never.learn(32)
    assert asked
    assert not any(exact for _, exact in asked)


def test_a_net_to_begin_with_is_known_by_all_its_weights(tmp_path):
    file, net = tmp_path / "c.safetensors", net_of(TTT)
    quick(start=net).fit(TTT, games=8, checkpoint=file)
    for name in ("w1", "b1", "w3"):
        tensors = {k: t.copy() for k, t in net.tensors().items() if k in TENSORS}
        tensors[name].flat[-1] += 0.5  # the first ones are the same
        other = NetEval(TTT, tensors, net.activation)
        with pytest.raises(DataError, match="was made with start others"):
            quick(start=other).fit(TTT, games=16, checkpoint=file)


def test_a_teacher_plays_and_judges_while_a_net_of_other_sizes_learns(tmp_path):
    teacher, settings = net_of(TTT), NeuralSettings(hidden=(16, 8), games_per_round=40, epsilon=0.1)
    it = NeuralLearner(TTT, settings, teacher=teacher)
    rows = it._play(it.behind, 0, 40, 0)
    actor = Actor(teacher, lambda_=0.7, epsilon=0.1, opening_plies=0, seed=1)
    assert sorted(rows.words.tolist()) == sorted(actor.play(0, 40).words.tolist())
    it.learn(40)
    assert it.games == 40  # no short round: the teacher knows something
    assert it.evaluator().h2 == 8
    it.save(tmp_path / "c.safetensors")
    with pytest.raises(DataError, match="was made with teacher"):
        NeuralLearner(TTT, settings, teacher=net_of(TTT, seed=4)).restore(tmp_path / "c.safetensors")


def test_a_net_learns_what_its_teacher_says():
    """Lambda 0: the teacher's look-ahead; errors fall far below what is left of its chances' entropy at first."""
    it = NeuralLearner(
        TTT, NeuralSettings(hidden=(32,), lambda_=0.0, epsilon=0.5, epochs=4, learning_rate=5e-3), teacher=net_of(TTT)
    )
    rows = it.actor.play(10**6, 50)

    def gap():
        p = [
            it.evaluator().probabilities(x.tolist(), phase)
            for x, phase in zip(*it.actor.inputs(rows.words), strict=True)
        ]
        return float(np.abs(np.array(p) - rows.targets).mean())

    before = gap()
    it.learn(2000)
    assert gap() < 0.3 * before


def test_epochs_go_through_a_round_again():
    once, twice = learner(epochs=1), learner(epochs=2)
    once.learn(8)
    twice.learn(8)
    assert (twice.games, twice.moves, twice.steps) == (once.games, once.moves, 2 * once.steps)
    assert twice.errors == once.errors  # of the first pass: the second has seen the rows
    assert twice.weights.tobytes() != once.weights.tobytes()


def test_rounds_that_are_remembered_are_learned_from_together(monkeypatch):
    """Steps of 32 rows: those of the last two rounds, in an order that is new each time."""
    it, seen, learn = learner(remembered=2, batch_size=10**6), [], NetLearner.learn

    def noted(self, x, phase, targets, rate):
        seen.append(sorted(targets[:, 0].tolist()))
        return learn(self, x, phase, targets, rate)

    monkeypatch.setattr(NetLearner, "learn", noted)
    rounds = [sorted(it._play(it.behind, 0, 8, 0).targets[:, 0].tolist())]
    it.limit = 24
    it.learn(24)
    assert len(seen) == 3
    assert seen[0] == rounds[0]
    last = [sorted(rows.targets[:, 0].tolist()) for rows in it.kept]
    assert len(last) == 2
    assert seen[2] == sorted(last[0] + last[1])
    assert seen[1] == sorted(rounds[0] + last[0])
    assert it.moves == sum(map(len, [rounds[0], *last]))  # each is counted once


def test_a_checkpoint_whose_rows_do_not_fit_together_is_refused(tmp_path):
    file = tmp_path / "c.safetensors"
    it = learner(remembered=2)
    it.learn(16)
    it.good["tensors"]["kept.sizes"][0] += 1
    it.save(file)
    with pytest.raises(DataError, match=r"c\.safetensors holds \d+ positions for rounds of .*: delete it"):
        learner(remembered=2).restore(file)


def test_rate_falls_along_a_cosine():
    s = NeuralSettings(learning_rate=0.1, final_rate=0.1, horizon=100)
    assert [s.rate(g) for g in (0, 50, 100, 999)] == pytest.approx([0.1, 0.055, 0.01, 0.01])
    assert NeuralSettings(learning_rate=0.1).rate(10**9) == 0.1


def test_it_begins_with_the_net_that_it_is_given():
    start = net_of(TTT)
    trainer = quick(start=start, learning_rate=1e-9, hidden=None).fit(TTT, games=8)
    assert trainer.net_.h1 == 8
    assert np.abs(trainer.net_.tensors()["w1"] - start.tensors()["w1"]).max() < 1e-6


@pytest.mark.parametrize(("old", "new"), [((8,), (24,)), ((8, 8), (16, 8)), ((8, 8), (16, 24))])
def test_a_net_that_grows_says_the_same_at_first(old, new):
    small = wild(old)
    large = widened(small, new, 1)
    assert large.hidden == new
    for s in (TTT.initial(), TTT.from_text("XX.OO....")):
        assert large.evaluate(s, 0) == small.evaluate(s, 0)


def test_what_has_grown_learns_too():
    start = wild((8, 8))
    trainer = quick(start=start, hidden=(16, 8)).fit(TTT, games=80)
    first, last = (e.tensors()["w1"][:, :, 8:] for e in (widened(start, (16, 8), 1), trainer.net_))
    assert np.abs(last - first).max() > 1e-4


def wild(hidden):
    shapes = first_net(TTT, hidden, 1, split=True).tensors()
    rng = np.random.default_rng(2)
    return NetEval(TTT, {k: rng.normal(0, 0.5, shapes[k].shape) for k in TENSORS}, "sigmoid")


@pytest.mark.parametrize("hidden", [(8,), (24, 8), (8, 16)])
def test_a_net_does_not_shrink_nor_get_another_layer(hidden):
    start = first_net(TTT, (16, 16) if len(hidden) > 1 else (16,), 1)
    with pytest.raises(SpecError, match=r"hidden=.* does not work with a net of 16.* units to begin with: give"):
        widened(start, hidden, 1)
    with pytest.raises(SpecError, match="or let that net be the teacher of a new one"):
        widened(first_net(TTT, (8,), 1), (16, 8), 1)


# --- divergence ------------------------------------------------------------------------------------------------------
def test_a_rate_that_is_too_large_stops_by_itself_and_keeps_the_last_good_net():
    trainer = quick(learning_rate=1e6)
    with pytest.raises(
        SpecError,
        match=r"learning_rate=1e\+06 made a weight of tic_tac_toe grow to .* in step .*: lower it; the weights of "
        "game 0 are kept",
    ):
        trainer.fit(TTT, games=1000)
    assert trainer.games_ == trainer.steps_ == 0
    assert np.abs(trainer.evaluator().tensors()["w1"]).max() < LARGEST


@pytest.mark.parametrize("where", ["loss", "weights"])
def test_nan_stops_by_itself_and_keeps_the_last_good_net(where, monkeypatch):
    """In the ninth step; a round of 8 games has two."""
    steps, learn = [], NetLearner.learn

    def poisoned(self, *given):
        loss = learn(self, *given)
        steps.append(loss)
        if len(steps) == 9 and where == "weights":
            self.weights["b1"].data[0, 3] = np.nan
        return np.nan if len(steps) == 9 and where == "loss" else loss

    monkeypatch.setattr(NetLearner, "learn", poisoned)
    trainer = quick()
    trouble = "made the loss nan in step" if where == "loss" else "made .* nan in step"
    with pytest.raises(SpecError, match=trouble) as caught:
        trainer.fit(TTT, games=400)
    assert 0 < trainer.games_ < 400
    assert trainer.steps_ < 9
    assert f"the weights of game {trainer.games_} are kept" in str(caught.value)
    assert all(np.isfinite(t).all() for t in trainer.net_.tensors().values())


# --- what cannot work ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"hidden": ()}, r"hidden=\(\): give one or two multiples of 8, 4096 at most, such as 80"),
        ({"remembered": 0}, r"remembered=0: give a whole number from 1 to"),
        ({"hidden": (12,)}, r"hidden=\(12,\): give"),
        ({"hidden": (8, 0)}, r"hidden=\(8, 0\): give"),
        ({"hidden": (8, 8, 8)}, r"hidden=\(8, 8, 8\): give"),
        ({"activation": "tanh"}, "activation='tanh': give one of relu, clipped, sigmoid"),
        ({"lambda_": 1.5}, "lambda=1.5: give a number from 0 to 1"),
        ({"lambda_": float("nan")}, "lambda=nan: give"),
        ({"exact_from": -0.1}, "exact_from=-0.1: give a number from 0 to 1"),
        ({"epsilon": 2}, "epsilon=2: give a number from 0 to 1"),
        ({"opening_plies": -1}, "opening_plies=-1: give a whole number from 0 to"),
        ({"learning_rate": 0}, "learning_rate=0: give a number above 0"),
        ({"learning_rate": float("inf")}, "learning_rate=inf: give"),
        ({"final_rate": 0}, "final_rate=0: give a number above 0, at most 1"),
        ({"horizon": -1}, "horizon=-1: give a whole number from 0 to"),
        ({"batch_size": 0}, "batch_size=0: give a whole number from 1 to"),
        ({"epochs": 0}, "epochs=0: give a whole number from 1 to"),
        ({"games_per_round": 0}, "games_per_round=0: give a whole number from 1 to"),
        ({"seed": -1}, "seed=-1: give a whole number from 0 to"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(settings, match):
    with pytest.raises(SpecError, match=match):
        NeuralSettings(**settings)


@pytest.mark.parametrize("game", [Takeaway(), get_game("three_player_connect"), get_game("2048")], ids=lambda g: g.name)
def test_games_that_nets_cannot_learn_are_refused(game):
    with pytest.raises(SpecError, match=f"{game.name} is no two-player zero-sum game with features on the compiled"):
        quick().fit(game, games=8)


def test_nets_of_other_games_and_missing_limits_are_refused():
    with pytest.raises(SpecError, match="the net to begin with is one of pig,target=12, not of tic_tac_toe"):
        quick(start=net_of(PIG)).fit(TTT, games=8)
    with pytest.raises(SpecError, match="the teacher is one of pig,target=12, not of tic_tac_toe"):
        quick(teacher=net_of(PIG)).fit(TTT, games=8)
    fitted = random_net(get_game("backgammon"), outputs=1)
    with pytest.raises(SpecError, match="the teacher has 1 output; nets of backgammon that learn by playing have 5"):
        quick(teacher=fitted).fit(fitted.game, games=8)
    with pytest.raises(SpecError, match="no end was given"):
        quick().fit(TTT)
