"""Chess positions in FEN (Forsyth-Edwards Notation): strict, with a reason for every refusal."""

from __future__ import annotations

import re

from evallearn.errors import BadNotation
from evallearn.games.chess.moves import (
    CASTLING,
    EMPTY,
    KINDS,
    NO_SQUARE,
    PIECES,
    Position,
    can_take_en_passant,
    in_check,
)
from evallearn.games.chess.state import RIGHTS, State

START_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
MAX_CLOCK, MAX_NUMBER = 999, 9999
"""More than any real game shows; both have room in the compiled backend's word."""
AT_FIRST = {"P": 8, "N": 2, "B": 2, "R": 2, "Q": 1, "K": 1}
"""Pieces of each player; every one more of a kind was a pawn."""
PLAYERS = ("White", "Black")
NUMBER = re.compile("[0-9]{1,9}")


def square_name(square: int) -> str:
    """Name the square: e4 for 28."""
    return "abcdefgh"[square % 8] + str(square // 8 + 1)


def square_at(name: str) -> int:
    """Return 28 for e4; the name must be one."""
    return "abcdefgh".index(name[0]) + 8 * (int(name[1]) - 1)


def write_fen(s: State) -> str:
    """Write the six fields; the en passant square only where such a capture is legal."""
    return f"{write_placement(s.position)} {s.clock} {s.number}"


def write_placement(p: Position) -> str:
    """Write the first four fields, with which an EPD line begins."""
    ranks = (p.squares[i : i + 8] for i in range(56, -8, -8))
    board = "/".join(re.sub(r"\.+", lambda run: str(len(run[0])), rank) for rank in ranks)
    en_passant = square_name(p.en_passant) if p.en_passant != NO_SQUARE else "-"
    return f"{board} {'wb'[p.player]} {p.castling or '-'} {en_passant}"


def read_fen(text: str) -> State:
    """Read six fields, or four as in EPD (then the clock is 0 and the move number 1).

    An en passant square is refused where no pawn can just have passed it, and dropped where no pawn can legally take
    there: many programs write it after every double step.
    """
    try:
        return _read_fields(text.split())
    except BadNotation as error:
        raise BadNotation(f"chess position {text!r}: {error}") from None


def _read_fields(fields: list[str]) -> State:
    if len(fields) not in (4, 6):
        expected = "expected board, w or b, castling, en passant and, if known, clock and move number"
        raise BadNotation(f"it has {len(fields)} fields; {expected}")
    board, mover, castling, en_passant, *counters = fields
    squares = _read_board(board)
    _check_pieces(squares)
    if mover not in ("w", "b"):
        raise BadNotation(f"{mover!r} is to move; expected w or b")
    player = "wb".index(mover)
    if in_check(squares, 1 - player):
        raise BadNotation(f"{PLAYERS[player]} is to move and could take the king; check who is to move")
    p = Position(squares, player, _read_castling(castling, squares), NO_SQUARE)
    clock, number = counters or ("0", "1")
    return State(
        p._replace(en_passant=_read_en_passant(en_passant, p)),
        read_number(clock, "clock", MAX_CLOCK),
        max(1, read_number(number, "move number", MAX_NUMBER)),  # some programs count from 0
    )


def _read_board(text: str) -> str:
    ranks = text.split("/")
    if len(ranks) != 8:
        raise BadNotation(f"the board has {len(ranks)} ranks; expected 8, from the eighth to the first, parted by /")
    for number, rank in zip(range(8, 0, -1), ranks, strict=True):
        if found := re.search("[^PNBRQKpnbrqk1-8]", rank):
            raise BadNotation(f"rank {number} has {found[0]!r}; expected PNBRQK, pnbrqk or digits 1 to 8")
        if re.search("[1-8]{2}", rank):
            raise BadNotation(f"rank {number}, {rank}, has two digits in a row; write their sum")
    rows = [re.sub("[1-8]", lambda digit: EMPTY * int(digit[0]), rank) for rank in ranks]
    for number, row, rank in zip(range(8, 0, -1), rows, ranks, strict=True):
        if len(row) != 8:
            raise BadNotation(f"rank {number}, {rank}, has {len(row)} squares; expected 8")
    return "".join(reversed(rows))


def _check_pieces(squares: str) -> None:
    for name, letters in zip(PLAYERS, PIECES, strict=True):
        counts = {kind: squares.count(letter) for kind, letter in zip(KINDS, letters, strict=True)}
        if counts["K"] != 1:
            raise BadNotation(f"{name} has {counts['K']} kings; expected one")
        promoted = sum(max(0, counts[kind] - AT_FIRST[kind]) for kind in "NBRQ")
        if counts["P"] + promoted > AT_FIRST["P"]:
            have = f"{counts['P']} pawns and at least {promoted} promoted pieces"
            raise BadNotation(f"{name} has {have}; expected 8 or fewer together")
    if set(squares[:8] + squares[56:]) & set("Pp"):
        raise BadNotation("a pawn stands on the first or the last rank; move or promote it")


def _read_castling(text: str, squares: str) -> str:
    if text == "-":
        return ""
    if not text or set(text) - set(RIGHTS) or len(set(text)) != len(text):
        raise BadNotation(f"castling is {text!r}; expected some of KQkq, or -")
    for right in text:
        king, _, rook, _, _ = CASTLING[right]
        if (squares[king], squares[rook]) != (("K", "R") if right.isupper() else ("k", "r")):
            at_home = f"a king on {square_name(king)} and a rook on {square_name(rook)}"
            raise BadNotation(f"castling right {right} needs {at_home}; leave it out")
    return "".join(right for right in RIGHTS if right in text)


def _read_en_passant(text: str, p: Position) -> int:
    if text == "-":
        return NO_SQUARE
    if not re.fullmatch("[a-h][1-8]", text):
        raise BadNotation(f"the en passant square is {text!r}; expected one such as e3, or -")
    square, forward = square_at(text), (8, -8)[p.player]
    passed = square // 8 == (5, 2)[p.player] and p.squares[square - forward] == PIECES[1 - p.player][0]
    if not passed or p.squares[square] != EMPTY or p.squares[square + forward] != EMPTY:
        raise BadNotation(f"no pawn can just have passed the en passant square {text}; write - instead")
    return square if can_take_en_passant(p._replace(en_passant=square)) else NO_SQUARE


def read_number(text: str, what: str, most: int) -> int:
    """Read the whole number in `text`, from 0 to `most`."""
    if not NUMBER.fullmatch(text) or int(text) > most:
        raise BadNotation(f"the {what} is {text!r}; expected 0 to {most}")
    return int(text)
