"""Learners side by side: the kernel against its oracle, threads, resumption to the byte, and what each has seen."""

from __future__ import annotations

import json
import signal
import threading
import time

import numpy as np
import pytest
from toys import LINES

from evallearn.cli import run
from evallearn.errors import DataError, SpecError
from evallearn.evaluators import load_evaluator
from evallearn.evaluators.layout import Layout
from evallearn.games.connect_four import ConnectFour
from evallearn.games.othello import Othello
from evallearn.train.patterns import PatternTrainer
from evallearn.train.td import TdLearner, TdSettings
from evallearn.train.td_plain import PlainTeam
from evallearn.train.td_team import TdTeam, member_settings

USUAL = {"coherence": True, "lambda_": 0.5, "least": 0.1}


def team(**settings) -> TdTeam:
    return TdTeam(Layout.of(ConnectFour(), LINES), TdSettings(**{**USUAL, **settings}))


@pytest.mark.parametrize("learners", [2, 3])
def test_team_learns_what_plain_python_learns_bit_for_bit(learners):
    settings = {"learners": learners, "exchange": 7, "horizon": 30, "seed": 5}
    kernel, plain = team(**settings), PlainTeam(Layout.of(ConnectFour(), LINES), TdSettings(**USUAL, **settings))
    kernel.learn(9)
    plain.round()
    plain.round()
    share = 7 // learners
    assert kernel.games == 2 * learners * share
    assert kernel.moves == sum(member.moves for member in plain.members)
    for ours, theirs in zip(kernel.members, plain.members, strict=True):
        assert ours.weights.tobytes() == theirs.weights.tobytes() == kernel.weights.tobytes()
        assert ours.memory.tobytes() == theirs.memory.tobytes() == kernel.known.tobytes()
    assert np.count_nonzero(kernel.weights) > 30


def test_number_of_threads_changes_nothing():
    one, two = team(learners=2, exchange=20), team(learners=2, exchange=20)
    one.threads, two.threads = 1, 2
    one.learn(60)
    two.learn(60)
    assert one.weights.tobytes() == two.weights.tobytes()


def test_members_play_games_of_their_own():
    settings = TdSettings(**USUAL, learners=3, horizon=100, half_life=10, deep_games=9, depth=2)
    members = [member_settings(settings, i) for i in range(3)]
    assert len({m.seed for m in members}) == 3
    assert {(m.learners, m.horizon, m.half_life, m.deep_games) for m in members} == {(1, 34, 4, 3)}
    both = team(learners=2, exchange=40)
    for member in both.members:
        member.learn(20)
    assert both.members[0].weights.tobytes() != both.members[1].weights.tobytes()


def met(
    weights: tuple[float, float], sums: tuple[tuple[float, float], tuple[float, float]]
) -> tuple[float, list[float]]:
    """(the weight, its sums of coherence) after two learners with those have met, whose sums were 1 and 2 before."""
    from concurrent.futures import ThreadPoolExecutor

    both = team(learners=2)
    both.known[7] = 1.0, 2.0
    for member, weight, own in zip(both.members, weights, sums, strict=True):
        member.weights[7], member.memory[7] = weight, own
    with ThreadPoolExecutor(1) as pool:
        both._meet(pool)
    assert both.members[0].weights[7] == both.members[1].weights[7]
    assert both.members[0].memory[7].tolist() == both.members[1].memory[7].tolist() == both.known[7].tolist()
    return float(both.weights[7]), both.known[7].tolist()


def test_who_has_learned_more_counts_more():
    assert met((0.5, 0.1), ((2.0, 3.0), (1.0, 5.0))) == (pytest.approx((1 * 0.5 + 3 * 0.1) / 4), [2.0, 6.0])


def test_what_only_one_has_seen_is_kept_whole():
    assert met((0.5, 0.1), ((0.5, 2.5), (1.0, 2.0))) == (0.5, [0.5, 2.5])


def test_where_nobody_has_noted_anything_the_mean_counts():
    assert met((0.5, 0.25), ((1.0, 2.0), (1.0, 2.0))) == (0.375, [1.0, 2.0])


def test_resumed_learning_gives_the_same_bytes(tmp_path):
    game, file, settings = ConnectFour(), tmp_path / "e.resume", {"learners": 2, "exchange": 20}
    whole = PatternTrainer(LINES, **settings).fit(game, games=200)
    PatternTrainer(LINES, **settings).fit(game, games=60, checkpoint=file)
    resumed = PatternTrainer(LINES, **settings).fit(game, games=200, checkpoint=file)
    assert resumed.weights_.tobytes() == whole.weights_.tobytes()
    assert (resumed.games_, resumed.moves_) == (whole.games_, whole.moves_) == (200, whole.moves_)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_in_the_middle_of_a_round_leaves_a_whole_checkpoint(tmp_path, monkeypatch, times):
    game, file, settings = ConnectFour(), tmp_path / "e.resume", {"learners": 2, "exchange": 20}
    whole = PatternTrainer(LINES, **settings).fit(game, games=100)
    learn, asked, finished = TdLearner.learn, [], []

    def slowly(self, games):
        asked.append(games)
        if len(asked) == 4:  # one of the second round is done long before the other
            for _ in range(times):
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                time.sleep(0.1)
        learn(self, games)
        finished.append(games)

    monkeypatch.setattr(TdLearner, "learn", slowly)
    stopped = PatternTrainer(LINES, **settings)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(game, games=100, checkpoint=file)
    assert stopped.games_ == sum(finished) == 40
    monkeypatch.undo()
    resumed = PatternTrainer(LINES, **settings).fit(game, games=100, checkpoint=file)
    assert resumed.weights_.tobytes() == whole.weights_.tobytes()


def test_checkpoint_of_another_team_is_refused(tmp_path):
    file = tmp_path / "e.resume"
    team(learners=2).save(file)
    with pytest.raises(DataError, match="was made with learners 2, now 3: give the same settings"):
        team(learners=3).restore(file)


def test_team_without_coherence_is_refused():
    with pytest.raises(
        SpecError, match="learners=2 need the sums that coherence keeps: switch it on, or take 1 learner"
    ):
        PatternTrainer(LINES, learners=2, coherence=False).fit(ConnectFour(), games=1)


def test_command_takes_a_team(tmp_path, capsys):
    file = tmp_path / "o.safetensors"
    arguments = ["patterns", "othello", "--set", "straight-3", "--games", "30", "--out", str(file), "--json"]
    assert run([*arguments, "--learners", "2", "--exchange", "10"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 30
    assert load_evaluator(file, Othello()).made["games"] == 30
