"""The moves of chess for the compiled backend: `actions`, and what it shares with `rules.py`.

Moves are generated legal at once. One scan from the king finds the checkers and the pinned pieces; then a piece may go
where it stops the check, and a pinned one only along its line. Captures and promotions carry their rank in the high
bits while they are sorted: biggest gain, least piece, lowest number.
"""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

from evallearn.compiled.bits import jitable, u64
from evallearn.games.chess.bitboards import (
    ALL,
    EIGHT,
    KING,
    KNIGHT,
    ONE,
    PAWN,
    ZERO,
    between,
    bishop_attacks,
    first,
    line_through,
    pawn_attacks_east,
    pawn_attacks_west,
    pawn_steps,
    rook_attacks,
)
from evallearn.games.chess.moves import KINDS, PROMOTES_TO, VALUES
from evallearn.games.chess.state import EN_PASSANT_SHIFT, RIGHTS_SHIFT

P, N, B, R, Q, K = (u64(KINDS.index(kind)) for kind in KINDS)
MINOR_VALUE, ROOK_VALUE, QUEEN_VALUE = (u64(VALUES[kind]) for kind in "NRQ")
PROMOTION_GAINS = tuple(u64(VALUES[kind] - 1 if kind else 0) for kind in PROMOTES_TO)
TARGET_BITS, ORIGIN_SHIFT, PROMOTION_SHIFT = u64(63), u64(6), u64(12)
KIND_SHIFT, RANK_SHIFT, MOST_GAIN, ACTION_BITS = u64(15), u64(18), u64(31), (1 << 15) - 1
"""A ranked move: the action, above it the kind of piece, above that how far its gain is below the most possible."""
TWO, BOTH_RIGHTS = u64(2), u64(3)
RIGHTS, EN_PASSANT = u64(RIGHTS_SHIFT), u64(EN_PASSANT_SHIFT)
LAST_RANKS = u64(0xFF000000000000FF)
THIRD_RANK, SIXTH_RANK = u64(0x0000000000FF0000), u64(0x0000FF0000000000)
SHORT_EMPTY, SHORT_TARGET = u64(0b01100000), u64(0b01000000)
LONG_EMPTY, LONG_TARGET = u64(0b00001110), u64(0b00000100)
"""Castling on the first rank: what must be empty, and where the king goes."""
HOME = u64(56)
"""Times the player: the shift from the first rank to his."""


@jitable
def occupied_by_all(s):
    return s.pawns | s.knights | s.bishops | s.rooks | s.queens | s.kings


@jitable
def sides(s):
    """Return (player, own pieces, opposing pieces)."""
    player = s.meta & ONE
    black = occupied_by_all(s) ^ s.white
    return (player, s.white, black) if player == ZERO else (player, black, s.white)


@jitable
def en_passant(s):
    return (s.meta >> EN_PASSANT) & TARGET_BITS


# --- attacks ---------------------------------------------------------------------------------------------------------
@jitable
def attacked(s, square, player, others, occupied):
    """Return True if one of `others` attacks the square, on which `player` has or might have a piece."""
    if (KNIGHT[square] & s.knights | KING[square] & s.kings | PAWN[player, square] & s.pawns) & others != ZERO:
        return True
    if rook_attacks(square, occupied) & (s.rooks | s.queens) & others != ZERO:
        return True
    return bishop_attacks(square, occupied) & (s.bishops | s.queens) & others != ZERO


@jitable
def look_from_king(s, player, own, opp):
    """Return (the king's square, the pieces that give check, the pieces that are pinned)."""
    king = first(s.kings & own)
    checkers = (KNIGHT[king] & s.knights | PAWN[player, king] & s.pawns) & opp
    pinned = ZERO
    snipers = rook_attacks(king, opp) & (s.rooks | s.queens) & opp
    snipers |= bishop_attacks(king, opp) & (s.bishops | s.queens) & opp
    while snipers != ZERO:
        sniper = first(snipers)
        shields = between(king, sniper) & own
        if shields == ZERO:
            checkers |= ONE << sniper
        elif shields & (shields - ONE) == ZERO:
            pinned |= shields
        snipers &= snipers - ONE
    return king, checkers, pinned


