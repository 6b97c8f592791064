"""Evaluator files: one .safetensors file, a JSON header in its metadata, no pickle anywhere.

A file may come from a stranger. Nothing in it is executed; it is refused unless every part fits the game at hand.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import NotRequired, TypedDict

import numpy as np

from evallearn.core.digest import digest
from evallearn.core.evaluator import Evaluator
from evallearn.core.files import write_atomically
from evallearn.core.game import Game
from evallearn.core.json_shapes import JsonDict, build
from evallearn.errors import EvaluatorError
from evallearn.evaluators.features import FeatureEval, feature_hash, half_range
from evallearn.evaluators.linear import LinearEval
from evallearn.evaluators.net import NetEval
from evallearn.evaluators.patterns import PatternEval, cell_hash
from evallearn.evaluators.quantised import NUMBERS, QuantisedNet
from evallearn.evaluators.squash import SQUASHES

FORMAT = 1
KEY = "evallearn"
MAX_BYTES = 1 << 30
KINDS = {
    "linear": ("weights", "bias"),
    "net": ("w1", "b1", "w2", "b2", "w3", "b3", "activation"),
    "quantised": tuple(NUMBERS),
    "patterns": ("squares", "by", "unit", "held", "small", "wide"),
}
FLOAT32 = "F32 (float32)"
TYPES = {
    "squares": "I16 (int16)", "by": "I16 (int16)", "held": "U8 (uint8)", "small": "I8 (int8)", "wide": "I16 (int16)",
    "activation": "I16 (int16)", "exponents": "I16 (int16)", "q1": "I16 (int16)", "q2": "I16 (int16)",
    "q3": "I16 (int16)", "c1": "I32 (int32)", "c2": "I32 (int32)", "c3": "I32 (int32)",
}  # fmt: skip
"""Of the tensors that are not float32."""
HALF = "F16"
"""How a net's weights may be stored as well, which loses nothing where they were rounded so (`NetEval.halved`)."""


def save(evaluator: FeatureEval, path: Path | str) -> Path:
    """Write the evaluator with its header; atomically, so that a half-written file never carries the name.

    Raises EvaluatorError for an evaluator that no file can hold.
    """
    from safetensors.numpy import save as to_bytes

    _require_kind(evaluator)
    path = Path(path)
    header = json.dumps(_header(evaluator), sort_keys=True)
    tensors = {k: np.ascontiguousarray(t) for k, t in evaluator.tensors().items()}
    if evaluator.kind == "net":
        tensors = {k: _smallest(t) for k, t in tensors.items()}
    write_atomically(path, to_bytes(tensors, metadata={KEY: header}))
    return path


class Header(TypedDict):
    """What a file says of its tensors."""

    format: int
    kind: str
    game: str
    game_version: int
    features: JsonDict
    n_phases: int
    architecture: JsonDict
    checksum: str
    scale: float
    squash: str
    made: JsonDict
    accumulates: NotRequired[bool]


def _require_kind(evaluator: object) -> None:
    """Refuse all but learned numbers: a file that held a function would run it where it is loaded."""
    if isinstance(evaluator, FeatureEval) and evaluator.kind in KINDS:
        return
    what = f"a {evaluator.kind!r} evaluator" if isinstance(evaluator, FeatureEval) else f"a {type(evaluator).__name__}"
    name = f" ({evaluator.name})" if isinstance(evaluator, Evaluator) else ""
    below = "; of a SolvedEval save its `below`" if hasattr(evaluator, "below") else ""
    raise EvaluatorError(
        f"save got {what}{name}, which no file can hold: it saves the kinds {', '.join(KINDS)}, which are "
        f"learned numbers{below}; keep anything else as code"
    )


def _smallest(tensor: np.ndarray) -> np.ndarray:
    """Return the same numbers in half the bytes, if they fit."""
    with np.errstate(over="ignore"):
        half = tensor.astype(np.float16)
    return half if tensor.dtype == np.float32 and (half == tensor).all() else tensor


