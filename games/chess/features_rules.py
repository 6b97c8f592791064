"""The features of chess for the compiled backend; `features.py` says what they mean."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, lowest_bit, popcount, u64
from evallearn.games.chess import features as plain
from evallearn.games.chess.bitboards import (
    FILE_A,
    KING,
    KNIGHT,
    ONE,
    ZERO,
    ahead,
    beside,
    bishop_attacks,
    files_of,
    pawn_attacks_east,
    pawn_attacks_west,
    pawn_steps,
    rook_attacks,
    word,
)
from evallearn.games.chess.features import LAST_PHASE, PIECES_PER_PHASE
from evallearn.games.chess.features_finer_rules import (
    DANGER,
    KING_DANGER,
    TURN_LOOSE_TARGETS,
    TURN_PAWN_THREATS,
    count_attack,
    count_finer_pawns,
    count_place,
)

(
    PAWNS, KNIGHTS, BISHOPS, ROOKS, QUEENS, BISHOP_PAIR,
    PAWN_SQUARES, KNIGHT_SQUARES, BISHOP_SQUARES, ROOK_SQUARES, QUEEN_SQUARES, KING_SHELTER, KING_CENTRE,
    PAWN_ADVANCE, DOUBLED_PAWNS, ISOLATED_PAWNS, DEFENDED_PAWNS, PASSED_PAWNS, PASSED_ADVANCE,
    KNIGHT_MOBILITY, BISHOP_MOBILITY, ROOK_MOBILITY, QUEEN_MOBILITY,
    KING_ATTACK, KING_ATTACKERS, PAWN_SHIELD, KING_OPEN_FILES,
    CENTRE_CONTROL, OPEN_ROOKS, HALF_OPEN_ROOKS, SEVENTH_ROOKS, OUTPOSTS, PAWN_THREATS, LOOSE_TARGETS,
) = range(len(plain.COARSE_NAMES))  # fmt: skip
N_FEATURES = len(plain.NAMES)
K = 5
"""The kind of a king, after those of PLACES."""
CENTRE = u64(word(plain.CENTRE))
OUTPOST_RANKS = (u64(0x0000FFFFFF000000), u64(0x000000FFFFFF0000))
SEVENTH_RANK = (u64(0x00FF000000000000), u64(0x000000000000FF00))
P, N, B, R, Q, SHELTER, CENTRED = range(7)
PLACES = np.array(
    [
        plain.PAWN_SQUARES, plain.KNIGHT_SQUARES, plain.BISHOP_SQUARES, plain.ROOK_SQUARES, plain.QUEEN_SQUARES,
        plain.KING_SHELTER, plain.KING_CENTRE,
    ],
    np.int64,
)  # fmt: skip
"""int64[7, 64] from White's side."""


@jitable
def reach_of(kind, square, occupied):
    """Return the squares that a piece attacks; kind is N, B, R or Q."""
    if kind == N:
        return KNIGHT[square]
    if kind == B:
        return bishop_attacks(square, occupied)
    if kind == R:
        return rook_attacks(square, occupied)
    return bishop_attacks(square, occupied) | rook_attacks(square, occupied)


@jitable
def count_pawns(pawns, opp_pawns, player, sign, out):
    """Add sign times what depends on pawns alone; return the passed ones."""
    flip = np.uint64(56) * player
    passed = ahead(opp_pawns, player ^ ONE)
    passed = pawns & ~(passed | beside(passed))
    places = advance = passed_advance = 0
    todo = pawns
    while todo != ZERO:
        square = np.uint64(lowest_bit(todo)) ^ flip
        steps = np.int64(square >> np.uint64(3)) - 1
        places += PLACES[P, square]
        count_place(P, square, sign, out)
        advance += steps
        if passed & todo & (ZERO - todo) != ZERO:
            passed_advance += steps * steps
        todo &= todo - ONE
    files = files_of(pawns)
    attacked = pawn_attacks_west(pawns, player) | pawn_attacks_east(pawns, player)
    n = popcount(pawns)
    out[PAWNS] += sign * n
    out[PAWN_SQUARES] += sign * places
    out[PAWN_ADVANCE] += sign * advance
    out[DOUBLED_PAWNS] += sign * (n - popcount(files))
    out[ISOLATED_PAWNS] += sign * popcount(pawns & ~(beside(files) * FILE_A))
    out[DEFENDED_PAWNS] += sign * popcount(pawns & attacked)
    out[PASSED_PAWNS] += sign * popcount(passed)
    out[PASSED_ADVANCE] += sign * passed_advance
    return passed


