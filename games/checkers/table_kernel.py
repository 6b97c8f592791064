# mypy: allow-untyped-defs, allow-untyped-calls
"""Template: retrograde analysis of checkers, one group of endings at a time.

An ending is (own men, own kings, opposing men, opposing kings) as the player to move counts; `table.py` says
how its positions are numbered, and makes the arrays `choose`, `offsets` and `sets`. A group is an ending and the one in
which the players have changed places: steps lead from one to the other.
"""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from evallearn.compiled.bits import lowest_bit, popcount, u64

if TYPE_CHECKING:
    from evallearn.compiled.hooks import CACHE
    from evallearn.games.checkers.moves import MAX_ACTIONS
    from evallearn.games.checkers.rules import BOARD, FIVE, FOUR, State, actions, jumpers, result

DRAW, WIN, LOSS, IMPOSSIBLE = 0, 1, 2, 3
ZERO, ONE = u64(0), u64(1)


@njit
def rank_black(pieces, choose):
    """Return the number of a set of squares among those of its size, as Black counts the squares."""
    rank, k = np.int64(0), 1
    while pieces != ZERO:
        index = lowest_bit(pieces)
        rank += choose[index - index // 9, k]
        k += 1
        pieces &= pieces - ONE
    return rank


@njit
def rank_white(pieces, choose):
    """Return the number of the set as White counts the squares, from the other end of the board."""
    rank, k = np.int64(0), popcount(pieces)
    while pieces != ZERO:
        index = lowest_bit(pieces)
        rank += choose[31 - (index - index // 9), k]
        k -= 1
        pieces &= pieces - ONE
    return rank


@njit
def locate(s, choose, offsets):
    """Return where the value of `s` stands; both players must have a piece."""
    black_kings, white_kings = s.black & s.kings, s.white & s.kings
    black_men, white_men = s.black ^ black_kings, s.white ^ white_kings
    bm, bk, wm, wk = popcount(black_men), popcount(black_kings), popcount(white_men), popcount(white_kings)
    black = rank_black(black_men, choose) * choose[32, bk] + rank_black(black_kings, choose)
    white = rank_white(white_men, choose) * choose[32, wk] + rank_white(white_kings, choose)
    if s.meta & ONE == ZERO:
        return offsets[bm, bk, wm, wk] + black * (choose[28, wm] * choose[32, wk]) + white
    return offsets[wm, wk, bm, bk] + white * (choose[28, bm] * choose[32, bk]) + black


@njit
def position(index, ending, choose, sets):
    """Return (the position with this number, Black to move; whether its pieces stand on different squares)."""
    own_men, own_kings, opp_men, opp_kings = ending[0], ending[1], ending[2], ending[3]
    index, white_kings = divmod(index, choose[32, opp_kings])
    index, white_men = divmod(index, choose[28, opp_men])
    black_men, black_kings = divmod(index, choose[32, own_kings])
    a, b = sets[0, own_men, black_men], sets[0, own_kings, black_kings]
    c, d = sets[1, opp_men, white_men], sets[1, opp_kings, white_kings]
    possible = popcount(a | b | c | d) == own_men + own_kings + opp_men + opp_kings
    return State(a | b, c | d, b | d, ZERO), possible  # type: ignore[arg-type]  # words


@njit
def value_of(s, values, choose, offsets):
    """Return the value of a solved position to its mover."""
    own = s.black if s.meta & ONE == ZERO else s.white
    return np.int64(LOSS) if own == ZERO else np.int64(values[locate(s, choose, offsets)])


@njit
def first_look(s, row, values, choose, offsets):
    """Return (the value so far, how many moves may still turn out to lose).

    The value is what the moves that leave the group decide. It is final where something must be taken, and if no such
    moves are left.
    """
    n = actions(s, row)
    open_moves = 0
    for i in range(n):
        child = result(s, np.int64(row[i]))
        if popcount(child.white) == popcount(s.white) and popcount(child.kings) == popcount(s.kings):
            open_moves += 1  # a step within the group
            continue
        value = value_of(child, values, choose, offsets)
        if value == LOSS:
            return np.int64(WIN), 0
        if value == DRAW:
            open_moves += 1
    return np.int64(LOSS) if open_moves == 0 else np.int64(DRAW), open_moves


@njit(cache=CACHE, nogil=True)
def begin(ending, values, counts, plies, queue, choose, offsets, sets):
    """Queue the positions whose values follow from smaller endings alone; store the others' open moves.

    queue[0] is its length.
    """
    row = np.empty(MAX_ACTIONS, np.int32)
    start = offsets[ending[0], ending[1], ending[2], ending[3]]
    found = queue[0]
    for i in range(size(ending, choose)):
        s, possible = position(i, ending, choose, sets)
        if not possible:
            values[start + i] = IMPOSSIBLE
            continue
        value, open_moves = first_look(s, row, values, choose, offsets)
        values[start + i] = value
        counts[start + i] = open_moves
        plies[start + i] = 1
        if value != DRAW:
            found += 1
            queue[found] = start + i
    queue[0] = found


@njit
def size(ending, choose):
    return choose[28, ending[0]] * choose[32, ending[1]] * choose[28, ending[2]] * choose[32, ending[3]]


@njit
def take_back(s, value, piece, to, longer, values, counts, plies, queue, choose, offsets):
    """Apply the value of `s` to the position before it, in which White, who moved last, stood on `to`."""
    kings = s.kings
    if kings & piece != ZERO:
        kings = (kings ^ piece) | to
    before = State(s.black, (s.white ^ piece) | to, kings, ONE)  # type: ignore[arg-type]
    empty = BOARD & ~(before.black | before.white)
    if jumpers(before.white & kings, before.white, before.black, empty) != ZERO:
        return  # White had to take something instead
    i = locate(before, choose, offsets)
    if values[i] != DRAW:
        return
    if value == LOSS:
        values[i] = WIN
    else:
        counts[i] -= 1
        if counts[i] > 0:
            return
        values[i] = LOSS
    plies[i] = longer
    queue[0] += 1
    queue[queue[0]] = i


@njit(cache=CACHE, nogil=True)
def propagate(ending, mirror, values, counts, plies, queue, choose, offsets, sets):
    """Propagate known values back to the positions one step before, until nothing new is found: the rest are draws.

    plies: until something is taken or crowned, or nothing can move, if the winner hurries and the loser does not.
    """
    start = offsets[ending[0], ending[1], ending[2], ending[3]]
    mirror_start = offsets[mirror[0], mirror[1], mirror[2], mirror[3]]
    next_one = 1
    while next_one <= queue[0]:
        at = queue[next_one]
        next_one += 1
        if start <= at < start + size(ending, choose):
            s, _ = position(at - start, ending, choose, sets)
        else:
            s, _ = position(at - mirror_start, mirror, choose, sets)
        value = values[at]
        empty = BOARD & ~(s.black | s.white)
        pieces = s.white
        while pieces != ZERO:
            piece = pieces & (~pieces + ONE)
            pieces ^= piece
            origins = (piece << FOUR) | (piece << FIVE)
            if piece & s.kings != ZERO:
                origins |= (piece >> FOUR) | (piece >> FIVE)
            origins &= empty
            while origins != ZERO:
                to = origins & (~origins + ONE)
                origins ^= to
                take_back(s, value, piece, to, plies[at] + 1, values, counts, plies, queue, choose, offsets)


@njit(cache=CACHE, nogil=True)
def tally(ending, values, choose, offsets, sets):
    """Return (wins, draws, losses) of the positions of an ending."""
    start = offsets[ending[0], ending[1], ending[2], ending[3]]
    wins = draws = losses = 0
    for i in range(size(ending, choose)):
        if position(i, ending, choose, sets)[1]:
            wins += values[start + i] == WIN
            draws += values[start + i] == DRAW
            losses += values[start + i] == LOSS
    return wins, draws, losses


@njit(cache=CACHE, nogil=True)
def contradictions(ending, values, choose, offsets, sets):
    """Count the values that do not follow from those of the positions one move later."""
    row = np.empty(MAX_ACTIONS, np.int32)
    start = offsets[ending[0], ending[1], ending[2], ending[3]]
    wrong = 0
    for i in range(size(ending, choose)):
        s, possible = position(i, ending, choose, sets)
        if not possible:
            continue
        value = np.int64(LOSS)
        for j in range(actions(s, row)):
            child = value_of(result(s, np.int64(row[j])), values, choose, offsets)
            if child == LOSS:
                value = np.int64(WIN)
                break
            if child == DRAW:
                value = np.int64(DRAW)
        if value != values[start + i]:
            wrong += 1
    return wrong
