"""The endgame table of checkers: win, draw or loss of every position with few pieces, by retrograde analysis.

The values are those of perfect play without the drawing rules. `plies` shows whether a win comes in time.

An ending is named by its numbers of pieces as the player to move counts them: (own men, own kings, opposing men,
opposing kings). Each player numbers the squares from its own back row, so that a position with White to move is, turned
around, one with Black to move, and one half of all positions is enough. A set of k squares has a number among all such
sets, the sum of C(square, position in the set); the four numbers of a position, as digits, are its place in its ending.
Sets that overlap leave gaps, one place in seven, which cost next to nothing in the compressed file.
"""

from __future__ import annotations

import json
import lzma
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evallearn.core.digest import digest
from evallearn.core.files import data_folder, write_atomically
from evallearn.core.json_shapes import JsonDict
from evallearn.errors import GameError
from evallearn.games.checkers.moves import BLACK, N_SQUARES, WHITE, State, bit, sides, squares_of

Ending = tuple[int, int, int, int]
MIN_PIECES, MAX_PIECES = 2, 4
VALUES = (0, 1, -1)
"""By code, to the player to move: draw, win, loss."""
PLACES = (28, 32, 28, 32)
"""Squares for men and kings of each player."""
IMPOSSIBLE = 3
"""The code of a place whose sets of squares overlap, while the table is built."""
NOTHING: Ending = (0, 0, 0, 0)
Progress = Callable[[int, int], None]
"""progress(places done, places in all)"""


class Counts(NamedTuple):
    """How many positions of an ending have each value to the player to move."""

    wins: int
    draws: int
    losses: int


def endings(pieces: int) -> list[Ending]:
    """Return all endings of up to so many pieces in which both players have one, in an order that can be solved.

    Captures lead to fewer pieces, crowning to fewer men.
    """
    every = ((a, b, c, d) for a, b, c, d in product(range(pieces), repeat=4) if a + b and c + d)
    return sorted((e for e in every if sum(e) <= pieces), key=lambda e: (sum(e), e[0] + e[2], e))


def mirror(ending: Ending) -> Ending:
    """Return the same ending with the other player to move."""
    return (*ending[2:], *ending[:2])


def size(ending: Ending) -> int:
    """Return the number of places of an ending, the impossible ones included."""
    return math.prod(math.comb(n, k) for n, k in zip(PLACES, ending, strict=True))


def offsets(pieces: int) -> dict[Ending, int]:
    """Return where each ending begins; and, as NOTHING, where the last one ends."""
    starts, total = {}, 0
    for ending in endings(pieces):
        starts[ending] = total
        total += size(ending)
    return {**starts, NOTHING: total}


def rank(squares: Sequence[int]) -> int:
    """Return the number of an ascending set of squares among those of its size."""
    return sum(math.comb(square, k) for k, square in enumerate(squares, 1))


def locate(s: State) -> tuple[Ending, int]:
    """Return the ending of the position and its place there."""
    sets = []
    for player, pieces in ((BLACK, s.black), (WHITE, s.white)):
        for kind in (pieces & ~s.kings, pieces & s.kings):
            squares = squares_of(kind)
            sets.append(squares if player == BLACK else [31 - n for n in reversed(squares)])
    if s.player == WHITE:
        sets = sets[2:] + sets[:2]
    place = 0
    for chosen, n in zip(sets, PLACES, strict=True):
        place = place * math.comb(n, len(chosen)) + rank(chosen)
    own_men, own_kings, opp_men, opp_kings = map(len, sets)
    return (own_men, own_kings, opp_men, opp_kings), place


