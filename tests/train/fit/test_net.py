"""The neural trainer: it learns what a linear one cannot, repeats itself to the byte, and folds its scaling."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from evallearn.data.dataset import is_test
from evallearn.errors import DataError, EvallearnError, SpecError
from evallearn.train import ArrayStream, LinearFitter, measure
from evallearn.train.fit.net import NetFitter
from evallearn.train.validation import ValidationStream

TWO = {"weights": [[0.8, -0.05, 3.0], [-0.4, 0.1, 0.0]], "bias": [0.2, -0.3]}
QUICK = {"epochs": 2, "batch_size": 256}


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def xor_stream(n, seed):
    """The value is the squashed product of two features, an XOR of their signs: no weighted sum can tell."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)).astype(np.float32)
    y = np.where(rng.random(n) < (1 + np.tanh(3 * x[:, 0] * x[:, 1])) / 2, 1, -1)
    return ArrayStream(x, y, game=np.arange(n) // 10)


@pytest.mark.long
def test_net_beats_linear_on_xor():
    stream, fresh = xor_stream(20_000, 0), xor_stream(50_000, 1)
    linear = measure(LinearFitter().fit(stream).predict, fresh, "train")
    net = measure(NetFitter(epochs=5, batch_size=256).fit(stream).predict, fresh, "train")
    truth = measure(lambda x, phase: np.tanh(3 * x[:, 0] * x[:, 1]), fresh, "train")
    assert linear.sign_accuracy < 0.55
    assert linear.log_loss > linear.baseline_log_loss - 0.01
    assert net.log_loss < truth.log_loss + 0.05 < linear.log_loss - 0.2
    assert net.calibration_error < 0.05


@pytest.mark.long
def test_net_matches_linear_on_a_linear_truth(make_records):
    stream = ArrayStream(**make_records(30_000, **TWO, draws=0.2))
    linear = measure(LinearFitter().fit(stream).predict, stream)
    net = measure(NetFitter(epochs=6).fit(stream).predict, stream)
    assert net.log_loss < linear.log_loss + 0.01


@pytest.mark.long
def test_phase_enters_as_a_bias():
    rng = np.random.default_rng(0)
    phase = rng.integers(0, 3, 9000)
    y = np.where(rng.random(9000) < np.array([0.9, 0.5, 0.1])[phase], 1, -1)
    stream = ArrayStream(rng.normal(size=(9000, 2)), y, phase=phase, n_phases=4, game=np.arange(9000) // 5)
    got = NetFitter(epochs=6, batch_size=256).fit(stream)
    values = got.predict(np.zeros((4, 2), np.float32), np.arange(4))
    np.testing.assert_allclose(values[:3], [0.8, 0.0, -0.8], atol=0.15)
    assert abs(values[3]) < 0.5  # no records: the common bias, not a random one
    assert [len(t) for t in got.tensors_.values()] == [1, 4, 1, 1, 1, 1]


def test_same_seed_gives_the_same_bytes_and_another_seed_others(make_records):
    stream = ArrayStream(**make_records(2000, **TWO))
    torch.manual_seed(1)
    a = NetFitter(seed=3, **QUICK).fit(stream)
    torch.manual_seed(2)
    torch.set_num_threads(2)
    b = NetFitter(seed=3, **QUICK).fit(stream)
    c = NetFitter(seed=4, **QUICK).fit(stream)
    assert all(a.tensors_[k].tobytes() == b.tensors_[k].tobytes() for k in a.tensors_)
    assert a.history_ == b.history_
    assert a.tensors_["w1"].tobytes() != c.tensors_["w1"].tobytes()


def test_the_users_torch_is_left_as_it_was(make_records):
    stream = ArrayStream(**make_records(1000, **TWO))
    torch.set_num_threads(2)
    state = torch.get_rng_state()
    NetFitter(**QUICK).fit(stream)
    assert torch.get_num_threads() == 2
    assert torch.equal(torch.get_rng_state(), state)


def test_predictions_equal_the_net_that_was_trained(make_records):
    """Standardisation is folded into w1 and b1: the validation loss of raw features is the one that training saw."""
    records = make_records(5000, **TWO)
    records["features"][:, 2] = 7.0
    stream = ArrayStream(**records)
    got = NetFitter(**QUICK).fit(stream)
    best = got.history_[got.best_epoch_ - 1]
    found = measure(got.predict, ValidationStream(stream), "validation")
    assert found.log_loss == pytest.approx(best["validation_loss"], abs=1e-5)
    assert not got.tensors_["w1"][0, 2].any()


@pytest.mark.parametrize(("hidden", "activation"), [((16, 8), "relu"), ((8,), "clipped"), ((8, 8), "sigmoid")])
def test_evaluator_predicts_what_the_trainer_does(make_records, toy, hidden, activation):
    records = make_records(3000, **TWO)
    got = NetFitter(hidden=hidden, activation=activation, **QUICK).fit(ArrayStream(**records))
    evaluator = got.evaluator(toy, {"name": "net"})
    x, phase = records["features"][:20], records["phase"][:20]
    ours = [evaluator.evaluate((tuple(f), k), 0) for f, k in zip(x.tolist(), phase.tolist(), strict=True)]
    np.testing.assert_allclose(got.predict(x, phase), ours, atol=1e-5)
    assert (evaluator.hidden, evaluator.activation, evaluator.name) == (hidden, activation, "net")
    assert evaluator.metadata["data_checksum"] == got.data_checksum_
    assert evaluator.metadata["best_epoch"] == got.best_epoch_


def test_evaluator_refuses_another_games_features(make_records, toy):
    records = {**make_records(500, **TWO), "feature_names": ("a", "b", "d")}
    with pytest.raises(DataError, match=r"feature 2 that was learned from is 'd', that of toy v1 is 'c': generate"):
        NetFitter(**QUICK).fit(ArrayStream(**records)).evaluator(toy)


def test_every_epoch_is_told_and_the_best_one_kept():
    rng = np.random.default_rng(0)
    noise = ArrayStream(rng.normal(size=(600, 3)), np.sign(rng.normal(size=600)), game=np.arange(600), test_share=0.5)
    calls = []
    got = NetFitter(epochs=50, patience=3, batch_size=32).fit(noise, on_epoch=lambda *told: calls.append(told))
    losses = [h["validation_loss"] for h in got.history_]
    assert [c[:2] for c in calls] == [(i + 1, 50) for i in range(len(losses))]
    assert [c[2:] for c in calls] == [(h["train_loss"], h["validation_loss"]) for h in got.history_]
    assert got.best_epoch_ == np.argmin(losses) + 1
    assert len(losses) == got.best_epoch_ + 3  # noise cannot be learned: it stops early


@pytest.mark.parametrize("shuffle_rows", [1, 300, 10_000])
def test_the_shuffle_buffer_gives_every_record_once(make_records, shuffle_rows):
    from evallearn.train.fit.stream import summarise

    records = make_records(1000, **TWO)
    records["features"][:, 0] = np.arange(1000)
    stream = ArrayStream(**records, test_share=0.0, batch_rows=64)
    trainer, summary = NetFitter(shuffle_rows=shuffle_rows, batch_size=100), summarise(stream)
    pieces = list(trainer._minibatches(stream, summary, np.random.default_rng(0)))
    x = np.concatenate([p[0][:, 0] for p in pieces])
    rank = np.argsort(np.argsort(x))
    assert sorted(np.round(x / summary.inverse_scale[0] + summary.mean[0]).tolist()) == list(range(1000))
    assert not np.array_equal(rank, np.arange(1000))
    assert max(len(p[2]) for p in pieces) <= 100
    if shuffle_rows == 10_000:
        assert {len(p[2]) for p in pieces} == {100}
        assert abs(np.corrcoef(rank, np.arange(1000))[0, 1]) < 0.1


def test_a_loss_that_is_not_a_number_stops_the_fit(make_records):
    stream = ArrayStream(**make_records(2000, **TWO))
    with pytest.raises(DataError, match=r"the loss became (nan|inf) in epoch \d: lower learning_rate \(now 1e\+30\)"):
        NetFitter(learning_rate=1e30, weight_decay=0.0, **QUICK).fit(stream)


def test_too_few_games_to_choose_an_epoch_by_are_refused(make_records):
    records = {**make_records(100, **TWO), "game": np.ones(100, int)}
    with pytest.raises(DataError, match="the validation split, a tenth of the training games, holds no records"):
        NetFitter().fit(ArrayStream(**records, test_share=0.0))


def misleading_stream(seed):
    """Noise, but the test games have outcomes by x0: their loss falls as long as x0's weight happens to grow."""
    rng = np.random.default_rng(seed)
    x, game = rng.normal(size=(1200, 3)), np.arange(1200)
    y = np.where(is_test(0, game, 0.5), np.sign(x[:, 0]), np.sign(rng.normal(size=1200)))
    return ArrayStream(x, y, game=game, test_share=0.5)


def test_the_test_split_does_not_choose_the_epoch(monkeypatch):
    """Another epoch would look better there; the trainer does not so much as read it."""
    stream, asked, there = misleading_stream(1), [], []
    whole, loss = stream.batches, NetFitter._validation_loss
    test_split = SimpleNamespace(batches=lambda split: whole("test"))

    def watched(split):
        asked.append(split)
        return whole(split)

    def noted(fitter, split, summary, net):
        there.append(loss(fitter, test_split, summary, net))
        return loss(fitter, split, summary, net)

    monkeypatch.setattr(stream, "batches", watched)
    monkeypatch.setattr(NetFitter, "_validation_loss", noted)
    got = NetFitter(epochs=8, patience=8, batch_size=32).fit(stream)
    assert set(asked) == {"train"}
    assert got.best_epoch_ == np.argmin([h["validation_loss"] for h in got.history_]) + 1
    assert min(there) < there[got.best_epoch_ - 1] - 0.001


def test_validation_games_are_whole_and_not_learned_from(make_records):
    stream = ArrayStream(**make_records(3000, **TWO))
    split = ValidationStream(stream)
    rows = {k: np.concatenate([b.game for b in split.batches(k)]) for k in ("train", "validation")}
    learned, chosen = (set(g.tolist()) for g in rows.values())
    assert not learned & chosen
    test = {g for b in stream.batches("test") for g in b.game.tolist()}
    assert not chosen & test
    assert sum(map(len, rows.values())) == sum(len(b.game) for b in stream.batches("train"))
    assert 0.05 < len(chosen) / len(learned | chosen) < 0.15
    with pytest.raises(EvallearnError, match="unknown split 'test'"):
        next(split.batches("test"))


def test_a_stream_that_shrinks_is_refused(make_records):
    stream = ArrayStream(**make_records(1000, **TWO), batch_rows=100)
    whole, reads = stream.batches, []

    def shrinking(split):
        reads.extend([split] * (split == "train"))
        return iter(list(whole(split))[: 3 if len(reads) > 1 else None])

    stream.batches = shrinking
    with pytest.raises(DataError, match=r"records at first and 2\d\d in a later pass"):
        NetFitter(**QUICK).fit(stream)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": (32, 0)}, r"hidden=\(32, 0\): give one or two multiples of 8, 4096 at most"),
        ({"activation": "tanh"}, "unknown activation 'tanh': known: clipped, relu, sigmoid"),
        ({"epochs": 0}, "epochs=0: give a whole number from 1"),
        ({"learning_rate": 0.0}, "learning_rate=0.0: give a number above 0"),
    ],
)
def test_settings_that_do_not_work_are_refused(make_records, settings, message):
    with pytest.raises(SpecError, match=message):
        NetFitter(**settings).fit(ArrayStream(**make_records(100, **TWO)))


