# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: a linear evaluator as a model. See `linear.py`.

A row holds the features, a group is the phase. The evaluator leaves the features in record.x.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.hooks import N_FEATURES, SCALE, features_mover, phase, to_play
    from evallearn.compiled.hooks import evaluate_mover as own_evaluate
    from evallearn.compiled.learning_hooks import N_PHASES, PER_PHASE, TEMPORAL_COHERENCE
    from evallearn.compiled.learning_records import EpisodeRecord, LinearModelRecord
    from evallearn.evaluators.squash import squash


@njit
def evaluate_mover(s, record: LinearModelRecord):
    """Ask EVAL for the searches of the learner: kernels of their own, because its record has other fields."""
    return own_evaluate(s, record)


@njit
def observer(s):
    return to_play(s)


@njit
def read(s, row, weights, sums, record: LinearModelRecord):
    features_mover(s, row)
    return np.int64(phase(s))


@njit
def predict(row, k, weights, sums, record: LinearModelRecord):
    total = np.float64(record.bias[k])
    for i in range(N_FEATURES):
        total += np.float64(record.weights[k, i]) * np.float64(row[i])
    return squash(total)


@njit
def visit(row, io: EpisodeRecord, record: LinearModelRecord):
    """Count how large the features are in the positions of games."""
    record.seen += 1
    for i in range(N_FEATURES):
        x = np.float64(row[i])
        record.squares[i] += x * x
        if record.used[i] != 0 and record.squares[i] > 0.0:
            record.inverse[i] = record.seen / record.squares[i]


@njit
def update(t, row, k, io: EpisodeRecord, weights, sums, record: LinearModelRecord):
    note(row, k, io.td_error[t, 0], record)
    take(io.step, weights, sums, record)


@njit
def on_node(s, value, alpha, beta, record: LinearModelRecord):
    """Note what the search said of a node, as far as that is more than a bound which the model keeps."""
    error = (np.float64(value) - np.float64(evaluate_mover(s, record))) / SCALE
    if (value >= beta and error < 0.0) or (value <= alpha and error > 0.0):
        return
    note(record.x, np.int64(phase(s)), error, record)


@njit
def note(row, k, error, record: LinearModelRecord):
    """Note that the features should be worth `error` more in phase k: no step may overshoot that."""
    size = 1.0
    for i in range(N_FEATURES):
        x = np.float64(row[i])
        size += x * x * record.inverse[i]
    part = error / max(size, N_FEATURES + 1.0)
    for j in range(k if PER_PHASE else 0, k + 1 if PER_PHASE else N_PHASES):
        for i in range(N_FEATURES):
            record.gradient[j, i] += part * np.float64(row[i])
        record.gradient[j, N_FEATURES] += part
    record.notes += 1


@njit
def take(step, weights, sums, record: LinearModelRecord):
    """Move the weights by the mean of what was noted."""
    if record.notes == 0:
        return
    for k in range(N_PHASES):
        for i in range(N_FEATURES):
            record.weights[k, i] += own_step(k, i, step, record) * record.inverse[i]
        record.bias[k] += own_step(k, N_FEATURES, step, record)
    record.notes = 0


@njit
def own_step(k, i, step, record: LinearModelRecord):
    """Return the step of one weight, whose notes are then forgotten; smaller where its errors cancel out."""
    gradient = record.gradient[k, i]
    if gradient == 0.0:
        return 0.0
    record.gradient[k, i] = 0.0
    own = step * gradient / record.notes
    if TEMPORAL_COHERENCE:
        if record.error_sizes[k, i] > 0.0:
            own *= abs(record.error_sums[k, i]) / record.error_sizes[k, i]
        record.error_sums[k, i] += gradient
        record.error_sizes[k, i] += abs(gradient)
    return own
