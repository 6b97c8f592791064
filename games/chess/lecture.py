"""The evaluation function of the lectures on adversarial search: material in pawns, and two things it overlooks.

    EVAL(s) = 1 pawns + 3 knights + 3 bishops + 5 rooks + 9 queens + 1/2 bishop_pair + 1/8 closed_knights

Each feature is White's count minus Black's. A pair of bishops is worth half a pawn more than its bishops. Knights leap
over what bars the way of the others, so they gain in closed positions. How closed one is we count by its locked pairs:
a white pawn with a black one right before it, so that neither can go on. For each such pair a knight gains an eighth of
a pawn, 1/16 for each of the two pawns. That is what Kaufman ("The Evaluation of Material Imbalances", Chess Life, March
1999) found for each pawn of the own side above five, locked or not. Half a pawn for the pair of bishops is his, too.
"""

from __future__ import annotations

from evallearn.core.game import Heuristic

NAMES = (
    "pawns",
    "knights",
    "bishops",
    "rooks",
    "queens",
    "bishop_pair",  # two bishops or more
    "closed_knights",  # knights times the locked pairs of pawns
)
PAWNS = dict(zip(NAMES, (1, 3, 3, 5, 9, 1 / 2, 1 / 8), strict=True))
UNIT = 1 / 8
"""A pawn before tanh: about what it is worth in the other heuristics."""
LECTURE = Heuristic(
    PAWNS,
    "The lecture's numbers, in pawns: pieces by the beginners' table, half a pawn for the pair of bishops, and an "
    "eighth for each knight and each locked pair of pawns.",
    unit=UNIT,
    view="chess,features=lecture",
)


def locked_pairs(squares: str) -> int:
    """Count white pawns with a black one right before them."""
    return sum(squares[i] == "P" and squares[i + 8] == "p" for i in range(56))


def features(squares: str) -> tuple[int, ...]:
    """Return one number per name, from White's side."""
    pawns, knights, bishops, rooks, queens = (squares.count(c) - squares.count(c.lower()) for c in "PNBRQ")
    pair = (squares.count("B") >= 2) - (squares.count("b") >= 2)
    return pawns, knights, bishops, rooks, queens, pair, knights * locked_pairs(squares)
