"""Nets that predict how a game ends: both backends to the last bit, the promises of an evaluator, files."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nets import random_net
from playing import random_game
from safetensors import safe_open
from safetensors.numpy import save as to_bytes
from toys import DoubleMove, Takeaway, TreeGame

from evallearn.compiled.game import CompiledGame
from evallearn.compiled.specialise import specialise
from evallearn.core.game import Game
from evallearn.errors import EvaluatorError, SpecError
from evallearn.evaluators import load_evaluator, save
from evallearn.evaluators.files import _checksum
from evallearn.evaluators.net import ACTIVATIONS, TENSORS, NetEval, activate
from evallearn.registry import get_game

TEMPLATE = Path(__file__).with_name("values_kernel.py")
TESAURO = "backgammon,features=tesauro"


@cache
def game(name: str) -> Game:
    return DoubleMove() if name == "double_move" else get_game(name)


@cache
def states(name: str) -> tuple[Any, ...]:
    g, found = game(name), []
    for seed in range(2 if name == TESAURO else 12):
        found += [s for s, _ in random_game(g, seed)]
    return tuple(found[:: -(-len(found) // 120)])


def net(name: str, hidden: tuple[int, ...], activation: str = "relu", per_phase=(), **more: Any) -> NetEval:
    return random_net(game(name), hidden, activation, per_phase=per_phase, **{"size": 0.5, "seed": len(name), **more})


def compiled(e: NetEval, name: str, player: int) -> tuple[np.ndarray, np.ndarray]:
    """Of the states that are not over: their values to `player`, and the outputs."""
    rules, kernel = e.game.rules, e.kernel()
    module: Any = specialise(TEMPLATE, rules, e.kernels(), evaluate_player=kernel.evaluate_player)
    going_on = [s for s in states(name) if not e.game.is_terminal(s)]
    words = np.array([e.game.encode(s) for s in going_on], np.uint64)
    out, outputs = np.empty(len(words)), np.empty((len(words), e.outputs))
    module.values(words, np.full(len(words), player), kernel.params.copy(), out, outputs)
    return out, outputs


KERNELS = [
    ("tic_tac_toe", (8,), "relu", ()),
    ("tic_tac_toe", (16, 8), "clipped", ()),
    ("double_move", (8, 16), "sigmoid", TENSORS),
    ("double_move", (8, 16), "relu", ("b1", "w3")),
    ("pig,target=30", (8,), "sigmoid", TENSORS),
    (TESAURO, (8,), "sigmoid", ()),
]


# --- both backends ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "hidden", "activation", "per_phase"), KERNELS, ids=str)
def test_compiled_net_equals_the_plain_one_bit_for_bit(name, hidden, activation, per_phase):
    for size in (0.3, 1e3, 1e37):  # the last one overflows: inf, and inf - inf
        e = net(name, hidden, activation, per_phase, size=size)
        going_on = [s for s in states(name) if not e.game.is_terminal(s)]
        for player in (0, 1):
            values, outputs = compiled(e, name, player)
            assert (values + 0.0).tobytes() == np.array([e.evaluate(s, player) for s in going_on]).tobytes()
        plain = [e.probabilities(*e.observe(s, e.game.observer(s))) for s in going_on]
        assert outputs.tobytes() == np.array(plain).tobytes()
        assert len(np.unique(values)) > 5 or size > 1


def test_kernel_of_a_game_without_rules_is_none():
    e = random_net(Takeaway())
    assert e.kernel() is None
    assert -1 < e.evaluate((3, 0), 0) == -e.evaluate((3, 0), 1) < 1


# --- the promises ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "hidden", "activation", "per_phase"), KERNELS, ids=str)
def test_utility_at_the_end_and_strictly_inside_elsewhere(name, hidden, activation, per_phase):
    low, high = game(name).utility_range
    for size in (0.3, 1e6, 1e37):
        e = net(name, hidden, activation, per_phase, size=size)
        for s in states(name):
            mine, theirs = e.evaluate(s, 0), e.evaluate(s, 1)
            assert mine == -theirs
            if e.game.is_terminal(s):
                assert mine == e.game.utility(s, 0)
            else:
                assert low < mine < high


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_five_outputs_never_rise_and_equity_follows_from_them(activation):
    e = net(TESAURO, (8,), activation)
    assert e.outputs == 5
    contradicted = 0
    for s in states(TESAURO)[:-1]:
        x, phase = e.observe(s, e.game.observer(s))
        p = e.probabilities(x, phase)
        assert p == sorted(p, reverse=True)
        assert all(0 < chance < 1 for chance in p)
        contradicted += len(set(p)) < 5
        not_backgammoned, not_gammoned, won, gammon, backgammon = p
        lost, lost_gammon, lost_backgammon = 1 - won, 1 - not_gammoned, 1 - not_backgammoned
        equity = won + gammon + backgammon - lost - lost_gammon - lost_backgammon
        assert e.evaluate(s, e.game.observer(s)) == pytest.approx(equity, abs=1e-6)
    assert contradicted  # random weights do contradict themselves


def test_an_output_that_contradicts_its_neighbour_counts_as_that_one():
    e = net(TESAURO, (8,))
    tensors = {k: np.zeros_like(t) for k, t in e.tensors().items() if k in TENSORS}
    tensors["b3"][:] = [0.0, -9.0, 1.0, 2.0, -1.0]  # logits: "no gammon lost" less likely than "won", and so on
    p = NetEval(e.game, tensors).probabilities([0.0] * 198, 0)
    sure = 1 / (1 + np.exp(-1.0))
    assert p == pytest.approx([sure, sure, sure, sure, 1 - sure])


@pytest.mark.parametrize("per_phase", [*((k,) for k in TENSORS), TENSORS], ids=str)
def test_each_phase_has_its_own_part_of_any_tensor(per_phase):
    e, x = net("double_move", (8, 8), per_phase=per_phase, size=0.3), [1.0, 2.0, 1.0]
    assert (e.nets, {len(e.tensors()[k]) for k in per_phase}) == (2, {2})
    assert e.probabilities(x, 0) != e.probabilities(x, 1)
    same = NetEval(e.game, {k: t[-1:] for k, t in e.tensors().items() if k in TENSORS})
    assert same.nets == 1
    assert same.probabilities(x, 0) == same.probabilities(x, 1) == e.probabilities(x, 1)


def test_one_output_stands_for_the_whole_range():
    e = net(TESAURO, (8,), outputs=1)
    for s in states(TESAURO)[:20]:
        (p,) = e.probabilities(*e.observe(s, e.game.observer(s)))
        assert e.evaluate(s, e.game.observer(s)) == pytest.approx(6 * p - 3, abs=1e-6)


def test_sigmoid_is_the_logistic_function_to_a_few_ten_thousandths():
    z = np.linspace(-20, 20, 999, dtype=np.float32)
    assert np.abs(activate(z, "sigmoid") - 1 / (1 + np.exp(-z.astype(float)))).max() < 2e-4


# --- files -----------------------------------------------------------------------------------------------------------
def test_file_holds_layers_activation_and_phases(tmp_path):
    for name, hidden, activation, per_phase in KERNELS[:4]:
        e = net(name, hidden, activation, per_phase)
        loaded = load_evaluator(save(e, tmp_path / "e.safetensors"), e.game)
        assert (loaded.activation, loaded.hidden, loaded.nets) == (activation, hidden, e.nets)
        assert all(t.tobytes() == loaded.tensors()[k].tobytes() for k, t in e.tensors().items())


def test_file_fits_both_backends_of_its_game(tmp_path):
    """Six results: the compiled game must know them too."""
    e = net(TESAURO, (8,))
    loaded = load_evaluator(save(e, tmp_path / "e.safetensors"), CompiledGame(e.game))
    assert loaded.outputs == 5
    s = states(TESAURO)[3]
    assert loaded.evaluate(s, 0) == e.evaluate(s, 0)


def rewritten(e: NetEval, path: Path, **changes: np.ndarray) -> Path:
    """The file with other tensors, and a header that fits them."""
    save(e, path)
    with safe_open(path, framework="np") as file:
        header = json.loads(file.metadata()["evallearn"])
    tensors = {k: np.ascontiguousarray(t) for k, t in {**e.tensors(), **changes}.items()}
    header["architecture"] = {k: list(t.shape) for k, t in tensors.items()}
    header["checksum"] = _checksum(tensors)
    path.write_bytes(to_bytes(tensors, metadata={"evallearn": json.dumps(header)}))
    return path


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"activation": np.array([3], np.int16)}, r"e.safetensors: a net has one activation, 0 to 2; got \[3\]"),
        ({"activation": np.array([-1], np.int16)}, r"a net has one activation, 0 to 2; got \[-1\]"),
        ({"activation": np.array([0, 1], np.int16)}, r"got \[0, 1\]"),
        ({"activation": np.array([0.0], np.float32)}, r"tensor activation is F32, not I16 \(int16\)"),
        ({"w1": np.zeros((1, 7, 8), np.float32)}, r"tensor w1 of a net of tic_tac_toe must have shape .*, got"),
        ({"w1": np.zeros((0, 0, 0), np.float32)}, "must have shape"),
        ({"w1": np.full((1, 4, 8), np.inf, np.float32)}, "tensor w1 of this net holds a number that is not finite"),
        (
            {"w4": np.zeros(1, np.float32)},
            "a net evaluator has the tensors w1, b1, w2, b2, w3, b3, activation; the file",
        ),
    ],
    ids=str,
)
def test_tampered_files_are_refused(changes, match, tmp_path):
    e = net("tic_tac_toe", (8,))
    if "inf" in str(changes.get("w1")):
        changes = {"w1": np.full(e.tensors()["w1"].shape, np.inf, np.float32)}
    path = rewritten(e, tmp_path / "e.safetensors", **changes)
    with pytest.raises(EvaluatorError, match=match):
        load_evaluator(path, e.game)


# --- what cannot be a net --------------------------------------------------------------------------------------------
def tensors_of(name: str = "tic_tac_toe", hidden: tuple[int, ...] = (8,), **changes: Any) -> dict[str, Any]:
    return {**{k: t for k, t in net(name, hidden).tensors().items() if k in TENSORS}, **changes}


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("w1", (8,)), ("w1", (2, 4, 8)), ("b1", (1, 7)), ("w2", (1, 9, 0)), ("w2", (8, 0)), ("b2", (1, 8)),
        ("w3", (1, 8, 2)), ("b3", (1, 2)), ("b3", ()),
    ],
)  # fmt: skip
def test_wrong_shapes_are_refused(name, shape):
    with pytest.raises(EvaluatorError, match=r"tensor \w\d of a net of tic_tac_toe must have shape .*, got"):
        NetEval(game("tic_tac_toe"), tensors_of(**{name: np.zeros(shape)}))


def test_units_that_are_no_multiple_of_eight_are_refused():
    with pytest.raises(EvaluatorError, match=r"hidden units in multiples of 8, got"):
        net("tic_tac_toe", (12,))
    with pytest.raises(EvaluatorError, match=r"hidden units in multiples of 8, got"):
        net("tic_tac_toe", (8, 4))


@pytest.mark.parametrize("bad", [np.nan, -np.inf, 1e39])
def test_numbers_that_float32_cannot_hold_are_refused(bad):
    with pytest.raises(EvaluatorError, match="tensor b3 of this net holds a number that is not finite: train it again"):
        NetEval(game("tic_tac_toe"), tensors_of(b3=np.array([[bad]])))


def test_other_tensors_activations_and_games_are_refused():
    few = {k: t for k, t in tensors_of().items() if k != "b2"}
    with pytest.raises(EvaluatorError, match="a net needs the tensors w1, b1, w2, b2, w3, b3; got b1, b3, w1, w2, w3"):
        NetEval(game("tic_tac_toe"), few)
    with pytest.raises(SpecError, match="unknown activation 'sigmod': did you mean 'sigmoid'"):
        NetEval(game("tic_tac_toe"), tensors_of(), "sigmod")
    with pytest.raises(EvaluatorError, match="tree has no features"):
        NetEval(TreeGame(), tensors_of())


def test_weights_of_16_bits_take_half_the_bytes_and_lose_nothing_more(tmp_path):
    whole = net("tic_tac_toe", (64, 8))
    half = whole.halved()
    save(whole, tmp_path / "whole.safetensors")
    save(half, tmp_path / "half.safetensors")
    sizes = [(tmp_path / f"{name}.safetensors").stat().st_size for name in ("whole", "half")]
    weights = sum(whole.tensors()[k].size for k in TENSORS)
    assert sizes[0] - sizes[1] > 1.9 * weights
    read = load_evaluator(tmp_path / "half.safetensors", game("tic_tac_toe"))
    for name in TENSORS:
        assert read.tensors()[name].dtype == np.float32
        assert read.tensors()[name].tobytes() == half.tensors()[name].tobytes()
        assert np.abs(read.tensors()[name] - whole.tensors()[name]).max(initial=0) < 2e-3
    with pytest.raises(EvaluatorError, match="holds a number that is not finite"):
        NetEval(whole.game, {k: 1e6 * whole.tensors()[k] for k in TENSORS}).halved()