@jitable
def answers(s, king, checkers):
    """Return where a piece other than the king may go: anywhere, or on the checker and before it, or nowhere."""
    if checkers == ZERO:
        return ALL
    if checkers & (checkers - ONE) != ZERO:
        return ZERO
    if checkers & (s.knights | s.pawns) != ZERO:
        return checkers
    return checkers | between(king, first(checkers))


@jitable
def safe_for_king(s, squares, player, king, opp, occupied):
    """Return those of `squares` where the king would not be in check; his present square counts as empty."""
    safe = ZERO
    while squares != ZERO:
        square = first(squares)
        if not attacked(s, square, player, opp, occupied ^ (ONE << king)):
            safe |= ONE << square
        squares &= squares - ONE
    return safe


@jitable
def king_targets(s, player, king, checkers, own, opp):
    """Return where the king may go, castling included."""
    occupied = own | opp
    near = KING[king] & ~own
    short = long = ZERO
    rights = (s.meta >> (RIGHTS + TWO * player)) & BOTH_RIGHTS
    if checkers == ZERO and rights != ZERO:
        home = HOME * player
        if rights & ONE != ZERO and occupied & (SHORT_EMPTY << home) == ZERO:
            short = SHORT_TARGET << home
        if rights & TWO != ZERO and occupied & (LONG_EMPTY << home) == ZERO:
            long = LONG_TARGET << home
    safe = safe_for_king(s, near | short | long, player, king, opp, occupied)
    return safe & (near | (short & (safe << ONE)) | (long & (safe >> ONE)))  # the square he crosses is near him


@jitable
def is_safe_en_passant(s, origin, player, king, opp, occupied):
    """Return True if the king is safe when both pawns have gone."""
    target = en_passant(s)
    taken = ONE << (target ^ EIGHT)
    after = (occupied ^ (ONE << origin) ^ taken) | (ONE << target)
    return not attacked(s, king, player, opp ^ taken, after)


@jitable
def slides(kind, square, king, pinned, occupied):
    """Return the attacks of a bishop, rook or queen, along its line if it is pinned."""
    targets = ZERO
    if kind != R:
        targets |= bishop_attacks(square, occupied)
    if kind != B:
        targets |= rook_attacks(square, occupied)
    if pinned & (ONE << square) != ZERO:
        targets &= line_through(king, square)
    return targets


@jitable
def pawn_pushes(pawns, player, occupied):
    """Return the squares one and two steps ahead of the pawns."""
    once = pawn_steps(pawns, player) & ~occupied
    return once | pawn_steps(once & (THIRD_RANK if player == ZERO else SIXTH_RANK), player) & ~occupied


# --- captures and promotions -----------------------------------------------------------------------------------------
@jitable
def value_at(s, square):
    """Return the value of what stands there, in pawns; 0 for nothing and for a king."""
    minor, rook, queen = (s.knights | s.bishops) >> square, s.rooks >> square, s.queens >> square
    return (
        ((s.pawns >> square) & ONE)
        + MINOR_VALUE * (minor & ONE)
        + ROOK_VALUE * (rook & ONE)
        + QUEEN_VALUE * (queen & ONE)
    )


@jitable
def ranked(gain, kind, origin, target):
    return ((MOST_GAIN - gain) << RANK_SHIFT) | (kind << KIND_SHIFT) | (origin << ORIGIN_SHIFT) | target


@jitable
def write_captures(s, out, n, kind, origin, targets):
    while targets != ZERO:
        target = first(targets)
        out[n] = ranked(value_at(s, target), kind, origin, target)
        n += 1
        targets &= targets - ONE
    return n


@jitable
def write_promotions(s, out, n, origin, targets):
    while targets != ZERO:
        target = first(targets)
        for promotion in (N, B, R, Q):
            gain = value_at(s, target) + PROMOTION_GAINS[promotion]
            out[n] = ranked(gain, P, origin, target) | (promotion << PROMOTION_SHIFT)
            n += 1
        targets &= targets - ONE
    return n


