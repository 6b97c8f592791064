"""Each alarm rings on data made for it, and all are silent on healthy data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from insight.made import evidence, sample

from evallearn import get_game
from evallearn.cli import run
from evallearn.data import Dataset
from evallearn.errors import DataError
from evallearn.evaluators import LinearEval, heuristic
from evallearn.insight import Evidence, alarms_about, check_alarms, gather
from evallearn.insight.alarms import CHECKS
from evallearn.train import LinearFitter


def ringing(e: Evidence) -> dict[str, str]:
    return {a.name: a.text for a in check_alarms(e)}


def with_test(e: Evidence, **changes: np.ndarray) -> Evidence:
    return replace(e, test=replace(e.test, **changes))


def test_all_are_silent_on_healthy_data() -> None:
    assert ringing(evidence()) == {}
    assert ringing(evidence(has_chance=True)) == {}


def test_all_are_silent_on_a_handful_of_games_that_tell_nothing() -> None:
    e = evidence(train=30, test=3)
    assert set(ringing(e)) <= {"worse_than_constant"}


def test_an_eval_worse_than_a_constant_rings() -> None:
    e = evidence()
    mute = np.random.default_rng(1).uniform(-0.9, 0.9, len(e.test))
    text = ringing(with_test(e, value=mute))["worse_than_constant"]
    assert "worse than a constant: held-out log loss" in text
    assert "Fit it to more games" in text


def test_a_constant_value_rings() -> None:
    e = evidence()
    text = ringing(with_test(e, value=np.full(len(e.test), 0.1)))["constant_value"]
    assert "nearly the same of every position: +0.100, standard deviation" in text
    assert "evallearn info" in text


@pytest.mark.parametrize(("spread", "rings"), [(0.002, False), (0.0002, True)])
def test_values_may_be_as_close_together_as_outcomes_are(spread: float, rings: bool) -> None:
    e, rng = evidence(), np.random.default_rng(2)
    outcome, value = (-0.99 + size * rng.standard_normal(len(e.test)) for size in (0.006, spread))
    assert ("constant_value" in ringing(with_test(e, outcome=outcome, value=value))) is rings


@pytest.mark.parametrize(("seat", "name"), [(0, "first"), (1, "second")])
def test_a_wrong_sign_for_one_seat_rings_and_names_it(seat: int, name: str) -> None:
    e = evidence()
    turned = np.where(e.test.player == seat, -e.test.value, e.test.value)
    text = ringing(with_test(e, value=turned))["wrong_sign"]
    assert f"The sign is wrong for the {name} player: positions that it won are valued -0." in text
    assert "utility(s, player)" in text


def test_game_numbers_in_both_splits_ring() -> None:
    e = evidence()
    text = ringing(with_test(e, game=e.test.game - 99_999))["games_in_both"]
    assert "400 games, such as number 1, are both learned from and held out" in text


def test_held_out_copies_of_training_games_ring() -> None:
    e = evidence()
    text = ringing(with_test(e, position=e.train.position[: len(e.test)]))["positions_in_both"]
    assert "100% of the held-out positions were learned from, while only 0% of the training positions" in text
    assert "another seed" in text


def test_openings_that_all_games_share_are_no_leak() -> None:
    e = evidence()
    train, test = e.train.position.copy(), e.test.position.copy()
    train[::2], test[::2] = np.arange(len(train[::2])) % 9, np.arange(len(test[::2])) % 9
    shared = replace(e, train=replace(e.train, position=train), test=replace(e.test, position=test))
    assert ringing(shared) == {}


def test_self_play_that_repeats_itself_rings() -> None:
    e = evidence()
    few = [np.tile(np.arange(60), 80)[: len(s)].astype(np.uint64) for s in (e.train, e.test)]  # ten games, in turn
    same = replace(e, train=replace(e.train, position=few[0]), test=replace(e.test, position=few[1]))
    found = ringing(same)
    assert list(found) == ["repeated_games"]
    assert "Only 10 of 1200 games differ" in found["repeated_games"]
    assert "more random opening plies" in found["repeated_games"]


def test_perfect_foresight_rings() -> None:
    e = evidence()
    text = ringing(with_test(e, value=0.98 * e.test.outcome))["too_good"]
    assert "names the winner in 100.0% of the held-out positions (log loss 0.0" in text


def test_saturated_values_ring() -> None:
    e = evidence()
    text = ringing(with_test(e, value=0.999 * np.sign(e.test.value)))["saturated"]
    assert "100% of the held-out values lie beyond 0.99, and" in text
    assert "larger penalty" in text


@pytest.mark.parametrize(("outcome", "what"), [(1.0, "the first player wins in 100%"), (0.0, "nobody wins in 100%")])
def test_one_sided_outcomes_ring(outcome: float, what: str) -> None:
    e = evidence()
    to_mover = outcome * np.where(e.train.player == 0, 1.0, -1.0)
    text = ringing(replace(e, train=replace(e.train, outcome=to_mover)))["one_sided"]
    assert f"Outcomes are one-sided: {what} of the games" in text


def test_one_sided_outcomes_of_a_single_player_are_no_alarm() -> None:
    e = evidence(n_players=1)
    assert "one_sided" not in ringing(replace(e, train=replace(e.train, outcome=np.ones(len(e.train)))))


def test_uncalibrated_values_ring_where_there_is_chance() -> None:
    e, dice = evidence(), evidence(has_chance=True)
    value = 0.1 * e.test.value
    assert "uncalibrated" not in ringing(with_test(e, value=value))
    text = ringing(with_test(dice, value=value))["uncalibrated"]
    assert "Values are off by 0." in text
    assert "game of chance" in text


def test_every_check_has_its_test() -> None:
    text = Path(__file__).read_text()
    assert [name for name in CHECKS if f'"{name}"' not in text] == []


# --- on real records -------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("selfplay")
    arguments = ["--games", "800", "--limit", "depth=1", "--eval", "handwritten:threats", "--workers", "1"]
    assert run(["selfplay", "connect_four", "--out", str(folder), *arguments]) == 0
    return folder


@pytest.mark.long
def test_self_play_with_a_fitted_eval_is_healthy(records: Path) -> None:
    game = get_game("connect_four")
    dataset = Dataset(records, game=game)
    fitted = LinearFitter().fit(dataset).evaluator(game)
    assert ringing(gather(dataset, fitted)) == {}
    turned = LinearEval(game, -fitted.weights, fitted.bias)
    assert {"worse_than_constant", "wrong_sign"} <= set(ringing(gather(dataset, turned)))
    assert "constant_value" in ringing(gather(dataset, LinearEval.zero(game)))


def test_evidence_is_what_the_data_set_says(records: Path) -> None:
    game = get_game("connect_four")
    dataset, fitted = Dataset(records, game=game), heuristic(game, "lines")
    found = gather(dataset, fitted).test
    batch = next(dataset.batches("test"))
    assert np.array_equal(found.game, batch.game)
    assert np.allclose(found.outcome, batch.outcome)
    states = [(s, r) for s, r in dataset.states(game, "test")][:50]
    assert np.allclose(found.value[:50], [fitted.evaluate(s, r.player) for s, r in states], atol=1e-5)
    assert len(found) == len(found.position) == len(batch.outcome)


def test_alarms_about_several_evals_name_them(records: Path) -> None:
    game = get_game("connect_four")
    dataset, lines = Dataset(records, game=game), heuristic(game, "lines")
    evals = {"zero": LinearEval.zero(game), "turned": LinearEval(game, -lines.weights, lines.bias), "none": lines}
    found = {(a["name"], a["about"]): a["text"] for a in alarms_about(dataset, evals)}
    assert ("constant_value", "zero") in found
    assert ("wrong_sign", "turned") in found
    for name, e in evals.items():
        alone = {a.name: a.text for a in check_alarms(gather(dataset, e))}
        assert alone == {n: text for (n, about), text in found.items() if name in about.split(", ")}


def test_no_held_out_records_are_told(records: Path) -> None:
    game = get_game("connect_four")
    with pytest.raises(DataError, match="the test split holds no records, no alarm can be judged: play more games"):
        gather(Dataset(records, game=game, test_share=0.0), LinearEval.zero(game))


def test_the_made_sample_is_what_it_claims() -> None:
    s = sample(50)
    assert len(s) == 300
    assert set(s.player) == {0, 1}
