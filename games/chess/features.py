"""What an evaluator reads of a chess position: White's counts minus Black's, on the board of 64 letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evallearn.core.game import Heuristic
from evallearn.games.chess import features_finer as finer
from evallearn.games.chess.features_finer import seen_by
from evallearn.games.chess.lecture import LECTURE
from evallearn.games.chess.moves import KING_STEPS, PAWN_ATTACKS, PIECES, attacks

COARSE_NAMES = (
    "pawns",
    "knights",
    "bishops",
    "rooks",
    "queens",
    "bishop_pair",  # two bishops or more
    # sums of the tables below
    "pawn_squares",
    "knight_squares",
    "bishop_squares",
    "rook_squares",
    "queen_squares",
    "king_shelter",  # the king's place while there are queens about
    "king_centre",  # the king's place in an end-game: 0 on the edge to 3 in the middle
    # pawns
    "pawn_advance",  # ranks above the second, of all pawns
    "doubled_pawns",  # pawns beyond the first of each file
    "isolated_pawns",  # no own pawn on a file beside
    "defended_pawns",  # by another pawn
    "passed_pawns",  # no opposing pawn ahead, on the same file or beside
    "passed_advance",  # squares of the ranks above the second, of the passed pawns
    # attacked squares that hold no own piece and are not attacked by an opposing pawn, by kind
    "knight_mobility",
    "bishop_mobility",
    "rook_mobility",
    "queen_mobility",
    # kings
    "king_attack",  # attacks by pieces on the opposing king's square and those around it, each counted
    "king_attackers",  # pieces that make such attacks
    "pawn_shield",  # own pawns one or two ranks before the king, on his file or beside
    "king_open_files",  # of his file and those beside: without an own pawn
    # pieces
    "centre_control",  # attacks by pieces and pawns on d4, e4, d5, e5
    "open_rooks",  # on a file without pawns
    "half_open_rooks",  # on a file with opposing pawns only
    "seventh_rooks",  # on the seventh rank
    "outposts",  # knights on ranks 4 to 6, defended by a pawn, that no opposing pawn can ever attack
    "pawn_threats",  # opposing pieces (no pawns, no king) attacked by a pawn
    "loose_targets",  # opposing pieces (no pawns, no king) attacked, and defended by nothing
)
NAMES = (*COARSE_NAMES, *finer.NAMES)
TURN_OF = tuple(NAMES.index(name) for name in finer.TURN_OF)
PHASE_WEIGHTS = {"N": 1, "B": 1, "R": 2, "Q": 4}
"""24 at the start."""
N_PHASES, PIECES_PER_PHASE = 6, 4
"""24 to 21 are phase 0, 4 to 0 the last."""
LAST_PHASE = N_PHASES - 1
CENTRE = (27, 28, 35, 36)


def table(rows: str) -> tuple[int, ...]:
    """Return 64 numbers from a1 on, written from White's side: the eighth rank first."""
    ranks = [[int(word) for word in line.split()] for line in rows.strip().splitlines()]
    return tuple(value for rank in reversed(ranks) for value in rank)


