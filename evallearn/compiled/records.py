"""Scratch records: what a kernel and Python share, each declared as a class.

    class SearchContext(Record):
        nodes: I8
        killers: Array[I4, "plies", 2]

    box = SearchContext.one(plies=60)     # an array of one record, all of it 0

A template imports the class under `if TYPE_CHECKING:` and annotates `ctx: SearchContext`: Numba ignores that, and type
checkers find a field that is misspelt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias, get_type_hints
from typing import Annotated as Array  # of a kind, and of sizes by name or number

import numpy as np

Number: TypeAlias = Any
"""What Numba takes for int64, float32 or float64; uncompiled, a number of Python or of NumPy."""
I1: TypeAlias = Annotated[Number, "i1"]
I2: TypeAlias = Annotated[Number, "i2"]
I4: TypeAlias = Annotated[Number, "i4"]
I8: TypeAlias = Annotated[Number, "i8"]
U8: TypeAlias = Annotated[Number, "u8"]
F4: TypeAlias = Annotated[Number, "f4"]
F8: TypeAlias = Annotated[Number, "f8"]


class Record:
    """Its annotations are the fields, its own before those of the record that it extends."""

    @classmethod
    def dtype(cls, **sizes: int) -> np.dtype[np.void]:
        """Return the dtype of the record.

        sizes: those that arrays are declared with.
        """
        hints = get_type_hints(cls, include_extras=True)
        fields: list[tuple[str, str, tuple[int, ...]]] = []
        for name in cls._names():
            kind, *shape = hints[name].__metadata__
            fields.append((name, kind, tuple(sizes[n] if isinstance(n, str) else n for n in shape)))
        return np.dtype(fields, align=True)

    @classmethod
    def one(cls, **sizes: int) -> np.ndarray:
        """Return an array of one record, all of it 0. Rows that are never touched take no memory."""
        return np.zeros(1, cls.dtype(**sizes))

    @classmethod
    def _names(cls) -> Iterator[str]:
        for each in cls.__mro__:
            yield from vars(each).get("__annotations__", {})


# --- a game's rules, as Python asks them -----------------------------------------------------------------------------
class GameRecord(Record):
    """See `Mailbox`."""

    words: Array[U8, "words"]
    player: I8
    terminal: I8
    utility: Array[F8, "players"]
    key: U8
    clock: I8
    n_history: I8
    history: Array[U8, "history"]
    actions: Array[I4, "width"]
    probabilities: Array[F8, "rolls"]
    features: Array[F4, "features"]
    bounds: Array[F4, 2]


# --- nets: weights and working memory --------------------------------------------------------------------------------
class NetRecord(Record):
    """What the kernel of a `NetEval` reads and writes; tensor w1 has `of_w1` parts: one, or one for each phase."""

    w1: Array[F4, "of_w1", "features", "h1"]
    b1: Array[F4, "of_b1", "h1"]
    b3: Array[F4, "of_b3", "outputs"]
    w2: Array[F4, "of_w2", "h1", "h2"]
    b2: Array[F4, "of_b2", "h2"]
    w3: Array[F4, "of_w3", "outputs", "last"]
    x: Array[F4, "features"]
    places: Array[I4, "room"]
    values: Array[F4, "room"]
    hidden1: Array[F4, "h1"]
    hidden2: Array[F4, "h2"]
    probabilities: Array[F8, "outputs"]
    steps: Array[F8, "outputs"]
    lowest: F8


class QuantisedRecord(Record):
    """What the kernel of a `QuantisedNet` reads and writes; `inputs` are the features and some that are always 0."""

    q1: Array[I2, "of_q1", "features", "h1"]
    c1: Array[I4, "of_c1", "h1"]
    c3: Array[I4, "of_c3", "outputs"]
    q2: Array[I2, "of_q2", "h1", "h2"]
    c2: Array[I4, "of_c2", "h2"]
    q3: Array[I2, "of_q3", "outputs", "last"]
    x: Array[F4, "inputs"]
    fresh: Array[I4, "inputs"]
    seen: Array[I4, 2, "nets", "inputs"]
    sums: Array[I4, 2, "nets", "h1"]
    sums2: Array[I4, "h2"]
    hidden: Array[I4, "widest"]
    zeros: Array[I4, "room"]
    places: Array[I4, "room"]
    values: Array[I4, "room"]
    logistic: Array[I2, 2, "logistic"]
    reach: F4
    unit: F8
    shift: Array[I4, 2]
    top: Array[I4, 2]
    probabilities: Array[F8, "outputs"]
    steps: Array[F8, "outputs"]
    lowest: F8


# --- searches --------------------------------------------------------------------------------------------------------
class SearchContext(Record):
    """What a thread of alpha-beta carries."""

    nodes: I8
    node_limit: I8
    eval_calls: I8
    leaf_calls: I8
    unsound: I8
    stop: I8
    unproven: I8
    value_depth: I8
    table_address: U8
    table_mask: U8
    age: I8
    readable_age: I8
    looks_address: U8
    looks_mask: U8
    use_table: I4
    use_killers: I4
    use_history: I4
    use_pvs: I4
    use_aspiration: I4
    noisy_first: I4
    null_move: I4
    late_move_reductions: I4
    all_values: I4
    futility: I4
    path_independent_table: I4
    use_partial_iteration: I4
    win: F4
    quiescence: I8
    extensions: I8
    n_root: I8
    best_index: I8
    new_index: I8
    depth: I8
    exact: I8
    n_history: I8
    path: Array[U8, "path"]
    doubled: Array[I1, "path"]
    extended: Array[I4, "plies"]
    passed: Array[I1, "plies"]
    value: F4
    new_value: F4
    line_length: I4
    words: Array[U8, "words"]
    root_actions: Array[I4, "width"]
    ranks: Array[I4, "width"]
    order: Array[I4, "width"]
    new_values: Array[F4, "width"]
    values: Array[F4, "width"]
    killers: Array[I4, "plies", 2]
    history: Array[I4, 2, "n_actions"]
    actions: Array[I4, "plies", "width"]
    scores: Array[I4, "plies", "width"]
    noisy: Array[I4, "width"]
    deferred: Array[I4, "shared_plies", "shared_width"]
    line: Array[I2, "plies"]
    pv_length: Array[I4, "plies"]
    pv: Array[I2, "plies", "plies"]


class ExpectiminimaxContext(Record):
    """What expectiminimax carries."""

    nodes: I8
    node_limit: I8
    stop: I8
    eval_calls: I8
    recalled: I8
    ended: I8
    table_address: U8
    table_mask: U8
    salt: U8
    seed: U8
    use_table: I8
    pruning: I8
    samples: I8
    width: I8
    all_values: I8
    player: I8
    n_root: I8
    best_index: I8
    depth: I8
    exact: I8
    drawn: I8
    value: F8
    found_variance: F8
    line_length: I8
    words: Array[U8, "words"]
    ranks: Array[I4, "width"]
    order: Array[I4, "width"]
    new_values: Array[F8, "width"]
    values: Array[F8, "width"]
    throws: Array[I4, "rolls"]
    slot: Array[I4, "plies"]
    variance: Array[F8, "plies"]
    killers: Array[I4, "plies", "rolls"]
    outcomes: Array[I4, "plies", "rolls"]
    odds: Array[F8, "plies", "rolls"]
    slots: Array[I4, "plies", "rolls"]
    least: Array[F8, "plies"]
    most: Array[F8, "plies"]
    slack: Array[F8, "plies"]
    drawn_here: Array[I1, "plies"]
    low: Array[F8, "plies", "rolls"]
    high: Array[F8, "plies", "rolls"]
    spread: Array[F8, "plies", "rolls"]
    actions: Array[I4, "plies", "width"]
    prospects: Array[F8, "width"]
    line: Array[I4, "plies"]
    pv_length: Array[I4, "plies"]
    pv: Array[I4, "plies", "plies"]


class MaxNContext(Record):
    """What max^n carries."""

    nodes: I8
    node_limit: I8
    stop: I8
    eval_calls: I8
    ended: I8
    player: I8
    n_root: I8
    best_index: I8
    depth: I8
    exact: I8
    tie_sign: F8
    allied: Array[I8, "players"]
    value: Array[F8, "plies", "players"]
    words: Array[U8, "words"]
    ranks: Array[I4, "width"]
    new_values: Array[F8, "width"]
    values: Array[F8, "width"]
    new_vector: Array[F8, "players"]
    vector: Array[F8, "players"]
    actions: Array[I4, "plies", "width"]
    outcomes: Array[I4, "plies", "rolls"]
    odds: Array[F8, "plies", "rolls"]
    line_length: I8
    line: Array[I4, "plies"]
    pv_length: Array[I4, "plies"]
    pv: Array[I4, "plies", "plies"]


class PlayoutContext(Record):
    """What a search carries that plays at random, whatever it does with its playouts."""

    stop: I8
    done: I8
    leaf_calls: I8
    rng: U8
    playout_plies: I8
    n_root: I8
    n_history: I8
    path: Array[U8, "path"]
    outcome: Array[F8, "players"]
    words: Array[U8, "words"]
    row: Array[I4, "choices"]
    probabilities: Array[F8, "rolls"]
    root_actions: Array[I4, "width"]
    visits: Array[I8, "width"]
    totals: Array[F8, "width"]
    squares: Array[F8, "width"]


class MctsContext(PlayoutContext):
    """And what a tree adds: nodes used, room for them, the line of the simulation."""

    used: I8
    room: I8
    max_depth: I8
    deepest: I8
    solver: I8
    low: F8
    high: F8
    exploration: F8
    bonus: F8
    alpha: F8
    line: Array[I4, "plies"]
    chooser: Array[I1, "plies"]
    has_better: Array[I1, "plies"]
    better: Array[F8, "plies"]


class LuckContext(Record):
    """What the measurement of luck carries."""

    words: Array[U8, "words"]
    actions: Array[I4, "width"]
    outcomes: Array[I4, "rolls"]
    odds: Array[F8, "rolls"]
    values: Array[F8, "rolls"]


class RolloutContext(Record):
    """What a game of a rollout carries."""

    words: Array[U8, "words"]
    moves: I8
    plies: I8
    cut: I8
    value: F8
    luck: F8
    actions: Array[I4, "width"]
    outcomes: Array[I4, "rolls"]
    odds: Array[F8, "rolls"]
