"""Checkpoints: damage, foreign files and numbers that no learner can go on from are refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from evallearn.errors import DataError
from evallearn.train.selfplay.checkpoints import checksum, read_checkpoint, save_checkpoint

RECIPE = {"game": "x", "sizes": (3, 4), "share": 0.5}
COUNTERS = {"counter": 2**64 - 1, "games": 7, "errors": 0.25, "moves": [1, 2]}
TENSORS = {"weights": np.arange(12, dtype=np.float32).reshape(3, 4), "rows": np.zeros((0, 2), np.uint64)}


def read(path: Path) -> tuple[dict, dict]:
    return read_checkpoint(path, "toy", RECIPE, COUNTERS, TENSORS, {"rows"})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    save_checkpoint(tmp_path / "x.resume", "toy", RECIPE, COUNTERS, TENSORS)
    return tmp_path / "x.resume"


def remake(file: Path, header: dict | None = None, tensors: dict | None = None) -> None:
    """The file with other contents and a checksum that fits."""
    said = {"recipe": {**RECIPE, "sizes": [3, 4]}, "counters": COUNTERS, **(header or {})}
    numbers = {**TENSORS, **(tensors or {})}
    numbers = {name: tensor for name, tensor in numbers.items() if tensor is not None}
    text = json.dumps({**said, "checksum": checksum(said, numbers)})
    save_file(numbers, file, metadata={"evallearn-toy": text})


def test_a_checkpoint_is_read_as_it_was_written(file: Path) -> None:
    counters, tensors = read(file)
    assert counters == COUNTERS
    assert all(tensors[name].tobytes() == tensor.tobytes() for name, tensor in TENSORS.items())
    remake(file)
    assert read(file)[0] == COUNTERS


def test_every_flipped_bit_of_a_weight_is_noticed(file: Path) -> None:
    good = file.read_bytes()
    at = good.index(TENSORS["weights"].tobytes())
    for bit in range(8 * TENSORS["weights"].nbytes):
        data = bytearray(good)
        data[at + bit // 8] ^= 1 << bit % 8
        file.write_bytes(data)
        with pytest.raises(
            DataError, match=r"x\.resume is damaged, or no checkpoint \(its checksum does not fit\): delete"
        ):
            read(file)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text.replace('\\"games\\": 7', '\\"games\\": 8'), "its checksum does not fit"),
        (lambda text: text.replace('\\"share\\": 0.5', '\\"share\\": 0.6'), "its checksum does not fit"),
        (lambda text: text.replace('\\"games\\": 7', '\\"games\\": x'), "Expecting value"),
        (lambda text: text.replace('\\"recipe\\"', '\\"receipt\\"'), "its header names no recipe or no counters"),
        (lambda text: text.replace("checksum", "check-up"), "it has no checksum, as those of earlier versions"),
        (lambda text: text[:-20], "file not fully covered|deserializing|incomplete"),
        (lambda text: text.replace("evallearn-toy", "evallearn-net"), "it has no 'evallearn-toy' header"),
    ],
)
def test_damage_is_told_with_its_remedy(damage, message: str, file: Path) -> None:
    before = file.read_bytes().decode("latin-1")
    after = damage(before)
    assert after != before
    size = int.from_bytes(before[:8].encode("latin-1"), "little") + len(after) - len(before)
    if not before.startswith(after):  # another header has another length
        after = size.to_bytes(8, "little").decode("latin-1") + after[8:]
    file.write_bytes(after.encode("latin-1"))
    with pytest.raises(DataError, match=rf"x\.resume is .*({message}).*: delete it to begin anew"):
        read(file)


@pytest.mark.parametrize(
    ("header", "tensors", "message"),
    [
        ({"counters": {**COUNTERS, "games": -1}}, {}, "its counter games is -1"),
        ({"counters": {**COUNTERS, "games": 2**63}}, {}, "its counter games is 9223372036854775808"),
        ({"counters": {**COUNTERS, "games": True}}, {}, "its counter games is True"),
        ({"counters": {**COUNTERS, "errors": float("nan")}}, {}, "its counter errors is nan"),
        ({"counters": {**COUNTERS, "moves": [1]}}, {}, r"its counter moves is \[1\]"),
        ({"counters": {"games": 7}}, {}, "its counter counter is None"),
        ({}, {"weights": np.full((3, 4), np.nan, np.float32)}, "its weights hold a number that is not finite"),
        ({}, {"weights": np.full((3, 4), np.inf, np.float32)}, "its weights hold a number that is not finite"),
        ({}, {"weights": np.zeros((4, 3), np.float32)}, r"it holds \(4, 3\) weights, not \(3, 4\)"),
        ({}, {"weights": np.zeros((3, 4))}, "it holds no weights of type float32 and 2 dimensions"),
        ({}, {"weights": None}, "it holds no weights of type float32 and 2 dimensions"),
    ],
)
def test_what_no_learner_can_go_on_from_is_refused_though_its_checksum_fits(
    header: dict, tensors: dict, message: str, file: Path
) -> None:
    remake(file, header, tensors)
    with pytest.raises(DataError, match=rf"fits no learner of these settings \({message}\): delete it to begin anew"):
        read(file)


def test_another_recipe_is_named_before_other_tensors(file: Path) -> None:
    with pytest.raises(DataError, match=r"was made with share 0\.5, now 0\.7: give the same settings, or delete it"):
        read_checkpoint(file, "toy", {**RECIPE, "share": 0.7}, {}, {})


def test_tensors_of_a_kind_that_numpy_does_not_know_are_refused(file: Path) -> None:
    data = file.read_bytes().replace(b'"dtype":"F32"', b'"dtype":"I32"')
    assert load_file(file)["weights"].dtype == np.float32
    file.write_bytes(data)
    with pytest.raises(DataError, match=r"is no checkpoint of a toy learner \(it holds I32\): delete it to begin anew"):
        read(file)
