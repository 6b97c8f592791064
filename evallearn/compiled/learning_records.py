"""Scratch records of pattern tables, of models and of the games from which they learn: see `records.py`."""

from __future__ import annotations

from typing import Annotated as Array  # of a kind, and of sizes by name or number

from evallearn.compiled.records import F4, F8, I1, I4, I8, U8, NetRecord, Record


# --- pattern tables: see `Layout` ------------------------------------------------------------------------------------
class LayoutRecord(Record):
    """What `look` keeps of the last position that each player saw."""

    fresh: Array[I4, "cells"]
    seen: Array[I4, "players", "stacks"]
    index: Array[I4, "players", "places"]


class StackTables(Record):
    """What a stack adds to the index of each place."""

    shape: Array[I4, "stacks", 2]
    stack: Array[I4, "stacks", "height"]
    number: Array[I4, "kinds", "numbers"]
    span: Array[I4, "stacks", 2]
    codes: Array[I4, "stacks", "contents", "places"]


class CellTables(Record):
    """What a cell adds, and the places to which it does."""

    first: Array[I4, "ends"]
    place: Array[I4, "steps"]
    step: Array[I4, "steps"]


class StackLayout(LayoutRecord, StackTables):
    """A layout whose stacks hold several cells."""


class CellLayout(LayoutRecord, CellTables):
    """A layout in which every cell is a stack."""


class PatternRecord(LayoutRecord):
    """What the kernel of a `PatternEval` reads and writes."""

    tables: U8
    unit: F8


# --- models ----------------------------------------------------------------------------------------------------------
class PatternModelRecord(LayoutRecord):
    """What a `PatternModel` carries beside its weights."""

    min_step_ratio: F8


class LinearModelRecord(Record):
    """What a `LinearModel` carries: the evaluator's record, and what it notes; a slot is a weight or the bias."""

    weights: Array[F8, "phases", "features"]
    bias: Array[F8, "phases"]
    x: Array[F4, "features"]
    gradient: Array[F8, "phases", "slots"]
    notes: I8
    error_sums: Array[F8, "phases", "slots"]
    error_sizes: Array[F8, "phases", "slots"]
    squares: Array[F8, "features"]
    inverse: Array[F8, "features"]
    seen: F8
    used: Array[I1, "features"]


class LessonRecord(NetRecord):
    """What a `FrozenNet` carries: the net's record, how many lessons it wrote, and what it noted of a search."""

    counter: U8
    lessons: I8
    nodes: I8
    node_words: Array[U8, "nodes", "words"]
    node_targets: Array[F4, "nodes"]


# --- games of a model against itself ---------------------------------------------------------------------------------
class EpisodeRecord(Record):
    """What the episode kernel carries: counters, settings, the actions of a position, the decisions of a game."""

    words: Array[U8, "words"]
    counter: U8
    games: I8
    moves: I8
    nodes: I8
    errors: F8
    step: F8
    depth: I8
    lambda_: F8
    epsilon: F8
    target_epsilon: F8
    adversary_share: F8
    adversary_cell: I8
    max_opening_plies: I8
    skips_openings: I8
    resign_threshold: F8
    actions: Array[I4, "width"]
    values: Array[F8, "width"]
    cell: Array[I4, "width"]
    is_same: Array[I1, "width"]
    child_group: Array[I8, "width"]
    below: Array[I4, "deepest", "width"]
    mover: Array[I4, "plies"]
    group: Array[I8, "plies"]
    traces: Array[F8, "plies"]
    td_error: Array[F8, "plies", "outputs"]
    value: Array[F8, "plies", "outputs"]
    found: Array[F8, "plies", "outputs"]
    sign: Array[I8, "plies"]
    seed: U8
    longest: I8
    room: I8
    outputs: Array[F8, "width", "outputs"]
    expected: Array[F8, "outputs"]
    outcomes: Array[I4, "rolls"]
    odds: Array[F8, "rolls"]
