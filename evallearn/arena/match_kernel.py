# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: whole games between two choosers.

`ctx` is the record of compiled_match.py; a, b: what the choosers carry; history: uint64[clock limit + 2, N_WORDS],
of which the first ctx.n_history are the positions since the last move that cannot be taken back.
"""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

from evallearn.compiled.cycles import cycles
from evallearn.compiled.rng import begin_game, drawn, next_word, uniform

if TYPE_CHECKING:
    from evallearn.compiled.hooks import (
        CACHE,
        HAS_CHANCE,
        HAS_CLOCK,
        N_WORDS,
        State,
        actions,
        chances,
        choose_a,
        choose_b,
        is_terminal,
        result,
        to_play,
        utility_player,
    )
    from evallearn.search.common.repetition_kernel import push_history

CHANCE = -1


@njit(nogil=True)
def choose(s, player, history, a, b, ctx):
    """Return the action of whoever sits there, -1 if the game is over, and count what it took."""
    side = ctx.seats[player]
    begun = cycles()
    if side == 0:
        action, nodes = choose_a(s, history, a)
    else:
        action, nodes = choose_b(s, history, b)
    if action >= 0:
        ctx.cycles[side] += cycles() - begun
        ctx.moves[side] += 1
        ctx.nodes[side] += nodes
    return action


@njit(nogil=True)
def note_end(s, is_over, ctx):
    for player in range(len(ctx.utilities)):
        ctx.utilities[player] = utility_player(s, np.int64(player)) if is_over else np.float32(0)


@njit(nogil=True)
def one_game(s, a, b, history, ctx):
    """Play from `s` to the end, or for ctx.longest plies, rolls included; return the number of plies.

    The first ctx.opening_plies moves are random. A game that is cut, or that ends by repetition, is worth nothing.
    """
    n_history, opening = ctx.n_history, ctx.opening_plies
    for n in range(ctx.longest):
        if is_terminal(s):
            note_end(s, True, ctx)
            return np.int64(n)
        player = np.int64(to_play(s))
        if HAS_CHANCE and player == CHANCE:
            rolls = np.int64(chances(s, ctx.outcomes, ctx.odds))
            action = np.int64(ctx.outcomes[drawn(next_word(ctx), ctx.odds, rolls)])
        elif opening > 0:
            action = np.int64(ctx.choices[np.int64(uniform(ctx) * actions(s, ctx.choices))])
            opening -= 1
        else:
            action = choose(s, player, history[:n_history], a, b, ctx)
            if action < 0:
                note_end(s, False, ctx)
                return np.int64(n)
        ctx.actions[n] = action
        after = result(s, action)
        if HAS_CLOCK:
            n_history = push_history(s, after, history, n_history)
        s = after
    note_end(s, False, ctx)
    return np.int64(ctx.longest)


@njit(cache=CACHE, nogil=True)
def play(box, a, b, history):
    """Play the position in ctx.words; see `one_game`."""
    return one_game(State(*to_fixed_tuple(box[0].words, N_WORDS)), a, b, history, box[0])


@njit(cache=CACHE, nogil=True)
def play_pairs(box, a, b, history, points):
    """Into points[i]: the mean to A of the two games of pair i, which have the same dice and opening, seats swapped."""
    ctx = box[0]
    start = State(*to_fixed_tuple(ctx.words, N_WORDS))
    for i in range(len(points)):
        for seat in range(2):
            begin_game(i, ctx)
            ctx.seats[:] = 1
            ctx.seats[seat] = 0
            one_game(start, a, b, history, ctx)
            points[i] += 0.5 * ctx.utilities[seat]
