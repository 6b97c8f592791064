"""The features of checkers for the compiled backend; `features.py` says what everything means.

All pieces step or jump at once, in one of four directions: shifts of the whole board by 4 or 5.
"""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from evallearn.compiled.bits import jitable, popcount, u64
from evallearn.games.checkers import features as plain
from evallearn.games.checkers.moves import BOARD as ALL_SQUARES
from evallearn.games.checkers.moves import CROWN_ROW, bit
from evallearn.games.checkers.shapes_rules import put_shapes

ZERO, ONE = u64(0), u64(1)
FOUR, FIVE = u64(4), u64(5)
BOARD = u64(ALL_SQUARES)
CROWN_BLACK, CROWN_WHITE = (u64(row) for row in CROWN_ROW)
BACK_RANK_BLACK, BACK_RANK_WHITE = (u64(area) for area in plain.BACK_RANK)
BRIDGE_BLACK, BRIDGE_WHITE = (u64(area) for area in plain.BRIDGE)
ADVANCED_BLACK, ADVANCED_WHITE = (u64(area) for area in plain.ADVANCED)
CENTRE, EDGE, DOUBLE_CORNER = u64(plain.CENTRE), u64(plain.EDGE), u64(plain.DOUBLE_CORNER)
HOLE_BLACK, HOLE_WHITE = (u64(hole | corner) for hole, corner in plain.DOG_HOLE)
SYSTEM_BLACK, SYSTEM_WHITE = (u64(area) for area in plain.SYSTEM)
ROWS_1357, ROWS_2367, ROWS_4567 = (u64(sum(bit(n) for n in range(32) if n >> 2 & digit)) for digit in (1, 2, 4))
"""The rows whose number has a given binary digit."""

FINER = len(plain.COARSE_NAMES)
SHAPES = FINER + len(plain.FINER_NAMES)
N_FEATURES = len(plain.FEATURE_NAMES)
KING_STEPS, BACKED_MEN, RUNAWAY_ROWS, ONLY_KINGS, LEAD_LATE, CONTACT = (
    plain.FEATURE_NAMES.index(name)
    for name in ("king_steps", "backed_men", "runaway_rows", "only_kings", "lead_late", "contact")
)
HOME = plain.FEATURE_NAMES.index("home_0001") - 1
"""To which the number of the pattern is added."""
FOUR_MEN, WHITE_HOME = u64(15), u64(31)


@jitable
def rows_sum(pieces):
    """Return the sum of the rows on which the pieces stand, 0..7 from Black's side."""
    return popcount(pieces & ROWS_1357) + 2 * popcount(pieces & ROWS_2367) + 4 * popcount(pieces & ROWS_4567)


@jitable
def rows_advanced(men, opp_men):
    """Return the rows that Black's men have advanced, minus those of White's."""
    return rows_sum(men) - (7 * popcount(opp_men) - rows_sum(opp_men))


@jitable
def difference(own, opp, area):
    return popcount(own & area) - popcount(opp & area)


@jitable
def holds_all(pieces, area):
    return 1 if pieces & area == area else 0


@jitable
def in_hole(men, opp, hole_and_corner):
    """Return 1 if a man stands in the hole and an opposing piece in the corner, else 0.

    Both are then occupied, by different sides.
    """
    return 1 if men & hole_and_corner != ZERO and holds_all(men | opp, hole_and_corner) == 1 else 0


@jitable
def below(pieces):
    """Return the squares from which a man moving towards 32 could meet one of the pieces."""
    for _ in range(7):
        pieces |= ((pieces >> FOUR) | (pieces >> FIVE)) & BOARD
    return pieces


@jitable
def above(pieces):
    """Return the squares from which a man moving towards 1 could meet one of the pieces."""
    for _ in range(7):
        pieces |= ((pieces << FOUR) | (pieces << FIVE)) & BOARD
    return pieces


@jitable
def put_activity(sign, up, down, opp_up, opp_down, kings, empty, out):
    """Add steps, safe steps, trapped pieces, captures and exchanges of one player, times the sign."""
    opp = opp_up | opp_down
    across4 = ((opp_down >> FOUR) & (empty << FOUR)) | ((opp_up << FOUR) & (empty >> FOUR))
    across5 = ((opp_down >> FIVE) & (empty << FIVE)) | ((opp_up << FIVE) & (empty >> FIVE))
    danger0, danger1 = (opp_down >> FOUR) | across5, (opp_down >> FIVE) | across4
    danger2, danger3 = (opp_up << FOUR) | across5, (opp_up << FIVE) | across4
    step0, step1 = (up << FOUR) & empty, (up << FIVE) & empty
    step2, step3 = (down >> FOUR) & empty, (down >> FIVE) & empty
    safe0, safe1, safe2, safe3 = step0 & ~danger0, step1 & ~danger1, step2 & ~danger2, step3 & ~danger3
    free = (safe0 >> FOUR) | (safe1 >> FIVE) | (safe2 << FOUR) | (safe3 << FIVE)
    trapped = (up | down) & ~free
    jump0, jump1 = (((up << FOUR) & opp) << FOUR) & empty, (((up << FIVE) & opp) << FIVE) & empty
    jump2, jump3 = (((down >> FOUR) & opp) >> FOUR) & empty, (((down >> FIVE) & opp) >> FIVE) & empty
    n_jumps = popcount(jump0) + popcount(jump1) + popcount(jump2) + popcount(jump3)
    exchanges = 0
    if n_jumps > 0:
        exchanges = popcount(jump0 & danger0) + popcount(jump1 & danger1)
        exchanges += popcount(jump2 & danger2) + popcount(jump3 & danger3)
    out[11] += sign * (popcount(step0) + popcount(step1) + popcount(step2) + popcount(step3))
    out[12] += sign * (popcount(safe0) + popcount(safe1) + popcount(safe2) + popcount(safe3))
    out[13] += sign * popcount(trapped & ~kings)
    out[14] += sign * popcount(trapped & kings)
    out[15] += sign * (n_jumps - exchanges)
    out[16] += sign * exchanges


