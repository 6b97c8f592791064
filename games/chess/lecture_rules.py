"""The lecture's features of chess for the compiled backend; `lecture.py` says what they mean."""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

from dataclasses import replace

from evallearn.compiled.bits import jitable, popcount
from evallearn.games.chess.bitboards import EIGHT, ONE, ZERO
from evallearn.games.chess.rules import RULES


@jitable
def balance(pieces, own):
    """Return own ones minus opposing ones."""
    return popcount(pieces & own) - popcount(pieces & ~own)


@jitable
def features_mover(s, out):
    own = s.white if s.meta & ONE == ZERO else ~s.white
    out[0] = balance(s.pawns, own)
    knights = balance(s.knights, own)
    out[1] = knights
    out[2] = balance(s.bishops, own)
    out[3] = balance(s.rooks, own)
    out[4] = balance(s.queens, own)
    pair = 1 if popcount(s.bishops & own) >= 2 else 0
    out[5] = pair - (1 if popcount(s.bishops & ~own) >= 2 else 0)
    out[6] = knights * popcount(((s.pawns & s.white) << EIGHT) & s.pawns & ~s.white)


LECTURE_RULES = replace(RULES, features_mover=features_mover)
