# mypy: ignore-errors
"""Template: how a linear Eval takes a lesson. See `online.py`; the names below are injected.

evaluate_mover(s, params) -> float32, phase    the Eval, which leaves the features in params.x; the game's phase
N_FEATURES, N_PHASES, SCALE                    of the game; what a win is worth
COHERENCE, BY_PHASE                            whether each weight has its own step, each phase its own weights
"""

import numpy as np
from numba import njit


@njit
def judge(s, params):
    """EVAL, as the searches of the learner ask it: kernels of their own, because its record has other fields."""
    return evaluate_mover(s, params)


@njit
def note_node(s, value, alpha, beta, params):
    """A node of a search as a lesson: what the search said of it, as far as that is more than a bound it keeps."""
    error = (np.float64(value) - np.float64(evaluate_mover(s, params))) / SCALE
    if (value >= beta and error < 0.0) or (value <= alpha and error > 0.0):
        return
    note(np.int64(phase(s)), error, params)


@njit
def note(k, error, params):
    """The features in params.x should be worth `error` more in phase k: no step may overshoot that."""
    size = 1.0
    for i in range(N_FEATURES):
        x = np.float64(params.x[i])
        size += x * x * params.inverse[i]
    part = error / max(size, N_FEATURES + 1.0)
    for j in range(k if BY_PHASE else 0, k + 1 if BY_PHASE else N_PHASES):
        for i in range(N_FEATURES):
            params.gradient[j, i] += part * np.float64(params.x[i])
        params.gradient[j, N_FEATURES] += part
    params.notes += 1


@njit
def take(rate, params):
    """A step by the mean of what was noted."""
    if params.notes == 0:
        return
    for k in range(N_PHASES):
        for i in range(N_FEATURES):
            params.weights[k, i] += own_step(k, i, rate, params) * params.inverse[i]
        params.bias[k] += own_step(k, N_FEATURES, rate, params)
    params.notes = 0


@njit
def own_step(k, i, rate, params):
    """The step of one weight, whose notes are then forgotten; smaller where its errors cancel out."""
    gradient = params.gradient[k, i]
    if gradient == 0.0:
        return 0.0
    params.gradient[k, i] = 0.0
    step = rate * gradient / params.notes
    if COHERENCE:
        if params.total[k, i] > 0.0:
            step *= abs(params.net[k, i]) / params.total[k, i]
        params.net[k, i] += gradient
        params.total[k, i] += abs(gradient)
    return step


@njit
def see(s, params):
    """Counts how large the features are in the positions of games; leaves those of `s` in params.x, and its value."""
    value = evaluate_mover(s, params)
    params.seen += 1
    for i in range(N_FEATURES):
        x = np.float64(params.x[i])
        params.squares[i] += x * x
        if params.used[i] != 0 and params.squares[i] > 0.0:
            params.inverse[i] = params.seen / params.squares[i]
    return value
