"""Checkers in text: positions as draughts FEN, moves as in PDN.

A FEN such as `W:W17,22,K29:B1,2` names who is to move, then White's and Black's squares, K before a king's; ranges
(B1-12), a dot at the end, small letters and either order are read too. Two parts more are read, as the FEN of some
programs has them: H, the plies since the last capture or move of a man, and F, the number of the move, of no use here.
H is written if it is not 0. The moves since a position that counts for repetition follow as in UCI:
`B:WK32:BK1 moves 1-6 32-27`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from evallearn.errors import BadNotation, IllegalAction
from evallearn.games.checkers.moves import (
    CROWN_ROW,
    MEN,
    Move,
    State,
    bit,
    encode,
    is_drawn,
    moves,
    play,
    routes,
    squares_of,
    word,
)

NAMES = ("Black", "White")
INITIAL = State(word(" ".join(map(str, range(1, 13)))), word(" ".join(map(str, range(21, 33)))), 0)
PART = re.compile(r"([WBHF])([K0-9,-]*)")
PIECES = re.compile(r"(K?)([0-9]{1,2})(?:-([0-9]{1,2}))?")
MOVE = re.compile(r"[0-9]{1,2}(?:[-x:][0-9]{1,2})+")
SHAPE = "expected a draughts FEN such as W:W17,22,K29:B1,2, or moves such as 11-15 22-18"


# --- moves -----------------------------------------------------------------------------------------------------------
def move_text(move: Move) -> str:
    """Write 11-15, 22x15 or, with every square on the way, 22x15x8."""
    return ("x" if move.taken else "-").join(str(square + 1) for square in move.route)


def find_move(s: State, text: str) -> Move:
    """Find the move of the text, drawing rules aside: all squares of a capture, or as many as leave one choice.

    The sign between the squares is of no account: many a scoresheet has 10x14 where nothing is taken.
    """
    stripped = re.sub(r"\s*([-x:])\s*", r"\1", text.strip().lower().replace("×", "x")).rstrip("!?")
    if not MOVE.fullmatch(stripped):
        how = "write 11-15, 22x15 or 22x15x8"
        raise BadNotation(f"{text!r} is no move in checkers position {to_text(s)!r}: {how}; legal: {legal_text(s)}")
    given = [int(number) - 1 for number in re.split("[-x:]", stripped)]
    fitting = {move.action: move for move in routes(s) if fits(move.route, given)}
    if not fitting:
        raise IllegalAction(
            f"illegal move {text.strip()} in checkers position {to_text(s)!r}{why_not(s, given)}; "
            f"legal: {legal_text(s)}"
        )
    if len(fitting) > 1:
        ways = " or ".join(map(move_text, fitting.values()))
        raise BadNotation(f"{text.strip()} can be several moves in checkers position {to_text(s)!r}: write {ways}")
    return next(iter(fitting.values()))


def why_not(s: State, given: list[int]) -> str:
    """Say what beginners overlook: a jump that goes on, a capture that is forced."""
    captures = [move for move in moves(s) if move.taken]
    if any(list(move.route[: len(given)]) == given for move in routes(s)):
        return ": the jump goes on"
    return ": something must be captured" if captures else ""


def require_unfinished(s: State) -> None:
    """Raise if the game is drawn: players may go on where nobody claims the draw, but not here."""
    if is_drawn(s):
        raise IllegalAction(f"the game is over in checkers position {to_text(s)!r}: it is drawn")


def fits(route: tuple[int, ...], given: list[int]) -> bool:
    """Return True if the route begins and ends as given, and meets the others on the way, in their order."""
    rest = iter(route[1:-1])
    return (route[0], route[-1]) == (given[0], given[-1]) and all(square in rest for square in given[1:-1])


def legal_text(s: State) -> str:
    """List the legal moves in a row."""
    return " ".join(map(move_text, moves(s))) or "none"


# --- positions -------------------------------------------------------------------------------------------------------
def to_text(s: State) -> str:
    """Write the FEN of the oldest position in the history, and the moves since."""
    if not s.history:
        return fen(s)
    start = from_words(s.history[0])
    return " ".join([fen(start), "moves", *moves_between(start, [*s.history[1:], encode(s)])])


def from_words(words: tuple[int, ...]) -> State:
    """Return the state that `encode` gave, without its history."""
    black, white, kings, meta = words
    return State(black, white, kings, meta & 1, meta >> 1)


def moves_between(s: State, positions: Iterable[tuple[int, ...]]) -> Iterator[str]:
    """Yield the moves that lead from `s` through the encoded positions."""
    for words in positions:
        move = next((move for move in moves(s) if encode(play(s, move)) == words), None)
        if move is None:
            raise BadNotation(
                f"no move leads from {fen(s)!r} to {fen(from_words(words))!r}: the history is not one of play"
            )
        yield move_text(move)
        s = play(s, move)


def fen(s: State) -> str:
    """Write the position alone; H is the clock."""
    white, black = (",".join(mark_squares(s, pieces)) for pieces in (s.white, s.black))
    clock = f":H{s.clock}" if s.clock else ""
    return f"{'BW'[s.player]}:W{white}:B{black}{clock}"


def mark_squares(s: State, pieces: int) -> Iterator[str]:
    """Write 17 for a man, K17 for a king."""
    return (f"{'K' if s.kings & bit(square) else ''}{square + 1}" for square in squares_of(pieces))


def from_text(text: str) -> State:
    """Read a FEN, a FEN with moves, or moves from the initial position."""
    head, found, tail = re.split(r"(\bmoves\b|\Z)", text.strip(), maxsplit=1, flags=re.IGNORECASE)
    if not found and (not head or head[0] in "0123456789"):
        head, tail = "", head
    s = read_fen(head, text) if head or found else INITIAL
    for number, move in enumerate(tail.split(), 1):
        try:
            require_unfinished(s)
            s = play(s, find_move(s, move))
        except (BadNotation, IllegalAction) as error:
            raise BadNotation(f"checkers position {text!r}: move {number}: {error}") from None
    return s


def read_fen(text: str, whole: str) -> State:
    """Read the position of a FEN; `whole` is what the user wrote, for the message."""
    mover, *parts = "".join(text.upper().split()).removesuffix(".").split(":")
    found: dict[str, str] = {}
    for part in parts:
        match = PART.fullmatch(part)
        if not match or match[1] in found:
            raise bad(whole, f"{part!r} {'comes twice' if match else 'is no part of a FEN'}; {SHAPE}")
        found[match[1]] = match[2]
    if mover not in ("B", "W") or not {"B", "W"} <= set(found):
        raise bad(whole, SHAPE)
    placed = {colour: read_pieces(found[colour], colour, whole) for colour in "BW"}
    (black, black_kings), (white, white_kings) = placed["B"], placed["W"]
    if black & white:
        raise bad(whole, f"square {squares_of(black & white)[0] + 1} holds two pieces")
    clock = read_count(found.get("H", "0"), whole)
    read_count(found.get("F", "1"), whole)
    return State(black, white, black_kings | white_kings, "BW".index(mover), clock)


def read_pieces(text: str, colour: str, whole: str) -> tuple[int, int]:
    """Read (all pieces, the kings) of one player."""
    pieces = kings = 0
    for item in text.split(",") if text else ():
        match = PIECES.fullmatch(item)
        first, last = (int(match[2]), int(match[3] or match[2])) if match else (0, 0)
        if not match or not 1 <= first <= last <= 32:
            raise bad(whole, f"{item!r} is no square or range; squares are 1..32, a king's K1..K32")
        for square in range(first - 1, last):
            if pieces & bit(square):
                raise bad(whole, f"square {square + 1} holds two pieces")
            pieces |= bit(square)
            kings |= bit(square) if match[1] else 0
    if pieces.bit_count() > MEN:
        raise bad(whole, f"{NAMES['BW'.index(colour)]} has {pieces.bit_count()} pieces; {MEN} are the most")
    if uncrowned := pieces & ~kings & CROWN_ROW["BW".index(colour)]:
        square = squares_of(uncrowned)[0] + 1
        raise bad(
            whole, f"a man of {NAMES['BW'.index(colour)]} stands on {square}, where it is a king: write K{square}"
        )
    return pieces, kings


def read_count(text: str, whole: str) -> int:
    """Read the number in H or F."""
    if not re.fullmatch("[0-9]{1,4}", text):
        raise bad(whole, f"{text!r} is no number of plies or moves")
    return int(text)


def bad(text: str, why: str) -> BadNotation:
    """Return the error for a position that cannot be read."""
    return BadNotation(f"checkers position {text!r}: {why}")


def mark(s: State, square: int) -> str:
    """Return b, w, BB or WW for what stands there; an empty text if nothing does."""
    colour = "b" if s.black & bit(square) else "w" if s.white & bit(square) else ""
    return 2 * colour.upper() if s.kings & bit(square) else colour
