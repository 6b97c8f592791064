"""Matches solved exactly, twice: by trying every position, and by the closed form.

The closed form is Bouton's for misère Nim, on residues modulo k + 1. It holds for any position; the table is what it
is checked against, and the ground truth for searches.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import product
from math import prod
from operator import xor

from evallearn.errors import GameError
from evallearn.games.matches.game import State, residues, unpack

MOST_POSITIONS = 300_000
"""Positions that a table may hold: a second or two of work."""


@lru_cache(maxsize=16)
def lost_positions(piles: tuple[int, ...], k: int) -> frozenset[tuple[int, ...]]:
    """Return all positions of at most these piles that are lost for the player to move, by trying every move.

    In lexicographic order whatever a move leads to has been decided before.
    """
    if (n := prod(pile + 1 for pile in piles)) > MOST_POSITIONS:
        raise GameError(f"matches {piles} has {n} positions, the table holds {MOST_POSITIONS}: use closed_form")
    lost: set[tuple[int, ...]] = set()
    for position in product(*(range(pile + 1) for pile in piles)):
        moves = (
            (*position[:i], pile - n, *position[i + 1 :])
            for i, pile in enumerate(position)
            for n in range(1, min(pile, k) + 1)
        )
        if any(position) and lost.isdisjoint(moves):  # without a match left the mover has won
            lost.add(position)
    return frozenset(lost)


def mover_wins(s: State) -> bool:
    """Return True if the player to move wins, found by search; raise GameError where that would take too long."""
    piles = tuple(sorted(unpack(s.piles)))
    return piles not in lost_positions(piles, s.k)


def closed_form(s: State) -> bool:
    """Return True if the player to move wins, at once and for any position.

    With every residue 0 or 1 an even number of ones wins; otherwise an exclusive or other than 0, as in normal play.
    """
    rest = residues(s)
    return rest.count(1) % 2 == 0 if max(rest) <= 1 else reduce(xor, rest) != 0