@jitable
def features_mover(s, out):
    """Write the features: from Black's side, negated if White is to move."""
    kings, empty = s.kings, BOARD & ~(s.black | s.white)
    men, opp_men = s.black & ~kings, s.white & ~kings
    crown, opp_crown = empty & CROWN_BLACK, empty & CROWN_WHITE
    out[0] = popcount(men) - popcount(opp_men)
    out[1] = popcount(s.black & kings) - popcount(s.white & kings)
    out[2] = popcount(men & BACK_RANK_BLACK) - popcount(opp_men & BACK_RANK_WHITE)
    out[3] = holds_all(men, BRIDGE_BLACK) - holds_all(opp_men, BRIDGE_WHITE)
    out[4] = difference(men, opp_men, CENTRE)
    out[5] = difference(s.black & kings, s.white & kings, CENTRE)
    out[6] = difference(men, opp_men, EDGE)
    out[7] = rows_advanced(men, opp_men)
    out[8] = popcount(men & ADVANCED_BLACK) - popcount(opp_men & ADVANCED_WHITE)
    out[9] = popcount(men & ((crown >> FOUR) | (crown >> FIVE)))
    out[9] -= popcount(opp_men & ((opp_crown << FOUR) | (opp_crown << FIVE)))
    free, opp_free = men & ~below(s.white), opp_men & ~above(s.black)
    out[10] = popcount(free) - popcount(opp_free)
    for i in range(11, 17):
        out[i] = 0
    put_activity(1, s.black, s.black & kings, s.white & kings, s.white, kings, empty, out)
    put_activity(-1, s.white & kings, s.white, s.black, s.black & kings, kings, empty, out)
    out[17] = in_hole(men, s.white, HOLE_BLACK) - in_hole(opp_men, s.black, HOLE_WHITE)
    out[18] = difference(s.black & kings, s.white & kings, DOUBLE_CORNER)
    out[19] = the_move(s)
    put_finer(s, men, opp_men, empty, out)
    out[RUNAWAY_ROWS] = rows_advanced(free, opp_free)
    put_shapes(s.black, s.white, kings, empty, SHAPES, out)
    if s.meta & ONE != ZERO:
        for i in range(N_FEATURES):
            out[i] = np.float32(0) - out[i]


@jitable
def around(pieces):
    """Return the pieces' squares and those one step from them."""
    return (pieces | (pieces << FOUR) | (pieces << FIVE) | (pieces >> FOUR) | (pieces >> FIVE)) & BOARD


@jitable
def steps_of(kings, empty):
    n = popcount((kings << FOUR) & empty) + popcount((kings << FIVE) & empty)
    return n + popcount((kings >> FOUR) & empty) + popcount((kings >> FIVE) & empty)


@jitable
def white_home(men):
    """Return the pattern of White's back row: 29 to 32 are bits 31 to 34, and count from 32 down."""
    row = (men >> WHITE_HOME) & FOUR_MEN
    row = ((row & u64(5)) << ONE) | ((row >> ONE) & u64(5))
    return ((row & u64(3)) << u64(2)) | (row >> u64(2))


@jitable
def put_finer(s, men, opp_men, empty, out):
    """Write FINER_NAMES but runaway_rows, from Black's side."""
    for i in range(FINER, SHAPES):
        out[i] = 0
    kings, opp_kings = s.black & s.kings, s.white & s.kings
    out[KING_STEPS] = steps_of(kings, empty) - steps_of(opp_kings, empty)
    backed = popcount((men >> FOUR) & s.black) + popcount((men >> FIVE) & s.black)
    out[BACKED_MEN] = backed - popcount((opp_men << FOUR) & s.white) - popcount((opp_men << FIVE) & s.white)
    out[ONLY_KINGS] = (1 if kings != ZERO else 0) - (1 if opp_kings != ZERO else 0)
    n_black, n_white = popcount(s.black), popcount(s.white)
    out[LEAD_LATE] = (n_black - n_white) * (24 - n_black - n_white)
    if n_black > n_white:
        out[CONTACT] = popcount(kings & around(around(s.white)))
    elif n_white > n_black:
        out[CONTACT] = -popcount(opp_kings & around(around(s.black)))
    pattern, opp_pattern = np.int64(men & FOUR_MEN), np.int64(white_home(opp_men))
    if pattern > 0:
        out[HOME + pattern] += 1
    if opp_pattern > 0:
        out[HOME + opp_pattern] -= 1


@jitable
def the_move(s):
    """Return 1 if Black has the move, -1 if White has it, 0 if the numbers of pieces differ."""
    if popcount(s.black) != popcount(s.white):
        return 0
    black_moves = s.meta & ONE == ZERO
    system = SYSTEM_BLACK if black_moves else SYSTEM_WHITE
    mover_has_it = popcount((s.black | s.white) & system) & 1 == 1
    return 1 if mover_has_it == black_moves else -1
