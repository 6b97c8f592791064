"""Names that the templates of train/ are given, beside those of `hooks.py`: a model, a policy, and what learns.

A model is the functions of a `ModelHooks`: `row` is scratch of fixed width; `weights`, `sums` and `record` are its
three arrays, passed flat; of the last, the record itself. `evaluate_mover` and `on_node` stand in `hooks.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evallearn.compiled.hooks import default_hook
from evallearn.compiled.records import Number


# --- models ----------------------------------------------------------------------------------------------------------
def read(s: Any, row: Any, weights: Any, sums: Any, record: Any) -> Number:
    """Write what the model reads of `s`, send for the weights that `row` names, and return their group."""


def predict(row: Any, group: Any, weights: Any, sums: Any, record: Any) -> Number:
    """Return the value, float64, to the mover, as a share of a win."""


@default_hook
def prefetch(row: Any, group: Any, weights: Any, sums: Any, record: Any) -> None:
    """Send for what `update` will need."""


def update(t: Any, row: Any, group: Any, io: Any, weights: Any, sums: Any, record: Any) -> None:
    """Learn that decision t should be worth io.value[t] + io.td_error[t], by a step of io.step."""


@default_hook
def cell(i: Any, record: Any) -> Number:
    """Return what the mover saw on a cell of the state that was read last."""
    return 0


@default_hook
def visit(row: Any, io: Any, record: Any) -> None:
    """Count what a position of a game looks like, before its search."""


@default_hook
def take(step: Any, weights: Any, sums: Any, record: Any) -> None:
    """Learn the mean of what `on_node` noted."""


def observer(s: Any) -> Number:
    """Return who sees `s`: who is to move, or will be after the roll."""


@default_hook
def output(j: Any, record: Any) -> Number:
    """Return output j of the last prediction, from -1 to 1, of a model that has several."""
    return 0.0


@default_hook
def write_result(u: Any, out: Any, record: Any) -> None:
    """Write all outputs of a game that brought `u`."""
    pass


@default_hook
def begin_episode(io: Any, weights: Any, record: Any) -> bool:
    """Begin game io.games; return False where a model that writes lessons may have no room for its own."""
    return True


MAX_NODES: int
"""Nodes of a search that are learned, at most."""
NODE_DRAWS: int
"""Keeps the random numbers of nodes apart from those of the game."""


N_ROW: int
"""Numbers in a row."""
N_PHASES: int
TEMPORAL_COHERENCE: bool
"""Whether every weight has a step of its own."""
PER_PHASE: bool
"""Whether every phase has weights of its own."""
N_LEARNERS: int
"""How many learn the same tables side by side."""


# --- policies: one_ply_kernel.py or search_policy_kernel.py ----------------------------------------------------------
def begin(s: Any, n_history: Any, io: Any, box: Any, history: Any) -> Number:
    """Write the actions of `s` into io.actions; return how many there are, or -1 where the game is over."""


def choose(s: Any, n: Any, io: Any, box: Any, weights: Any, sums: Any, record: Any, rows: Any) -> Number:
    """Return the number of the best action; io.values are those of actions, to the mover."""


@default_hook
def choose_deep(s: Any, n: Any, io: Any, box: Any, weights: Any, sums: Any, record: Any, rows: Any) -> Number:
    """Return what `choose` does, by io.depth plies: see fixed_depth_kernel.py."""
    return np.int64(0)


def read_leaf(s: Any, row: Any, io: Any, box: Any, weights: Any, sums: Any, record: Any) -> tuple[Number, Number]:
    """Read the position whose value `choose` found.

    Returns (its group, 1 if the same player is to move there, -1 if the other is, 0 if the game is over).
    """
    raise NotImplementedError


# --- episodes --------------------------------------------------------------------------------------------------------
SEARCHES: bool
"""Whether alpha-beta with quiescence chooses."""
DEEP: bool
"""Whether any game looks further ahead than one ply without it."""
ADVERSARY: bool
"""Whether somebody minds a cell."""
NEXT: bool
"""Whether positions are compared with the next one."""
LEAVES: bool
"""Whether leaves learn, not roots."""
AT_ONCE: bool
"""Whether the model learns after every move."""
EXPECTS: bool
"""Whether positions are compared with the mean over all rolls."""
EVERY_NODE: bool
"""Whether the model learns from every node of the search."""
