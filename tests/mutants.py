"""Damaged copies of files: `mutants(data, ...)`, and `try_mutant`, which says what became of reading one.

Bytes are flipped, taken out, put in, cut off, doubled or zeroed; lines are doubled, swapped, emptied or taken out; and
values inside JSON, in a whole file, on a line or in the header of a .safetensors file, become other ones.
"""

from __future__ import annotations

import json
import random
import shutil
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evallearn.errors import EvallearnError

SAME, REFUSED, OTHER = "same", "refused", "other"
Read = Callable[[Path], Any]


@dataclass(frozen=True)
class Kind:
    """A kind of file that the program reads."""

    name: str
    make: Callable[[Path], Path]
    """make(folder): write a small one, with all that is read beside it; the file that is damaged."""
    read: Read
    """read(file): what the program takes from it, comparable by ==."""
    promised: bool
    """Whether damage must never change what is read: a checksum covers it, or it is made again."""
    again: bool = False
    """Whether what cannot be read is made again, and so refused hardly ever."""
    forge: Callable[[Path, random.Random], None] | None = None
    """forge(file, rng): change a value in the file and every checksum with it, as somebody does who knows how."""
    fits: Callable[[Any, Any], bool] = lambda first, found: bool(first == found)
    """fits(first, found): whether nothing of what is read has changed."""


class Tried(Counter[str]):
    """How many mutants had which outcome."""

    def row(self, kind: str) -> str:
        """Kind, mutants, same, refused, silently other, tracebacks."""
        broken = Counter[str]()
        for key, n in self.items():
            broken[key.partition(":")[0]] += n
        for fine in (SAME, REFUSED, OTHER):
            del broken[fine]
        told = ", ".join(f"{n} {name}" for name, n in broken.most_common())
        sums = (self.total(), self[SAME], self[REFUSED], self[OTHER], f"{broken.total()} ({told})" if told else 0)
        return f"| {kind} | {' | '.join(map(str, sums))} |"


def try_mutants(kind: Kind, folder: Path, n: int, *, forged: bool = False) -> Tried:
    """Read n mutants, each in a folder that is otherwise as it was made. forged: those whose checksums fit."""
    made = folder / "made"
    made.mkdir(parents=True)
    file = kind.make(made)
    good, first = file.read_bytes(), None
    tried, place = Tried(), folder / "mutant"
    for number in range(-1, n):
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(made, place)
        damaged = place / file.relative_to(made)
        if number < 0:
            first = kind.read(damaged)
            continue
        rng = random.Random(f"{kind.name}/{number}")
        if forged:
            assert kind.forge is not None
            kind.forge(damaged, rng)
        else:
            damaged.write_bytes(mutant(good, rng, file.suffix))
        tried[outcome(kind, damaged, first)] += 1
    return tried


def outcome(kind: Kind, file: Path, first: Any) -> str:
    """What became of reading the file: an EvallearnError is a refusal, every other exception counts by its name."""
    try:
        return SAME if kind.fits(first, kind.read(file)) else OTHER
    except EvallearnError:
        return REFUSED
    except Exception as error:  # the name of what must not happen
        return f"{type(error).__name__}: {str(error)[:80]}"


# --- damage ----------------------------------------------------------------------------------------------------------
def mutant(data: bytes, rng: random.Random, suffix: str) -> bytes:
    """A damaged copy, never the same."""
    ways: list[Callable[[bytes, random.Random], bytes]] = [damage_bytes]
    if suffix in (".safetensors", ".resume", ".table"):
        ways.append(damage_safetensors)
    elif suffix in (".json", ".jsonl"):
        ways += [damage_lines, damage_json, damage_json]
    elif suffix != ".parquet":
        ways.append(damage_lines)
    while True:
        found = rng.choice(ways)(data, rng)
        if found != data:
            return found


