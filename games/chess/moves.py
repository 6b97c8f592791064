"""The moves of chess on a board of 64 letters: what `game.py` is built on.

Square a1 is 0, b1 is 1, a2 is 8, h8 is 63. White has capital letters and is player 0. An action is 64 * from + to;
a promotion adds 4096 for a knight, twice, three or four times that for a bishop, a rook or a queen. Castling is the
king's step of two squares.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

KINDS = "PNBRQK"
PIECES = (KINDS, KINDS.lower())
"""The letters of White and of Black."""
VALUES = {"P": 1, "N": 3, "B": 3, "R": 5, "Q": 9, "K": 100}
"""In pawns, for exchanges; a king is worth more than everything that could be won for him."""
VALUE_OF = {**VALUES, **{kind.lower(): value for kind, value in VALUES.items()}, ".": 0}
EMPTY = "."
NO_SQUARE = 0
"""Where no en passant is possible: a1 is never such a square."""
PROMOTION = 4096
PROMOTES_TO = ("", "N", "B", "R", "Q")
"""What action // PROMOTION stands for."""
STRAIGHT = ((1, 0), (0, 1), (-1, 0), (0, -1))
DIAGONAL = ((1, 1), (-1, 1), (-1, -1), (1, -1))
LEAPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))


class Position(NamedTuple):
    """What has to be equal for a repetition (FIDE's "same position")."""

    squares: str
    """64 pieces from a1, b1 to h8: PNBRQK White, pnbrqk Black, . empty."""
    player: int
    """Who is to move: 0 White, 1 Black."""
    castling: str
    """The rights that are left, of KQkq."""
    en_passant: int
    """The square behind a pawn that has just made a double step and can legally be taken; else NO_SQUARE."""


START = Position("RNBQKBNR" + "P" * 8 + EMPTY * 32 + "p" * 8 + "rnbqkbnr", 0, "KQkq", NO_SQUARE)


# --- geometry --------------------------------------------------------------------------------------------------------
def steps(square: int, direction: tuple[int, int]) -> tuple[int, ...]:
    """Return the squares from `square`, itself excluded, to the edge of the board."""
    file, rank = square % 8 + direction[0], square // 8 + direction[1]
    found = []
    while 0 <= file < 8 and 0 <= rank < 8:
        found.append(8 * rank + file)
        file, rank = file + direction[0], rank + direction[1]
    return tuple(found)


