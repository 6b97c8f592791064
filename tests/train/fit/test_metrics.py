"""Metrics: equal to scikit-learn's where it has them, and calibrated where the truth is known."""

from __future__ import annotations

import json

import numpy as np
import pytest
from nets import random_net
from sklearn.metrics import brier_score_loss, log_loss

from evallearn.core.shares import jeffreys
from evallearn.errors import DataError
from evallearn.evaluators import LinearEval
from evallearn.evaluators.net import TENSORS
from evallearn.train import ArrayStream, measure, predictor


def stream(value, outcome, **more):
    """One feature that is the prediction itself."""
    x = np.asarray(value, np.float32)[:, None]
    return ArrayStream(x, np.asarray(outcome), game=np.arange(len(x)), test_share=0.0, **more)


def identity(features, phase):
    return features[:, 0]


def test_losses_equal_those_of_sklearn():
    rng = np.random.default_rng(0)
    v = rng.uniform(-0.99, 0.99, 5000).astype(np.float32)
    y = np.where(rng.random(5000) < 0.5, 1.0, -1.0)
    m = measure(identity, stream(v, y, batch_rows=777), "train")
    p = (1 + v.astype(float)) / 2
    assert m.n_records == m.n_decided == 5000
    assert m.log_loss == pytest.approx(log_loss(y > 0, p))
    assert m.brier == pytest.approx(brier_score_loss(y > 0, p))
    assert m.mse == pytest.approx(4 * m.brier)
    assert m.sign_accuracy == pytest.approx(np.mean((v > 0) == (y > 0)))
    assert m.baseline_log_loss == pytest.approx(log_loss(y > 0, np.full(5000, np.mean(y > 0))))
    assert m.baseline_brier == pytest.approx(brier_score_loss(y > 0, np.full(5000, np.mean(y > 0))))


def test_draws_are_half_a_win_and_not_decided():
    m = measure(identity, stream([0.0, 0.5, 0.0, -0.5], [0.0, 1.0, -1.0, 1.0]), "train")
    assert m.n_decided == 3
    assert m.sign_accuracy == pytest.approx((1 + 0.5 + 0) / 3)
    assert m.log_loss == pytest.approx(-(2 * np.log(0.5) + np.log(0.75) + np.log(0.25)) / 4)


def test_draws_alone_have_no_sign_accuracy():
    m = measure(identity, stream([0.1, 0.2], [0.0, 0.0]), "train")
    assert m.sign_accuracy is None
    assert m.baseline_brier == 0.0


def test_calibration_curve_is_the_diagonal_for_the_true_probability():
    rng = np.random.default_rng(1)
    v = rng.uniform(-1, 1, 200_000).astype(np.float32)
    y = np.where(rng.random(200_000) < (1 + v) / 2, 1.0, -1.0)
    m = measure(identity, stream(v, y), "train", bins=10)
    assert len(m.calibration) == 10
    assert sum(b.count for b in m.calibration) == m.n_records
    for b in m.calibration:
        assert b.low <= b.predicted <= b.high
        assert b.outcome == pytest.approx(b.predicted, abs=0.02)
    assert m.calibration_error < 0.01
    assert measure(lambda x, k: x[:, 0] / 3, stream(v, y), "train").calibration_error > 0.2


def test_intervals_are_by_game_whatever_the_batches_are():
    """All 20 records of a game end alike: 200 games are 200 trials, not 4,000."""
    rng = np.random.default_rng(2)
    game = np.repeat(np.arange(200), 20)
    y = np.where(rng.random(200) < 0.7, 1.0, -1.0)[game]
    x = np.full((4000, 1), 0.35, np.float32)
    streams = [ArrayStream(x, y, game=game, test_share=0.0, batch_rows=rows) for rows in (4000, 33)]
    a, b = (measure(identity, s, "train") for s in streams)
    wins = int((y > 0).sum() / 20)
    assert (a.sign_accuracy_low, a.sign_accuracy_high) == pytest.approx(jeffreys(wins, 200))
    (found,) = a.calibration
    assert (found.outcome_low, found.outcome_high) == pytest.approx(tuple(2 * p - 1 for p in jeffreys(wins, 200)))
    assert b.sign_accuracy_low == pytest.approx(a.sign_accuracy_low)
    assert b.calibration[0].outcome_low == pytest.approx(found.outcome_low)