def damage_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bits flipped, or bytes that are other ones, gone, new, zero, doubled or cut off."""
    i, few = rng.randrange(len(data)), rng.choice([1, 1, 2, 8, 100])
    block = data[i : i + few]
    way = rng.randrange(8)
    if way <= 1:
        flipped = bytearray(data)
        for _ in range(1 + way):
            flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return bytes(flipped)
    new = [bytes([rng.randrange(256)]), b"", block + rng.randbytes(few), bytes(len(block)), block + block]
    return data[:i] if way == 7 else data[:i] + new[way - 2] + data[i + (1 if way == 2 else len(block)) :]


def damage_lines(data: bytes, rng: random.Random) -> bytes:
    """A line gone, doubled, emptied, moved, or cut off; or two swapped."""
    lines = data.splitlines(keepends=True)
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    way = rng.randrange(6)
    if way == 0:
        del lines[i]
    elif way == 1:
        lines.insert(j, lines[i])
    elif way == 2:
        lines[i] = b"\n"
    elif way == 3:
        lines.insert(j, lines.pop(i))
    elif way == 4:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines[i] = lines[i][: rng.randrange(len(lines[i]))] + b"\n"
    return b"".join(lines)


def damage_json(data: bytes, rng: random.Random) -> bytes:
    """Another value in the JSON of the file, or of one of its lines; the rest stays."""
    lines = data.splitlines()
    try:
        return dumps(changed(json.loads(data), rng), rng).encode()
    except ValueError:
        i = rng.randrange(len(lines))
    try:
        lines[i] = dumps(changed(json.loads(lines[i]), rng), rng).encode()
    except ValueError:
        return data
    return b"\n".join(lines) + b"\n"


def damage_safetensors(data: bytes, rng: random.Random) -> bytes:
    """Another value in the header, or in the JSON that stands in it as a text; its length fits."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    metadata = header.get("__metadata__", {})
    if metadata and rng.random() < 0.7:
        key = rng.choice(sorted(metadata))
        metadata[key] = dumps(changed(json.loads(metadata[key]), rng), rng)
    else:
        header = changed(header, rng)
    text = dumps(header, rng).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + size :]


DEEP = "@deep@"
"""Stands for brackets within brackets."""
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 7, 0.5, -0.0, 1e308, 10**18, 2**63, 10**400, float("nan"), float("inf"), "", "x",
    "\0", "../x", [], {}, [[]], {"x": 1}, [0] * 50,
]  # fmt: skip


def changed(tree: Any, rng: random.Random) -> Any:
    """The same JSON but for one value, which is another one, gone, nested without end, or a little larger."""
    spots = list(_spots(tree))
    if not spots:
        return rng.choice(VALUES)
    holder, key = rng.choice(spots)
    way, value = rng.randrange(8), holder[key]
    if way == 0:
        del holder[key]
    elif way == 1 and type(value) in (int, float):
        holder[key] = value + rng.choice([-1, 1, 0.25, 1e-9])
    elif way == 2 and isinstance(value, str) and value:
        i = rng.randrange(len(value))
        holder[key] = value[:i] + rng.choice("0aZ/:-") + value[i + 1 :]
    elif way == 3 and isinstance(holder, dict):
        holder[rng.choice(["x", "more", key + "s"])] = value
    elif way == 4:
        other, name = rng.choice(spots)
        holder[key] = json.loads(json.dumps(other[name]))
    elif way == 5:
        holder[key] = DEEP
    else:
        holder[key] = rng.choice(VALUES)
    return tree


def dumps(tree: Any, rng: random.Random) -> str:
    """The JSON, with as many brackets as were asked for."""
    depth = rng.choice([50, 990, 100_000])
    return json.dumps(tree).replace(json.dumps(DEEP), "[" * depth + "]" * depth)


def _spots(tree: Any) -> Iterator[tuple[Any, Any]]:
    """(the object or the list, the key in it) of every value."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in list(pairs):
        yield tree, key
        yield from _spots(value)
