"""More of what an evaluator reads of a chess position: pieces by square, passed pawns, threats, attacks on kings.

They are for learning: nobody would set so many weights by hand. Counted for one player at a time, as in `features.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evallearn.games.chess.moves import KINDS, KING_STEPS, PAWN_ATTACKS, PIECES, attacks

WORDS = {"P": "pawn", "N": "knight", "B": "bishop", "R": "rook", "Q": "queen", "K": "king"}
RANKS = {"P": range(2, 8), **dict.fromkeys("NBRQK", range(1, 9))}
FILES = "abcd"
"""Left and right are folded: a is a or h, d is d or e."""
PLACE_NAMES = tuple(f"{WORDS[kind]}_{file}{rank}" for kind in KINDS for rank in RANKS[kind] for file in FILES)
"""A piece on each square, named as if its player were White."""
PAWN_NAMES = (
    "backward_pawns",  # no own pawn beside or behind on the next files, and an opposing one attacks the square ahead
    "passed_defended",  # passed pawns that a pawn defends
    "passed_free",  # passed pawns with an empty square ahead
    "passed_race",  # of each passed pawn: how much nearer its own king is to the square ahead, times its steps
    "runners",  # passed pawns that no king can catch, the opponent having nothing else
    "rooks_behind",  # rooks on the file of an own passed pawn, behind it
    "bad_bishops",  # own pawns on the colour of an own bishop, for each bishop
    "pawn_storm",  # own pawns beyond the middle on the opposing king's file and beside
)
ATTACK_NAMES = (
    "minor_threats",  # opposing rooks and queens attacked by a knight or a bishop
    "rook_threats",  # opposing queens attacked by a rook
    "loose_pawns",  # opposing pawns attacked, and defended by nothing
    "king_danger",  # the square of the weights (below) of the pieces that attack the opposing king's surroundings
    "king_weak",  # squares around the opposing king that are attacked, and defended by nobody but him
    "safe_checks",  # squares from which a piece could give check next move without being taken
    "lone_king",  # how far a king without company is driven to the edge (0, 2, 4, 6) and approached (0 to 5)
)
TURN_OF = ("pawn_threats", "loose_targets", "minor_threats")
TURN_NAMES = tuple(f"turn_{name}" for name in TURN_OF)
"""The threats of both sides together, for the player to move: he may carry out his own, or parry the others."""
NAMES = (*PLACE_NAMES, *PAWN_NAMES, *ATTACK_NAMES, *TURN_NAMES)
DANGER = {"N": 2, "B": 2, "R": 3, "Q": 5}
"""How much a piece near the king counts in king_danger."""


def seen_by(player: int, square: int) -> int:
    """Return the square as if `player` were White."""
    return square if player == 0 else square ^ 56


def folded(square: int) -> tuple[str, int]:
    """Return the file, the right half laid on the left, and the rank."""
    return FILES[min(square % 8, 7 - square % 8)], square // 8 + 1


def distance(a: int, b: int) -> int:
    """Count the steps of a king."""
    return max(abs(a % 8 - b % 8), abs(a // 8 - b // 8))


def places(at: Mapping[str, Sequence[int]], player: int) -> list[int]:
    """Return PLACE_NAMES."""
    counts = []
    for kind in KINDS:
        held = [folded(seen_by(player, i)) for i in at[kind]]
        counts += [held.count((file, rank)) for rank in RANKS[kind] for file in FILES]
    return counts


def pawns(squares: str, player: int, at: Mapping[str, Sequence[int]], passed: Sequence[int]) -> tuple[int, ...]:
    """Return PAWN_NAMES."""
    own, opp = at["P"], [i for i in range(64) if squares[i] == PIECES[1 - player][0]]
    ahead = 8 if player == 0 else -8
    king, target = at["K"][0], squares.index(PIECES[1 - player][5])
    feared = {t for i in opp for t in PAWN_ATTACKS[1 - player][i]}
    steps = {i: seen_by(player, i) // 8 - 1 for i in own}
    colours = [(i % 8 + i // 8) % 2 for i in at["B"]]
    return (
        sum(i + ahead in feared and not has_company(i, own, steps) for i in own),
        sum(any(i in PAWN_ATTACKS[player][j] for j in own) for i in passed),
        sum(squares[i + ahead] == "." for i in passed),
        sum((distance(target, i + ahead) - distance(king, i + ahead)) * steps[i] for i in passed),
        runners(squares, player, passed),
        sum(any(i % 8 == j % 8 and seen_by(player, i) < seen_by(player, j) for j in passed) for i in at["R"]),
        sum(colours.count((i % 8 + i // 8) % 2) for i in own),
        sum(steps[i] >= 3 and abs(i % 8 - target % 8) <= 1 for i in own),
    )


def has_company(square: int, own: Sequence[int], steps: Mapping[int, int]) -> bool:
    """Return True if an own pawn stands beside it or behind, on one of the next files."""
    return any(abs(i % 8 - square % 8) == 1 and steps[i] <= steps[square] for i in own)


def runners(squares: str, player: int, passed: Sequence[int]) -> int:
    """Count passed pawns nearer to the last rank than the king, the only opposing piece besides pawns."""
    opp = PIECES[1 - player]
    if any(squares[i] in opp[1:5] for i in range(64)):
        return 0
    king = squares.index(opp[5])
    ways = [(seen_by(player, 56 + i % 8), 7 - seen_by(player, i) // 8) for i in passed]
    return sum(distance(king, goal) > way + 1 for goal, way in ways)


def attack(
    squares: str, player: int, at: Mapping[str, Sequence[int]], reach: Mapping[int, set[int]]
) -> tuple[int, ...]:
    """Return ATTACK_NAMES."""
    opp = PIECES[1 - player]
    by = {kind: set().union(*(reach[i] for i in at[kind])) for kind in KINDS}
    theirs = {i: set(attacks(squares, i)) for i in range(64) if squares[i] in opp}
    target = squares.index(opp[5])
    guarded = set().union(*(t for i, t in theirs.items() if i != target))
    mine, zone = set().union(*by.values()), {target, *KING_STEPS[target]}
    danger = sum(DANGER[kind] for kind in "NBRQ" for i in at[kind] if reach[i] & zone)
    return (
        sum(squares[i] in opp[3:5] for i in by["N"] | by["B"]),
        sum(squares[i] == opp[4] for i in by["R"]),
        sum(squares[i] == opp[0] for i in mine - guarded - theirs[target]),
        danger * danger,
        len(zone & mine - guarded - {target}),
        safe_checks(squares, player, by, guarded | theirs[target]),
        lone_king(squares, player, at["K"][0], target),
    )


def safe_checks(squares: str, player: int, by: Mapping[str, set[int]], guarded: set[int]) -> int:
    """Count, over all kinds, the squares in a piece's reach that are not guarded and from which it would give check."""
    own, king = PIECES[player], squares.index(PIECES[1 - player][5])
    free = {i for i in range(64) if squares[i] not in own} - guarded
    return sum(len(set(attacks(_with(squares, king, kind), king)) & by[kind] & free) for kind in "NBRQ")


def _with(squares: str, square: int, piece: str) -> str:
    return squares[:square] + piece + squares[square + 1 :]


def lone_king(squares: str, player: int, king: int, target: int) -> int:
    """Return how far the opposing king, alone against more than a king, is driven to the edge and approached."""
    own, opp = PIECES[player], PIECES[1 - player]
    if any(piece in opp[:5] for piece in squares) or not any(piece in own[:5] for piece in squares):
        return 0
    from_edge = min(target % 8, 7 - target % 8, target // 8, 7 - target // 8)
    return 2 * (3 - from_edge) + 7 - distance(king, target)
