"""Rounds of games that teach a net: the same bytes however they are cut, what is learned, divergence."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evallearn.core.game import Game
from evallearn.errors import DataError, Diverged, SpecError
from evallearn.evaluators.net import TENSORS, NetEval
from evallearn.registry import get_game
from evallearn.train.models.net import NetModel
from evallearn.train.models.net_learner import NetLearner, first_net
from evallearn.train.selfplay.rounds import EARLY_ROUNDS, SHORT, RoundsLearner
from evallearn.train.selfplay.settings import Rounds, Schedule, SelfPlaySettings
from evallearn.train.selfplay.trainer import SelfPlayTrainer
from evallearn.train.training import LARGEST, Progress

TTT, PIG = get_game("tic_tac_toe"), get_game("pig,target=12")
NET = ("hidden", "activation", "start")
ROUNDS = ("games", "batch_size", "epochs", "replay")


def trainer(game: Game = TTT, threads: int = 1, teacher: NetEval | None = None, **given: Any) -> SelfPlayTrainer:
    """A trainer of a small net; settings of all classes side by side, `games` being those of a round."""
    given = {"hidden": (8,), "games": 40, "batch_size": 32, "epsilon": 0.1, "max_opening_plies": 0, **given}
    net = {name: given.pop(name) for name in NET if name in given}
    rounds = Rounds(**{name: given.pop(name) for name in ROUNDS if name in given})
    return SelfPlayTrainer(
        NetModel(game, **net), SelfPlaySettings(rounds=rounds, **given), teacher=teacher, threads=threads
    )


def learner(*given: Any, **more: Any) -> RoundsLearner:
    found = trainer(*given, **more).learner
    assert isinstance(found, RoundsLearner)
    return found


def opinionated(seed: int = 3) -> NetEval:
    rng, start = np.random.default_rng(seed), first_net(TTT, (8,), 1, per_phase=True)
    return NetEval(TTT, {k: rng.normal(0, 0.5, t.shape) for k, t in start.tensors().items() if k in TENSORS})


def same(a: RoundsLearner, b: RoundsLearner) -> bool:
    counted = all(getattr(a, name) == getattr(b, name) for name in ("games", "moves", "rounds", "steps", "errors"))
    return counted and a.weights.tobytes() == b.weights.tobytes()


# --- the same bytes --------------------------------------------------------------------------------------------------
def test_threads_and_pieces_do_not_change_the_weights() -> None:
    size = 5 * (2 * SHORT + 3)  # early rounds have a fifth, in three bites
    one, two, pieces, other = learner(games=size), learner(threads=2, games=size), learner(games=size), learner(seed=2)
    for it in (one, two, other):
        it.learn(3 * one.round_size(0))
    for _ in range(3):
        pieces.learn(1)  # a round is the least
    assert one.games == 3 * (2 * SHORT + 3)
    assert same(one, two)
    assert same(one, pieces)
    assert not same(one, other)
    assert np.abs(one.weights - learner().weights).max() > 1e-3


@pytest.mark.parametrize("target", ["tdleaf", "treestrap"])
def test_threads_do_not_change_what_searches_teach(target: str) -> None:
    one, two = (learner(threads=threads, games=60, target=target) for threads in (1, 2))
    for it in (one, two):
        it.learn(30)
    assert same(one, two)
    assert one.moves > one.games


def test_early_rounds_are_short() -> None:
    it = learner()
    assert [it.round_size(n) for n in (0, EARLY_ROUNDS - 1, EARLY_ROUNDS)] == [8, 8, 40]
    assert learner(teacher=opinionated()).round_size(0) == 40  # it knows something


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"hidden": (16, 8), "activation": "sigmoid", "target": "expectation", "epochs": 2},
        {"replay": 3, "epochs": 2, "schedule": Schedule(shape="cosine", games=60, final=0.1)},
        {"target": "treestrap"},
    ],
    ids=str,
)
def test_resumed_training_gives_the_same_bytes(tmp_path: Path, more: dict[str, Any]) -> None:
    file = tmp_path / "c.safetensors"
    whole = trainer(**more).fit(games=48)
    trainer(**more).fit(games=20, checkpoint=file)
    resumed = trainer(**more).fit(games=48, checkpoint=file)
    assert resumed.metadata == whole.metadata
    assert (resumed.games, resumed.moves) == (whole.games, whole.moves)
    for name, tensor in whole.evaluator.tensors().items():
        assert resumed.evaluator.tensors()[name].tobytes() == tensor.tobytes()
    assert trainer(**more).fit(games=48, checkpoint=file).games == resumed.games  # nothing is left to do


def test_interrupted_training_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    def interrupt(now: Progress) -> None:
        if now.games > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer().fit(games=48, checkpoint=tmp_path / "c", on_progress=interrupt)
    whole, resumed = trainer().fit(games=48), trainer().fit(games=48, checkpoint=tmp_path / "c")
    assert resumed.evaluator.tensors()["w1"].tobytes() == whole.evaluator.tensors()["w1"].tobytes()


def test_checkpoints_of_other_settings_are_refused(tmp_path: Path) -> None:
    file, net = tmp_path / "c.safetensors", opinionated()
    trainer().fit(games=8, checkpoint=file)
    for more, told in (
        ({"lambda_": 0.5}, "lambda_ 0.7, now 0.5: give the same settings, or delete it"),
        ({"start": net}, "start others"),
        ({"teacher": net}, "teacher others"),
        ({"game": PIG}, "game 'tic_tac_toe', now 'pig,target=12'"),
        ({"hidden": (16,)}, r"hidden \[8\], now \[16\]"),
    ):
        with pytest.raises(DataError, match=f"was made with {told}"):
            trainer(**more).fit(games=16, checkpoint=file)  # type: ignore[arg-type]  # a table of settings
    begun = tmp_path / "begun.safetensors"
    trainer(start=net).fit(games=8, checkpoint=begun)
    for name in ("w1", "b1", "w3"):  # a net is known by all its weights
        tensors = {k: t.copy() for k, t in net.tensors().items() if k in TENSORS}
        tensors[name].flat[-1] += 0.5
        with pytest.raises(DataError, match="was made with start others"):
            trainer(start=NetEval(TTT, tensors, net.activation)).fit(games=16, checkpoint=begun)


def test_checkpoint_whose_lessons_do_not_fit_together_is_refused(tmp_path: Path) -> None:
    it = learner(replay=2)
    it.learn(16)
    it.good.tensors["replay.sizes"][0] += 1
    it.save(tmp_path / "c.safetensors")
    with pytest.raises(DataError, match=r"c\.safetensors holds \d+ positions for rounds of .*: delete it"):
        learner(replay=2).restore(tmp_path / "c.safetensors")


# --- what is learned -------------------------------------------------------------------------------------------------
def test_it_learns_to_take_the_win() -> None:
    training = trainer(schedule=Schedule(initial=1e-2), max_opening_plies=4).fit(games=4000)
    e = training.freeze({"name": "mine"})
    assert (e.name, e.metadata["method"], e.metadata["depth"], e.metadata["games"]) == ("mine", "td", 1, training.games)
    wins, fork = TTT.from_text("XX.OO...."), TTT.from_text("X.....O.X")
    assert training.progress.error < 0.69  # the loss of a net that knows nothing
    assert e.evaluate(wins, 0) > 0.5
    assert e.evaluate(wins, 0) > e.evaluate(fork, 0)


@pytest.mark.long
@pytest.mark.parametrize("target", ["rootstrap", "treestrap"])
def test_it_learns_from_searches_that_threats_win(target: str) -> None:
    game = get_game("connect_four")
    it = trainer(game, target=target, hidden=(16,), schedule=Schedule(initial=1e-2), max_opening_plies=4)
    assert it.fit(games=400).evaluator.evaluate(game.from_text("414142"), 0) > 0.5


def test_it_begins_with_the_net_that_it_is_given() -> None:
    start = opinionated()
    still = trainer(start=start, hidden=None, schedule=Schedule(initial=1e-9)).fit(games=8).evaluator
    assert np.abs(still.tensors()["w1"] - start.tensors()["w1"]).max() < 1e-6
    grown = trainer(start=start, hidden=(16,), teacher=start)  # who plays is compiled already
    new = grown.model.start.tensors()["w1"][:, :, 8:]
    assert np.abs(grown.fit(games=80).evaluator.tensors()["w1"][:, :, 8:] - new).max() > 1e-4


def test_a_net_learns_what_its_teacher_says() -> None:
    """Lambda 0: the teacher's look-ahead; errors fall far below what they were."""
    more = {"hidden": (16, 8), "lambda_": 0.0, "epsilon": 0.5, "epochs": 4, "schedule": Schedule(initial=5e-3)}
    it = learner(teacher=opinionated(), games=500, batch_size=256, **more)
    lessons = it.play(it.behind, 10**6, 50, 0)

    def gap() -> float:
        said = it.model.evaluator()
        p = [said.probabilities(x.tolist(), phase) for x, phase in zip(*it.player.inputs(lessons.words), strict=True)]
        return float(np.abs(np.array(p) - lessons.targets).mean())

    before = gap()
    it.learn(2000)
    assert gap() < 0.3 * before


