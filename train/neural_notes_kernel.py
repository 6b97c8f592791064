# mypy: ignore-errors
"""Template: the nodes of a search as lessons for a net. See `neural_search.py`; the names below are injected.

evaluate_mover(s, params) -> float32       the net, which leaves its outputs in params.probabilities
uniform                                    of draws.py
N_WORDS, OUTPUTS, MOST                     of the game and the net; so many nodes are kept
"""

import numpy as np
from numba import njit


@njit
def judge_mover(s, params):
    """Ask EVAL for the searches of the learner: kernels of their own, because its record has other fields."""
    return evaluate_mover(s, params)


@njit
def note_node(s, value, alpha, beta, params):
    """Note what the search said of a node, as far as that is more than a bound which the net keeps."""
    said = evaluate_mover(s, params)
    if (value >= beta and value < said) or (value <= alpha and value > said):
        return
    place = params.notes
    params.notes += 1
    if place >= MOST:  # any of them may stay, all with the same chance
        place = np.int64(uniform(params) * params.notes)
        if place >= MOST:
            return
    for w, word in enumerate(s):
        params.noted[place, w] = word
    lowest = params.lowest
    worth = lowest
    highest = lowest
    for j in range(OUTPUTS):
        worth += params.steps[j] * params.probabilities[j]
        highest += params.steps[j]
    v = np.float64(value)
    won = (v - worth) / (highest - worth) if v > worth else 0.0
    lost = (worth - v) / (worth - lowest) if v < worth else 0.0
    for j in range(OUTPUTS):
        p = params.probabilities[j]
        params.lessons[place, j] = np.float32(p + won * (1.0 - p) - lost * p)