@jitable
def count_side(s, player, own, opp, sign, out):
    """Add sign times the counts of one side; return what it attacks.

    Attacked squares: by knights, bishops, rooks, queens; by all; by all but the king.
    """
    flip = np.uint64(56) * player
    occupied = own | opp
    pawns, opp_pawns = s.pawns & own, s.pawns & opp
    passed = count_pawns(pawns, opp_pawns, player, sign, out)
    count_finer_pawns(s, player, own, opp, passed, sign, out)
    king, opp_king = np.uint64(lowest_bit(s.kings & own)), np.uint64(lowest_bit(s.kings & opp))
    west, east = pawn_attacks_west(pawns, player), pawn_attacks_east(pawns, player)
    other = player ^ ONE
    open_squares = ~(own | pawn_attacks_west(opp_pawns, other) | pawn_attacks_east(opp_pawns, other))
    zone = KING[opp_king] | (ONE << opp_king)
    attacked = west | east
    by_knights = by_bishops = by_rooks = by_queens = ZERO
    hits = hitters = danger = 0
    centre = popcount(west & CENTRE) + popcount(east & CENTRE)
    for kind, pieces in ((N, s.knights), (B, s.bishops), (R, s.rooks), (Q, s.queens)):
        todo = pieces & own
        places = moves = 0
        together = ZERO
        out[PAWNS + kind] += sign * popcount(todo)
        while todo != ZERO:
            square = np.uint64(lowest_bit(todo))
            reach = reach_of(kind, square, occupied)
            hit = popcount(reach & zone)
            places += PLACES[kind, square ^ flip]
            count_place(kind, square ^ flip, sign, out)
            moves += popcount(reach & open_squares)
            hits += hit
            if hit > 0:
                hitters += 1
                danger += DANGER[kind]
            centre += popcount(reach & CENTRE)
            together |= reach
            todo &= todo - ONE
        out[PAWN_SQUARES + kind] += sign * places
        out[KNIGHT_MOBILITY - N + kind] += sign * moves
        attacked |= together
        if kind == N:
            by_knights = together
        elif kind == B:
            by_bishops = together
        elif kind == R:
            by_rooks = together
        else:
            by_queens = together
    out[BISHOP_PAIR] += sign if popcount(s.bishops & own) >= 2 else 0
    out[KING_SHELTER] += sign * PLACES[SHELTER, king ^ flip]
    out[KING_CENTRE] += sign * PLACES[CENTRED, king ^ flip]
    count_place(K, king ^ flip, sign, out)
    out[KING_DANGER] += sign * danger * danger
    out[KING_ATTACK] += sign * hits
    out[KING_ATTACKERS] += sign * hitters
    here = (ONE << king) | beside(ONE << king)
    before = pawn_steps(here, player)
    out[PAWN_SHIELD] += sign * popcount((before | pawn_steps(before, player)) & pawns)
    files, opp_files = files_of(pawns), files_of(opp_pawns)
    out[KING_OPEN_FILES] += sign * popcount(files_of(here) & ~files)
    out[CENTRE_CONTROL] += sign * centre
    rooks = s.rooks & own
    lines = rooks & ~(files * FILE_A)
    out[OPEN_ROOKS] += sign * popcount(lines & ~(opp_files * FILE_A))
    out[HALF_OPEN_ROOKS] += sign * popcount(lines & (opp_files * FILE_A))
    out[SEVENTH_ROOKS] += sign * popcount(rooks & SEVENTH_RANK[player])
    strong = s.knights & own & (west | east) & OUTPOST_RANKS[player]
    out[OUTPOSTS] += sign * popcount(strong & ~beside(ahead(opp_pawns, other)))
    threats = popcount((west | east) & (s.knights | s.bishops | s.rooks | s.queens) & opp)
    out[PAWN_THREATS] += sign * threats
    out[TURN_PAWN_THREATS] += threats
    return (by_knights, by_bishops, by_rooks, by_queens, attacked | KING[king]), attacked


@jitable
def features_mover(s, out):
    player = s.meta & ONE
    pieces = s.knights | s.bishops | s.rooks | s.queens
    black = (pieces | s.pawns | s.kings) ^ s.white
    own, opp = (s.white, black) if player == ZERO else (black, s.white)
    for i in range(N_FEATURES):
        out[i] = 0
    mine, guarded_mine = count_side(s, player, own, opp, 1, out)
    theirs, guarded_theirs = count_side(s, player ^ ONE, opp, own, -1, out)
    count_attack(s, own, opp, mine, theirs[4], guarded_theirs, 1, out)
    count_attack(s, opp, own, theirs, mine[4], guarded_mine, -1, out)
    loose = popcount(mine[4] & ~theirs[4] & opp & pieces)
    own_loose = popcount(theirs[4] & ~mine[4] & own & pieces)
    out[LOOSE_TARGETS] = loose - own_loose
    out[TURN_LOOSE_TARGETS] = loose + own_loose


@jitable
def phase(s):
    left = popcount(s.knights | s.bishops) + 2 * popcount(s.rooks) + 4 * popcount(s.queens)
    return np.int64(max(0, min(LAST_PHASE, LAST_PHASE - (left - 1) // PIECES_PER_PHASE)))
