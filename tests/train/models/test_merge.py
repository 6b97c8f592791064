"""Learners side by side: the kernel against its oracle, threads, resumption to the byte, and what each has seen."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest
from toys import LINES

from evallearn.errors import DataError, SpecError
from evallearn.games.connect_four import ConnectFour
from evallearn.train.models.patterns import PatternModel
from evallearn.train.selfplay.episodes import EpisodeLearner
from evallearn.train.selfplay.merging import MergingLearner
from evallearn.train.selfplay.plain import PlainMerging
from evallearn.train.selfplay.settings import Schedule, SelfPlaySettings
from evallearn.train.selfplay.trainer import SelfPlayTrainer


def model() -> PatternModel:
    return PatternModel(ConnectFour(), LINES, min_step_ratio=0.1)


def how(*, schedule: Schedule | None = None, **settings) -> SelfPlaySettings:
    chosen = schedule or Schedule(initial=1.0)
    return SelfPlaySettings(**{"max_opening_plies": 8, "lambda_": 0.5, "schedule": chosen, **settings})


def team(**settings) -> MergingLearner:
    one = model()
    return MergingLearner(one, how(**settings).suited(one))


@pytest.mark.parametrize("learners", [2, 3])
def test_learners_learn_what_plain_python_learns_bit_for_bit(learners):
    schedule = Schedule(initial=1.0, shape="linear", games=30)
    settings = {"learners": learners, "merge_every": 7, "schedule": schedule, "seed": 5}
    kernel, plain = team(**settings), PlainMerging(model(), how(**settings))
    kernel.learn(9)
    plain.round()
    plain.round()
    share = 7 // learners
    assert kernel.games == 2 * learners * share
    assert kernel.moves == sum(member.moves for member in plain.members)
    for ours, theirs in zip(kernel.merged.models, plain.members, strict=True):
        assert ours.weights.tobytes() == theirs.weights.tobytes() == kernel.weights.tobytes()
        assert ours.error_sums.tobytes() == theirs.model.error_sums.tobytes() == kernel.merged.known.tobytes()
    assert np.count_nonzero(kernel.weights) > 30


def test_number_of_threads_changes_nothing():
    one, two = team(learners=2, merge_every=20), team(learners=2, merge_every=20)
    one.threads, two.threads = 1, 2
    one.learn(60)
    two.learn(60)
    assert one.weights.tobytes() == two.weights.tobytes()


def test_learners_play_games_of_their_own():
    schedule = Schedule(shape="linear", games=100, half_life=10)
    members = [m.settings for m in team(learners=3, schedule=schedule, deep_games=9, depth=2).members]
    assert len({m.seed for m in members}) == 3
    found = {(m.learners, m.schedule.games, m.schedule.half_life, m.deep_games) for m in members}
    assert found == {(1, 34, 4, 3)}
    both = team(learners=2, merge_every=40)
    for member in both.members:
        member.learn(20)
    assert both.members[0].weights.tobytes() != both.members[1].weights.tobytes()


def test_learners_begin_with_what_the_model_knows():
    one = model()
    SelfPlayTrainer(one, how()).fit(games=50)
    before = one.weights.copy(), one.error_sums.copy()
    both = MergingLearner(one, how(learners=2).suited(one))
    for ours in both.merged.models:
        assert ours.weights.tobytes() == before[0].tobytes()
        assert ours.error_sums.tobytes() == before[1].tobytes() == both.merged.known.tobytes()


def merged(
    weights: tuple[float, float], sums: tuple[tuple[float, float], tuple[float, float]]
) -> tuple[float, list[float]]:
    """(the weight, its error sums) after two learners with those have merged, whose sums were 1 and 2 before."""
    from concurrent.futures import ThreadPoolExecutor

    both = team(learners=2).merged
    both.known[7] = 1.0, 2.0
    for one, weight, own in zip(both.models, weights, sums, strict=True):
        one.weights[7], one.error_sums[7] = weight, own
    with ThreadPoolExecutor(1) as pool:
        both.merge(pool)
    first, second = both.models
    assert first.weights[7] == second.weights[7]
    assert first.error_sums[7].tolist() == second.error_sums[7].tolist() == both.known[7].tolist()
    return float(first.weights[7]), both.known[7].tolist()


def test_who_has_learned_more_counts_more():
    assert merged((0.5, 0.1), ((2.0, 3.0), (1.0, 5.0))) == (pytest.approx((1 * 0.5 + 3 * 0.1) / 4), [2.0, 6.0])


def test_what_only_one_has_seen_is_kept_whole():
    assert merged((0.5, 0.1), ((0.5, 2.5), (1.0, 2.0))) == (0.5, [0.5, 2.5])


def test_where_nobody_has_learned_anything_the_mean_counts():
    assert merged((0.5, 0.25), ((1.0, 2.0), (1.0, 2.0))) == (0.375, [1.0, 2.0])


def test_resumed_training_gives_the_same_bytes(tmp_path):
    file, settings = tmp_path / "e.resume", how(learners=2, merge_every=20)
    whole, first, resumed = (SelfPlayTrainer(model(), settings) for _ in range(3))
    total = whole.fit(games=200)
    first.fit(games=60, checkpoint=file)
    found = resumed.fit(games=200, checkpoint=file)
    assert resumed.model.weights.tobytes() == whole.model.weights.tobytes()
    assert (found.games, found.moves) == (total.games, total.moves) == (200, total.moves)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_in_the_middle_of_a_round_leaves_a_whole_checkpoint(tmp_path, monkeypatch, times):
    file, settings = tmp_path / "e.resume", how(learners=2, merge_every=20)
    whole, stopped, resumed = (SelfPlayTrainer(model(), settings) for _ in range(3))
    whole.fit(games=100)
    learn, asked, finished = EpisodeLearner.learn, [], []

    def slowly(self, games):
        asked.append(games)
        if len(asked) == 4:  # one of the second round is done long before the other
            for _ in range(times):
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                time.sleep(0.1)
        learn(self, games)
        finished.append(games)

    monkeypatch.setattr(EpisodeLearner, "learn", slowly)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(games=100, checkpoint=file)
    assert stopped.training.games == sum(finished) == 40
    monkeypatch.undo()
    resumed.fit(games=100, checkpoint=file)
    assert resumed.model.weights.tobytes() == whole.model.weights.tobytes()


def test_checkpoint_of_other_learners_is_refused(tmp_path):
    file = tmp_path / "e.resume"
    team(learners=2).save(file)
    with pytest.raises(DataError, match="was made with learners 2, now 3: give the same settings"):
        team(learners=3).restore(file)


def test_learners_without_temporal_coherence_are_refused():
    told = "learners=2 need the sums that temporal_coherence keeps: switch it on, or take 1 learner"
    with pytest.raises(SpecError, match=told):
        SelfPlayTrainer(PatternModel(ConnectFour(), LINES, temporal_coherence=False), how(learners=2))