class EndgameTable:
    """The value of every position with at most `pieces` pieces. Make it with `build_table` or `load_table`."""

    def __init__(self, pieces: int, packed: np.ndarray) -> None:
        self.pieces, self.packed = pieces, packed
        self.offsets = offsets(pieces)
        self._plies: dict[Ending, np.ndarray] = {}

    def value(self, s: State) -> int | None:
        """Return +1, 0 or -1, the value of `s` to its mover, drawing rules aside; None if it has too many pieces."""
        own, opp = sides(s)
        if (own | opp).bit_count() > self.pieces:
            return None
        if not own or not opp:
            return 1 if own else -1
        ending, place = locate(s)
        at = self.offsets[ending] + place
        return VALUES[self.packed[at >> 2] >> 2 * (at & 3) & 3]

    def plies(self, s: State) -> int:
        """Return the plies until something is taken or crowned, or the game ends, in a won or lost position.

        The winner hurries, the loser does not. The file does not keep them: they are found again, an ending at a time.
        """
        if not all(sides(s)):
            return 0
        ending, place = locate(s)
        if ending not in self._plies:
            codes = self.unpacked()
            plies = np.zeros(len(codes), np.uint8)
            Kernels(self.pieces).solve(ending, codes, np.zeros(len(codes), np.int8), plies)
            for member in (ending, mirror(ending)):
                self._plies[member] = plies[self.offsets[member] :][: size(member)].copy()
        return int(self._plies[ending][place])

    def unpacked(self) -> np.ndarray:
        """Return uint8[places]: the codes, one by one."""
        codes = np.stack([self.packed >> shift & 3 for shift in (0, 2, 4, 6)], axis=1).reshape(-1)
        return codes[: self.offsets[NOTHING]]

    def counts(self) -> dict[Ending, Counts]:
        """Count how many positions of each ending are won, drawn and lost for the player to move."""
        kernels, codes = Kernels(self.pieces), self.unpacked()
        return {ending: Counts(*map(int, kernels.tally(ending, codes))) for ending in endings(self.pieces)}

    def contradictions(self) -> int:
        """Count the values that do not follow from the values one move later; a table that is right has none."""
        kernels, codes = Kernels(self.pieces), self.unpacked()
        return sum(kernels.contradictions(ending, codes) for ending in endings(self.pieces))


