"""The endgame table as an evaluator reads it, in both backends: who wins, and how far the end is.

Steps are the plies until something is taken or crowned, and 128 times the rank of the ending: two for each piece and
one more for each man. Taking and crowning both lead to an ending of a lower rank, and in between the plies fall: who
follows ever fewer steps gets to the end. With plies alone taking anything would seem bad: a new ending begins with
many.
"""

# Numba infers the types of the compiled half, hence:
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from functools import lru_cache

import numpy as np

from evallearn.compiled.bits import jitable, lowest_bit, popcount, u64
from evallearn.compiled.memory import byte_at
from evallearn.core.rules import NOT_KNOWN, Endgames
from evallearn.games.checkers.moves import CLOCK_LIMIT, State, sides
from evallearn.games.checkers.table import MAX_PIECES, EndgameTable, Kernels, endings, kernel_arrays, locate, mirror

PER_RANK = 128
"""More than the plies of any ending: 73 is the most with four pieces."""
LOSS_CODE = 2


def signed_plies(table: EndgameTable) -> np.ndarray:
    """Return int8[1 + places]: the number of pieces, then the plies of every position.

    They are positive to a win, negative to a loss, 0 for a draw.
    """
    codes = table.unpacked()
    plies = np.zeros(len(codes), np.uint8)
    kernels, open_moves = Kernels(table.pieces), np.zeros(len(codes), np.int8)
    for ending in endings(table.pieces):
        if ending <= mirror(ending):
            kernels.solve(ending, codes, open_moves, plies)
    memory = np.zeros(1 + len(codes), np.int8)
    memory[0] = table.pieces
    memory[1:] = np.where(codes == LOSS_CODE, -plies.astype(np.int8), np.where(codes == 1, plies, 0))
    return memory


@lru_cache(maxsize=1)
def endgames_of(table: EndgameTable) -> Endgames:
    """Return the table with the plies found again, which takes two seconds for four pieces."""
    memory = signed_plies(table)

    def steps(s: State) -> int | None:
        if not all(sides(s)) or (s.black | s.white).bit_count() > table.pieces:
            return None
        ending, place = locate(s)
        plies = int(memory[1 + table.offsets[ending] + place])
        if plies and s.clock + abs(plies) > CLOCK_LIMIT:
            return None
        men, pieces = ending[0] + ending[2], sum(ending)
        rank = PER_RANK * (2 * pieces + men)
        return plies + (rank if plies > 0 else -rank) if plies else 0

    return Endgames(steps=steps, memory=memory, probe=probe)


# --- for kernels -----------------------------------------------------------------------------------------------------
ZERO, ONE = u64(0), u64(1)
CHOOSE, OFFSETS, _ = kernel_arrays(MAX_PIECES)  # a smaller table is the beginning of a larger one


@jitable
def rank_of(pieces, from_black):
    """Return the number of a set of squares among those of its size; each player counts from the own back row."""
    rank = 0
    k = 1 if from_black else popcount(pieces)
    while pieces != ZERO:
        index = lowest_bit(pieces)
        square = index - index // 9
        rank += CHOOSE[square if from_black else 31 - square, k]
        k += 1 if from_black else -1
        pieces &= pieces - ONE
    return rank


@jitable
def probe(s, address):
    """Return the steps to the player to move, or NOT_KNOWN (see `Endgames`)."""
    n_pieces = popcount(s.black | s.white)
    if n_pieces > byte_at(address, 0) or s.black == ZERO or s.white == ZERO:
        return NOT_KNOWN
    black_kings, white_kings = s.black & s.kings, s.white & s.kings
    black_men, white_men = s.black ^ black_kings, s.white ^ white_kings
    bm, bk, wm, wk = popcount(black_men), popcount(black_kings), popcount(white_men), popcount(white_kings)
    black = rank_of(black_men, True) * CHOOSE[32, bk] + rank_of(black_kings, True)
    white = rank_of(white_men, False) * CHOOSE[32, wk] + rank_of(white_kings, False)
    if s.meta & ONE == ZERO:
        at = OFFSETS[bm, bk, wm, wk] + black * (CHOOSE[28, wm] * CHOOSE[32, wk]) + white
    else:
        at = OFFSETS[wm, wk, bm, bk] + white * (CHOOSE[28, bm] * CHOOSE[32, bk]) + black
    plies = byte_at(address, 1 + at)
    if plies == 0:
        return 0
    if np.int64(s.meta >> ONE) + abs(plies) > CLOCK_LIMIT:
        return NOT_KNOWN
    rank = PER_RANK * (2 * n_pieces + bm + wm)
    return plies + rank if plies > 0 else plies - rank
