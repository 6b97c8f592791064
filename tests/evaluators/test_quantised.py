"""Quantised nets: the promises of an evaluator, exact sums by whatever way, files, and what is refused."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest
from nets import random_net
from playing import random_game
from toys import DoubleMove, Takeaway

from evallearn.compiled.game import CompiledGame
from evallearn.compiled.integers import add_whole_rows
from evallearn.core.game import Game
from evallearn.errors import EvaluatorError
from evallearn.evaluators import load_evaluator, save
from evallearn.evaluators.batch import evaluate_words
from evallearn.evaluators.net import ACTIVATIONS, TENSORS, NetEval
from evallearn.evaluators.quantised import QuantisedNet, quantise
from evallearn.registry import game_names, get_game

TWO_SIDED = [n for n in game_names() if get_game(n).n_players == 2 and get_game(n).zero_sum]


@cache
def remembering(name: str) -> Game:
    """A game that works out each position once: `quantise` looks at the same ones for every net."""
    game = get_game(name)
    for rule in ("actions", "result", "is_terminal", "features"):
        setattr(game, rule, cache(getattr(game, rule)))
    return game


def nets(game: Game) -> list[NetEval]:
    return [
        random_net(game, per_phase=TENSORS),
        random_net(game, (16, 8), "clipped"),
        random_net(game, (8, 8), "sigmoid", per_phase=("b1", "w2", "b3")),
        random_net(game, (8, 16), size=1e-6, per_phase=TENSORS),
        random_net(game, size=1e37, per_phase=TENSORS),
        random_net(game, size=0.0),
    ]


@cache
def positions(game: Game, least: int = 60) -> list:
    """Of random games, the ends too."""
    fast, found, seed = CompiledGame(game) if game.rules else game, [], 0
    while len(found) < least:
        found += [s for s, _ in random_game(fast, seed)]
        seed += 1
    return found[:: len(found) // least]


# --- the promises ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", TWO_SIDED)
def test_values_lie_inside_and_have_one_sign(name):
    game = remembering(name)
    low, high = game.utility_range
    for net in nets(game):
        e = quantise(net)
        for s in positions(game, 20):
            if game.is_terminal(s):
                assert e.evaluate(s, 0) == game.utility(s, 0)
            else:
                assert low < e.evaluate(s, 0) < high
            assert e.evaluate(s, 1) == -e.evaluate(s, 0)


@pytest.mark.parametrize("name", TWO_SIDED)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_quantised_values_are_near_those_of_the_net(name, activation):
    game = remembering(name)
    net = random_net(game, (16, 8), activation, size=0.1, per_phase=TENSORS)
    e = quantise(net)
    scale = game.utility_range[1] - game.utility_range[0]
    for s in positions(game, 20):
        assert e.evaluate(s, 0) == pytest.approx(net.evaluate(s, 0), abs=0.01 * scale)


@pytest.mark.parametrize(
    ("name", "which"),
    [
        *(("double_move", which) for which in (0, 1, 2, 4, 5)),
        ("othello", 0),
        *(pytest.param(*more, marks=pytest.mark.long) for more in (("double_move", 3), ("othello", 2))),
    ],
)  # kernels take long to compile
def test_backends_agree_to_the_last_bit_whatever_was_seen_before(name, which):
    game = DoubleMove() if name == "double_move" else get_game(name)
    e = quantise(nets(game)[which])
    states = [s for s in positions(game) if not game.is_terminal(s)]
    plain = {s: np.float32(e.evaluate(s, game.to_play(s))) for s in states}
    for seed in range(3):
        random.Random(seed).shuffle(states)
        words = np.array([game.encode(s) for s in states], np.uint64)
        assert evaluate_words(e, words).tobytes() == np.array([plain[s] for s in states]).tobytes()


class FromTheStart(QuantisedNet):
    incremental = False


def test_sums_from_the_start_are_the_same():
    game = get_game("othello")
    e = quantise(random_net(game, per_phase=TENSORS))
    words = np.array([game.encode(s) for s in positions(game)], np.uint64)
    assert evaluate_words(FromTheStart(game, e.tensors()), words).tobytes() == evaluate_words(e, words).tobytes()


def test_whole_rows_are_added_as_numpy_adds_them():
    rng = np.random.default_rng(1)
    weights = rng.integers(-100, 100, (5, 16)).astype(np.int16)
    places, values = np.array([4, 0, 2], np.int32), np.array([7, -32768, 3], np.int32)
    start, h = rng.integers(-(2**20), 2**20, 16).astype(np.int32), np.zeros(16, np.int32)
    add_whole_rows(*(a.ctypes.data for a in (h, start, weights, places, values)), 3, 16)
    assert h.tolist() == (start + values @ weights[places].astype(np.int32)).tolist()


# --- inputs ----------------------------------------------------------------------------------------------------------
def test_inputs_are_rounded_to_sixteenths_and_cut_off():
    e = quantise(random_net(Takeaway()))
    assert e.steps_of([0.5, -0.24]).tolist() == [8, -4]
    assert e.steps_of([1e30, -np.inf]).tolist() == [e.reach, -e.reach]
    assert e.steps_of([np.nan, 0.03]).tolist() == [0, 0]


def test_inputs_within_reach_cannot_overflow():
    e = quantise(random_net(remembering("chess"), size=3.0, per_phase=TENSORS))
    t = e.tensors()
    highest = e.reach * np.abs(t["q1"].astype(np.int64)).sum(axis=1) + np.abs(t["c1"].astype(np.int64))
    assert 16 <= e.reach < 2**14
    assert highest.max() <= 2**30


class Scaled(Takeaway):
    """Takeaway whose pile is told in other units."""

    size = 1.0

    def features(self, s, player):
        return [super().features(s, player)[0], self.size * s[0]]


class Huge(Scaled):
    size = 1e4


class Tiny(Scaled):
    size = 1e-4


def test_feature_beyond_reach_is_refused():
    with pytest.raises(
        EvaluatorError, match=r"feature 'pile' of takeaway is \d+ in position .*; inputs .* reach 1023.94"
    ):
        quantise(random_net(Huge()))


def test_feature_that_rounds_to_nothing_is_refused():
    with pytest.raises(
        EvaluatorError, match=r"'pile' of takeaway is never more than .*; .* multiples of 1/16: multiply"
    ):
        quantise(random_net(Tiny()))


def test_weights_too_large_for_units_from_0_to_1_are_refused():
    with pytest.raises(EvaluatorError, match="takeaway are too large for quantised units from 0 to 1: train it again"):
        quantise(random_net(Takeaway(), activation="clipped", size=1e9))


# --- files -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("which", range(6))
def test_file_read_back_equals_the_net_written(which, tmp_path):
    game = DoubleMove()
    e = quantise(nets(game)[which], {"name": "small"})
    loaded = load_evaluator(save(e, tmp_path / "q.safetensors"), game)
    assert (type(loaded), loaded.name) == (QuantisedNet, "small")
    for name, tensor in e.tensors().items():
        assert loaded.tensors()[name].dtype == tensor.dtype
        assert loaded.tensors()[name].tobytes() == tensor.tobytes()
    assert loaded.evaluate(game.initial(), 0) == e.evaluate(game.initial(), 0)


def test_same_net_gives_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    first, second = (
        save(quantise(random_net(Takeaway())), tmp_path / name).read_bytes()
        for name in ("a.safetensors", "b.safetensors")
    )
    assert first == second


def tensors(of="relu", **changes) -> dict:
    return {**quantise(random_net(Takeaway(), (16, 8), of)).tensors(), **changes}


@pytest.mark.parametrize(
    ("name", "shape"),
    [("q1", (1, 3, 16)), ("q1", (16,)), ("c1", (1, 8)), ("q2", (1, 16, 4)), ("q2", (8,)), ("c2", ()), ("q3", (1, 8, 2)),
     ("c3", (2, 1)), ("exponents", (4,)), ("activation", (2,))],
)  # fmt: skip
def test_wrong_shapes_are_refused(name, shape):
    changed = np.zeros(shape, tensors()[name].dtype)
    with pytest.raises(EvaluatorError, match=r"tensor \w+ of a quantised net of takeaway must have shape .*, got"):
        QuantisedNet(Takeaway(), tensors(**{name: changed}))


def test_wrong_types_are_refused():
    with pytest.raises(EvaluatorError, match="tensor q2 of a quantised net must be int16, got int8"):
        QuantisedNet(Takeaway(), tensors(q2=tensors()["q2"].astype(np.int8)))


def test_missing_and_extra_tensors_are_refused():
    few = {k: t for k, t in tensors().items() if k != "c2"}
    for given in (few, tensors(q4=np.zeros(1))):
        with pytest.raises(EvaluatorError, match="a quantised net needs the tensors q1, c1, .*; got"):
            QuantisedNet(Takeaway(), given)


def test_unknown_activation_is_refused():
    with pytest.raises(EvaluatorError, match="a quantised net has an activation from 0 to 2; got 3"):
        QuantisedNet(Takeaway(), tensors(activation=np.array([3], np.int16)))


@pytest.mark.parametrize(
    "exponents", [[-14, 30, -8, 40, 0], [0, -10, 0, 0, 0], [-14, -5, -8, -50, 0], [600, 600, 0, 600, 0]]
)
def test_exponents_that_do_not_fit_are_refused(exponents):
    with pytest.raises(EvaluatorError, match=r"the exponents \[.*\] of this quantised net do not fit together"):
        QuantisedNet(Takeaway(), tensors(exponents=np.array(exponents, np.int16)))


def test_units_above_1_are_refused():
    clipped = tensors("clipped")
    with pytest.raises(EvaluatorError, match="do not fit together"):
        QuantisedNet(Takeaway(), {**clipped, "exponents": np.array([-14, 2, -8, -6, 0], np.int16)})


def test_first_layer_that_could_overflow_is_refused():
    with pytest.raises(EvaluatorError, match="sums of an input of 1 may leave 32 bits"):
        QuantisedNet(Takeaway(), tensors(c1=np.full((1, 16), 2**30, np.int32)))


def test_second_layer_that_could_overflow_is_refused():
    with pytest.raises(EvaluatorError, match="the second layer's sums of this quantised net may leave 32 bits"):
        QuantisedNet(Takeaway(), tensors(c2=np.full((1, 8), -(2**31), np.int32)))


def test_wide_second_layer_is_made_to_fit():
    net = random_net(Takeaway(), (1024, 8))
    same = {k: np.abs(t) + 1 if k == "w2" else t for k, t in net.tensors().items() if k != "activation"}
    e = quantise(NetEval(Takeaway(), same))
    assert np.abs(e.tensors()["q2"]).max() < 64  # bits were given up


def test_many_large_features_make_the_first_layer_coarser():
    class Wide(Takeaway):
        feature_names = tuple(f"f{i}" for i in range(200))

        def features(self, s, player):
            return [float(10 * s[0])] * 200

    net = random_net(Wide())
    same = {k: np.ones_like(t) if k == "w1" else t for k, t in net.tensors().items() if k != "activation"}
    e = quantise(NetEval(Wide(), same))
    assert e.reach >= 2 * 16 * 10 * 10
    assert np.abs(e.tensors()["q1"]).max() < 2**13