@jitable
def write_pawns_noisy(s, out, player, pawns, opp, king, pinned, allowed, occupied):
    n = 0
    before_opp = pawn_attacks_west(opp, player ^ ONE) | pawn_attacks_east(opp, player ^ ONE)
    todo = pawns & (before_opp | pawn_steps(LAST_RANKS, player ^ ONE))
    while todo != ZERO:
        origin = first(todo)
        step = pawn_steps(ONE << origin, player) & LAST_RANKS & ~occupied
        targets = ((PAWN[player, origin] & opp) | step) & allowed
        if pinned & (ONE << origin) != ZERO:
            targets &= line_through(king, origin)
        n = write_captures(s, out, n, P, origin, targets & ~LAST_RANKS)
        n = write_promotions(s, out, n, origin, targets & LAST_RANKS)
        todo &= todo - ONE
    if en_passant(s) != ZERO:
        todo = PAWN[player ^ ONE, en_passant(s)] & pawns
        while todo != ZERO:
            origin = first(todo)
            if is_safe_en_passant(s, origin, player, king, opp, occupied):
                out[n] = ranked(ONE, P, origin, en_passant(s))
                n += 1
            todo &= todo - ONE
    return n


@jitable
def sort_ranked(out, n):
    """Sort by insertion, for there are few; then drop the ranks."""
    for i in range(1, n):
        x = out[i]
        j = i - 1
        while j >= 0 and out[j] > x:
            out[j + 1] = out[j]
            j -= 1
        out[j + 1] = x
    for i in range(n):
        out[i] &= ACTION_BITS


@jitable
def write_noisy(s, out, player, own, opp, king, pinned, allowed, king_may):
    """Write captures and promotions in their order."""
    occupied = own | opp
    n = write_pawns_noisy(s, out, player, s.pawns & own, opp, king, pinned, allowed, occupied)
    victims = opp & allowed
    todo = s.knights & own & ~pinned
    while todo != ZERO:
        origin = first(todo)
        n = write_captures(s, out, n, N, origin, KNIGHT[origin] & victims)
        todo &= todo - ONE
    for kind, movers in ((B, s.bishops), (R, s.rooks), (Q, s.queens)):
        todo = movers & own
        while todo != ZERO:
            origin = first(todo)
            targets = slides(kind, origin, king, pinned, occupied) & victims
            n = write_captures(s, out, n, kind, origin, targets)
            todo &= todo - ONE
    n = write_captures(s, out, n, K, king, king_may & opp)
    sort_ranked(out, n)
    return n


# --- the other moves -------------------------------------------------------------------------------------------------
@jitable
def write_quiet(out, n, origin, targets):
    while targets != ZERO:
        out[n] = (origin << ORIGIN_SHIFT) | first(targets)
        n += 1
        targets &= targets - ONE
    return n


@jitable
def write_quiets(s, out, n, player, own, opp, king, pinned, allowed, king_may):
    """Write the other moves by piece, square and target."""
    occupied = own | opp
    free = ~occupied & allowed
    todo = s.pawns & own & pawn_steps(~occupied, player ^ ONE)
    while todo != ZERO:
        origin = first(todo)
        targets = pawn_pushes(ONE << origin, player, occupied) & free & ~LAST_RANKS
        if pinned & (ONE << origin) != ZERO:
            targets &= line_through(king, origin)
        n = write_quiet(out, n, origin, targets)
        todo &= todo - ONE
    todo = s.knights & own & ~pinned
    while todo != ZERO:
        origin = first(todo)
        n = write_quiet(out, n, origin, KNIGHT[origin] & free)
        todo &= todo - ONE
    for kind, movers in ((B, s.bishops), (R, s.rooks), (Q, s.queens)):
        todo = movers & own
        while todo != ZERO:
            origin = first(todo)
            n = write_quiet(out, n, origin, slides(kind, origin, king, pinned, occupied) & free)
            todo &= todo - ONE
    return write_quiet(out, n, king, king_may & ~occupied)


@jitable
def actions(s, out):
    player, own, opp = sides(s)
    king, checkers, pinned = look_from_king(s, player, own, opp)
    allowed = answers(s, king, checkers)
    king_may = king_targets(s, player, king, checkers, own, opp)
    n = write_noisy(s, out, player, own, opp, king, pinned, allowed, king_may)
    return write_quiets(s, out, n, player, own, opp, king, pinned, allowed, king_may)
