# mypy: ignore-errors
"""Template: games of a net against itself, and what they teach it. See `neural_play.py`, which says what is learned.

State, actions, result, is_terminal, to_play, phase, chances            the game's `Rules`
utility_player(s, player)                                               of any game
predict_outcomes, see, sees                                             of net_kernel.py
rolled, uniform, begin_game                                             of dice_kernel.py and draws.py
N_WORDS, OUTPUTS, HAS_CHANCE                                            of the game and the net
CACHE                                                                   whether the disk cache is on
"""

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

CHANCE = -1


@njit
def ended(u, io, params):
    """Write io.now of a game that brought `u`.

    Between two levels, as a draw between loss and win, it is a part of the step.
    """
    worth = params.lowest
    for j in range(OUTPUTS):
        io.now[j] = min(1.0, max(0.0, (u - io.lower[j]) / params.steps[j]))
        worth += params.steps[j] * io.now[j]
    return worth


@njit
def judge(s, player, io, params):
    """Set io.now[j] = P(utility >= levels[j + 1]) to `player`; return what `s` is worth to that player."""
    if is_terminal(s):
        return ended(np.float64(utility_player(s, player)), io, params)
    worth = params.lowest
    predict_outcomes(s, params)
    own = sees(s) == player
    for j in range(OUTPUTS):
        io.now[j] = params.probabilities[j] if own else 1.0 - params.probabilities[OUTPUTS - 1 - j]
        worth += params.steps[j] * io.now[j]
    return worth


@njit
def choose(s, io, params):
    """Return the number of the best action by one ply, the first of equal ones; io.best are the chances after it."""
    player = np.int64(to_play(s))
    n = actions(s, io.actions)
    chosen = 0
    highest = -np.inf
    for i in range(n):
        worth = judge(result(s, np.int64(io.actions[i])), player, io, params)
        if worth > highest:
            highest = worth
            chosen = i
            for j in range(OUTPUTS):
                io.best[j] = io.now[j]
    io.n = n
    return chosen


@njit
def expect(s, player, io, params):
    """Write into io.best what `player` should expect of `s`; return the number of the best action.

    It is -1 where nobody is to choose.

    After a roll the game may be over, another roll may come, or the other player may be to choose (pig).
    """
    if is_terminal(s) or (HAS_CHANCE and to_play(s) == CHANCE):
        judge(s, player, io, params)
        for j in range(OUTPUTS):
            io.best[j] = io.now[j]
        return -1
    chosen = choose(s, io, params)
    if np.int64(to_play(s)) != player:
        for j in range(OUTPUTS):
            io.now[j] = io.best[OUTPUTS - 1 - j]
        for j in range(OUTPUTS):
            io.best[j] = 1.0 - io.now[j]
    return chosen


@njit
def teach(first, end, io, sides, followed, targets):
    """Mix into targets lambda of what came after, from the end back.

    They hold what one decision later was expected.
    """
    for t in range(end - 2, first - 1, -1):
        if followed[t] != 0:
            for j in range(OUTPUTS):
                same = sides[t] == sides[t + 1]
                later = np.float64(targets[t + 1, j if same else OUTPUTS - 1 - j])
                later = later if same else 1.0 - later
                targets[t, j] = np.float32((1.0 - io.lambda_) * np.float64(targets[t, j]) + io.lambda_ * later)


@njit
def look_ahead(s, player, io, params):
    """Write into io.average what `player` should expect of `s` on average over all rolls; one ply of expectiminimax."""
    if HAS_CHANCE and to_play(s) == CHANCE:
        n = chances(s, io.outcomes, io.odds)
        for j in range(OUTPUTS):
            io.average[j] = 0.0
        for r in range(n):
            expect(result(s, np.int64(io.outcomes[r])), player, io, params)
            for j in range(OUTPUTS):
                io.average[j] += io.odds[r] * io.best[j]
    else:
        expect(s, player, io, params)
        for j in range(OUTPUTS):
            io.average[j] = io.best[j]


@njit
def teach_without_luck(first, end, io, params, words, sides, followed, targets):
    """Teach each row the mean over all rolls.

    Added to it is lambda of what the next row should have expected beyond what it did.
    """
    for t in range(end - 1, first - 1, -1):
        look_ahead(State(*to_fixed_tuple(words[t], N_WORDS)), np.int64(sides[t]), io, params)
        for j in range(OUTPUTS):
            targets[t, j] = np.float32(io.average[j])
        if t + 1 < end and followed[t] != 0 and io.lambda_ > 0.0:
            judge(State(*to_fixed_tuple(words[t + 1], N_WORDS)), np.int64(sides[t + 1]), io, params)
            same = sides[t] == sides[t + 1]
            for j in range(OUTPUTS):
                k = j if same else OUTPUTS - 1 - j
                gap = np.float64(targets[t + 1, k]) - io.now[k]
                gap = gap if same else -gap
                targets[t, j] = np.float32(np.float64(targets[t, j]) + io.lambda_ * gap)


@njit
def play(s, row, io, params, words, sides, followed, targets):
    """Play one game from `s`; its decisions fill the rows from `row` on. Return the first row that is free."""
    first = row
    opening = np.int64(uniform(io) * (io.opening + 1))
    last = min(row + io.longest, len(words))
    while not is_terminal(s) and row < last:
        for w in range(N_WORDS):
            words[row, w] = s[w]
        sides[row] = sees(s)
        if HAS_CHANCE and to_play(s) == CHANCE:
            s = rolled(s, io)
        best = expect(s, np.int64(sides[row]), io, params)
        for j in range(OUTPUTS):
            targets[row, j] = io.best[j]
        followed[row] = 1
        if best >= 0:
            chosen = best
            if row - first < opening or (io.epsilon > 0.0 and uniform(io) < io.epsilon):
                chosen = np.int64(uniform(io) * io.n)
            followed[row] = chosen == best
            s = result(s, np.int64(io.actions[chosen]))
        row += 1
    if io.exact != 0:
        teach_without_luck(first, row, io, params, words, sides, followed, targets)
    else:
        teach(first, row, io, sides, followed, targets)
    return row


@njit(cache=CACHE, nogil=True)
def play_games(box, eval_box, first, games, words, sides, followed, targets):
    """Play games number `first` and on; return how many games and rows were filled.

    It goes on while there is room for a long one.
    """
    io, params = box[0], eval_box[0]
    start = State(*to_fixed_tuple(io.words, N_WORDS))
    row = 0
    played = 0
    while played < games and row + io.longest <= len(words):
        begin_game(first + played, io)
        row = play(start, row, io, params, words, sides, followed, targets)
        played += 1
    return played, row


@njit(cache=CACHE, nogil=True)
def inputs(words, x, phases):
    """Write the features and the phase of each state."""
    for i in range(len(words)):
        s = State(*to_fixed_tuple(words[i], N_WORDS))
        see(s, x[i])
        phases[i] = phase(s)
