"""What every kernel that deepens does with lines: the principal variation, and what a finished iteration leaves.

Templates are handed these functions; `ctx` is the record of the search.
"""

# Numba infers the types when it compiles, hence:
# mypy: ignore-errors

from __future__ import annotations

from evallearn.compiled.bits import jitable


@jitable
def begin(first, ctx):
    """Nothing is known yet but the action that is tried first."""
    ctx.nodes = 0
    ctx.eval_calls = 0
    ctx.depth = 0
    ctx.exact = 0
    ctx.line[0] = first
    ctx.line_length = 1


@jitable
def note_line(a, ply, ctx):
    """Write the principal variation from `ply`: this action, then the child's line."""
    n = ctx.pv_length[ply + 1]
    ctx.pv[ply, 0] = a
    for i in range(n):
        ctx.pv[ply, i + 1] = ctx.pv[ply + 1, i]
    ctx.pv_length[ply] = n + 1


@jitable
def keep_iteration(depth, ctx):
    """Keep the values and the line of the iteration that has just been finished."""
    ctx.depth = depth
    for i in range(ctx.n_root):  # loops: Numba compiles all of its strings with an assignment of slices
        ctx.values[i] = ctx.new_values[i]
    ctx.line_length = ctx.pv_length[0]
    for i in range(ctx.line_length):
        ctx.line[i] = ctx.pv[0, i]
