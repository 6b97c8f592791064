"""Chess moves in text: SAN (Nf3, exd5, O-O, e8=Q+) and UCI (g1f3, e7e8q), both ways."""

from __future__ import annotations

import re

from evallearn.errors import BadNotation, IllegalAction
from evallearn.games.chess.fen import square_at, square_name, write_fen
from evallearn.games.chess.moves import PROMOTES_TO, PROMOTION, Position, gain, in_check, legal_moves, play
from evallearn.games.chess.state import State

EXPECTED = "expected SAN such as Nf3, exd5, O-O, e8=Q, or UCI such as g1f3"
DECORATION = re.compile(r"(?:[+#!?\s]|e\.p\.?$|ep$)+$")
"""What may follow a move without changing it."""
UCI = re.compile(r"([a-h][1-8])-?([a-h][1-8])=?([qrbn]?)")
CASTLING = re.compile(r"[Oo0]-?[Oo0](-?[Oo0])?")
SAN = re.compile(r"([KQRBNP]?)([a-h]?)([1-8]?)([-x:]?)([a-h][1-8])=?\(?([QRBNqrbn]?)\)?")
"""(kind, from file, from rank, takes, target, promotion)."""
MARKS = ("x", ":")
"""Of captures."""


# --- out -------------------------------------------------------------------------------------------------------------
def uci(a: int) -> str:
    """Write g1f3, e7e8q."""
    return square_name(a // 64 % 64) + square_name(a % 64) + PROMOTES_TO[a // PROMOTION].lower()


def san(p: Position, a: int) -> str:
    """Write standard algebraic notation of a legal action, with + where it gives check and # where it mates."""
    after = play(p, a)
    if not in_check(after.squares, after.player):
        return bare_san(p, a)
    return bare_san(p, a) + ("+" if legal_moves(after) else "#")


def bare_san(p: Position, a: int) -> str:
    """Write the notation without + and #."""
    origin, target = a // 64 % 64, a % 64
    kind, takes = p.squares[origin].upper(), "x" if gain(p, a % PROMOTION) else ""
    if kind == "P":
        file, promotion = square_name(origin)[0] if takes else "", PROMOTES_TO[a // PROMOTION]
        return file + takes + square_name(target) + ("=" + promotion if promotion else "")
    if kind == "K" and abs(target - origin) == 2:
        return "O-O" if target > origin else "O-O-O"
    return kind + _which(p, origin, target) + takes + square_name(target)


def _which(p: Position, origin: int, target: int) -> str:
    """Return what distinguishes the piece from its like that can go there too: its file, else its rank, else both."""
    origins = (a // 64 for a in legal_moves(p) if a < PROMOTION and a % 64 == target)
    others = [o for o in origins if o != origin and p.squares[o] == p.squares[origin]]
    name = square_name(origin)
    if not others:
        return ""
    if all(o % 8 != origin % 8 for o in others):
        return name[0]
    return name[1] if all(o // 8 != origin // 8 for o in others) else name


# --- in --------------------------------------------------------------------------------------------------------------
def read_move(s: State, text: str) -> int:
    """Find the legal action that `text` says, in SAN or UCI.

    Forgiving: 0-0, e8Q, e2-e4, Ng1f3, a missing x or +, any case. A text that fits two moves is refused, unless one
    of them is what it says to the letter: bxc3 is a pawn's move, though a bishop may go there too.
    """
    p, bare = s.position, DECORATION.sub("", text.strip())
    found = _as_written(p, bare) or _in_other_case(p, bare.lower())
    if len(found) == 1:
        return found.pop()
    where = f"in chess position {write_fen(s)!r}"
    names = " ".join(bare_san(p, a) for a in legal_moves(p) if not found or a in found) or "none"
    if found:
        raise BadNotation(f"{text!r} could be several moves {where}: write one of {names}")
    if any(pattern.fullmatch(bare) for pattern in (UCI, CASTLING, SAN)):
        raise IllegalAction(f"illegal action {text!r} {where}; legal: {names}")
    raise BadNotation(f"{text!r} is no move {where}: {EXPECTED}; legal: {names}")


def _as_written(p: Position, text: str) -> set[int]:
    if squares := UCI.fullmatch(text):
        return {a for a in legal_moves(p) if uci(a).startswith("".join(squares.groups()))}
    if castling := CASTLING.fullmatch(text):
        king = (4, 60)[p.player]
        a = 64 * king + king + (-2 if castling[1] else 2)
        return {a} & set(legal_moves(p)) if p.squares[king] in "Kk" else set()
    return _san_moves(p, text)


def _in_other_case(p: Position, text: str) -> set[int]:
    """Return all readings of a text without capitals, and of pawns that take without an x."""
    return _as_written(p, text) | _san_moves(p, text, needs_x=False) | _san_moves(p, text[:1].upper() + text[1:])


def _san_moves(p: Position, text: str, needs_x: bool = True) -> set[int]:
    reading = SAN.fullmatch(text)
    if not reading:
        return set()
    kind, file, rank, takes, target, promotion = reading.groups()
    piece = (kind or "P").lower() if p.player else kind or "P"

    def fits(a: int) -> bool:
        origin, is_capture = a // 64 % 64, gain(p, a % PROMOTION) > 0
        if a % 64 != square_at(target) or p.squares[origin] != piece:
            return False
        if piece in "Pp" and is_capture and not (file and (takes in MARKS or not needs_x)):
            return False
        name, becomes = square_name(origin), PROMOTES_TO[a // PROMOTION]
        return file in ("", name[0]) and rank in ("", name[1]) and promotion.upper() in ("", becomes)

    found = {a for a in legal_moves(p) if fits(a)}
    return found if takes not in MARKS else {a for a in found if gain(p, a % PROMOTION)}
