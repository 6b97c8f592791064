"""Chess for the compiled backend; `game.py` says what everything means, `state.Words` what a state is."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, u64
from evallearn.compiled.rng import mix64
from evallearn.core.rng import GOLDEN
from evallearn.core.rules import Rules
from evallearn.games.chess.bitboards import (
    EIGHT,
    KING,
    KNIGHT,
    ONE,
    PAWN,
    ZERO,
    first,
    line_through,
    pawn_attacks_east,
    pawn_attacks_west,
)
from evallearn.games.chess.exchange_rules import noisy_actions
from evallearn.games.chess.features_rules import features_mover, phase
from evallearn.games.chess.game import N_ACTIONS
from evallearn.games.chess.moves import RIGHTS_LOST
from evallearn.games.chess.moves_rules import (
    EN_PASSANT,
    HOME,
    RIGHTS,
    TWO,
    B,
    Q,
    R,
    actions,
    answers,
    attacked,
    en_passant,
    is_safe_en_passant,
    look_from_king,
    occupied_by_all,
    pawn_pushes,
    safe_for_king,
    sides,
    slides,
)
from evallearn.games.chess.state import CLOCK_LIMIT, CLOCK_SHIFT, NUMBER_SHIFT, POSITION_BITS, Words
from evallearn.games.chess.state import RIGHTS as RIGHT_LETTERS

CLOCK, NUMBER, POSITION = u64(CLOCK_SHIFT), u64(NUMBER_SHIFT), u64(POSITION_BITS)
FOUR_BITS, SIXTEEN_BITS, DOUBLE_STEP = u64(15), u64(0xFFFF), u64(16)
LIGHT_SQUARES = u64(0x55AA55AA55AA55AA)
SHORT_ROOK, LONG_ROOK = u64(0b10100000), u64(0b00001001)
"""Castling on the first rank: from where to where the rook goes."""
RIGHTS_KEPT = np.array(
    [
        sum(1 << i for i, right in enumerate(RIGHT_LETTERS) if right not in RIGHTS_LOST.get(square, ""))
        for square in range(64)
    ],
    np.uint64,
)
"""By square: the castling rights that survive a move from it or to it."""
SALTS = tuple(u64(GOLDEN * i) for i in range(1, 6))


# --- a move ----------------------------------------------------------------------------------------------------------
@jitable
def moved(word, origin, target, stay):
    """Return the word after a piece on `origin`, if it is one of these, has gone to `target`."""
    return (word & stay) | (((word >> origin) & ONE) << target)


@jitable
def result(s, a):
    origin, target, promotion = np.uint64((a >> 6) & 63), np.uint64(a & 63), np.uint64(a >> 12)
    there = ONE << target
    stay = ~((ONE << origin) | there)
    player = s.meta & ONE
    is_pawn, is_king = (s.pawns >> origin) & ONE != ZERO, (s.kings >> origin) & ONE != ZERO
    is_capture = occupied_by_all(s) & there != ZERO
    pawns, knights = moved(s.pawns, origin, target, stay), moved(s.knights, origin, target, stay)
    bishops, rooks = moved(s.bishops, origin, target, stay), moved(s.rooks, origin, target, stay)
    queens, kings = moved(s.queens, origin, target, stay), moved(s.kings, origin, target, stay)
    white = moved(s.white, origin, target, stay)
    if promotion != ZERO:
        pawns ^= there
        if promotion == Q:
            queens |= there
        elif promotion == R:
            rooks |= there
        elif promotion == B:
            bishops |= there
        else:
            knights |= there
    elif is_pawn and target == en_passant(s):  # never a1, which stands for none: a pawn promotes there
        taken = ~(ONE << (target ^ EIGHT))
        pawns &= taken
        white &= taken
    elif is_king and (target == origin + TWO or target + TWO == origin):
        hop = (SHORT_ROOK if target > origin else LONG_ROOK) << (HOME * player)
        rooks ^= hop
        white ^= hop if player == ZERO else ZERO
    rights = (s.meta >> RIGHTS) & FOUR_BITS & RIGHTS_KEPT[origin] & RIGHTS_KEPT[target]
    clock = ZERO if is_pawn or is_capture else ((s.meta >> CLOCK) & SIXTEEN_BITS) + ONE
    meta = (player ^ ONE) | (rights << RIGHTS) | (clock << CLOCK) | (((s.meta >> NUMBER) + player) << NUMBER)
    if is_pawn and origin ^ target == DOUBLE_STEP:
        passed = (origin + target) >> ONE
        behind = Words(pawns, knights, bishops, rooks, queens, kings, white, meta | (passed << EN_PASSANT))
        if can_take_en_passant(behind):
            return behind
    return Words(pawns, knights, bishops, rooks, queens, kings, white, meta)


@jitable
def can_take_en_passant(s):
    """Return True if a pawn can legally go to the en passant square."""
    player, own, opp = sides(s)
    todo = PAWN[player ^ ONE, en_passant(s)] & s.pawns & own
    while todo != ZERO:
        if is_safe_en_passant(s, first(todo), player, first(s.kings & own), opp, own | opp):
            return True
        todo &= todo - ONE
    return False


# --- the end of the game ---------------------------------------------------------------------------------------------
@jitable
def has_legal_move(s):
    """Return True if there is a legal move, the likely ones first: mostly some pawn can step."""
    player, own, opp = sides(s)
    king, checkers, pinned = look_from_king(s, player, own, opp)
    occupied = own | opp
    allowed = answers(s, king, checkers) & ~own
    pawns = s.pawns & own & ~pinned
    takes = (pawn_attacks_west(pawns, player) | pawn_attacks_east(pawns, player)) & opp
    if (pawn_pushes(pawns, player, occupied) | takes) & allowed != ZERO:
        return True
    todo = s.knights & own & ~pinned
    while todo != ZERO:
        if KNIGHT[first(todo)] & allowed != ZERO:
            return True
        todo &= todo - ONE
    if en_passant(s) != ZERO:  # it is set only where it can be taken on
        return True
    for kind, movers in ((B, s.bishops), (R, s.rooks), (Q, s.queens)):
        todo = movers & own
        while todo != ZERO:
            if slides(kind, first(todo), king, pinned, occupied) & allowed != ZERO:
                return True
            todo &= todo - ONE
    todo = s.pawns & pinned
    while todo != ZERO:
        origin = first(todo)
        targets = pawn_pushes(ONE << origin, player, occupied) | (PAWN[player, origin] & opp)
        if targets & line_through(king, origin) & allowed != ZERO:
            return True
        todo &= todo - ONE
    return safe_for_king(s, KING[king] & ~own, player, king, opp, occupied) != ZERO


@jitable
def has_insufficient_material(s):
    if s.pawns | s.rooks | s.queens != ZERO:
        return False
    minors = s.knights | s.bishops
    if minors & (minors - ONE) == ZERO:
        return True
    return s.knights == ZERO and (s.bishops & LIGHT_SQUARES == ZERO or s.bishops & ~LIGHT_SQUARES == ZERO)


@jitable
def clock(s):
    return np.int64((s.meta >> CLOCK) & SIXTEEN_BITS)


@jitable
def is_terminal(s):
    return clock(s) >= CLOCK_LIMIT or has_insufficient_material(s) or not has_legal_move(s)


@jitable
def forcing(s):
    player, own, opp = sides(s)
    return attacked(s, first(s.kings & own), player, opp, own | opp)


@jitable
def utility_mover(s):
    return np.float32(-1.0) if forcing(s) and not has_legal_move(s) else np.float32(0.0)


@jitable
def to_play(s):
    return np.int64(s.meta & ONE)


@jitable
def may_pass(s):
    _, own, _ = sides(s)
    return own & ~(s.pawns | s.kings) != ZERO and not forcing(s)


@jitable
def passed(s):
    player, rights = s.meta & ONE, (s.meta >> RIGHTS) & FOUR_BITS
    meta = (player ^ ONE) | (rights << RIGHTS) | (((s.meta >> NUMBER) + player) << NUMBER)
    return Words(s.pawns, s.knights, s.bishops, s.rooks, s.queens, s.kings, s.white, meta)


@jitable
def key(s):
    # three words distinguish the six kinds
    one, two, four = s.pawns | s.bishops | s.queens, s.knights | s.bishops | s.kings, s.rooks | s.queens | s.kings
    pieces = mix64(one ^ SALTS[0]) ^ mix64(two ^ SALTS[1]) ^ mix64(four ^ SALTS[2])
    return pieces ^ mix64(s.white ^ SALTS[3]) ^ mix64((s.meta & POSITION) ^ SALTS[4])


RULES = Rules.of(
    __name__,
    State=Words,
    actions=actions,
    features_mover=features_mover,
    phase=phase,
    n_actions=N_ACTIONS,
    max_actions=256,  # no position with these pieces is known to have more than 218
    max_plies=11_800,  # at most 118 moves are captures or a pawn's, and a hundred plies after the last one it is a draw
    clock_limit=CLOCK_LIMIT,
    perft_through_draws=True,
    noisy_actions=noisy_actions,
)
