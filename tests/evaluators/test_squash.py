"""Which values a regressor's predictions become: tanh, clip, or what the records say."""

from __future__ import annotations

import json
import math
import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playing import random_game
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from evallearn.agents import RandomAgent
from evallearn.cli import run
from evallearn.compiled.specialise import specialise
from evallearn.core.digest import weights_mark
from evallearn.data import Dataset, RecordSettings, generate_records
from evallearn.errors import EvallearnError, EvaluatorError
from evallearn.evaluators import LinearEval, load_evaluator, save
from evallearn.evaluators.squash import BOUND
from evallearn.games.pig import Pig
from evallearn.games.pig.game import State
from evallearn.games.pig.solver import best_action, table_of, win_probability
from evallearn.registry import get_game
from evallearn.train import LinearModel, predictor

PIG, TTT = get_game("pig,target=12"), get_game("tic_tac_toe")
TEMPLATE = Path(__file__).with_name("player_values_kernel.py")


def random_linear(game: Any, size: float, squash: str = "clip") -> LinearEval:
    rng, shape = np.random.default_rng(1), (game.n_phases, len(game.feature_names))
    return LinearEval(game, rng.normal(0, size, shape), rng.normal(0, size, shape[0]), squash=squash)


def positions(game: Any) -> list[Any]:
    return [s for seed in range(6) for s, _ in random_game(game, seed) if not game.is_terminal(s)]


# --- clip ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [0.1, 1e6])
@pytest.mark.parametrize("game", [PIG, TTT, get_game("2048")], ids=lambda g: g.name)
def test_clip_keeps_the_sum_strictly_inside(game: Any, size: float) -> None:
    e = random_linear(game, size)
    low, high = game.utility_range
    middle, half = (low + high) / 2, (high - low) / 2
    for s in positions(game)[:200]:
        observer = game.observer(s)
        raw = e.raw(*e.observe(s, observer))
        value = e.evaluate(s, observer)
        assert low < value < high
        clipped = min(max(raw, -BOUND), BOUND)
        if game.has("won"):  # then it is a share of what is left
            assert value == game.won(s, observer) + (high - game.won(s, observer)) * (0.5 + 0.5 * clipped)
        else:
            assert value == middle + float(np.float32(half * clipped))


def test_both_backends_clip_to_the_last_bit() -> None:
    for size in (0.1, 3.0):
        e = random_linear(TTT, size)
        states = positions(TTT)
        players = [random.Random(3).randrange(2) for _ in states]
        plain = np.array([e.evaluate(s, p) for s, p in zip(states, players, strict=True)])
        assert e.evaluate_batch(states, players).astype(float).tobytes() == plain.tobytes()


def test_both_backends_clip_where_the_viewer_need_not_be_to_move() -> None:
    e, states = random_linear(PIG, 0.1), positions(PIG)
    kernel: Any = e.kernel()
    module: Any = specialise(TEMPLATE, PIG.rules, evaluate_player=kernel.evaluate_player)
    words, out = np.array([PIG.encode(s) for s in states], np.uint64), np.empty(len(states))
    for player in (0, 1):
        module.values(words, np.full(len(words), player), kernel.params.copy(), out)
        assert (out + 0.0).tolist() == [e.evaluate(s, player) for s in states]


def test_the_same_weights_by_another_squash_are_another_eval(tmp_path: Path) -> None:
    clip, tanh = random_linear(PIG, 0.1), random_linear(PIG, 0.1, "tanh")
    assert weights_mark(clip) != weights_mark(tanh)
    x, k = np.array([PIG.features(PIG.initial(), 0)], np.float32), np.array([0])
    for e in (clip, tanh):
        read = load_evaluator(save(e, tmp_path / f"{e.squash}.safetensors"), PIG)
        assert read.squash == e.squash
        assert weights_mark(read) == weights_mark(e)
        assert read.evaluate(PIG.initial(), 0) == e.evaluate(PIG.initial(), 0)
        assert predictor(read)(x, k)[0] == pytest.approx(e.value(x[0].tolist(), 0), abs=1e-6)  # type: ignore[arg-type]


def test_a_file_with_another_squash_is_refused(tmp_path: Path) -> None:
    for squash, other in (("clip", "tanh"), ("tanh", "clip")):
        file = save(random_linear(PIG, 0.1, squash), tmp_path / "e.safetensors")
        data, text = file.read_bytes(), f'squash\\": \\"{squash}'.encode()
        assert text in data
        file.write_bytes(data.replace(text, f'squash\\": \\"{other}'.encode()))
        with pytest.raises(EvaluatorError, match="do not have the checksum of its header"):
            load_evaluator(file, PIG)


def test_explain_says_that_nothing_is_squashed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(random_linear(PIG, 0.1), tmp_path / "e.safetensors")
    assert run(["explain", str(tmp_path / "e.safetensors"), "3-4", "--game=pig,target=12"]) == 0
    assert "; clipped: clip(" in capsys.readouterr().out


