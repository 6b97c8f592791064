"""Evaluator files: what is written is read back, and nothing else gets in."""

from __future__ import annotations

import json
import math
import os
import pickle
import random
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from nets import random_net
from safetensors.numpy import save as to_bytes
from toys import DoubleMove, Takeaway, python_path

import evallearn
from evallearn.compiled.game import CompiledGame
from evallearn.errors import EvaluatorError, SpecError
from evallearn.evaluators import (
    FunctionEval,
    LinearEval,
    NetEval,
    SolvedEval,
    feature_hash,
    heuristic,
    load_evaluator,
    read_header,
    save,
)
from evallearn.evaluators import files as files_module
from evallearn.registry import get_game

GAME = Takeaway()
REMADE = "make the file again"


def linear(**metadata) -> LinearEval:
    return LinearEval(GAME, [[0.25, -1.5]], [0.125], metadata={"name": "mine", "seed": 3, **metadata})


def net(game=GAME) -> NetEval:
    e = random_net(game, (8, 8), per_phase=("b1",))
    e.metadata["name"] = "net"
    return e


@pytest.fixture
def path(tmp_path) -> Path:
    return save(linear(), tmp_path / "e.safetensors")


def forge(path: Path, tensors: dict | None = None, header: object = None, raw: str | None = None) -> Path:
    """A well-formed safetensors file with any header and tensors; by default those of `linear`."""
    tensors = linear().tensors() if tensors is None else tensors
    good = {**files_module._header(linear()), "checksum": files_module._checksum(tensors)}
    text = raw if raw is not None else json.dumps({**good, **(header or {})})
    path.write_bytes(to_bytes(tensors, metadata={"evallearn": text}))
    return path


class OfOnesOwn(LinearEval):
    kind = "mine"


TTT = get_game("tic_tac_toe")
NOT_SAVED = {
    "a FunctionEval (half), which no file can hold": FunctionEval(TTT, lambda s, p: 0.5),
    "a 'mine' evaluator (mine), which no file can hold": OfOnesOwn(GAME, [[0.25, -1.5]]),
    "a SolvedEval (mine+solved), which no file can hold: it saves the kinds linear, net, quantised, patterns, "
    "which are learned numbers; of a SolvedEval save its `below`": SolvedEval(linear(), solved=lambda s: None),
    "a function, which no file can hold": linear,
    "a NoneType, which no file can hold": None,
}
NOT_SAVED["a FunctionEval (half), which no file can hold"].name = "half"


@pytest.mark.parametrize("told", NOT_SAVED)
def test_what_can_be_saved_is_said_in_a_sentence(told: str, tmp_path: Path) -> None:
    with pytest.raises(EvaluatorError) as error:
        save(NOT_SAVED[told], tmp_path / "e.safetensors")
    assert f"save got {told}" in str(error.value)
    assert "it saves the kinds linear, net, quantised, patterns" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def refused(path: Path, match: str, game=GAME) -> None:
    with pytest.raises(EvaluatorError, match=match) as caught:
        load_evaluator(path, game)
    assert str(path) in str(caught.value)


# --- round trips -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("evaluator", [linear(), net(), net(DoubleMove())], ids=["linear", "net", "phases"])
def test_file_read_back_equals_the_evaluator_written(evaluator, tmp_path):
    loaded = load_evaluator(save(evaluator, tmp_path / "a" / "b" / "e.safetensors"), evaluator.game)
    assert type(loaded) is type(evaluator)
    assert loaded.name == evaluator.name
    for name, tensor in evaluator.tensors().items():
        assert loaded.tensors()[name].dtype == tensor.dtype
        assert loaded.tensors()[name].tobytes() == tensor.tobytes()
    s = evaluator.game.initial()
    assert loaded.evaluate(s, 0) == evaluator.evaluate(s, 0)


