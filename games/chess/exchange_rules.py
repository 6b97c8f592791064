"""Exchanges and the noisy moves of chess for the compiled backend; `moves.py` says what they are."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable
from evallearn.games.chess.bitboards import EIGHT, KING, KNIGHT, ONE, PAWN, ZERO, bishop_attacks, rook_attacks
from evallearn.games.chess.moves import PROMOTION, VALUES
from evallearn.games.chess.moves_rules import (
    PROMOTION_GAINS,
    answers,
    en_passant,
    look_from_king,
    safe_for_king,
    sides,
    value_at,
    write_noisy,
)

PAWN_VALUE, MINOR_VALUE, ROOK_VALUE, QUEEN_VALUE, KING_VALUE = (VALUES[kind] for kind in "PNRQK")
TO_QUEEN = 4 * PROMOTION
"""The least promotion to a queen."""


@jitable
def takes_en_passant(s, origin, target):
    return target == en_passant(s) and target != ZERO and (s.pawns >> origin) & ONE != ZERO


@jitable
def gain(s, a):
    """Return what the action itself wins, in pawns."""
    origin, target = np.uint64((a >> 6) & 63), np.uint64(a & 63)
    taken = ONE if takes_en_passant(s, origin, target) else value_at(s, target)
    return np.int64(taken + PROMOTION_GAINS[a >> 12])


@jitable
def value_arrived(s, a):
    """Return what stands on the target after the move, in pawns."""
    value = np.int64(value_at(s, np.uint64((a >> 6) & 63)) + PROMOTION_GAINS[a >> 12])
    return value if value > 0 else KING_VALUE


@jitable
def least_taker(s, takers):
    """Return (the least of the pieces, its value), kings left out."""
    if takers & s.pawns != ZERO:
        return takers & s.pawns, PAWN_VALUE
    if takers & s.knights != ZERO:
        return takers & s.knights, MINOR_VALUE
    if takers & s.bishops != ZERO:
        return takers & s.bishops, MINOR_VALUE
    if takers & s.rooks != ZERO:
        return takers & s.rooks, ROOK_VALUE
    return takers & s.queens, QUEEN_VALUE


@jitable
def exchange_wins(s, a, least):
    """Return True if the exchanges that begin with `a` win at least `least` pawns: static exchange evaluation.

    `ahead` is by how much the side that is about to take beats its goal if nobody takes back. Each taker is put in its
    place, and the lines are computed again, until one side is ahead even if it loses that piece, or cannot take.
    """
    ahead = gain(s, a) - least
    if ahead < 0:
        return False
    ahead = value_arrived(s, a) - ahead
    if ahead <= 0:
        return True
    _, own, opp = sides(s)
    origin, target = np.uint64((a >> 6) & 63), np.uint64(a & 63)
    occupied = (own | opp) & ~((ONE << origin) | (ONE << target))
    if takes_en_passant(s, origin, target):
        occupied ^= ONE << (target ^ EIGHT)
    steppers = (KNIGHT[target] & s.knights) | (KING[target] & s.kings)
    steppers |= s.pawns & ((PAWN[0, target] & ~s.white) | (PAWN[1, target] & s.white))
    diagonal, straight = s.bishops | s.queens, s.rooks | s.queens
    side, wins = opp, True
    while True:
        sliders = (bishop_attacks(target, occupied) & diagonal) | (rook_attacks(target, occupied) & straight)
        attackers = (steppers | sliders) & occupied
        takers = attackers & side
        if takers == ZERO:
            return wins
        wins = not wins
        if takers & ~s.kings == ZERO:  # a king may not take what is defended
            return wins if attackers & ~side == ZERO else not wins
        taker, value = least_taker(s, takers)
        ahead = value - ahead
        if ahead < (1 if wins else 0):
            return wins
        occupied ^= taker & (ZERO - taker)
        side = own if side == opp else opp


@jitable
def noisy_actions(s, out):
    player, own, opp = sides(s)
    king, checkers, pinned = look_from_king(s, player, own, opp)
    king_may = safe_for_king(s, KING[king] & opp, player, king, opp, own | opp)
    n = 0
    for i in range(write_noisy(s, out, player, own, opp, king, pinned, answers(s, king, checkers), king_may)):
        a = np.int64(out[i])
        if (a < PROMOTION or a >= TO_QUEEN) and exchange_wins(s, a, 0):
            out[n] = a
            n += 1
    return n
