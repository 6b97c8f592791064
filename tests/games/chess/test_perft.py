"""Chess: positions counted to a depth, against the published counts."""

from __future__ import annotations

import csv
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from evallearn.compiled.game import CompiledGame
from evallearn.games.chess import Chess
from evallearn.games.chess.fen import START_FEN, read_fen
from evallearn.games.chess.moves import Position, legal_moves, play
from evallearn.games.chess.notation import read_epd

REFERENCE = Path(__file__).resolve().parents[4] / "shared/reference/perft"
needs_reference = pytest.mark.skipif(not REFERENCE.exists(), reason="../shared/reference is absent")
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
START_COUNTS = [20, 400, 8902, 197281, 4865609, 119060324]
KIWIPETE_COUNTS = [48, 2039, 97862, 4085603, 193690690]


@cache
def compiled() -> CompiledGame:
    return CompiledGame(Chess())


def counts(fen: str, depths: int) -> list[int]:
    s = read_fen(fen)
    return [compiled().perft(s, depth) for depth in range(1, depths + 1)]


def plain_perft(p: Position, depth: int) -> int:
    """Through drawn positions too, which have no actions but legal moves."""
    moves = legal_moves(p)
    return len(moves) if depth == 1 else sum(plain_perft(play(p, a), depth - 1) for a in moves)


def test_plain_backend_counts_as_published():
    assert [plain_perft(read_fen(START_FEN).position, depth) for depth in (1, 2, 3)] == START_COUNTS[:3]
    assert [plain_perft(read_fen(KIWIPETE).position, depth) for depth in (1, 2)] == KIWIPETE_COUNTS[:2]


def test_compiled_backend_counts_as_published():
    assert counts(START_FEN, 4) == START_COUNTS[:4]
    assert counts(KIWIPETE, 3) == KIWIPETE_COUNTS[:3]


@pytest.mark.long
def test_compiled_backend_counts_as_published_deep():
    assert counts(START_FEN, 6) == START_COUNTS
    assert counts(KIWIPETE, 5) == KIWIPETE_COUNTS


def published() -> list[tuple[str, int, int]]:
    """(position, depth, count) of the positions that are commonly used."""
    with (REFERENCE / "perft_chess.csv").open() as file:
        return [(row["fen"], int(row["depth"]), int(row["nodes"])) for row in csv.DictReader(file)]


def suite() -> list[tuple[str, dict[int, int]]]:
    """(position, {depth: count}) of 128 positions."""
    lines = (REFERENCE / "chess_perftsuite.epd").read_text().splitlines()
    found = []
    for line in lines:
        (record,) = read_epd(line)
        found.append((line.partition(";")[0], {int(k[1:]): int(v[0]) for k, v in record.operations.items()}))
    return found


@needs_reference
def test_common_positions_count_as_published():
    for fen, depth, nodes in published():
        if nodes < 1_000_000:
            assert compiled().perft(read_fen(fen), depth) == nodes, (fen, depth)


@needs_reference
def test_suite_counts_as_published_to_depth_3():
    for fen, expected in suite():
        assert compiled().perft(read_fen(fen), 3) == expected[3], fen
    for fen, expected in islice(suite(), 0, None, 8):
        assert plain_perft(read_fen(fen).position, 2) == expected[2], fen


@needs_reference
@pytest.mark.long
def test_common_positions_count_as_published_deep():
    for fen, depth, nodes in published():
        if nodes < 1_000_000_000:
            assert compiled().perft(read_fen(fen), depth) == nodes, (fen, depth)


@needs_reference
@pytest.mark.long
def test_whole_suite_counts_as_published_to_depth_5():
    for fen, expected in suite():
        for depth in (4, 5):
            assert compiled().perft(read_fen(fen), depth) == expected[depth], (fen, depth)


@needs_reference
@pytest.mark.long
def test_plain_backend_counts_the_whole_suite_to_depth_3():
    for fen, expected in suite():
        assert plain_perft(read_fen(fen).position, 3) == expected[3], fen