def test_learning_by_td_begins_with_tanh() -> None:
    c4 = get_game("connect_four")
    with pytest.raises(EvallearnError, match="squash='clip': learning by td needs tanh"):
        LinearModel(c4, start=random_linear(c4, 0.1))


# --- from scikit-learn -----------------------------------------------------------------------------------------------
@cache
def solved(target: int) -> tuple[Any, list[State], np.ndarray, np.ndarray, Any]:
    """(pig, all positions before a roll or a hold, their features, their exact values, a regression on those)."""
    game, table, ends = Pig(target), table_of(target), range(target)
    states = [State(i, j, k, 0, 0, target) for i in ends for j in ends for k in range(target - i)]
    x = np.array([game.features(s, 0) for s in states])
    truth = np.array([2 * table[s.first, s.second, s.turn] - 1 for s in states])
    return game, states, x, truth, make_pipeline(StandardScaler(), Ridge()).fit(x, truth)


def mean_error(e: LinearEval, target: int) -> float:
    game, states, x, truth, _ = solved(target)
    values = predictor(e)(x, np.array([game.phase(s) for s in states]))
    return float(np.abs(values - truth).mean())


TARGETS = pytest.mark.parametrize(
    ("target", "tanh", "clip", "scaled"),
    [(40, 0.087, 0.076, 0.062), pytest.param(100, 0.135, 0.094, 0.051, marks=pytest.mark.long)],
)


@TARGETS
def test_predictions_of_values_stay_values_in_pig(target: int, tanh: float, clip: float, scaled: float) -> None:
    game, _, x, truth, model = solved(target)
    shuffled = np.random.default_rng(1).permutation(len(x))
    measured = LinearEval.from_sklearn(model, game, records=(x[shuffled], truth[shuffled]))
    assert mean_error(LinearEval.from_sklearn(model, game, squash="tanh"), target) == pytest.approx(tanh, abs=0.001)
    assert mean_error(LinearEval.from_sklearn(model, game), target) == pytest.approx(clip, abs=0.001)
    assert mean_error(measured, target) == pytest.approx(scaled, abs=0.001)
    assert measured.metadata["calibration"]["chosen"] == "tanh, scaled"


@pytest.mark.long
def test_the_position_of_pig_that_came_out_squashed() -> None:
    """Foretold 0.79, the truth is 0.85."""
    game, _, x, truth, model = solved(100)
    s = game.from_text("8-8/turn=65")
    assert 2 * table_of(100)[8, 8, 65] - 1 == pytest.approx(0.850, abs=0.001)
    assert model.predict([game.features(s, 0)])[0] == pytest.approx(0.790, abs=0.001)
    said = {squash: LinearEval.from_sklearn(model, game, squash=squash).evaluate(s, 0) for squash in ("tanh", "clip")}
    assert said == {"tanh": pytest.approx(0.658, abs=0.001), "clip": pytest.approx(0.790, abs=0.001)}
    order = np.random.default_rng(1).permutation(len(x))
    measured = LinearEval.from_sklearn(model, game, records=(x[order], truth[order]))
    assert measured.evaluate(s, 0) == pytest.approx(0.824, abs=0.001)