def test_file_is_the_same_to_the_byte_with_source_date_epoch(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    first, second = (save(net(), tmp_path / n).read_bytes() for n in ("a.safetensors", "b.safetensors"))
    assert first == second
    assert read_header(tmp_path / "a.safetensors")["made"]["date"] == "1970-01-02T00:00:00+00:00"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86401")
    assert save(net(), tmp_path / "a.safetensors").read_bytes() != first


def test_saving_leaves_no_other_file_even_if_it_fails(tmp_path, monkeypatch):
    save(linear(), tmp_path / "e.safetensors")
    before = (tmp_path / "e.safetensors").read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["e.safetensors"]

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save(linear(seed=4), tmp_path / "e.safetensors")
    assert [p.name for p in tmp_path.iterdir()] == ["e.safetensors"]
    assert (tmp_path / "e.safetensors").read_bytes() == before


def test_header_names_everything_that_made_the_file(path):
    header = read_header(path)
    assert header["format"] == 1
    assert (header["kind"], header["game"], header["game_version"]) == ("linear", "takeaway", 1)
    assert header["features"] == {"names": ["remainder", "pile"], "hash": feature_hash(GAME)}
    assert header["architecture"] == {"weights": [1, 2], "bias": [1]}
    assert (header["n_phases"], header["scale"], header["squash"]) == (1, 1.0, "tanh")
    assert header["made"].items() >= {"name": "mine", "seed": 3}.items()


def test_file_without_a_name_inside_is_named_after_itself(tmp_path):
    nameless = LinearEval(GAME, [[1, 2]])
    assert load_evaluator(save(nameless, tmp_path / "best.safetensors"), GAME).name == "best"


def test_load_finds_a_shipped_game_by_the_header(tmp_path):
    game = get_game("connect_four")
    wrote = heuristic(game, next(iter(game.heuristics)))
    loaded = evallearn.load(save(wrote, tmp_path / "c4.safetensors"))
    assert type(loaded.game) is type(game)
    assert loaded.evaluate(game.initial(), 0) == wrote.evaluate(game.initial(), 0)


def test_load_asks_for_a_game_that_is_not_shipped(path):
    with pytest.raises(
        SpecError, match=r"evaluator of 'takeaway', which is not shipped: call load\(path, game=YourGame"
    ):
        evallearn.load(path)
    assert evallearn.load(path, game=Takeaway()).evaluate((3, 0), 0) == linear().evaluate((3, 0), 0)


def test_file_fits_both_backends_of_its_game(tmp_path):
    game = DoubleMove()
    fast = CompiledGame(game)
    assert feature_hash(fast) == feature_hash(game)
    written = save(net(fast), tmp_path / "e.safetensors")
    assert load_evaluator(written, game).evaluate(game.initial(), 0) == net(game).evaluate(game.initial(), 0)


def test_loading_needs_neither_torch_nor_sklearn(tmp_path):
    game = get_game("tic_tac_toe")
    wanted = net(game).evaluate(game.initial(), 0)
    file = save(net(game), tmp_path / "net.safetensors")
    code = f"""
import sys
for name in ("torch", "sklearn", "pyarrow", "matplotlib"):
    sys.modules[name] = None  # an import of it raises ImportError
import evallearn
e = evallearn.load({str(file)!r})
assert e.evaluate(e.game.initial(), 0) == {wanted!r}
assert "numba" not in sys.modules, "plain evaluation must not wait for Numba"
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# --- it does not fit ---------------------------------------------------------------------------------------------
def test_file_of_another_game_is_refused_with_both_names(path):
    refused(path, "is an evaluator of takeaway, not of double_move: choose another file or game", DoubleMove())


class Later(Takeaway):
    version = 2


class Tripled(Takeaway):
    """The same names, other values."""

    def features(self, s, player):
        return [3 * f for f in super().features(s, player)]


class OneValue(Takeaway):
    """Other values in a single position."""

    def features(self, s, player):
        return [f + (s[0] == 1) for f in super().features(s, player)]


class Renamed(Takeaway):
    feature_names = ("rest", "pile")


@pytest.mark.parametrize("kind", [Tripled, OneValue, Renamed])
def test_file_for_other_features_is_refused_with_both_hashes(path, kind):
    ours, theirs = feature_hash(kind()), feature_hash(GAME)
    assert ours != theirs
    refused(
        path, rf"trained on features takeaway/v1 \({theirs}\), this version computes takeaway/v1 \({ours}\)", kind()
    )


def test_file_for_another_version_is_refused(path):
    refused(path, r"features takeaway/v1 \(\w+\), this version computes takeaway/v2 \(\w+\): refit it", Later())


def test_feature_hash_sees_how_a_game_was_built():
    class Sized(Takeaway):
        def __init__(self, start):
            self.start = start

    assert feature_hash(Sized(11)) == feature_hash(Takeaway())
    assert feature_hash(Sized(9)) != feature_hash(Sized(11))


def test_feature_hash_comes_to_an_end_on_an_endless_game():
    class Endless(Takeaway):
        def result(self, s, a):
            return (s[0], 1 - s[1])

    assert len(feature_hash(Endless())) == 12


def test_feature_hash_is_the_same_in_another_process():
    code = (
        "from toys import DoubleMove; from evallearn.evaluators import feature_hash; print(feature_hash(DoubleMove()))"
    )
    env = {**os.environ, "PYTHONPATH": python_path(Path(__file__).parents[1]), "PYTHONHASHSEED": "99"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == feature_hash(DoubleMove())


@pytest.mark.parametrize(
    ("field", "value", "match"),
    [
        ("n_phases", 2, "n_phases is 2, takeaway needs 1: refit it"),
        ("scale", 64.0, "scale is 64.0, takeaway needs 1.0: refit it"),
        ("scale", math.nan, "scale is nan, takeaway needs 1.0: refit it"),
        ("squash", "none", "squash is 'none', takeaway needs 'tanh': refit it"),
        ("architecture", {"weights": [9, 9], "bias": [1]}, rf"names the architecture .*\[9, 9\].*: {REMADE}"),
        ("features", {"names": ["a", "b"], "hash": feature_hash(GAME)}, "was trained on features"),
        ("features", {"hash": [1]}, "was trained on features"),
    ],
)
def test_header_that_does_not_fit_is_refused(tmp_path, field, value, match):
    refused(forge(tmp_path / "e.safetensors", header={field: value}), match)


# --- it is no evaluator file -------------------------------------------------------------------------------------
def test_missing_file_and_folder_are_refused(tmp_path):
    for path in (tmp_path / "nothing.safetensors", tmp_path):
        for read in (read_header, evallearn.load):
            with pytest.raises(EvaluatorError, match=r"no evaluator file .*: give the path of a \.safetensors file"):
                read(path)


def test_unreadable_file_is_refused(path, monkeypatch):
    import safetensors

    def deny(*_, **__):
        raise PermissionError("not yours")

    monkeypatch.setattr(safetensors, "safe_open", deny)
    refused(path, r"cannot be read \(not yours\)")


def test_huge_file_is_refused_unread(path, monkeypatch):
    monkeypatch.setattr(files_module, "MAX_BYTES", 100)
    refused(path, r"holds \d+ bytes; an evaluator has at most 100")


class Bomb:
    def __reduce__(self):
        return (os._exit, (66,))


def test_pickle_is_refused_unexecuted(tmp_path):
    (tmp_path / "e.safetensors").write_bytes(pickle.dumps(Bomb()))
    refused(tmp_path / "e.safetensors", "is damaged or no safetensors file")


def test_plain_safetensors_file_is_refused(tmp_path):
    file = tmp_path / "e.safetensors"
    for metadata in (None, {"format": "pt"}):
        file.write_bytes(to_bytes(linear().tensors(), metadata=metadata))
        refused(file, "is a safetensors file, but not one of evallearn: it has no 'evallearn' header")


@pytest.mark.parametrize("raw", ["", "{", "no JSON", "[" * 100_000, "9" * 5000, "\x00", '{"format": 1'])
def test_header_that_is_no_json_is_refused(tmp_path, raw):
    refused(forge(tmp_path / "e.safetensors", raw=raw), f"header is no JSON: {REMADE}")


@pytest.mark.parametrize(
    "raw", ["[]", "null", "3", '"text"', "{}", '{"format": "1"}', '{"format": null}', '{"format": 1.0}']
)
def test_header_without_a_format_is_refused(tmp_path, raw):
    refused(forge(tmp_path / "e.safetensors", raw=raw), f"header names no format: {REMADE}")


def test_header_of_the_future_is_refused_with_both_versions(tmp_path):
    file = forge(tmp_path / "e.safetensors", raw='{"format": 2, "anything": "else"}')
    refused(file, "is of evaluator format 2, this evallearn reads format 1: install")


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [
        ("kind", 1, "str"), ("game", None, "str"), ("game_version", "1", "int"), ("features", [], "dict"),
        ("n_phases", 1.0, "int"), ("architecture", None, "dict"), ("scale", 1, "float"), ("squash", {}, "str"),
        ("made", "by hand", "dict"),
    ],
)  # fmt: skip
def test_header_field_of_the_wrong_type_is_refused(tmp_path, field, value, kind):
    refused(
        forge(tmp_path / "e.safetensors", header={field: value}), f"header field '{field}' is .*, expected a {kind}"
    )


@pytest.mark.parametrize(("kind", "remedy"), [("nnue", "$"), ("mlp", "; fit it again by `evallearn fit --method net`")])
def test_unknown_kind_is_refused(tmp_path, kind, remedy):
    file = forge(tmp_path / "e.safetensors", header={"kind": kind})
    refused(file, f"holds a '{kind}' evaluator; this evallearn knows linear, net, quantised, patterns{remedy}")


@pytest.mark.parametrize(
    ("tensors", "have"),
    [
        ({"weights": np.zeros((1, 2), np.float32)}, "weights"),
        ({**linear().tensors(), "extra": np.zeros(1, np.float32)}, "bias, extra, weights"),
        (net().tensors(), "activation, b1, b2, b3, w1, w2, w3"),
        ({}, "none"),
    ],
)
def test_missing_and_extra_tensors_are_refused(tmp_path, tensors, have):
    file = forge(tmp_path / "e.safetensors", tensors)
    refused(file, f"a linear evaluator has the tensors weights, bias; the file has {have}$")


@pytest.mark.parametrize(
    ("dtype", "kind"), [(np.float64, "F64"), (np.float16, "F16"), (np.int32, "I32"), (np.uint8, "U8")]
)
def test_other_number_types_are_refused(tmp_path, dtype, kind):
    tensors = {"weights": np.zeros((1, 2), dtype), "bias": np.zeros(1, np.float32)}
    refused(forge(tmp_path / "e.safetensors", tensors), rf"tensor weights is {kind}, not F32 \(float32\): {REMADE}")


def test_bfloat16_is_refused(tmp_path):
    data = forge(tmp_path / "e.safetensors", {"weights": np.zeros((1, 2), np.float16), "bias": np.zeros(1, np.float32)})
    raw = data.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = raw[8 : 8 + size].replace(b'"F16"', b'"BF16"')
    data.write_bytes(struct.pack("<Q", len(header)) + header + raw[8 + size :])
    refused(data, "tensor weights is BF16, not F32")


def wrong_shape(shape: tuple[int, ...]) -> tuple[dict, dict]:
    tensors = {"weights": np.zeros(shape, np.float32), "bias": np.zeros(1, np.float32)}
    return tensors, {"architecture": {k: list(t.shape) for k, t in tensors.items()}}


@pytest.mark.parametrize("shape", [(1, 3), (2, 2), (2,), (1, 0), (1, 2, 1), ()])
def test_tensor_of_the_wrong_shape_is_refused(tmp_path, shape):
    tensors, header = wrong_shape(shape)
    refused(
        forge(tmp_path / "e.safetensors", tensors, header),
        r"e\.safetensors: a linear evaluator of takeaway needs weights of",
    )


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_refused(tmp_path, bad):
    tensors = {"weights": np.array([[1, bad]], np.float32), "bias": np.zeros(1, np.float32)}
    refused(
        forge(tmp_path / "e.safetensors", tensors),
        "a weight of this linear evaluator of takeaway is not a finite number",
    )


# --- corruption --------------------------------------------------------------------------------------------------
def survives(file: Path, evaluator) -> bool:
    """Any damage is refused with EvaluatorError, or leaves an evaluator of the same shape with finite numbers."""
    try:
        loaded = load_evaluator(file, GAME)
    except EvaluatorError:
        return False
    for name, tensor in evaluator.tensors().items():
        assert loaded.tensors()[name].shape == tensor.shape
        assert np.isfinite(loaded.tensors()[name]).all()
    low, high = GAME.utility_range
    assert low < loaded.evaluate(GAME.initial(), 0) < high
    return True


@pytest.mark.parametrize("evaluator", [linear(), net()], ids=["linear", "net"])
def test_truncated_file_is_refused_at_every_length(tmp_path, evaluator):
    file = save(evaluator, tmp_path / "e.safetensors")
    data = file.read_bytes()
    for n in [*range(0, len(data), 7), len(data) - 1]:
        file.write_bytes(data[:n])
        refused(file, "is damaged or no safetensors file")


def test_file_with_something_behind_it_is_refused(path):
    path.write_bytes(path.read_bytes() + b"more")
    refused(path, "is damaged or no safetensors file")


@pytest.mark.parametrize("size", [0, 1, 2, 2**20, 2**31, 2**40, 2**63, 2**64 - 1])
def test_declared_header_size_is_not_believed(path, size):
    path.write_bytes(struct.pack("<Q", size) + path.read_bytes()[8:])
    refused(path, "is damaged or no safetensors file")


@pytest.mark.parametrize(
    "shape", ["[1,99999999999]", "[4294967296,4294967296]", "[18446744073709551615,2]", "[-1,2]", "[1e3,2]"]
)
def test_declared_tensor_size_is_not_believed(path, shape):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = data[8 : 8 + size]
    assert header.count(b'"shape":[1,2]') == 1
    header = header.replace(b'"shape":[1,2]', b'"shape":' + shape.encode())
    path.write_bytes(struct.pack("<Q", len(header)) + header + data[8 + size :])
    refused(path, "is damaged or no safetensors file")


def test_random_garbage_is_refused(tmp_path):
    rng, file = random.Random(11), tmp_path / "e.safetensors"
    for n in [0, 1, 7, 8, 9, *(rng.randrange(4000) for _ in range(200))]:
        file.write_bytes(rng.randbytes(n))
        refused(file, "is damaged or no safetensors file")


@pytest.mark.parametrize("evaluator", [linear(), net()], ids=["linear", "net"])
def test_flipped_bytes_are_refused_or_harmless(tmp_path, evaluator):
    file, rng = save(evaluator, tmp_path / "e.safetensors"), random.Random(12)
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    survivors = 0
    for trial in range(600):
        damaged = bytearray(data)
        for _ in range(1 + trial % 3):
            place = rng.randrange(size + 8) if trial % 2 else rng.randrange(len(data))
            damaged[place] ^= 1 << rng.randrange(8)
        file.write_bytes(damaged)
        survivors += survives(file, evaluator)
    assert 0 < survivors < 600  # the date may be another; most of the header must be as it was


def test_flipped_bit_of_a_weight_is_refused(tmp_path):
    file = save(linear(), tmp_path / "e.safetensors")
    data = bytearray(file.read_bytes())
    data[-7] ^= 1
    file.write_bytes(data)
    refused(file, "is damaged: its numbers do not have the checksum of its header")


@pytest.mark.parametrize("evaluator", [linear(), net()], ids=["linear", "net"])
def test_exchanged_words_of_the_header_are_refused_or_harmless(tmp_path, evaluator):
    """Damage that is still JSON: it gets further than flipped bits."""
    file, rng = save(evaluator, tmp_path / "e.safetensors"), random.Random(13)
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = data[8 : 8 + size].decode()
    words = ["null", "true", "-1", "0", "1e999", "NaN", "[]", "{}", '"F32"', '"F64"', '"BF16"', '"U8"', "1", "2", '"x"']
    spots = [(i, j) for i in range(size) for j in (i + 1, i + 2, i + 5) if header[i] in '0123456789"[{']
    for _ in range(600):
        i, j = rng.choice(spots)
        forged = (header[:i] + rng.choice(words) + header[j:]).encode()
        file.write_bytes(struct.pack("<Q", len(forged)) + forged + data[8 + size :])
        survives(file, evaluator)
