"""What an evaluator reads of checkers, in plain Python: one piece, one direction at a time."""

from __future__ import annotations

from evallearn.games.checkers.moves import (
    BLACK,
    CROWN_ROW,
    LANDING,
    STEP,
    State,
    bit,
    directions,
    row_column,
    squares_of,
    word,
)
from evallearn.games.checkers.shapes import NAMES as SHAPE_NAMES
from evallearn.games.checkers.shapes import one_sided_shapes

HOME_NAMES = tuple(f"home_{number:04b}" for number in range(1, 16))
"""1 if exactly these squares of the back row hold own men; the first digit is the leftmost, from the player's side."""
FINER_NAMES = (
    "king_steps",  # steps of kings to empty squares
    "backed_men",  # own pieces behind men, each of the two squares counted
    "runaway_rows",  # rows that the runaways have advanced
    "only_kings",  # 1 if the player has a king and the opponent none
    "lead_late",  # pieces ahead, times the pieces that have left the board
    "contact",  # kings of whoever has more pieces, that an opposing piece is within two steps of
    *HOME_NAMES,
)
COARSE_NAMES = (
    "men",
    "kings",
    "back_rank",  # men on their own back row, where they keep the opponent from crowning
    "bridge",  # 1 if men hold the bridge of the back row, 1 and 3 or 30 and 32: two that guard all four squares
    "centre_men",  # men on the eight middle squares
    "centre_kings",
    "edge_men",  # men on the files at the sides: they cannot be taken there, and move one way only
    "tempo",  # rows that the men have advanced
    "advanced_men",  # men beyond the middle of the board
    "crowning",  # men that can step on the crown row
    "runaways",  # men with no opposing piece in the triangle before them
    "mobility",  # steps to empty squares, as if nothing had to be taken
    "safe_steps",  # those after which the piece cannot be taken
    "trapped_men",  # men without a safe step
    "trapped_kings",
    "captures",  # jumps after which the jumper cannot be taken in turn, as if it were the player's move
    "exchanges",  # jumps after which it can
    "dog_hole",  # a man on 28 before White's corner 32, or on 5 before Black's corner 1, held there by one piece
    "double_corner",  # kings on 1, 5, 28 and 32, where even one king is hard to catch
    "move",  # +1 to the player who has "the move" (the opposition), while both have as many pieces
)
FEATURE_NAMES = (*COARSE_NAMES, *FINER_NAMES, *SHAPE_NAMES)
BACK_RANK = (CROWN_ROW[1], CROWN_ROW[0])
BRIDGE = (word("1 3"), word("30 32"))
CENTRE = word("10 11 14 15 18 19 22 23")
EDGE = sum(bit(square) for square in range(32) if row_column(square)[1] in (0, 7))
ADVANCED = tuple(sum(bit(n) for n in range(32) if n // 4 in rows) for rows in (range(4, 8), range(4)))
DOG_HOLE = ((word("28"), word("32")), (word("5"), word("1")))
"""(the hole, the corner behind it) for Black's men, for White's."""
DOUBLE_CORNER = word("1 5 28 32")
SYSTEM = tuple(sum(bit(n) for n in range(32) if n // 4 % 2 == player) for player in (0, 1))
"""The files that begin on a player's back row: with an odd number of pieces there, the player to move has the move."""
OPPOSITE = (2, 3, 0, 1)
ACROSS = ((1, 3), (0, 2), (1, 3), (0, 2))
"""For each direction, the two along the other diagonal."""


def pieces(s: State, player: int) -> int:
    """Return all pieces of the player."""
    return s.black if player == BLACK else s.white


def holds(s: State, player: int, square: int | None, direction: int) -> bool:
    """Return True if a piece of the player stands there that moves in the direction."""
    return square is not None and pieces(s, player) & bit(square) != 0 and direction in directions(s, square, player)


def is_empty(s: State, square: int | None) -> bool:
    """Return True if the square exists and nothing stands on it."""
    return square is not None and not (s.black | s.white) & bit(square)


def can_be_taken(s: State, player: int, square: int, came: int) -> bool:
    """Return True if the opponent could take a piece of `player` that came to the square in the direction `came`.

    From ahead always, because the square it came from is free now; across, if the square beyond is empty.
    """
    if holds(s, 1 - player, STEP[square][came], OPPOSITE[came]):
        return True
    return any(
        holds(s, 1 - player, STEP[square][d], OPPOSITE[d]) and is_empty(s, STEP[square][OPPOSITE[d]])
        for d in ACROSS[came]
    )


def step_counts(s: State, player: int) -> tuple[int, int, int, int]:
    """Return (steps, safe steps, men without a safe one, kings without a safe one)."""
    all_steps = safe_steps = 0
    trapped = [0, 0]
    for square in squares_of(pieces(s, player)):
        ends = [(STEP[square][d], d) for d in directions(s, square, player) if is_empty(s, STEP[square][d])]
        safe = sum(not can_be_taken(s, player, end, d) for end, d in ends if end is not None)
        all_steps += len(ends)
        safe_steps += safe
        trapped[s.kings & bit(square) != 0] += safe == 0
    return all_steps, safe_steps, trapped[0], trapped[1]


def jump_counts(s: State, player: int) -> tuple[int, int]:
    """Return (single jumps after which the jumper is safe, those after which it can be taken)."""
    counts = [0, 0]
    for square in squares_of(pieces(s, player)):
        for d in directions(s, square, player):
            over, end = STEP[square][d], LANDING[square][d]
            if over is None or end is None or not pieces(s, 1 - player) & bit(over) or not is_empty(s, end):
                continue
            counts[can_be_taken(s, player, end, d)] += 1
    return counts[0], counts[1]


def triangle(square: int, forward: tuple[int, int]) -> int:
    """Return the squares that a man could ever reach from there, without its own."""
    reached, row = 0, {square}
    while row:
        row = {end for n in row for d in forward if (end := STEP[n][d]) is not None}
        reached |= sum(map(bit, row))
    return reached


TRIANGLES = tuple(tuple(triangle(square, forward) for square in range(32)) for forward in ((0, 1), (2, 3)))


def one_sided(s: State, player: int) -> tuple[int, ...]:
    """Return what is counted for each player alone, in the order of COARSE_NAMES without the last."""
    own, opp = pieces(s, player), pieces(s, 1 - player)
    men, kings = own & ~s.kings, own & s.kings
    mobility, safe_steps, trapped_men, trapped_kings = step_counts(s, player)
    hole, corner = DOG_HOLE[player]
    return (
        men.bit_count(),
        kings.bit_count(),
        (men & BACK_RANK[player]).bit_count(),
        int(men & BRIDGE[player] == BRIDGE[player]),
        (men & CENTRE).bit_count(),
        (kings & CENTRE).bit_count(),
        (men & EDGE).bit_count(),
        sum(rows_advanced(square, player) for square in squares_of(men)),
        (men & ADVANCED[player]).bit_count(),
        sum(
            any(end is not None and bit(end) & CROWN_ROW[player] and is_empty(s, end) for end in STEP[square])
            for square in squares_of(men)
        ),
        sum(runs_away(square, player, opp) for square in squares_of(men)),
        mobility,
        safe_steps,
        trapped_men,
        trapped_kings,
        *jump_counts(s, player),
        int(men & hole != 0 and opp & corner != 0),
        (kings & DOUBLE_CORNER).bit_count(),
    )


def features(s: State, player: int) -> tuple[int, ...]:
    """Return own minus opposing counts, and who has the move."""
    differences = (a - b for a, b in zip(one_sided(s, player), one_sided(s, 1 - player), strict=True))
    the_move = 0
    if s.black.bit_count() == s.white.bit_count():
        the_move = 1 if ((s.black | s.white) & SYSTEM[s.player]).bit_count() % 2 else -1
    finer = (a - b for a, b in zip(one_sided_finer(s, player), one_sided_finer(s, 1 - player), strict=True))
    shapes = (a - b for a, b in zip(*(shapes_of(s, who) for who in (player, 1 - player)), strict=True))
    return (*differences, the_move if player == s.player else -the_move, *finer, *shapes)


# --- the finer ones --------------------------------------------------------------------------------------------------
def rows_advanced(square: int, player: int) -> int:
    """Count rows from the player's back row."""
    return square // 4 if player == BLACK else 7 - square // 4


def runs_away(square: int, player: int, opp: int) -> bool:
    """Return True if no opposing piece stands in the triangle before a man."""
    return not TRIANGLES[player][square] & opp


def home_pattern(men: int, player: int) -> int:
    """Return the men on the back row as four binary digits.

    The rightmost digit is for Black's 1 or White's 32.
    """
    squares = (0, 1, 2, 3) if player == BLACK else (31, 30, 29, 28)
    return sum(1 << i for i, square in enumerate(squares) if men & bit(square))


def within_two_steps(area: int) -> int:
    """Return the area and all squares that a king reaches from it in two steps on an empty board."""
    for _ in range(2):
        area |= sum(
            {bit(end) for n in squares_of(area) for end in STEP[n] if end is not None}
            - {bit(n) for n in squares_of(area)}
        )
    return area


def one_sided_finer(s: State, player: int) -> tuple[int, ...]:
    """Return what is counted for each player alone, in the order of FINER_NAMES."""
    own, opp = pieces(s, player), pieces(s, 1 - player)
    men, kings = own & ~s.kings, own & s.kings
    behind = (2, 3) if player == BLACK else (0, 1)
    n_own, n_opp = own.bit_count(), opp.bit_count()
    pattern = home_pattern(men, player)
    return (
        sum(is_empty(s, end) for n in squares_of(kings) for end in STEP[n]),
        sum(own & bit(end) != 0 for n in squares_of(men) for d in behind if (end := STEP[n][d]) is not None),
        sum(rows_advanced(square, player) for square in squares_of(men) if runs_away(square, player, opp)),
        int(kings != 0 and not opp & s.kings),
        max(0, n_own - n_opp) * (24 - n_own - n_opp),
        (kings & within_two_steps(opp)).bit_count() if n_own > n_opp else 0,
        *(int(pattern == number) for number in range(1, 16)),
    )


def shapes_of(s: State, player: int) -> tuple[int, ...]:
    """Return what is counted for each player alone, in the order of SHAPE_NAMES."""
    own = pieces(s, player)
    return one_sided_shapes(own & ~s.kings, own & s.kings, pieces(s, 1 - player), player)