def played(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(features, outcomes, exact values) of optimal games of pig in which one action in ten is random."""
    game, table, rng = Pig(), table_of(100), random.Random(1)
    rows = list[tuple[tuple[float, ...], float, float]]()
    for _ in range(n):
        s, seen = game.initial(), list[State]()
        while not game.is_terminal(s):
            if s.rolling:
                s = game.result(s, rng.randint(1, 6))
                continue
            seen.append(s)
            s = game.result(s, best_action(table, s) if rng.random() > 0.1 else rng.choice(game.actions(s)))
        of = [2 * win_probability(table, t, t.player) - 1 for t in seen]
        rows += [(game.features(t, t.player), game.utility(s, t.player), v) for t, v in zip(seen, of, strict=True)]
    x, outcome, truth = (np.array(column, float) for column in zip(*rows, strict=True))
    return x, outcome, truth


@pytest.mark.long
def test_a_regression_on_outcomes_of_pig_is_better_clipped() -> None:
    x, outcome, truth = played(3000)
    half, game = len(x) // 2, Pig()
    model = make_pipeline(StandardScaler(), Ridge()).fit(x[:half], outcome[:half])
    errors = []
    for how in ({"squash": "tanh"}, {}, {"records": (x, outcome)}):
        e = LinearEval.from_sklearn(model, game, **how)  # type: ignore[arg-type]
        errors.append(np.abs(predictor(e)(x[half:], np.zeros(len(x) - half, int)) - truth[half:]).mean())
    assert errors == pytest.approx([0.061, 0.042, 0.048], abs=0.001)


def data_of(game: Any, sharpness: float, n: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Records whose outcome has the mean tanh(sharpness * first feature)."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, len(game.feature_names)))
    return x, np.where(rng.random(n) < (1 + np.tanh(sharpness * x[:, 0])) / 2, 1.0, -1.0)


def test_the_default_is_tanh_without_dice_and_clip_with_them() -> None:
    for game, squash in ((TTT, "tanh"), (PIG, "clip")):
        x, y = data_of(game, 0.5)
        for model in (Ridge(), RidgeClassifier()):
            e = LinearEval.from_sklearn(model.fit(x, y), game)
            assert e.squash == squash
            assert ("calibration" in e.metadata) == (squash == "clip")
        assert LinearEval.from_sklearn(LogisticRegression().fit(x, y), game).squash == "tanh"  # it is P(win) - P(loss)


def test_records_choose_by_the_error_on_held_out_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x, y = data_of(TTT, 3.0)
    model = Ridge().fit(x, y)
    e = LinearEval.from_sklearn(model, TTT, records=(x, y))
    told = e.metadata["calibration"]
    assert told["chosen"] == min(told["rms_error"], key=told["rms_error"].get) == "tanh, scaled"
    assert told["by"] == "1500 held-out records"
    p = model.predict(x[1500:])
    values = {"clip": np.clip(p, -BOUND, BOUND), "tanh": np.tanh(p), "tanh, scaled": np.tanh(told["scale"] * p)}
    for name, v in values.items():
        assert told["rms_error"][name] == pytest.approx(math.sqrt(np.mean((v - y[1500:]) ** 2)), rel=1e-6)
    np.testing.assert_allclose(e.weights[0], told["scale"] * model.coef_, rtol=1e-5)
    save(e, tmp_path / "e.safetensors")
    assert run(["info", str(tmp_path / "e.safetensors")]) == 0
    assert json.loads(capsys.readouterr().out)["made"]["calibration"] == told
    only = LinearEval.from_sklearn(model, TTT, squash="clip", records=(x, y))
    assert (only.squash, list(only.metadata["calibration"]["rms_error"])) == ("clip", ["clip"])


def test_records_may_be_a_dataset(tmp_path: Path) -> None:
    generate_records(tmp_path, PIG, [RandomAgent(PIG)] * 2, RecordSettings(games=60, seed=1))
    data = Dataset(tmp_path, game=PIG, test_share=0.3)
    batch = next(data.batches("train"))
    model = Ridge().fit(batch.features, batch.outcome)
    told = LinearEval.from_sklearn(model, PIG, records=data).metadata["calibration"]
    test = next(data.batches("test"))
    assert told["by"] == f"{len(test)} held-out records of {len(set(test.game.tolist()))} games"
    with pytest.raises(EvaluatorError, match="records hold out 0 of their positions: give more games"):
        LinearEval.from_sklearn(model, PIG, records=Dataset(tmp_path, test_share=0))
    x, y = data_of(TTT, 1.0)
    with pytest.raises(EvaluatorError, match=r"records have 10 features, not \d+: give a Dataset"):
        LinearEval.from_sklearn(Ridge().fit(x, y), TTT, records=data)


X, Y = data_of(TTT, 1.0, 100)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (5, "records=int: give a Dataset, or"),
        ((X, Y, Y), "records=tuple: give"),
        ((X[:, :1], Y), "records of shapes .100, 1. and .100,., with"),
        ((X, Y[:5]), "records of shapes"),
        ((X[:1], Y[:1]), "records of shapes"),
        ((X, 2 * Y), "an outcome beyond -1 and 1"),
        ((X, Y * np.nan), "an outcome beyond -1 and 1"),
        ((X * np.inf, Y), "a feature that is no number"),
        ((X, ["a"] * 100), "records=tuple: give"),
    ],
)
def test_records_that_are_none_are_refused(records: Any, message: str) -> None:
    with pytest.raises(EvaluatorError, match=message):
        LinearEval.from_sklearn(Ridge().fit(X, Y), TTT, records=records)


def test_what_cannot_be_squashed_so_is_refused() -> None:
    with pytest.raises(EvallearnError, match="unknown squash 'tan': did you mean 'tanh'"):
        LinearEval.from_sklearn(Ridge().fit(X, Y), TTT, squash="tan")
    with pytest.raises(EvallearnError, match="unknown squash 'sigmoid'"):
        LinearEval(TTT, LinearEval.zero(TTT).weights, squash="sigmoid")
    for given in ({"squash": "clip"}, {"records": (X, Y)}):
        with pytest.raises(EvaluatorError, match="LogisticRegression gives probabilities, which tanh turns into"):
            LinearEval.from_sklearn(LogisticRegression().fit(X, Y), TTT, **given)  # type: ignore[arg-type]


def test_an_eval_may_be_named() -> None:
    model = make_pipeline(Ridge()).fit(X, Y)
    assert [LinearEval.from_sklearn(model, TTT, name=name).name for name in (None, "mine")] == ["Ridge", "mine"]