def pack(codes: np.ndarray) -> np.ndarray:
    """Pack four codes in a byte.

    An impossible place takes the code before it, which compresses well.
    """
    last_possible = np.maximum.accumulate(np.where(codes == IMPOSSIBLE, 0, np.arange(len(codes))))
    filled = np.zeros(-(-len(codes) // 4) * 4, np.uint8)
    filled[: len(codes)] = codes[last_possible] % IMPOSSIBLE
    quarters = filled.reshape(-1, 4)
    return quarters[:, 0] | quarters[:, 1] << 2 | quarters[:, 2] << 4 | quarters[:, 3] << 6  # type: ignore[no-any-return]


def build_table(pieces: int = MAX_PIECES, progress: Progress | None = None) -> EndgameTable:
    """Solve all endings by retrograde analysis: four pieces take seconds, once the kernels are compiled."""
    if pieces not in range(MIN_PIECES, MAX_PIECES + 1):
        raise GameError(f"no endgame table of {pieces!r} pieces: give {MIN_PIECES}..{MAX_PIECES}")
    kernels, total = Kernels(pieces), offsets(pieces)[NOTHING]
    codes, open_moves, plies = np.zeros(total, np.uint8), np.zeros(total, np.int8), np.zeros(total, np.uint8)
    done = 0
    for ending in endings(pieces):
        if ending > mirror(ending):
            continue  # solved together with its mirror
        done += kernels.solve(ending, codes, open_moves, plies)
        if progress is not None:
            progress(done, total)
    return EndgameTable(pieces, pack(codes))


class Kernels:
    """The compiled analysis (table_kernel.py), and the arrays it works with."""

    def __init__(self, pieces: int) -> None:
        from evallearn.compiled.specialise import announce, specialise

        self.run = specialise(Path(__file__).with_name("table_kernel.py"))
        announce("the endgame analysis of checkers", self.run.propagate)
        self.arrays = kernel_arrays(pieces)

    def solve(self, ending: Ending, codes: np.ndarray, open_moves: np.ndarray, plies: np.ndarray) -> int:
        """Fill in codes and plies of an ending and its mirror; smaller endings are known. Return how many places."""
        group = sorted({ending, mirror(ending)})
        places = sum(map(size, group))
        queue = np.zeros(1 + places, np.int64)
        for member in group:
            self.run.begin(np.array(member), codes, open_moves, plies, queue, *self.arrays)
        ends = np.array(group[0]), np.array(group[-1])
        self.run.propagate(*ends, codes, open_moves, plies, queue, *self.arrays)
        return places

    def tally(self, ending: Ending, codes: np.ndarray) -> tuple[int, int, int]:
        """Return (wins, draws, losses) of an ending."""
        return self.run.tally(np.array(ending), codes, *self.arrays)  # type: ignore[no-any-return]

    def contradictions(self, ending: Ending, codes: np.ndarray) -> int:
        """Count the codes of an ending that do not follow from their successors."""
        return int(self.run.contradictions(np.array(ending), codes, *self.arrays))


@lru_cache(maxsize=1)
def kernel_arrays(pieces: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return choose[n, k], offsets[ending], and sets[player, k, number] as words."""
    choose = np.array([[math.comb(n, k) for k in range(pieces)] for n in range(33)], np.int64)
    starts = np.zeros((pieces,) * 4, np.int64)
    for ending, start in offsets(pieces).items():
        starts[ending] = start
    sets = np.zeros((2, pieces, math.comb(32, pieces - 1)), np.uint64)
    for k in range(pieces):
        for chosen in combinations(range(N_SQUARES), k):
            number = rank(chosen)
            sets[BLACK, k, number] = sum(bit(n) for n in chosen)
            sets[WHITE, k, number] = sum(bit(31 - n) for n in chosen)
    return choose, starts, sets


# --- files -----------------------------------------------------------------------------------------------------------
FORMAT = 1
KEY = "evallearn_table"
MAX_BYTES = 1 << 24
"""Of a file; a table of four pieces has a fifth of a megabyte."""
MEMORY = 1 << 27
"""Bytes that unpacking a file may take, whatever the file says."""
REMEDY = "make it again with `evallearn tables checkers`"


def save_table(table: EndgameTable, path: Path | str) -> Path:
    """Write the table, compressed, with its header and checksum; the file is whole or absent."""
    from safetensors.numpy import save

    path, data = Path(path), table.packed.tobytes()
    header = {
        "format": FORMAT,
        "game": "checkers",
        "pieces": table.pieces,
        "checksum": digest(data),
    }
    compressed = np.frombuffer(lzma.compress(data), np.uint8)
    write_atomically(path, save({"values": compressed}, metadata={KEY: json.dumps(header, sort_keys=True)}))
    return path


def load_table(path: Path | str) -> EndgameTable:
    """Read the table in the file.

    It may come from a stranger: nothing in it is executed, and every part is checked.
    """
    path = Path(path)
    header, compressed = _read(path)
    pieces = header["pieces"]
    assert isinstance(pieces, int)
    n_bytes = -(-offsets(pieces)[NOTHING] // 4)
    try:
        data = lzma.LZMADecompressor(memlimit=MEMORY).decompress(compressed, max_length=n_bytes + 1)
    except (lzma.LZMAError, EOFError, MemoryError) as error:
        raise GameError(f"{path} is damaged ({error}): {REMEDY}") from None
    packed = np.frombuffer(data, np.uint8)
    if len(packed) != n_bytes or np.any(packed & packed >> 1 & 0b01010101):  # no code is 3
        raise GameError(f"{path} does not hold the values of {pieces} pieces: {REMEDY}")
    if digest(data) != header.get("checksum"):
        raise GameError(f"{path} is damaged: its values do not have the checksum of its header: {REMEDY}")
    return EndgameTable(pieces, packed)


def _read(path: Path) -> tuple[JsonDict, bytes]:
    """Return the header, checked, and the compressed values."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise GameError(f"no endgame table {path}: make one with `evallearn tables checkers --out {path}`")
    if path.stat().st_size > MAX_BYTES:
        raise GameError(f"{path} has {path.stat().st_size:,} bytes, an endgame table at most {MAX_BYTES:,}: {REMEDY}")
    try:
        with safe_open(path, framework="np") as file:
            header = _parse_header(path, (file.metadata() or {}).get(KEY))
            if set(file.keys()) != {"values"} or file.get_slice("values").get_dtype() != "U8":
                raise GameError(f"{path} does not hold the bytes of a table: {REMEDY}")
            return header, file.get_tensor("values").tobytes()
    except OSError as error:
        raise GameError(f"{path} cannot be read ({error}): {REMEDY}") from None
    except (SafetensorError, ValueError) as error:
        raise GameError(f"{path} is damaged or no safetensors file ({error}): {REMEDY}") from None


def _parse_header(path: Path, text: str | None) -> JsonDict:
    try:
        header = json.loads(text or "")
    except (ValueError, RecursionError):
        raise GameError(f"{path} is no endgame table: it has no {KEY!r} header: {REMEDY}") from None
    expected = {"format": FORMAT, "game": "checkers"}
    if not isinstance(header, dict) or {key: header.get(key) for key in expected} != expected:
        raise GameError(f"{path} is no endgame table of checkers in format {FORMAT}: {REMEDY}")
    if type(header.get("pieces")) is not int or not MIN_PIECES <= header["pieces"] <= MAX_PIECES:
        raise GameError(
            f"{path}: its header names {header.get('pieces')!r} pieces, not {MIN_PIECES}..{MAX_PIECES}: {REMEDY}"
        )
    return header


def default_path(pieces: int = MAX_PIECES) -> Path:
    """Return where a table is kept."""
    return data_folder() / f"checkers-{pieces}.table"


def default_table() -> EndgameTable | None:
    """Return the largest table in its usual place, or None.

    It is read once, and again only if the file changes.
    """
    for pieces in range(MAX_PIECES, MIN_PIECES - 1, -1):
        path = default_path(pieces)
        if path.is_file():
            return _load_once(path, path.stat().st_mtime_ns)
    return None


@lru_cache(maxsize=1)
def _load_once(path: Path, changed: int) -> EndgameTable:
    return load_table(path)
