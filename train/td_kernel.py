# mypy: ignore-errors
"""Template: games against itself that teach pattern tables, by temporal differences. See `td.py`, which says what is
learned, and `td_plain.py`, the same in plain Python. The names below are injected.

State, actions, result, is_terminal, to_play, utility_mover    the game's `Rules`
look, group                                                    of patterns_kernel.py
uniform, squash, fetch                                         of draws.py and the toolkit
N_WORDS, N_PLACES, ENTRIES                                     of the game and its patterns
SCALE, COHERENCE, HUNGER, PLAYED_OUT                           a win's worth; per-weight steps; of `td.py`
CACHE                                                          whether the disk cache is on
"""

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple


@njit
def add_up(weights, start, row):
    """The sum of the weights at start + row; four sums side by side are twice as fast, and the order is fixed."""
    a = b = c = d = 0.0
    n = N_PLACES - N_PLACES % 4
    for p in range(0, n, 4):
        a += np.float64(weights[start + row[p]])
        b += np.float64(weights[start + row[p + 1]])
        c += np.float64(weights[start + row[p + 2]])
        d += np.float64(weights[start + row[p + 3]])
    for p in range(n, N_PLACES):
        a += np.float64(weights[start + row[p]])
    return (a + b) + (c + d)


@njit
def place(s, weights, params, row):
    """The indices of the unfinished `s` go into row; their weights, most of them far away, are sent for."""
    side = to_play(s)
    look(s, params, side)
    start = group(s) * ENTRIES
    for p in range(N_PLACES):
        row[p] = params.index[side, p]
        fetch(weights, start + row[p])


@njit
def worth(s, weights, row):
    """What the unfinished `s`, whose indices row holds, is worth to its mover, as a share of a win."""
    return squash(add_up(weights, group(s) * ENTRIES, row))


@njit
def judge(s, weights, params, row):
    """Both."""
    place(s, weights, params, row)
    return worth(s, weights, row)


@njit
def best_child(s, n, io, weights, params, rows):
    """The number of the best action by one ply, the first of equal ones; io.values are their worths to the mover."""
    for i in range(n):
        after = result(s, np.int64(io.actions[i]))
        io.left[i] = 0
        if not is_terminal(after):
            place(after, weights, params, rows[i])
            io.left[i] = params.fresh[io.prey]
    chosen = 0
    for i in range(n):
        after = result(s, np.int64(io.actions[i]))
        value = np.float64(utility_mover(after)) / SCALE if is_terminal(after) else worth(after, weights, rows[i])
        io.values[i] = value if to_play(after) == to_play(s) else -value
        if io.values[i] > io.values[chosen]:
            chosen = i
    return chosen


@njit
def worth_ahead(s, depth, alpha, beta, io, weights, params):
    """What `s` is worth to its mover by so many plies of alpha-beta; fail-soft, see `alphabeta`."""
    if is_terminal(s):
        return np.float64(utility_mover(s)) / SCALE
    side = to_play(s)
    if depth == 0:
        look(s, params, side)
        return squash(add_up(weights, group(s) * ENTRIES, params.index[side]))
    row = io.below[depth]  # a row of its own for every ply
    n = actions(s, row)
    best = -np.inf
    for i in range(n):
        after = result(s, np.int64(row[i]))
        if to_play(after) == side:
            value = worth_ahead(after, depth - 1, alpha, beta, io, weights, params)
        else:
            value = -worth_ahead(after, depth - 1, -beta, -alpha, io, weights, params)
        if value > best:
            best = value
            alpha = max(alpha, value)
            if value >= beta:
                break
    return best


@njit
def best_ahead(s, n, io, weights, params):
    """The same by io.depth plies; the values of all others are bounds."""
    chosen = 0
    best = -np.inf
    for i in range(n):
        after = result(s, np.int64(io.actions[i]))
        if to_play(after) == to_play(s):
            value = worth_ahead(after, io.depth - 1, best, np.inf, io, weights, params)
        else:
            value = -worth_ahead(after, io.depth - 1, -np.inf, -best, io, weights, params)
        io.values[i] = value
        if value > best:
            best = value
            chosen = i
    return chosen


@njit
def change(weights, memory, start, row, error, rate, least):
    """Move what the position at `row` is worth by a part of the error."""
    for p in range(N_PLACES):
        i = start + row[p]
        own = rate
        if COHERENCE:
            if memory[i, 1] > 0:
                own *= max(least, abs(np.float64(memory[i, 0])) / np.float64(memory[i, 1]))
            memory[i, 0] += np.float32(error)
            memory[i, 1] += np.float32(abs(error))
        weights[i] += np.float32(own * error)


