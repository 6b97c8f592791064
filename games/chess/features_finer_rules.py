"""The finer features of chess for the compiled backend; `features_finer.py` says what they mean."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, lowest_bit, popcount, u64
from evallearn.games.chess import features, features_finer
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
)
from evallearn.games.chess.moves import KINDS

(
    BACKWARD_PAWNS, PASSED_DEFENDED, PASSED_FREE, PASSED_RACE, RUNNERS, ROOKS_BEHIND, BAD_BISHOPS, PAWN_STORM,
    MINOR_THREATS, ROOK_THREATS, LOOSE_PAWNS, KING_DANGER, KING_WEAK, SAFE_CHECKS, LONE_KING,
    TURN_PAWN_THREATS, TURN_LOOSE_TARGETS, TURN_MINOR_THREATS,
) = (features.NAMES.index(name) for name in features_finer.NAMES[len(features_finer.PLACE_NAMES) :])  # fmt: skip
DANGER = tuple(features_finer.DANGER.get(kind, 0) for kind in KINDS)
"""By kind of piece."""
NOT_COUNTED = -1
LIGHT_SQUARES = u64(0x55AA55AA55AA55AA)
BEYOND_MIDDLE = (u64(0xFFFFFFFF00000000), u64(0x00000000FFFFFFFF))
CENTRED = np.array(features.KING_CENTRE, np.int64)
DISTANCE = np.array([[features_finer.distance(a, b) for b in range(64)] for a in range(64)], np.int64)


def place_indices():
    """Return int64[6, 64]: each kind of piece's feature on each square; no pawn stands on the first and last ranks."""
    names = {name: i for i, name in enumerate(features.NAMES)}
    found = np.full((6, 64), NOT_COUNTED, np.int64)
    for kind, letter in enumerate(KINDS):
        for square in range(64):
            file, rank = features_finer.folded(square)
            found[kind, square] = names.get(f"{features_finer.WORDS[letter]}_{file}{rank}", NOT_COUNTED)
    return found


PLACE_AT = place_indices()


@jitable
def count_place(kind, square, sign, out):
    """Add the sign for a piece on `square`, numbered from its player's side."""
    out[PLACE_AT[kind, square]] += sign


@jitable
def count_passed(s, player, own, opp, passed, attacked, sign, out):
    """Add passed_defended to rooks_behind, times the sign; `attacked` by the player's pawns."""
    flip = np.uint64(56) * player
    king, opp_king = np.uint64(lowest_bit(s.kings & own)), np.uint64(lowest_bit(s.kings & opp))
    out[PASSED_DEFENDED] += sign * popcount(passed & attacked)
    out[PASSED_FREE] += sign * popcount(pawn_steps(passed, player) & ~(own | opp))
    out[ROOKS_BEHIND] += sign * popcount(s.rooks & own & ahead(passed, player ^ ONE))
    bare = opp & ~(s.pawns | s.kings) == ZERO
    race = running = 0
    todo = passed
    while todo != ZERO:
        square = np.uint64(lowest_bit(todo)) ^ flip
        steps = np.int64(square >> np.uint64(3)) - 1
        stop = (square + np.uint64(8)) ^ flip
        race += (DISTANCE[opp_king, stop] - DISTANCE[king, stop]) * steps
        goal = (square | np.uint64(56)) ^ flip
        if bare and DISTANCE[opp_king, goal] > 7 - steps:
            running += 1
        todo &= todo - ONE
    out[PASSED_RACE] += sign * race
    out[RUNNERS] += sign * running


@jitable
def count_finer_pawns(s, player, own, opp, passed, sign, out):
    """Add PAWN_NAMES of one side, times the sign."""
    pawns, opp_pawns, other = s.pawns & own, s.pawns & opp, player ^ ONE
    attacked = pawn_attacks_west(pawns, player) | pawn_attacks_east(pawns, player)
    feared = pawn_attacks_west(opp_pawns, other) | pawn_attacks_east(opp_pawns, other)
    alone = pawns & ~beside(pawns | ahead(pawns, player))
    out[BACKWARD_PAWNS] += sign * popcount(alone & pawn_steps(feared, other))
    if passed != ZERO:
        count_passed(s, player, own, opp, passed, attacked, sign, out)
    light, bishops = popcount(pawns & LIGHT_SQUARES), s.bishops & own
    n_light = popcount(bishops & LIGHT_SQUARES)
    dark_bishops = popcount(bishops) - n_light
    out[BAD_BISHOPS] += sign * (n_light * light + dark_bishops * (popcount(pawns) - light))
    king = s.kings & opp
    near = files_of(king | beside(king)) * FILE_A
    out[PAWN_STORM] += sign * popcount(pawns & near & BEYOND_MIDDLE[player])


@jitable
def count_attack(s, own, opp, mine, theirs, guarded, sign, out):
    """Add ATTACK_NAMES of one side, times the sign.

    mine: what knights, bishops, rooks, queens, all attack; guarded: by all but a king.
    """
    knights, bishops, rooks, queens, all_mine = mine
    threats = popcount((knights | bishops) & opp & (s.rooks | s.queens))
    out[MINOR_THREATS] += sign * threats
    out[TURN_MINOR_THREATS] += threats
    out[ROOK_THREATS] += sign * popcount(rooks & opp & s.queens)
    out[LOOSE_PAWNS] += sign * popcount(all_mine & ~theirs & opp & s.pawns)
    king = np.uint64(lowest_bit(s.kings & opp))
    out[KING_WEAK] += sign * popcount(KING[king] & all_mine & ~guarded)
    occupied, free = own | opp, ~(own | theirs)
    diagonal, straight = bishop_attacks(king, occupied) & free, rook_attacks(king, occupied) & free
    checks = popcount(KNIGHT[king] & knights & free) + popcount(diagonal & bishops) + popcount(straight & rooks)
    out[SAFE_CHECKS] += sign * (checks + popcount((diagonal | straight) & queens))
    if opp & (opp - ONE) == ZERO and own & (own - ONE) != ZERO:
        mine_king = np.uint64(lowest_bit(s.kings & own))
        out[LONE_KING] += sign * (2 * (3 - CENTRED[king]) + 7 - DISTANCE[mine_king, king])