def _header(evaluator: FeatureEval) -> JsonDict:
    game = evaluator.game
    return {
        "format": FORMAT,
        "kind": evaluator.kind,
        "game": game.name,
        "game_version": game.version,
        "features": evaluator.identity(),
        "n_phases": game.n_phases,
        "checksum": _checksum(evaluator.tensors(), evaluator.squash),
        "architecture": {k: list(t.shape) for k, t in evaluator.tensors().items()},
        "scale": evaluator.scale,
        "squash": evaluator.squash,
        **({"accumulates": True} if evaluator.accumulates else {}),
        "made": {"date": _now(), **evaluator.metadata},
    }


def _checksum(tensors: dict[str, np.ndarray], squash: str = "tanh") -> str:
    """Return the sha256 over the numbers, and over what makes values of them.

    A flipped bit would still be a number.
    """
    parts: list[str | bytes | np.ndarray] = []
    if squash != "tanh":
        parts.append(f"{squash} ".encode(errors="backslashreplace"))
    for name, tensor in sorted(tensors.items()):
        kind = "<i4" if tensor.dtype == np.int32 else "<f4"  # which would not tell all of them apart
        parts += [name, tensor.astype(kind, copy=False)]
    return digest(*parts)


def _now() -> str:
    """Return the date for the header; SOURCE_DATE_EPOCH makes files reproducible to the byte."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    return moment.isoformat(timespec="seconds")


def read_header(path: Path | str) -> Header:
    """Return the header of an evaluator file, checked for form; the weights are not touched."""
    return _read(Path(path), weights=False)[0]


def verified_header(path: Path | str) -> Header:
    """Return the header of an evaluator file whose weights are what it says; their fit to a game is not checked."""
    path = Path(path)
    header, tensors = _read(path, weights=True)
    _check_weights(path, header, tensors)
    return header


def load_evaluator(path: Path | str, game: Game) -> FeatureEval:
    """Return the evaluator in the file, for this game or another view of it. Needs neither torch nor scikit-learn."""
    path = Path(path)
    header, tensors = _read(path, weights=True)
    game = game.seen_as(header["game"])
    _check_fit(path, header, game)
    _check_weights(path, header, tensors)
    metadata = {"name": path.stem, **header["made"]}
    try:
        if header["kind"] == "linear":
            return LinearEval(game, tensors["weights"], tensors["bias"], metadata, squash=header["squash"])
        if header["kind"] == "patterns":
            return PatternEval.from_tensors(game, tensors, metadata)
        if header["kind"] == "net":
            return NetEval.from_tensors(game, tensors, metadata)
        return QuantisedNet(game, tensors, metadata)
    except EvaluatorError as error:
        raise EvaluatorError(f"{path}: {error}") from None


def _read(path: Path, weights: bool) -> tuple[Header, dict[str, np.ndarray]]:
    from safetensors import SafetensorError, safe_open

    if not os.path.isfile(path):  # False for a name that is too long, too
        raise EvaluatorError(f"no evaluator file {path}: give the path of a .safetensors file made by `evallearn fit`")
    if path.stat().st_size > MAX_BYTES:
        raise EvaluatorError(f"{path} holds {path.stat().st_size:,} bytes; an evaluator has at most {MAX_BYTES:,}")
    try:
        with safe_open(path, framework="np") as file:
            header = _parse_header(path, (file.metadata() or {}).get(KEY))
            names = set(file.keys())
            if names != set(KINDS[header["kind"]]):
                raise EvaluatorError(
                    f"{path}: a {header['kind']} evaluator has the tensors {', '.join(KINDS[header['kind']])}; "
                    f"the file has {', '.join(sorted(names)) or 'none'}"
                )
            for name in names:  # asked before it is read: NumPy has no bfloat16, and others fail in other ways
                kind, wanted = file.get_slice(name).get_dtype(), TYPES.get(name, FLOAT32)
                if kind != wanted.split()[0] and not (header["kind"] == "net" and (wanted, kind) == (FLOAT32, HALF)):
                    raise EvaluatorError(f"{path}: tensor {name} is {kind}, not {wanted}: make the file again")
            tensors = {name: file.get_tensor(name) for name in names} if weights else {}
    except OSError as error:
        raise EvaluatorError(f"{path} cannot be read ({error})") from None
    except (SafetensorError, ValueError) as error:
        raise EvaluatorError(f"{path} is damaged or no safetensors file ({error}): make it again") from None
    return header, tensors


def _parse_header(path: Path, text: str | None) -> Header:
    if text is None:
        raise EvaluatorError(f"{path} is a safetensors file, but not one of evallearn: it has no {KEY!r} header")
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise EvaluatorError(f"{path}: its {KEY!r} header is no JSON: make the file again") from None
    wanted: dict[str, type] = {
        "format": int, "kind": str, "game": str, "game_version": int, "features": dict,
        "n_phases": int, "architecture": dict, "checksum": str, "scale": float, "squash": str, "made": dict,
    }  # fmt: skip
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise EvaluatorError(f"{path}: its header names no format: make the file again")
    if header["format"] != FORMAT:
        raise EvaluatorError(
            f"{path} is of evaluator format {header['format']}, this evallearn reads format {FORMAT}: "
            "install the evallearn that made it, or make the file again"
        )
    for key, kind in wanted.items():
        if not isinstance(header.get(key), kind):
            raise EvaluatorError(f"{path}: header field {key!r} is {header.get(key)!r}, expected a {kind.__name__}")
    if header["kind"] not in KINDS:
        remedy = "; fit it again by `evallearn fit --method net`" if header["kind"] == "mlp" else ""
        raise EvaluatorError(
            f"{path} holds a {header['kind']!r} evaluator; this evallearn knows {', '.join(KINDS)}{remedy}"
        )
    return build(Header, header)


def _check_weights(path: Path, header: Header, tensors: dict[str, np.ndarray]) -> None:
    shapes = {name: list(tensor.shape) for name, tensor in tensors.items()}
    if header["architecture"] != shapes:
        raise EvaluatorError(
            f"{path}: its header names the architecture {header['architecture']}, its tensors have {shapes}: "
            "make the file again"
        )
    if header["checksum"] != _checksum(tensors, header["squash"]):
        raise EvaluatorError(f"{path} is damaged: its numbers do not have the checksum of its header: make it again")


def _check_fit(path: Path, header: Header, game: Game) -> None:
    if header["game"] != game.name:
        raise EvaluatorError(
            f"{path} is an evaluator of {header['game']}, not of {game.name}: choose another file or game"
        )
    on_cells = header["kind"] == "patterns"
    theirs, ours = header["features"].get("hash"), cell_hash(game) if on_cells else feature_hash(game)
    same_names = header["features"].get("names") == ([] if on_cells else list(game.feature_names))
    if theirs != ours or not same_names or header["game_version"] != game.version:
        raise EvaluatorError(
            f"{path} was trained on features {game.name}/v{header['game_version']} ({theirs}), this version computes "
            f"{game.name}/v{game.version} ({ours}): refit it, or install the evallearn that made it"
        )
    if header.get("accumulates", False) is not game.has("won"):
        told = ["how the game ends", "what is still to come"]
        wanted = told[game.has("won")]
        raise EvaluatorError(f"{path} does not say {wanted}, as an evaluator of {game.name} must: refit it")
    squash = header["squash"] if header["kind"] == "linear" and header["squash"] in SQUASHES else "tanh"
    for key, there, here in (
        ("n_phases", header["n_phases"], game.n_phases),
        ("scale", header["scale"], half_range(game)),
        ("squash", header["squash"], squash),
    ):
        if there != here:
            raise EvaluatorError(f"{path}: {key} is {there!r}, {game.name} needs {here!r}: refit it")