@njit
def teach(first, plies, io, weights, memory, trail):
    """Positions of the game from the last to the first: each learns from its error and lambda of what follows."""
    total = 0.0
    for k in range(plies - 1, first - 1, -1):
        if k + 1 < plies and io.movers[k] != io.movers[k + 1]:
            total = -total
        total = io.gaps[k] + io.lambda_ * (io.likely[k] * total)
        if COHERENCE and k > first:
            for p in range(N_PLACES):  # on their way while this position learns
                fetch(memory, 2 * (io.starts[k - 1] + trail[k - 1, p]))
        change(weights, memory, io.starts[k], trail[k], total, io.rate, io.least)


@njit
def expected(best, n, io):
    """What the position is worth if the share `noise` of its moves is random."""
    if io.noise == 0.0:
        return io.values[best]
    total = 0.0
    for i in range(n):
        total += io.values[i]
    return (1.0 - io.noise) * io.values[best] + io.noise * (total / n)


@njit
def hunted(chosen, n, hunger, io):
    """The action of a hunter, to whom what is left of the prey counts beside the values."""
    for i in range(n):
        if io.values[i] - hunger * io.left[i] > io.values[chosen] - hunger * io.left[chosen]:
            chosen = i
    return chosen


@njit
def opened(s, plies, io):
    """(the position after so many random moves, how many there were): a game may be over sooner."""
    ply = np.int64(0)
    while ply < plies and not is_terminal(s):
        n = actions(s, io.actions)
        s = result(s, np.int64(io.actions[np.int64(uniform(io) * n)]))
        ply += 1
    return s, ply


@njit
def play(s, io, weights, memory, params, trail, rows):
    """One game from `s`."""
    opening = np.int64(uniform(io) * (io.opening + 1))
    hunter, hunger = -1, 0.0
    if io.hunts > 0 and uniform(io) < io.hunts:
        hunter = np.int64(uniform(io) * 2)
        hunger = uniform(io) * HUNGER
    decided = np.inf
    if io.decided < 1.0 and uniform(io) >= PLAYED_OUT:
        decided = io.decided
    first = np.int64(0)
    if io.skips:
        s, first = opened(s, opening, io)
    ply = first
    value = 0.0
    if not is_terminal(s):
        value = judge(s, weights, params, trail[ply])
    while not is_terminal(s):
        n = actions(s, io.actions)
        io.movers[ply] = to_play(s)
        io.starts[ply] = group(s) * ENTRIES
        if io.depth > 1:
            best = best_ahead(s, n, io, weights, params)
        else:
            best = best_child(s, n, io, weights, params, rows)
        io.gaps[ply] = expected(best, n, io) - value
        io.errors += abs(io.gaps[ply])
        chosen = hunted(best, n, hunger, io) if io.movers[ply] == hunter else best
        if ply < opening or uniform(io) < io.epsilon:
            chosen = np.int64(uniform(io) * n)
        io.likely[ply] = (1.0 - io.noise) * (chosen == best) + io.noise / n
        over = ply >= opening and abs(value) > decided and abs(io.values[best]) > decided
        s = result(s, np.int64(io.actions[chosen]))
        ply += 1
        if over:
            break
        if io.depth > 1:
            if not is_terminal(s):
                value = judge(s, weights, params, trail[ply])
            continue
        value = io.values[chosen] if to_play(s) == io.movers[ply - 1] else -io.values[chosen]
        for p in range(N_PLACES):
            trail[ply, p] = rows[chosen, p]
    teach(first, ply, io, weights, memory, trail)
    io.games += 1
    io.moves += ply - first


@njit(cache=CACHE, nogil=True)
def learn(box, weights, memory, eval_box, trail, rows, games):
    """So many games from io.words on."""
    io, params = box[0], eval_box[0]
    start = State(*to_fixed_tuple(io.words, N_WORDS))
    for _ in range(games):
        since = io.games - io.deep_from
        io.depth = io.deep if since >= 0 else 1
        left = max(0.0, 1.0 - (since * io.deep_cooling if since >= 0 else io.games * io.cooling))
        io.rate = left * io.alpha / (N_PLACES * (1.0 + io.games * io.decay))
        play(start, io, weights, memory, params, trail, rows)