def test_epochs_go_through_a_round_again() -> None:
    once, twice = learner(epochs=1), learner(epochs=2)
    once.learn(8)
    twice.learn(8)
    assert (twice.games, twice.moves, twice.steps) == (once.games, once.moves, 2 * once.steps)
    assert twice.errors == once.errors  # of the first pass: the second has seen the lessons
    assert twice.weights.tobytes() != once.weights.tobytes()


def test_rounds_of_the_replay_are_learned_from_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One step a round: from the last two rounds, in an order that is new each time."""
    it, seen, learn = learner(replay=2, batch_size=10**6), [], NetLearner.learn

    def noted(self: NetLearner, x: Any, phase: Any, targets: np.ndarray, rate: float) -> float:
        seen.append(sorted(targets[:, 0].tolist()))
        return learn(self, x, phase, targets, rate)

    monkeypatch.setattr(NetLearner, "learn", noted)
    first = sorted(it.play(it.behind, 0, 8, 0).targets[:, 0].tolist())
    it.limit = 24
    it.learn(24)
    last = [sorted(lessons.targets[:, 0].tolist()) for lessons in it.replay]
    assert seen == [first, sorted(first + last[0]), sorted(last[0] + last[1])]
    assert it.moves == sum(map(len, [first, *last]))  # each is counted once


def test_a_round_that_teaches_nothing_changes_nothing() -> None:
    """Searches to the end of the game have no leaf that could learn."""
    found = trainer(target="tdleaf", depth=9).fit(games=8)
    assert (found.games, found.moves, found.metadata["steps"]) == (8, 0, 0)


def test_step_falls_along_a_cosine() -> None:
    schedule = Schedule(initial=0.1, shape="cosine", final=0.1, games=100)
    assert [schedule.step_at(g) for g in (0, 50, 100, 999)] == pytest.approx([0.1, 0.055, 0.01, 0.01])
    assert Schedule(initial=0.1).step_at(10**9) == 0.1
    assert Schedule(initial=0.1, half_life=10).step_at(10) == pytest.approx(0.05)


# --- divergence, and what cannot work --------------------------------------------------------------------------------
def test_a_step_that_is_too_large_stops_by_itself_and_keeps_the_last_good_net() -> None:
    told = (
        r"step_size=1e\+06 made a weight of tic_tac_toe grow to .* in step .*: lower it; the weights of game 0 are kept"
    )
    with pytest.raises(Diverged, match=told) as caught:
        trainer(schedule=Schedule(initial=1e6)).fit(games=1000)
    assert caught.value.training.games == 0
    assert np.abs(caught.value.training.evaluator.tensors()["w1"]).max() < LARGEST


@pytest.mark.parametrize("where", ["loss", "weights"])
def test_nan_stops_by_itself_and_keeps_the_last_good_net(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the ninth step; a round of 8 games has two."""
    steps, learn = [], NetLearner.learn

    def poisoned(self: NetLearner, *given: Any) -> float:
        loss = learn(self, *given)
        steps.append(loss)
        if len(steps) == 9 and where == "weights":
            self.weights["b1"].data[0, 3] = math.nan
        return math.nan if len(steps) == 9 and where == "loss" else loss

    monkeypatch.setattr(NetLearner, "learn", poisoned)
    with pytest.raises(Diverged, match="made .* nan in step") as caught:
        trainer().fit(games=400)
    training = caught.value.training
    assert 0 < training.games < 400
    assert 0 < training.metadata["steps"] < 9
    assert f"the weights of game {training.games} are kept" in str(caught.value)
    assert all(np.isfinite(t).all() for t in training.evaluator.tensors().values())


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"replay": 0}, "replay=0: give a whole number from 1 to"),
        ({"batch_size": 0}, "batch_size=0: give a whole number from 1 to"),
        ({"epochs": 0}, "epochs=0: give a whole number from 1 to"),
        ({"games": 0}, "games=0: give a whole number from 1 to"),
        ({"learners": 2}, "learners=2: NetModel does not merge; take 1"),
        ({"target_epsilon": 0.1}, "target_epsilon=0.1: give 0 for a model whose moves are searched, or a net"),
        ({"target": "leaf"}, "unknown target 'leaf'"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], match: str) -> None:
    with pytest.raises(SpecError, match=match):
        trainer(**settings)