def test_one_sided_outcomes_have_an_interval_with_a_width():
    m = measure(identity, stream([0.5] * 20, [1.0] * 20), "train")
    assert (m.sign_accuracy, m.sign_accuracy_high) == (1.0, 1.0)
    assert m.sign_accuracy_low == pytest.approx(jeffreys(20, 20)[0])
    assert measure(identity, stream([0.5], [0.0]), "train").sign_accuracy_low is None


def test_bins_without_records_are_left_out_and_the_edges_belong_somewhere():
    m = measure(identity, stream([-1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]), "train", bins=20)
    assert [(b.low, b.high, b.count) for b in m.calibration] == [
        (-1.0, pytest.approx(-0.9), 1),
        (pytest.approx(0.9), 1.0, 2),
    ]
    assert np.isfinite(m.log_loss)


def test_to_json_can_be_written():
    m = measure(identity, stream([0.1, 0.2], [1.0, -1.0]), "train")
    plain = json.loads(json.dumps(m.to_json()))
    assert plain["split"] == "train"
    assert plain["n_records"] == 2
    assert sum(b["count"] for b in plain["calibration"]) == 2
    assert set(plain["calibration"][0]) == {
        "low", "high", "predicted", "outcome", "outcome_low", "outcome_high", "count",
    }  # fmt: skip


def test_predictor_equals_the_eval_one_by_one(toy):
    rng = np.random.default_rng(2)
    x, phase = rng.normal(size=(50, 3)).astype(np.float32), rng.integers(0, 2, 50)
    linear = LinearEval(toy, rng.normal(size=(2, 3)), rng.normal(size=2))
    nets = [random_net(toy, (8, 16), size=1.0, per_phase=own) for own in (("b1",), TENSORS)]
    for evaluator in (linear, *nets, random_net(toy, (16,), "sigmoid", per_phase=("w3", "b2"))):
        values = predictor(evaluator)(x, phase)
        expected = [evaluator.evaluate((tuple(f), k), 0) for f, k in zip(x.tolist(), phase.tolist(), strict=True)]
        np.testing.assert_allclose(values, expected, atol=2e-6)


def test_predictor_of_several_outputs_adds_up_their_steps(monkeypatch, toy):
    """Predictions that contradict each other count as the one nearer to the middle."""
    monkeypatch.setattr(type(toy), "levels", (-1.0, -0.5, 0.0, 0.25, 0.5, 1.0))
    net, rng = random_net(toy, size=1.0), np.random.default_rng(3)
    assert net.outputs == 5
    x, phase = rng.normal(size=(50, 3)).astype(np.float32), np.zeros(50, int)
    expected = [net.evaluate((tuple(f), 0), 0) for f in x.tolist()]
    np.testing.assert_allclose(predictor(net)(x, phase), expected, atol=2e-6)


def test_predictor_refuses_another_kind_of_eval(toy):
    other = LinearEval(toy, np.zeros((2, 3)))
    other.__class__ = type("Oracle", (LinearEval.__base__,), {"raw": None, "tensors": None})
    with pytest.raises(DataError, match="'linear' is a Oracle: only linear evaluators and nets"):
        predictor(other)


def test_measure_refuses_bad_values_and_empty_splits():
    s = stream([0.1, 0.2], [1.0, -1.0])
    with pytest.raises(DataError, match=r"values of shape \(2,\), such as 1.5, for 2 records"):
        measure(lambda x, k: np.array([0.0, 1.5]), s, "train")
    with pytest.raises(DataError, match=r"values of shape \(2,\), such as nan, for 2 records"):
        measure(lambda x, k: np.array([0.0, np.nan]), s, "train")
    with pytest.raises(DataError, match=r"values of shape \(1, 1\)"):
        measure(lambda x, k: np.zeros((1, 1)), s, "train")
    with pytest.raises(DataError, match="the test split holds no records, there is nothing to measure: play more"):
        measure(identity, s)
    with pytest.raises(DataError, match=r"the train split holds no records.*generate some games first"):
        measure(identity, stream([], []), "train")