def test_clone_works_as_in_sklearn():
    a = NetFitter(hidden=(8,), seed=9)
    assert clone(a).get_params() == a.get_params()
    with pytest.raises(NotFittedError):
        a.predict(np.zeros((1, 3)), np.zeros(1, int))


MEMORY = """
    import numpy as np
    from evallearn.train import Batch, NetFitter

    class Synthetic:
        n_features, n_phases, feature_names, checksum = 10, 2, tuple("abcdefghij"), "synthetic"

        def __init__(self, n):
            self.n = n

        def batches(self, split):
            for i in range(0, self.n if split == "train" else 20_000, 20_000):
                rng = np.random.default_rng(i)
                x = rng.random((20_000, 10), dtype=np.float32)
                y = np.where(rng.random(20_000) < x[:, 0], 1, -1).astype(np.float32)
                yield Batch(x, np.arange(20_000) % 2, y, np.arange(20_000) + i)

    def peak():  # of this process alone; ru_maxrss would begin with that of pytest
        return int(next(l for l in open("/proc/self/status") if "VmHWM" in l).split()[1]) / 1024

    for n in (100_000, 400_000):
        NetFitter(epochs=1, shuffle_rows=60_000, batch_size=4096).fit(Synthetic(n))
        print(peak())
"""


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_records():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(MEMORY)], capture_output=True, text=True, check=True)
    small, large = map(float, done.stdout.split())
    assert large - small < 10.0, f"peak {small:.0f} MB with 0.1 M records, {large:.0f} MB with 0.4 M"
