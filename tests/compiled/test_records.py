"""Scratch records as classes: the layout that kernels get, and fields that type checkers know."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest

import evallearn
from evallearn.compiled.records import I4, I8, U8, MctsContext, PlayoutContext, Record

ROOT = Path(str(evallearn.__file__)).parents[1]
TEXT = """# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.records import SearchContext


@njit
def counted(ctx: SearchContext):
    return ctx.{field}
"""


class Small(Record):
    n: I4
    words: Annotated[U8, "words"]


class Larger(Small):
    table: Annotated[I8, "words", 2]


def test_annotations_make_the_layout_own_fields_first():
    small = np.dtype([("n", "i4"), ("words", "u8", (3,))], align=True)
    assert Small.dtype(words=3) == small
    larger = np.dtype([("table", "i8", (3, 2)), ("n", "i4"), ("words", "u8", (3,))], align=True)
    assert Larger.dtype(words=3, unused=1) == larger
    assert Larger.one(words=3).tobytes() == bytes(larger.itemsize)


def test_size_that_is_not_given_is_named():
    with pytest.raises(KeyError, match="words"):
        Small.dtype()


def test_records_with_the_tree_of_mcts_have_the_fields_of_playouts():
    sizes = dict.fromkeys(("words", "players", "width", "rolls", "choices", "path", "plies"), 2)
    playouts, mcts = PlayoutContext.dtype(**sizes).names, MctsContext.dtype(**sizes).names
    assert mcts[-len(playouts) :] == playouts
    assert "deepest" in mcts


@pytest.mark.parametrize(("field", "told"), [("nodes", "Success"), ("nodez", 'has no attribute "nodez"')])
def test_misspelt_field_is_found(field, told, tmp_path):
    path = tmp_path / "counting_kernel.py"
    path.write_text(TEXT.format(field=field))
    tool = ["mypy", "--config-file", str(ROOT / "pyproject.toml"), str(path)]
    done = subprocess.run([sys.executable, "-m", *tool], cwd=ROOT, capture_output=True, text=True, check=False)
    assert told in done.stdout