def near(square: int, directions: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """Return the squares one step away."""
    return tuple(steps(square, d)[0] for d in directions if steps(square, d))


STRAIGHT_RAYS = tuple(tuple(steps(square, d) for d in STRAIGHT) for square in range(64))
DIAGONAL_RAYS = tuple(tuple(steps(square, d) for d in DIAGONAL) for square in range(64))
RAYS = {
    "B": DIAGONAL_RAYS,
    "R": STRAIGHT_RAYS,
    "Q": tuple(a + b for a, b in zip(STRAIGHT_RAYS, DIAGONAL_RAYS, strict=True)),
}
KNIGHT_STEPS = tuple(near(square, LEAPS) for square in range(64))
KING_STEPS = tuple(near(square, STRAIGHT + DIAGONAL) for square in range(64))
PAWN_ATTACKS = (
    tuple(near(square, ((-1, 1), (1, 1))) for square in range(64)),
    tuple(near(square, ((-1, -1), (1, -1))) for square in range(64)),
)
"""By the pawn's player: where it takes."""
QUEEN_LINES = tuple(frozenset(t for ray in RAYS["Q"][square] for t in ray) for square in range(64))

CASTLING = {
    "K": (4, 6, 7, 5, (5, 6)),
    "Q": (4, 2, 0, 3, (3, 2, 1)),
    "k": (60, 62, 63, 61, (61, 62)),
    "q": (60, 58, 56, 59, (59, 58, 57)),
}
"""{right: (king from, king to, rook from, rook to, the squares that must be empty)}."""
RIGHTS_LOST = {square: right for right, (_, _, square, _, _) in CASTLING.items()} | {4: "KQ", 60: "kq"}
"""{home square of a king or a rook: the rights that a move from it, or a capture on it, ends}."""
KING_WALK = 2
"""Of the squares that must be empty the first two are those the king crosses: they must not be attacked either."""


# --- attacks ---------------------------------------------------------------------------------------------------------
def attacks(squares: str, square: int) -> Iterator[int]:
    """Yield the squares that the piece on `square` attacks, whoever stands there."""
    kind = squares[square].upper()
    if kind == "P":
        yield from PAWN_ATTACKS[squares[square].islower()][square]
    elif kind == "N":
        yield from KNIGHT_STEPS[square]
    elif kind == "K":
        yield from KING_STEPS[square]
    else:
        for ray in RAYS[kind][square]:
            for target in ray:
                yield target
                if squares[target] != EMPTY:
                    break


def attackers(squares: str, target: int, player: int) -> Iterator[int]:
    """Yield the squares of the pieces of `player` that attack `target`."""
    pawn, knight, bishop, rook, queen, king = tuple(PIECES[player])
    yield from (t for t in PAWN_ATTACKS[1 - player][target] if squares[t] == pawn)
    yield from (t for t in KNIGHT_STEPS[target] if squares[t] == knight)
    yield from (t for t in KING_STEPS[target] if squares[t] == king)
    for rays, slider in ((STRAIGHT_RAYS, rook), (DIAGONAL_RAYS, bishop)):
        for ray in rays[target]:
            for t in ray:
                if (piece := squares[t]) != EMPTY:
                    if piece in (slider, queen):
                        yield t
                    break


def is_attacked(squares: str, target: int, player: int) -> bool:
    """Return True if a piece of `player` attacks `target`."""
    return next(attackers(squares, target, player), None) is not None


def in_check(squares: str, player: int) -> bool:
    """Return True if the king of `player` is attacked."""
    return is_attacked(squares, squares.index(PIECES[player][-1]), 1 - player)


# --- moves -----------------------------------------------------------------------------------------------------------
def moved(p: Position, a: int) -> str:
    """Return the board after the action."""
    promotion, a = divmod(a, PROMOTION)
    origin, target = divmod(a, 64)
    board = list(p.squares)
    piece, board[origin] = board[origin], EMPTY
    board[target] = PIECES[p.player][promotion] if promotion else piece
    if piece in "Pp" and target == p.en_passant != NO_SQUARE:
        board[target - 8 if p.player == 0 else target + 8] = EMPTY
    if piece in "Kk" and abs(target - origin) == 2:
        _, _, rook_from, rook_to, _ = next(c for c in CASTLING.values() if c[:2] == (origin, target))
        board[rook_from], board[rook_to] = EMPTY, board[rook_from]
    return "".join(board)


def pawn_moves(p: Position, origin: int) -> Iterator[int]:
    """Yield steps and captures of the pawn on `origin`."""
    forward, second = (8, 1) if p.player == 0 else (-8, 6)
    targets = [t for t in PAWN_ATTACKS[p.player][origin] if p.squares[t] in PIECES[1 - p.player]]
    if p.en_passant in PAWN_ATTACKS[p.player][origin] and p.en_passant != NO_SQUARE:
        targets.append(p.en_passant)
    if p.squares[origin + forward] == EMPTY:
        targets.append(origin + forward)
        if origin // 8 == second and p.squares[origin + 2 * forward] == EMPTY:
            targets.append(origin + 2 * forward)
    for target in targets:
        promotions = range(1, 5) if target // 8 in (0, 7) else (0,)
        yield from (64 * origin + target + PROMOTION * k for k in promotions)


def castling_moves(p: Position) -> Iterator[int]:
    """Yield castling, where the king neither stands in check nor crosses an attacked square."""
    for right in p.castling:
        origin, target, _, _, between = CASTLING[right]
        if right in PIECES[p.player] and all(p.squares[t] == EMPTY for t in between):
            path = (origin, *between[:KING_WALK])
            if not any(is_attacked(p.squares, t, 1 - p.player) for t in path):
                yield 64 * origin + target


def pseudo_moves(p: Position) -> Iterator[int]:
    """Yield all moves, those that leave the king in check included."""
    own = PIECES[p.player]
    for origin, piece in enumerate(p.squares):
        if piece not in own:
            continue
        if piece in "Pp":
            yield from pawn_moves(p, origin)
        else:
            yield from (64 * origin + t for t in attacks(p.squares, origin) if p.squares[t] not in own)
    yield from castling_moves(p)


def gain(p: Position, a: int) -> int:
    """Return what the action itself wins, in pawns: the piece taken and what a pawn becomes; 0 for a quiet move."""
    promotion, target = a // PROMOTION, a % 64
    taken = VALUE_OF[p.squares[target]]
    if target == p.en_passant != NO_SQUARE and p.squares[a // 64 % 64] in "Pp":
        taken = 1
    return taken + (VALUES[PROMOTES_TO[promotion]] - 1 if promotion else 0)


def order(p: Position, a: int) -> tuple[int, int, int]:
    """Return the key that sorts moves: the biggest gain first, then the least piece, then the lowest number."""
    return -gain(p, a), PIECES[p.player].index(p.squares[a // 64 % 64]), a


@lru_cache(maxsize=4096)
def legal_moves(p: Position) -> tuple[int, ...]:
    """Return the legal moves in the order of `order`, whatever the drawing rules say."""
    king = p.squares.index(PIECES[p.player][-1])
    checked = in_check(p.squares, p.player)

    def is_legal(a: int) -> bool:
        origin, target = a // 64 % 64, a % 64
        if not checked and origin != king and origin not in QUEEN_LINES[king] and target != p.en_passant:
            return True  # a piece that stands on no line with its king is not pinned
        return not in_check(moved(p, a), p.player)

    return tuple(sorted(filter(is_legal, pseudo_moves(p)), key=lambda a: order(p, a)))


def play(p: Position, a: int) -> Position:
    """Return the position after a legal action."""
    origin, target = a // 64 % 64, a % 64
    lost = RIGHTS_LOST.get(origin, "") + RIGHTS_LOST.get(target, "")
    castling = "".join(right for right in p.castling if right not in lost)
    after = Position(moved(p, a), 1 - p.player, castling, NO_SQUARE)
    if p.squares[origin] in "Pp" and abs(target - origin) == 16:
        behind = after._replace(en_passant=(origin + target) // 2)
        return behind if can_take_en_passant(behind) else after
    return after


def can_take_en_passant(p: Position) -> bool:
    """Return True if a pawn of the player to move can legally go to the en passant square."""
    origins = PAWN_ATTACKS[1 - p.player][p.en_passant]
    takers = (o for o in origins if p.squares[o] == PIECES[p.player][0])
    return any(not in_check(moved(p, 64 * o + p.en_passant), p.player) for o in takers)


def is_irreversible(p: Position, a: int) -> bool:
    """Return True for captures and pawn moves: the clock starts again."""
    return p.squares[a // 64 % 64] in "Pp" or p.squares[a % 64] != EMPTY


def has_insufficient_material(squares: str) -> bool:
    """Return True if nobody can be mated.

    That is: king against king, one minor piece more, or bishops that all stand on one colour.
    """
    pieces = [(piece.upper(), (i + i // 8) % 2) for i, piece in enumerate(squares) if piece not in ".Kk"]
    if len(pieces) <= 1:
        return all(kind in "NB" for kind, _ in pieces)
    return all(kind == "B" for kind, _ in pieces) and len({colour for _, colour in pieces}) == 1


# --- exchanges -------------------------------------------------------------------------------------------------------
def exchange(squares: str, target: int, player: int) -> int:
    """Return what `player` wins on `target` by taking with the least piece, if it pays, and so on in turn.

    Pins are ignored, and a pawn that takes on the last rank stays a pawn.
    """
    choices = sorted((PIECES[player].index(squares[t]), t) for t in attackers(squares, target, player))
    if not choices:
        return 0
    _, origin = choices[0]
    board = list(squares)
    board[target], board[origin] = board[origin], EMPTY
    return max(0, VALUE_OF[squares[target]] - exchange("".join(board), target, 1 - player))


def static_exchange(p: Position, a: int) -> int:
    """Return what the action wins in pawns after the best exchanges on its target: SEE."""
    return gain(p, a) - exchange(moved(p, a), a % 64, 1 - p.player)


def is_noisy(p: Position, a: int) -> bool:
    """Return True for captures and promotions to a queen that lose nothing by exchanges."""
    return gain(p, a) > 0 and a // PROMOTION in (0, 4) and static_exchange(p, a) >= 0