# The tables are our own, by common advice: pawns to the centre, knights and bishops off the edge, rooks to the seventh
# rank and the middle files, the king behind his pawns. One unit is about a twentieth of a pawn.
PAWN_SQUARES = table("""
    0  0  0  0  0  0  0  0
    2  2  3  4  4  3  2  2
    1  1  2  3  3  2  1  1
    0  0  1  3  3  1  0  0
   -1  0  1  3  3  0 -1 -1
    0  0  0  1  1 -1  0  0
    1  1  0 -2 -2  1  1  1
    0  0  0  0  0  0  0  0
""")
KNIGHT_SQUARES = table("""
   -5 -3 -2 -2 -2 -2 -3 -5
   -3 -1  0  1  1  0 -1 -3
   -2  1  2  3  3  2  1 -2
   -2  1  3  3  3  3  1 -2
   -2  0  2  3  3  2  0 -2
   -2  0  2  1  1  2  0 -2
   -3 -1  0  1  1  0 -1 -3
   -5 -3 -2 -2 -2 -2 -3 -5
""")
BISHOP_SQUARES = table("""
   -2 -1 -1 -1 -1 -1 -1 -2
   -1  0  0  0  0  0  0 -1
   -1  0  1  1  1  1  0 -1
   -1  1  1  2  2  1  1 -1
   -1  0  2  2  2  2  0 -1
    0  1  1  1  1  1  1  0
   -1  2  0  1  1  0  2 -1
   -2 -1 -2 -1 -1 -2 -1 -2
""")
ROOK_SQUARES = table("""
    0  0  1  1  1  1  0  0
    2  2  2  2  2  2  2  2
   -1  0  0  0  0  0  0 -1
   -1  0  0  0  0  0  0 -1
   -1  0  0  0  0  0  0 -1
   -1  0  0  0  0  0  0 -1
   -1  0  0  0  0  0  0 -1
   -1 -1  0  2  2  1 -1 -1
""")
QUEEN_SQUARES = table("""
   -2 -1 -1  0  0 -1 -1 -2
   -1  0  0  0  0  0  0 -1
   -1  0  1  1  1  1  0 -1
    0  0  1  1  1  1  0  0
    0  0  1  1  1  1  0  0
   -1  0  1  1  1  1  0 -1
   -1  0  1  0  0  0  0 -1
   -2 -1 -1  0 -1 -1 -1 -2
""")
KING_SHELTER = table("""
   -6 -6 -6 -6 -6 -6 -6 -6
   -6 -6 -6 -6 -6 -6 -6 -6
   -6 -6 -6 -6 -6 -6 -6 -6
   -5 -5 -6 -6 -6 -6 -5 -5
   -4 -4 -5 -5 -5 -5 -4 -4
   -2 -3 -3 -4 -4 -3 -3 -2
    1  1 -1 -2 -2 -1  1  1
    2  4  2  0  0  1  4  2
""")
KING_CENTRE = tuple(min(i % 8, 7 - i % 8, i // 8, 7 - i // 8) for i in range(64))


def phase(squares: str) -> int:
    """Return 0 with nearly all pieces on the board, 5 with a rook and two minor pieces or less."""
    left = sum(PHASE_WEIGHTS.get(piece.upper(), 0) for piece in squares)
    return max(0, min(LAST_PHASE, LAST_PHASE - (left - 1) // PIECES_PER_PHASE))


def features(squares: str, mover: int) -> tuple[int, ...]:
    """Return one number per name, from White's side."""
    white, black = one_sided(squares, 0), one_sided(squares, 1)
    both = (white[i] + black[i] for i in TURN_OF)
    return (*(a - b for a, b in zip(white, black, strict=True)), *(n if mover == 0 else -n for n in both))


def one_sided(squares: str, player: int) -> tuple[int, ...]:
    """Return what is counted for one player, in the order of NAMES, without what depends on whose turn it is."""
    own, opp = PIECES[player], PIECES[1 - player]
    at = {kind: [i for i in range(64) if squares[i] == letter] for kind, letter in zip("PNBRQK", own, strict=True)}
    reach = {i: set(attacks(squares, i)) for i in range(64) if squares[i] in own}
    return (
        *(len(at[kind]) for kind in "PNBRQ"),
        int(len(at["B"]) >= 2),
        *place_values(at, player),
        *pawn_structure(squares, player, at["P"]),
        *mobility(squares, player, at, reach),
        *king_safety(squares, player, at, reach),
        *activity(squares, player, at, reach),
        sum(any(t in reach[i] for i in at["P"]) for t in range(64) if squares[t] in opp[1:5]),
        len(loose_targets(squares, player, reach)),
        *finer.places(at, player),
        *finer.pawns(squares, player, at, passed_pawns(squares, player, at["P"])),
        *finer.attack(squares, player, at, reach),
    )


def place_values(at: Mapping[str, Sequence[int]], player: int) -> list[int]:
    """Return pawn_squares to king_centre."""
    tables = ((PAWN_SQUARES, "P"), (KNIGHT_SQUARES, "N"), (BISHOP_SQUARES, "B"), (ROOK_SQUARES, "R"))
    more = ((QUEEN_SQUARES, "Q"), (KING_SHELTER, "K"), (KING_CENTRE, "K"))
    return [sum(values[seen_by(player, i)] for i in at[kind]) for values, kind in tables + more]


def pawn_structure(squares: str, player: int, pawns: Sequence[int]) -> tuple[int, ...]:
    """Return pawn_advance to passed_advance."""
    files = {i % 8 for i in pawns}
    steps = {i: seen_by(player, i) // 8 - 1 for i in pawns}
    passed = passed_pawns(squares, player, pawns)
    return (
        sum(steps.values()),
        len(pawns) - len(files),
        sum(not files & {i % 8 - 1, i % 8 + 1} for i in pawns),
        sum(any(i in PAWN_ATTACKS[player][j] for j in pawns) for i in pawns),
        len(passed),
        sum(steps[i] ** 2 for i in passed),
    )


def passed_pawns(squares: str, player: int, pawns: Sequence[int]) -> list[int]:
    """Return the pawns without an opposing pawn ahead, on the same file or beside."""
    return [i for i in pawns if not guards_ahead(squares, player, i, (-1, 0, 1))]


def guards_ahead(squares: str, player: int, square: int, aside: tuple[int, ...]) -> bool:
    """Return True if an opposing pawn stands further up the board, that many files aside."""
    pawn = PIECES[1 - player][0]
    return any(
        squares[seen_by(player, 8 * rank + square % 8 + d)] == pawn
        for rank in range(seen_by(player, square) // 8 + 1, 8)
        for d in aside
        if 0 <= square % 8 + d < 8
    )


def mobility(
    squares: str, player: int, at: Mapping[str, Sequence[int]], reach: Mapping[int, set[int]]
) -> tuple[int, ...]:
    """Return knight_mobility to queen_mobility."""
    pawns = [i for i in range(64) if squares[i] == PIECES[1 - player][0]]
    closed = {t for i in pawns for t in attacks(squares, i)} | {i for i in range(64) if squares[i] in PIECES[player]}
    return tuple(sum(len(reach[i] - closed) for i in at[kind]) for kind in "NBRQ")


def king_safety(
    squares: str, player: int, at: Mapping[str, Sequence[int]], reach: Mapping[int, set[int]]
) -> tuple[int, ...]:
    """Return king_attack to king_open_files."""
    target, king = squares.index(PIECES[1 - player][5]), seen_by(player, at["K"][0])
    zone = {target, *KING_STEPS[target]}
    hits = [len(reach[i] & zone) for kind in "NBRQ" for i in at[kind]]
    files = [file for file in range(king % 8 - 1, king % 8 + 2) if 0 <= file < 8]
    pawns = {seen_by(player, i) for i in at["P"]}
    return (
        sum(hits),
        sum(hit > 0 for hit in hits),
        sum(8 * rank + file in pawns for rank in (king // 8 + 1, king // 8 + 2) for file in files),
        sum(all(i % 8 != file for i in pawns) for file in files),
    )


def activity(
    squares: str, player: int, at: Mapping[str, Sequence[int]], reach: Mapping[int, set[int]]
) -> tuple[int, ...]:
    """Return centre_control to outposts."""
    own, opp = PIECES[player][0], PIECES[1 - player][0]
    pawns_of_file = ["".join(squares[file::8]) for file in range(8)]
    lines = [pawns_of_file[i % 8] for i in at["R"] if own not in pawns_of_file[i % 8]]
    strong = [
        i
        for i in at["N"]
        if 3 <= seen_by(player, i) // 8 <= 5
        and any(i in reach[j] for j in at["P"])
        and not guards_ahead(squares, player, i, (-1, 1))
    ]
    return (
        sum(t in reach[i] for kind in "PNBRQ" for i in at[kind] for t in CENTRE),
        sum(opp not in line for line in lines),
        sum(opp in line for line in lines),
        sum(seen_by(player, i) // 8 == 6 for i in at["R"]),
        len(strong),
    )


def loose_targets(squares: str, player: int, reach: Mapping[int, set[int]]) -> list[int]:
    """Return opposing pieces that are attacked, and defended by nothing."""
    opp = PIECES[1 - player]
    defended = {t for i in range(64) if squares[i] in opp for t in attacks(squares, i)}
    attacked = set().union(*reach.values())
    return [t for t in attacked - defended if squares[t] in opp[1:5]]


MATERIAL = {"pawns": 0.12, "knights": 0.38, "bishops": 0.40, "rooks": 0.60, "queens": 1.15, "bishop_pair": 0.05}
ALWAYS = {
    **MATERIAL,
    **dict.fromkeys(("knight_squares", "bishop_squares", "rook_squares", "queen_squares"), 0.006),
    "doubled_pawns": -0.015,
    "isolated_pawns": -0.015,
    "defended_pawns": 0.008,
    "knight_mobility": 0.005,
    "bishop_mobility": 0.006,
    "rook_mobility": 0.004,
    "queen_mobility": 0.002,
    "half_open_rooks": 0.012,
    "open_rooks": 0.025,
    "seventh_rooks": 0.02,
    "outposts": 0.03,
    "pawn_threats": 0.06,
    "loose_targets": 0.04,
}
EARLY = {
    **ALWAYS,
    "pawn_squares": 0.006,
    "king_shelter": 0.010,
    "king_attack": 0.006,
    "king_attackers": 0.012,
    "pawn_shield": 0.012,
    "king_open_files": -0.015,
    "centre_control": 0.005,
    "passed_pawns": 0.01,
    "passed_advance": 0.003,
}
LATE = {
    **ALWAYS,
    "pawns": 0.15,
    "king_centre": 0.02,
    "pawn_advance": 0.006,
    "passed_pawns": 0.03,
    "passed_advance": 0.010,
    "rooks": 0.66,
}
BETWEEN = {**ALWAYS, **{name: (EARLY.get(name, 0.0) + LATE.get(name, 0.0)) / 2 for name in {**EARLY, **LATE}}}
HEURISTICS: Mapping[str, Heuristic] = {
    "material": Heuristic(MATERIAL, "By hand: the usual values of the pieces, a pawn being 0.12.", view="chess"),
    "lecture": LECTURE,
    "positional": Heuristic(
        (EARLY, EARLY, BETWEEN, BETWEEN, LATE, LATE),
        "By hand: material, then common advice on squares, pawns, mobility and kings at the usual fractions of a pawn; "
        "the sizes were set before any game was played and not tuned.",
        view="chess",
    ),
}
