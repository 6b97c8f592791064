"""Outcomes drawn from known weights: every method finds them again, within its own confidence interval.

All intervals hold all weights at once with 99.9 % (Bonferroni). For methods of maximum likelihood they come from the
Fisher information at the truth; least squares on wins and losses is no such method, and its intervals are bootstrapped.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evallearn.errors import DataError
from evallearn.train import ArrayStream, LinearFitter

LIKELIHOOD = ("logistic", "sgd", "wdl")
SQUARES = ("ridge", "lasso", "elasticnet")
WEIGHTS = np.array([0.5, -0.3, 0.2, 0.1])
MARGIN = 0.6
"""Of draws."""


def logistic(x):
    return 1 / (1 + np.exp(-x))


def draw(rng, raw):
    """Wins and losses with P(win) - P(loss) = tanh(raw)."""
    return np.where(rng.random(len(raw)) < logistic(2 * raw), 1.0, -1.0)


def draw_wdl(rng, eta):
    """Wins, draws and losses by proportional odds."""
    u = rng.random(len(eta))
    return np.where(u < logistic(eta - MARGIN), 1.0, np.where(u > 1 - logistic(-eta - MARGIN), -1.0, 0.0))


def fisher_errors(design, raw):
    """The standard errors of w in tanh(design w)."""
    p = logistic(2 * raw)
    return np.sqrt(np.diag(np.linalg.inv((design * (4 * p * (1 - p))[:, None]).T @ design)))


def wdl_errors(design, eta):
    """The standard errors of (w, margin) by proportional odds: the expected outer products of the score."""
    win, loss = logistic(eta - MARGIN), logistic(-eta - MARGIN)
    both = 2 / np.expm1(2 * MARGIN)
    scores = ((win, 1 - win, win - 1), (loss, loss - 1, loss - 1), (1 - win - loss, loss - win, loss + win + both))
    information = 0
    for p, by_eta, by_margin in scores:
        score = np.c_[design * by_eta[:, None], by_margin]
        information = information + (score * p[:, None]).T @ score
    return np.sqrt(np.diag(np.linalg.inv(information)))


def assert_within(found, truth, errors, degrees=None):
    found, truth, errors = map(np.ravel, (found, truth, errors))
    tail = 1 - 0.001 / 2 / len(truth)
    factor = stats.norm.ppf(tail) if degrees is None else stats.t.ppf(tail, degrees)
    assert np.abs((found - truth) / errors).max() < factor, (found, truth, errors)


def stream_of(x, y, phase=None):
    return ArrayStream(x, y, game=np.arange(len(x)), phase=phase, test_share=0.0, n_phases=None if phase is None else 4)


def normal(n, d, seed):
    rng = np.random.default_rng(seed)
    return rng, rng.normal(size=(n, d)).astype(np.float32)


# --- each method ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", LIKELIHOOD)
def test_likelihood_methods_recover_known_weights(method):
    rng, x = normal(30_000, 4, 1)
    raw = x @ WEIGHTS + 0.2
    got = LinearFitter(method=method).fit(stream_of(x, draw(rng, raw)))
    errors = fisher_errors(np.c_[x, np.ones(len(x))], raw)
    assert_within(np.append(got.weights_, got.bias_), np.append(WEIGHTS, 0.2), errors)


@pytest.mark.parametrize(
    "method", ["ridge", *(pytest.param(m, marks=pytest.mark.long) for m in SQUARES if m != "ridge")]
)
def test_least_squares_recovers_known_weights(method):
    """Features are normal and wins as frequent as losses: there, least squares has the right direction (Brillinger)."""
    rng, x = normal(8000, 4, 2)
    y = draw(rng, x @ WEIGHTS)

    def fit(rows):
        return LinearFitter(method=method).fit(stream_of(x[rows], y[rows])).weights_[0]

    n = len(x)
    errors = np.std([fit(rng.integers(0, n, n)) for _ in range(60)], axis=0, ddof=1)
    assert_within(fit(np.arange(n)), WEIGHTS, errors, degrees=59)


def test_wdl_recovers_weights_and_the_draw_margin():
    rng, x = normal(30_000, 4, 3)
    eta = x @ WEIGHTS - 0.3
    y = draw_wdl(rng, eta)
    got = LinearFitter(method="wdl").fit(stream_of(x, y))
    found = np.concatenate([got.weights_[0] / got.scale_, got.bias_ / got.scale_, [got.draw_margin_]])
    assert_within(found, [*WEIGHTS, -0.3, MARGIN], wdl_errors(np.c_[x, np.ones(len(x))], eta))
    shares = got.predict_wdl(x)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(shares.mean(axis=0), [(y == k).mean() for k in (-1, 0, 1)], atol=1e-3)


def test_what_the_tanh_loses_of_wdl_is_small_and_told():
    """docs/learning.md: at this margin, it is within 0.01 of P(win) - P(loss), and orders positions alike."""
    rng, x = normal(30_000, 4, 3)
    got = LinearFitter(method="wdl").fit(stream_of(x, draw_wdl(rng, x @ WEIGHTS)))
    shares, value = got.predict_wdl(x), got.predict(x)
    exact = shares[:, 2] - shares[:, 0]
    assert np.abs(exact - value).max() < 0.01
    order = np.argsort(value)
    assert (np.diff(exact[order]) > -1e-12).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", ["lasso", "elasticnet"])
def test_selection_finds_the_true_support(method, seed):
    rng, x = normal(10_000, 12, seed)
    x[:, 1] = 0.6 * x[:, 0] + 0.8 * x[:, 1]  # meaningless, but correlated with one that is not
    weights = np.array([0.4, 0, 0, -0.3, 0, 0, 0.2, 0, 0, 0, -0.2, 0])
    got = LinearFitter(method=method, alpha=1.5).fit(stream_of(x, draw(rng, x @ weights)))
    assert got.selected_ == ("x0", "x3", "x6", "x10")
    assert set(got.dropped_) == {f"x{i}" for i in range(12)} - set(got.selected_)
    assert (got.weights_[0] != 0).tolist() == (weights != 0).tolist()


# --- ties and taper ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", [*LIKELIHOOD, "ridge"])
def test_tied_weights_are_equal_and_recovered(method):
    rng, x = normal(30_000, 5, 4)
    weights = np.array([0.3, -0.2, 0.3, 0.4, 0.2])
    raw = x @ weights
    got = LinearFitter(method=method, tied=[("x0", "x2"), ("x1", "-x4")]).fit(stream_of(x, draw(rng, raw)))
    w = got.weights_[0]
    assert (w[0], w[1]) == (w[2], -w[4])
    design = np.c_[x[:, 0] + x[:, 2], x[:, 1] - x[:, 4], x[:, 3], np.ones(len(x))]
    assert_within([*w[[0, 1, 3]], *got.bias_], [0.3, -0.2, 0.4, 0.0], fisher_errors(design, raw))


def tapered(seed, scale=1.0):
    """(rng, features, phase, raw, ends): four phases between an opening and an endgame."""
    rng, x = normal(40_000, 3, seed)
    phase = rng.integers(0, 4, len(x))
    ends = scale * np.array([[0.5, -0.2, 0.0, 0.1], [0.1, 0.3, -0.2, -0.1]])
    theta = np.linspace(ends[0], ends[1], 4)
    return rng, x, phase, np.einsum("ij,ij->i", np.c_[x, np.ones(len(x))], theta[phase]), ends


def taper_design(x, phase):
    z, t = np.c_[x, np.ones(len(x))], phase[:, None] / 3
    return np.hstack([(1 - t) * z, t * z])


@pytest.mark.parametrize("method", ["logistic", "sgd", "wdl", "ridge", "lasso"])
def test_tapered_weights_are_straight_and_recovered(method):
    rng, x, phase, raw, ends = tapered(5)
    trainer = LinearFitter(method=method, tapered=True, phase_alpha=1.0)
    got = trainer.fit(stream_of(x, draw(rng, raw), phase))
    theta = np.c_[got.weights_, got.bias_]
    np.testing.assert_allclose(np.diff(theta, n=2, axis=0), 0.0, atol=1e-12)
    assert_within(theta[[0, -1]], ends, fisher_errors(taper_design(x, phase), raw))


def test_tapered_wdl_is_recovered_with_its_margin():
    rng, x, phase, eta, ends = tapered(6, scale=2.0)
    trainer = LinearFitter(method="wdl", tapered=True, phase_alpha=1.0)
    got = trainer.fit(stream_of(x, draw_wdl(rng, eta), phase))
    theta = np.c_[got.weights_, got.bias_] / got.scale_
    found = np.append(theta[[0, -1]], got.draw_margin_)
    assert_within(found, np.append(ends, MARGIN), wdl_errors(taper_design(x, phase), eta))


def test_wdl_fits_each_phase_around_one_margin():
    rng, x, phase, eta, ends = tapered(7, scale=2.0)
    got = LinearFitter(method="wdl", phase_alpha=1.0).fit(stream_of(x, draw_wdl(rng, eta), phase))
    truth = np.linspace(ends[0], ends[1], 4)
    for k in range(4):
        rows = phase == k
        errors = wdl_errors(np.c_[x[rows], np.ones(rows.sum())], eta[rows])[:-1]
        assert_within(np.append(got.weights_[k], got.bias_[k]) / got.scale_, truth[k], errors)


# --- what wdl cannot learn from ------------------------------------------------------------------------------------
def test_wdl_refuses_outcomes_that_it_does_not_know():
    x = np.arange(6.0)[:, None]
    for outcomes, message in (
        ([1, -1, 0.5, 0, 1, -1], r"column 'outcome' holds 0.5, and method 'wdl' knows -1 .*: use method 'logistic'"),
        ([1, 0, 1, 0, 1, 0], r"column 'outcome' holds no loss in 6 training records.*generate more games"),
        ([-1, 0, -1, 0, -1, 0], r"column 'outcome' holds no win in 6 training records"),
    ):
        with pytest.raises(DataError, match=message):
            LinearFitter(method="wdl").fit(x, outcomes)
