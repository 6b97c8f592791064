"""A chess position with its history: clocks, repetition, and the words of the compiled backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evallearn.games.chess.moves import (
    EMPTY,
    KINDS,
    PIECES,
    Position,
    has_insufficient_material,
    in_check,
    is_irreversible,
    legal_moves,
    play,
)

CLOCK_LIMIT = 100
"""Plies without a capture or a pawn move: fifty moves of each player."""
RIGHTS = "KQkq"
RIGHTS_SHIFT, EN_PASSANT_SHIFT, CLOCK_SHIFT, NUMBER_SHIFT = 1, 5, 16, 32
"""Places in the last word: bit 0 is the player."""
POSITION_BITS = (1 << 11) - 1
"""The part of the last word that belongs to the position."""


class State(NamedTuple):
    """A position, and what the drawing rules need of the past."""

    position: Position
    clock: int = 0
    """Plies since the last capture or pawn move."""
    number: int = 1
    """Of the move, as scores of games count it: it rises after Black's move."""
    history: tuple[tuple[int, ...], ...] = ()
    """The positions since that capture or pawn move, oldest first, as the words of `encode`."""


class Words(NamedTuple):
    """The same for the compiled backend: a word per kind of piece, White's pieces, and all the rest in `meta`."""

    pawns: int
    knights: int
    bishops: int
    rooks: int
    queens: int
    kings: int
    white: int
    meta: int


def encode(s: State) -> tuple[int, ...]:
    """Return the words, in which bit i is square i; `history` is left out."""
    words = dict.fromkeys(KINDS, 0)
    white = 0
    for i, piece in enumerate(s.position.squares):
        if piece != EMPTY:
            words[piece.upper()] |= 1 << i
            white |= piece.isupper() << i
    _, player, castling, en_passant = s.position
    rights = sum(1 << RIGHTS.index(right) for right in castling)
    meta = player | rights << RIGHTS_SHIFT | en_passant << EN_PASSANT_SHIFT
    return *words.values(), white, meta | s.clock << CLOCK_SHIFT | s.number << NUMBER_SHIFT


def decode(words: Sequence[int], history: Sequence[tuple[int, ...]] = ()) -> State:
    """Return the state: the inverse of `encode`."""
    *kinds, white, meta = words
    squares = [EMPTY] * 64
    for kind, word in enumerate(kinds):
        while word:
            i = word.bit_length() - 1
            squares[i] = PIECES[1 - (white >> i & 1)][kind]
            word ^= 1 << i
    castling = "".join(right for i, right in enumerate(RIGHTS) if meta >> RIGHTS_SHIFT + i & 1)
    position = Position("".join(squares), meta & 1, castling, meta >> EN_PASSANT_SHIFT & 63)
    return State(position, meta >> CLOCK_SHIFT & 0xFFFF, meta >> NUMBER_SHIFT & 0xFFFF, tuple(history))


def advance(s: State, a: int) -> State:
    """Return the state after a legal action, whether or not the game is drawn already."""
    after, number = play(s.position, a), s.number + s.position.player
    if is_irreversible(s.position, a):
        return State(after, 0, number)
    return State(after, s.clock + 1, number, (*s.history, encode(s)))


def move_between(before: State, after: State) -> int:
    """Return the action that led from one to the other; it is known to be neither a capture nor a pawn move."""
    old, new = before.position.squares, after.position.squares
    changed = [i for i in range(64) if old[i] != new[i]]
    origin = max((i for i in changed if old[i] != EMPTY), key=lambda i: old[i] in "Kk")  # castling: the king's
    target = next(i for i in changed if new[i] == old[origin])
    return 64 * origin + target


# --- the end of the game ---------------------------------------------------------------------------------------------
def is_mate(s: State) -> bool:
    """Return True if the player to move is in check and has no legal move."""
    return not legal_moves(s.position) and in_check(s.position.squares, s.position.player)


def is_third_occurrence(s: State) -> bool:
    """Return True if the position stood on the board twice before."""
    if len(s.history) < 8:  # no position comes back in fewer than four plies
        return False
    *board, meta = encode(s)
    same = (*board, meta & POSITION_BITS)
    return sum((*w[:-1], w[-1] & POSITION_BITS) == same for w in s.history) >= 2


def why_drawn(s: State) -> str:
    """Return the rule that ends the game in a draw, or an empty text; mate takes precedence."""
    if not legal_moves(s.position):
        return "" if is_mate(s) else "stalemate"
    if has_insufficient_material(s.position.squares):
        return "insufficient material"
    if s.clock >= CLOCK_LIMIT:
        return "fifty moves without a capture or a pawn move"
    return "the third occurrence of this position" if is_third_occurrence(s) else ""
