# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
"""Template: a net whose weights stand still while it plays, as a model of the episode kernel.

A row holds the words of a position. The model does not learn here: it writes lessons, a position and the probabilities
that it should have had, into `words` and `targets`, which stand where other models have their weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numba.np.unsafe.ndarray import to_fixed_tuple

if TYPE_CHECKING:
    from evallearn.compiled.hooks import CACHE, N_WORDS, OUTPUTS, SCALE, State, phase
    from evallearn.compiled.learning_hooks import MAX_NODES, NODE_DRAWS
    from evallearn.compiled.learning_records import EpisodeRecord, LessonRecord
    from evallearn.evaluators.net_kernel import evaluate_mover as net_value
    from evallearn.evaluators.net_kernel import observe, observing_player, predict_outcomes
    from evallearn.train.draws import begin_game, uniform


@njit
def observer(s):
    """Return the player as whom the net sees `s`."""
    return observing_player(s)


@njit
def begin_episode(io: EpisodeRecord, words, record: LessonRecord):
    """Begin the random numbers of game io.games; return False where there may be no room for its lessons."""
    begin_game(io.games, io)
    return record.lessons + io.room <= len(words)


@njit
def read(s, row, words, targets, record: LessonRecord):
    for w, word in enumerate(s):
        row[w] = word
    return np.int64(0)


@njit
def predict(row, group, words, targets, record: LessonRecord):
    predict_outcomes(State(*to_fixed_tuple(row, N_WORDS)), record)
    total = record.lowest
    for j in range(OUTPUTS):
        total += record.steps[j] * record.probabilities[j]
    return total / SCALE


@njit
def output(j, record: LessonRecord):
    """Return 2 P(utility >= levels[j + 1]) - 1 of the last prediction: negated, like a value, to the other player."""
    return 2.0 * record.probabilities[j] - 1.0


@njit
def write_result(u, out, record: LessonRecord):
    """Write the outputs of a game that brought `u`; a result between two levels, as a draw, is a part of the step."""
    low = record.lowest
    for j in range(OUTPUTS):
        out[j] = 2.0 * min(1.0, max(0.0, (u - low) / record.steps[j])) - 1.0
        low += record.steps[j]


@njit
def update(t, row, group, io: EpisodeRecord, words, targets, record: LessonRecord):
    """Write a lesson: the position of decision t, and what it should have been worth."""
    for w in range(N_WORDS):
        words[record.lessons, w] = row[w]
    for j in range(OUTPUTS):
        targets[record.lessons, j] = np.float32((1.0 + (io.value[t, j] + io.td_error[t, j])) / 2.0)
    record.lessons += 1


# --- treestrap: the nodes of a search --------------------------------------------------------------------------------
@njit
def evaluate_mover(s, record: LessonRecord):
    """Ask the net for the searches of the learner: kernels of their own, because its record has other fields."""
    return net_value(s, record)


@njit
def visit(row, io: EpisodeRecord, record: LessonRecord):
    """Forget the nodes of the search before."""
    record.nodes = 0
    record.counter = io.counter ^ NODE_DRAWS


@njit
def on_node(s, value, alpha, beta, record: LessonRecord):
    """Note what the search said of a node, as far as that is more than a bound which the net keeps."""
    said = net_value(s, record)
    if (value >= beta and value < said) or (value <= alpha and value > said):
        return
    place = record.nodes
    record.nodes += 1
    if place >= MAX_NODES:  # any of them may stay, all with the same probability
        place = np.int64(uniform(record) * record.nodes)
        if place >= MAX_NODES:
            return
    for w, word in enumerate(s):
        record.node_words[place, w] = word
    record.node_targets[place] = np.float32((1.0 + np.float64(value) / SCALE) / 2.0)


@njit
def take(step, words, targets, record: LessonRecord):
    """Turn the nodes that were noted into lessons."""
    for i in range(min(record.nodes, MAX_NODES)):
        for w in range(N_WORDS):
            words[record.lessons, w] = record.node_words[i, w]
        targets[record.lessons, 0] = record.node_targets[i]
        record.lessons += 1


# --- what torch reads ------------------------------------------------------------------------------------------------
@njit(cache=CACHE, nogil=True)
def inputs(words, x, phases):
    """Write the features and the phase of each state."""
    for i in range(len(words)):
        s = State(*to_fixed_tuple(words[i], N_WORDS))
        observe(s, x[i])
        phases[i] = phase(s)
