"""Files with another value inside and checksums that fit it: what somebody writes who knows how they are made."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from mutants import changed
from safetensors import safe_open
from safetensors.numpy import save_file

from evallearn.core.checksum import line_text, with_checksum
from evallearn.core.digest import json_digest
from evallearn.data.shards import HEADER_KEY
from evallearn.evaluators import files
from evallearn.games.backgammon import bearoff
from evallearn.train.selfplay.checkpoints import checksum


def without(data: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in data.items() if k != "sha256"}


def forge_json(file: Path, rng: random.Random, belongs_to: str = "") -> None:
    """Another value in a whole JSON file."""
    found = changed(without(json.loads(file.read_text())), rng)
    file.write_text(json.dumps(with_checksum(found, belongs_to) if isinstance(found, dict) else found))


def forge_sets(file: Path, rng: random.Random) -> None:
    """Another value in a line of a match's journal."""
    terms = json_digest(without(json.loads((file.parent / "match.json").read_text())))
    lines = file.read_text().splitlines(keepends=True)
    i = rng.randrange(len(lines))
    found = changed(without(json.loads(lines[i])), rng)
    lines[i] = line_text(found, terms) if isinstance(found, dict) else f"{found}\n"
    file.write_text("".join(lines))


def forge_tensors(tensors: dict[str, np.ndarray], rng: random.Random) -> None:
    """One tensor of another shape or type, or with a number that is none."""
    name = rng.choice(sorted(tensors))
    tensor = tensors[name]
    if tensor.size and rng.random() < 0.5:
        numbers = [np.nan, np.inf, -np.inf, 1e30, -0.0, 1.0] if tensor.dtype.kind == "f" else [0, 1, -1, 99, 127]
        with np.errstate(over="ignore"):  # 1e30 in 16 bits
            tensor.flat[rng.randrange(tensor.size)] = np.array(rng.choice(numbers)).astype(tensor.dtype)
    else:
        tensors[name] = rng.choice([tensor[:-1], tensor[None], tensor.astype(np.float64), tensor.astype(np.int8)])


def forge_safetensors(file: Path, rng: random.Random, seal: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """Another value in the header or in a tensor; seal(header, tensors) mends the checksum."""
    with safe_open(file, framework="np") as opened:
        ((key, text),) = opened.metadata().items()
        tensors = {name: opened.get_tensor(name) for name in sorted(opened.keys())}
    header = json.loads(text)
    if rng.random() < 0.5:
        forge_tensors(tensors, rng)
        seal(header, tensors)
    else:
        seal(header, tensors)
        header = changed(header, rng)
        if isinstance(header, dict) and rng.random() < 0.7:
            seal(header, tensors)
    save_file({k: np.ascontiguousarray(t) for k, t in tensors.items()}, file, metadata={key: json.dumps(header)})


def forge_checkpoint(file: Path, rng: random.Random) -> None:
    def seal(header: dict[str, Any], tensors: dict[str, Any]) -> None:
        header.pop("checksum", None)
        header["checksum"] = checksum(header, tensors)

    forge_safetensors(file, rng, seal)


def forge_evaluator(file: Path, rng: random.Random) -> None:
    def seal(header: dict[str, Any], tensors: dict[str, Any]) -> None:
        header["checksum"] = files._checksum(tensors, header.get("squash", "tanh"))
        header["architecture"] = {k: list(t.shape) for k, t in tensors.items()}

    forge_safetensors(file, rng, seal)


def forge_bearoff(file: Path, rng: random.Random) -> None:
    def seal(header: dict[str, Any], tensors: dict[str, Any]) -> None:
        if set(tensors) == set(bearoff.SHAPES):
            header["checksum"] = bearoff._checksum(tensors)

    forge_safetensors(file, rng, seal)


def forge_shard(file: Path, rng: random.Random) -> None:
    """Another value in the header of a shard, with a checksum or, as in those of earlier versions, without."""
    opened = pq.ParquetFile(file)
    header = changed(without(json.loads(opened.metadata.metadata[HEADER_KEY])), rng)
    if isinstance(header, dict) and rng.random() < 0.5:
        header = with_checksum(header)
    table = opened.read().replace_schema_metadata({HEADER_KEY: json.dumps(header).encode()})
    pq.write_table(table, file)
