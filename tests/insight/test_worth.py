"""What a study says of features that were made to be needed, useless, constant and copied."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from insight.made import NAMES, WEIGHTS, drawn, stream

from evallearn import get_game
from evallearn.cli import run
from evallearn.data.dataset import Batch
from evallearn.errors import DataError
from evallearn.evaluators import LinearEval
from evallearn.insight import FeatureStudy, Kept, Study, carriers, cautions, dataset_of, feature_means, redundant
from evallearn.insight.resampling import GameMeans, poisson_counts
from evallearn.insight.weights import MOST_INFLATION, study_weights
from evallearn.train import ArrayStream, LinearFitter
from evallearn.train.fit.metrics import measure, predictor

GAME = get_game("tic_tac_toe")


def studied(data: ArrayStream, evaluator: LinearEval | None = None) -> FeatureStudy:
    study = Study(data, GAME, evaluator, resamples=200)
    study.fit()
    study.drop()
    study.shuffle()
    return study.result()


@pytest.fixture(scope="module")
def study() -> FeatureStudy:
    return studied(stream(4000, per_game=2))


# --- resampling ------------------------------------------------------------------------------------------------------
def test_counts_are_poisson_and_belong_to_the_game() -> None:
    counts = poisson_counts(np.arange(4000), 50, seed=1)
    assert counts.mean() == pytest.approx(1.0, abs=0.01)
    assert counts.var() == pytest.approx(1.0, abs=0.02)
    assert np.abs(np.corrcoef(counts.T) - np.eye(50)).max() < 0.1
    assert np.array_equal(poisson_counts(np.array([17, 3]), 50, seed=1), counts[[17, 3]])
    assert not np.array_equal(poisson_counts(np.arange(100), 50, seed=2), counts[:100])


def test_means_do_not_depend_on_the_batches_and_know_games_from_records() -> None:
    rng = np.random.default_rng(0)
    game, values = np.repeat(np.arange(200), 5), np.repeat(rng.normal(size=(200, 2)), 5, axis=0)
    whole, split, single = GameMeans(2), GameMeans(2), GameMeans(2)
    whole.add(game, values)
    for rows in (slice(0, 333), slice(333, None)):  # a game is cut in two
        split.add(game[rows], values[rows])
    single.add(np.arange(200), values[::5])
    for a, b, c in zip(whole.intervals(), split.intervals(), single.intervals(), strict=True):
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high))
        assert (a.value, a.low, a.high) == pytest.approx((c.value, c.low, c.high))  # copies are no evidence
    assert whole.n_games == split.n_games == 200
    assert whole.intervals()[0].high - whole.intervals()[0].low == pytest.approx(4 / np.sqrt(200), rel=0.2)


# --- weights ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("phases", [1, 2])
def test_intervals_are_those_of_refits_to_the_same_resamples(phases: int) -> None:
    n = 1500  # the step is of first order: with 300 games an end may be a seventh of the width away
    x, y, game = drawn(n, 5, per_game=2)
    x = x[:, [0, 1, 4]]
    phase = (np.arange(len(y)) % 2) * (phases - 1)
    data = ArrayStream(x, y, game=game, phase=phase, n_phases=phases, test_share=0.0)
    found = study_weights(data, LinearFitter().fit(data), resamples=30)
    counts = poisson_counts(np.arange(n), 30, seed=1)[game].astype(int)
    refits = []
    for b in range(30):
        rows = np.repeat(np.arange(len(y)), counts[:, b])
        again = ArrayStream(x[rows], y[rows], game=game[rows], phase=phase[rows], n_phases=phases, test_share=0.0)
        refits.append(LinearFitter().fit(again).weights_)
    for k in range(phases):
        for i in range(3):
            low, high = np.quantile([w[k, i] for w in refits], [0.025, 0.975])
            interval = found.phases[k][i]
            assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.12 * (high - low))


@pytest.mark.long
def test_intervals_hold_the_true_weight_in_95_percent_of_data_sets() -> None:
    held, sets = np.zeros(3), 400
    for seed in range(sets):
        x, y, game = drawn(400, 1000 + seed)
        data = ArrayStream(x[:, [0, 1, 4]], y, game=game, test_share=0.0)
        found = study_weights(data, LinearFitter().fit(data))
        held += [i.low <= w <= i.high for i, w in zip(found.common, WEIGHTS[[0, 1, 4]], strict=True)]
    assert np.all(np.abs(held / sets - 0.95) < 0.035)  # three standard errors of a share of 400


def test_records_repeated_within_their_game_do_not_shorten_intervals() -> None:
    x, y, game = drawn(300, 6)
    widths = []
    for times in (1, 4):
        data = ArrayStream(np.repeat(x, times, 0), np.repeat(y, times), game=np.repeat(game, times), test_share=0.0)
        found = study_weights(data, LinearFitter(alpha=0.001).fit(data))
        widths.append(found.common[1].high - found.common[1].low)
    assert widths[1] == pytest.approx(widths[0], rel=0.02)


def test_inflation_and_correlation_are_those_of_the_textbook() -> None:
    x, y, game = drawn(400, 7)
    x = x[:, [0, 1, 4]]
    x[:, 2] = x[:, 0] + 0.5 * x[:, 2]
    data = ArrayStream(x, y, game=game, test_share=0.0)
    found = study_weights(data, LinearFitter().fit(data), resamples=20)
    assert np.allclose(found.correlation, np.corrcoef(x.T), atol=1e-6)
    assert np.allclose(found.inflation, np.diag(np.linalg.inv(np.corrcoef(x.T))), rtol=1e-4)
    assert np.allclose(found.outcome_correlation, [np.corrcoef(c, y)[0, 1] for c in x.T], atol=1e-6)
    copied = ArrayStream(x[:, [0, 0]], y, game=game, test_share=0.0)
    assert study_weights(copied, LinearFitter().fit(copied), resamples=20).inflation.max() == MOST_INFLATION


# --- the study -------------------------------------------------------------------------------------------------------
def test_needed_useless_copied_and_constant_features_are_told_apart(study: FeatureStudy) -> None:
    by_name = {f.name: f for f in study.features}
    assert by_name["wins_now"].dropped.low > 0
    assert by_name["wins_now"].weight.low < WEIGHTS[4] < by_name["wins_now"].weight.high
    assert by_name["corners"].weight_may_be_zero
    assert abs(by_name["corners"].dropped.value) < 0.002
    assert by_name["open_twos"].constant
    assert by_name["open_twos"].dropped.value == pytest.approx(0.0)
    assert by_name["open_twos"].shuffled.value == pytest.approx(0.0)
    assert by_name["open_ones"].partner == "centre"
    assert by_name["open_ones"].inflation > 10
    assert study.log_loss == study.fitted_log_loss < study.baseline_log_loss


def test_advice_is_in_plain_words(study: FeatureStudy) -> None:
    said = "\n".join(redundant(study))
    assert "open_twos is 0.5 in every record" in said
    assert "corners may be left out: its weight could be 0 (-0." in said
    assert ("open_ones is nearly a copy of centre" in said) != ("centre is nearly a copy of open_ones" in said)
    assert "wins_now" not in said
    assert carriers(study)[0].startswith("wins_now: without it the held-out loss rises by 0.0")
    assert any("centre is told by the others (variance inflation" in s for s in cautions(study))


def test_a_feature_that_others_stand_in_for_is_no_surprise(study: FeatureStudy) -> None:
    told = [s for s in cautions(study) if "others stand in for it" in s]
    assert {s.split()[0] for s in told} <= {"centre", "open_ones"}
    assert any("Do not leave out both" in s for s in told)


def test_a_study_that_shows_nothing_says_so() -> None:
    x, y, game = drawn(120, 3)
    noise = np.random.default_rng(0).permutation(x)
    told = cautions(studied(ArrayStream(noise, y, game=game, feature_names=NAMES, test_share=0.3)))
    assert any("No single feature is missed on" in s for s in told)
    assert any("no better than a constant (log loss" in s for s in told)


def test_another_eval_may_be_shuffled() -> None:
    given = LinearEval(GAME, np.array([[0.0, 1.0, 0.0, 0.0, 0.0]]), metadata={"name": "mine"})
    data = stream(300)
    found = studied(data, given)
    moved = [f.name for f in found.features if abs(f.shuffled.value) > 1e-9]
    assert (found.eval, moved) == ("mine", ["corners"])
    assert found.log_loss == measure(predictor(given), data).log_loss != found.fitted_log_loss


def test_where_one_feature_varies_the_rest_is_a_constant() -> None:
    x, y, game = drawn(300, 1)
    x[:, 1:] = 0.0
    found = studied(ArrayStream(x, y, game=game, feature_names=NAMES, test_share=0.3))
    first = found.features[0]
    assert first.dropped.value == pytest.approx(found.baseline_log_loss - found.log_loss, abs=0.02)
    assert first.partner == ""


def test_a_match_tells_what_a_feature_is_worth_in_play() -> None:
    study = Study(stream(200), GAME, resamples=50)
    study.fit()
    study.drop()
    study.shuffle()
    steps: list[tuple[int, int]] = []
    study.match(2, 1, move=lambda done, total: steps.append((done, total)))
    assert steps == [(i, 5) for i in range(1, 6)]
    for f in study.result().features:
        assert f.match is not None
        assert f.match["low"] <= f.match["elo"] <= f.match["high"]


def test_a_game_without_features_is_refused() -> None:
    bare = ArrayStream(np.zeros((4, 0)), np.ones(4), game=np.arange(4))
    with pytest.raises(DataError, match="tic_tac_toe has no features, there is nothing to study: give it"):
        Study(bare, GAME)


# --- sources ---------------------------------------------------------------------------------------------------------
def test_records_are_read_once_if_they_fit_and_again_if_not() -> None:
    class Counting(ArrayStream):
        passes = 0

        def batches(self, split: str) -> object:  # type: ignore[override]  # only counts
            self.passes += 1
            return super().batches(split)

    x, y, game = drawn(50, 0)
    for most, passes in ((10**9, 1), (10, 3)):
        data = Counting(x, y, game=game, batch_rows=64)
        kept = Kept(data, len(y), most_bytes=most)
        seen = [np.concatenate([b.outcome for b in kept.batches("train")]) for _ in range(3)]
        assert data.passes == passes
        assert all(np.array_equal(s, seen[0]) for s in seen)


def test_results_do_not_depend_on_whether_records_are_held() -> None:
    data = stream(200, batch_rows=256)
    a, b = (Kept(data, 800, most_bytes=most) for most in (10**9, 10))
    assert studied(a).to_json() == studied(b).to_json()  # type: ignore[arg-type]  # a stream is a stream


def test_a_run_stands_for_its_generations(tmp_path: Path) -> None:
    play = ["selfplay", "tic_tac_toe", "--games", "8", "--limit", "depth=1", "--workers", "1"]
    for generation in (2, 10):
        folder = str(tmp_path / f"generation-{generation}")
        assert run([*play, "--out", folder, "--seed", str(generation)]) == 0
    found = dataset_of([tmp_path], GAME)
    assert [f.name for f in found.folders] == ["generation-2", "generation-10"]
    assert found.n_games == 16
    means = feature_means(found)
    x = np.concatenate([b.features for b in found.batches("train")])
    assert means == pytest.approx(x.mean(axis=0).tolist(), abs=1e-6)
    with pytest.raises(DataError, match="nothing holds neither records nor generations of a run: name a folder that"):
        dataset_of([tmp_path / "nothing"], GAME)


def test_means_of_nothing_are_refused() -> None:
    class Empty(ArrayStream):
        def batches(self, split: str) -> object:  # type: ignore[override]  # none at all
            return iter(list[Batch]())

    x, y, game = drawn(5, 0)
    with pytest.raises(DataError, match="the train split holds no records, so no feature has a mean: play more games"):
        feature_means(Empty(x, y, game=game))  # type: ignore[arg-type]  # as above
