"""The fingerprint changes with everything a kernel can see, and with nothing else."""

from __future__ import annotations

import importlib
import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from toys import python_path

from evallearn.compiled.fingerprint import _invisible_text, fingerprint

MAIN = """
import enum
import math
import numpy as np
import fp_help
import fp_help as other_name
from fp_help import imported, LIMIT

TABLE = np.array([1, 2, 3])
NAMES = ("a", 1.5)
WORD = np.uint64(5)

class Side(enum.IntEnum):
    X = 1
    O = 2

def rule(s, scale=2):
    '''What it does.'''
    if s in {1, 2, 3}:
        return math.sqrt(s) * scale
    inner = lambda y: y + LIMIT
    return imported(s) + fp_help.through_module(inner(s)) + TABLE[0] + WORD + Side.X + len(NAMES)

def unrelated(s):
    return 1

def make(n, *, m=3):
    def closure(s):
        return s + n
    return closure

def keyword(s, *, depth=4):
    return s + depth

root = make(10)
"""
HELP = """
from fp_deep import deepest
import fp_deep
LIMIT = 7
UNUSED = 1

def imported(s):
    return deepest(s) + 1

def through_module(s):
    return fp_deep.CONSTANT * fp_deep.by_attribute(s)

def unused(s):
    return 2
"""
DEEP = """
CONSTANT = 1.0

def deepest(s):
    return s * 2

def by_attribute(s):
    return s - 1
"""
NAMES = ("fp_main", "fp_help", "fp_deep")


@pytest.fixture
def prints(tmp_path, monkeypatch):
    """prints(edits...) -> the fingerprint of rule, closure and keyword after these edits (file, old, new)."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def run(*edits: tuple[str, str, str]) -> str:
        texts = dict(zip(NAMES, (MAIN, HELP, DEEP), strict=True))
        for name, old, new in edits:
            assert texts[name].count(old) == 1, (name, old)
            texts[name] = texts[name].replace(old, new)
        for name in NAMES:
            (tmp_path / f"{name}.py").write_text(texts[name])
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        _invisible_text.cache_clear()  # as in a new process
        main = importlib.import_module("fp_main")
        return fingerprint([main.rule, main.root, main.keyword])

    yield run
    for name in NAMES:
        sys.modules.pop(name, None)


CHANGES = {
    "the function": ("fp_main", "* scale", "* scale * 1"),
    "a default": ("fp_main", "scale=2", "scale=3"),
    "a keyword default": ("fp_main", "depth=4", "depth=5"),
    "a closure": ("fp_main", "make(10)", "make(11)"),
    "a set in the code": ("fp_main", "{1, 2, 3}", "{1, 2, 4}"),
    "a lambda inside": ("fp_main", "y + LIMIT", "y - LIMIT"),
    "a name of the library": ("fp_main", "math.sqrt(s)", "math.cbrt(s)"),
    "an array": ("fp_main", "[1, 2, 3]", "[1, 2, 4]"),
    "the type of an array": ("fp_main", "np.array([1, 2, 3])", "np.array([1, 2, 3], np.int32)"),
    "a tuple": ("fp_main", '("a", 1.5)', '("a", 1.25)'),
    "a scalar": ("fp_main", "np.uint64(5)", "np.uint64(6)"),
    "the type of a scalar": ("fp_main", "np.uint64(5)", "np.uint32(5)"),
    "a member of an enum": ("fp_main", "X = 1", "X = 3"),
    "a constant in another file": ("fp_help", "LIMIT = 7", "LIMIT = 8"),
    "the type of a constant": ("fp_help", "LIMIT = 7", "LIMIT = 7.0"),
    "a function in another file": ("fp_help", "+ 1", "+ 2"),
    "a function of a module": ("fp_help", "fp_deep.CONSTANT * ", "fp_deep.CONSTANT / "),
    "a function two files away": ("fp_deep", "s * 2", "s * 3"),
    "a constant of a module two files away": ("fp_deep", "CONSTANT = 1.0", "CONSTANT = 1.5"),
    "a function of a module two files away": ("fp_deep", "s - 1", "s - 2"),
}
NO_CHANGES = {
    "a comment": ("fp_main", "    if s in", "    # why\n    if s in"),
    "a comment in another file": ("fp_help", "LIMIT = 7", "# seven\nLIMIT = 7  # or so"),
    "a blank line": ("fp_main", "def rule", "\n\n\ndef rule"),
    "a line break": ("fp_help", "deepest(s) + 1", "(\n        deepest(s)\n        + 1)"),
    "an unrelated function": ("fp_main", "return 1\n", "return 3\n"),
    "an unrelated function of a module": ("fp_help", "return 2", "return 3"),
    "an unrelated constant of a module": ("fp_help", "UNUSED = 1", "UNUSED = 2"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_fingerprint_changes_with(prints, what):
    before = prints()
    assert prints(CHANGES[what]) != before
    assert prints() == before


@pytest.mark.parametrize("what", NO_CHANGES)
def test_fingerprint_does_not_change_with(prints, what):
    assert prints(NO_CHANGES[what]) == prints()


def test_all_changes_give_different_fingerprints(prints):
    found = [prints(), *(prints(edit) for edit in CHANGES.values())]
    assert len(set(found)) == len(found)


def test_file_that_overloads_counts_as_a_whole(prints):
    """The body of an @overload belongs to no function that the walk could find."""
    mark = ("fp_help", "UNUSED = 1", "UNUSED = 1  # @overload")
    assert prints(mark) != prints()
    assert prints(mark, ("fp_help", "return 2", "return 3")) != prints(mark)


def test_fingerprint_is_the_same_in_every_process_and_for_every_hash_seed(prints, tmp_path):
    here = prints()
    code = (
        "import fp_main; from evallearn.compiled.fingerprint import fingerprint; "
        "print(fingerprint([fp_main.rule, fp_main.root, fp_main.keyword]))"
    )
    env = {**os.environ, "PYTHONPATH": python_path(tmp_path), "PYTHONHASHSEED": "4711"}  # here it is another
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == here


def test_numba_options_of_a_function_count():
    from numba import njit

    def body(x):
        return x / 3

    found = [fingerprint([f]) for f in (body, njit(body), njit(fastmath=True)(body), njit(error_model="numpy")(body))]
    assert len(set(found[1:])) == 3


def test_numba_types_count():
    from numba import types

    assert fingerprint([types.int64]) != fingerprint([types.int32])
    assert fingerprint([np.dtype("f4")]) != fingerprint([np.dtype("f8")])


def test_values_that_look_alike_differ():
    alike = [1, 1.0, True, "1", b"1", None, np.int64(1), np.float32(1), (1,), [1], {1: 1}, {1}, -0.0, 0.0, (), 0]
    for a, b in itertools.combinations(alike, 2):
        assert fingerprint([a]) != fingerprint([b]), (a, b)
    assert fingerprint(["ab", "c"]) != fingerprint(["a", "bc"])
    assert fingerprint([1, 2]) != fingerprint([2, 1])


def test_record_types_with_other_fields_differ():
    one, other = (np.zeros(1, [("a", "i4"), (name, "i4")]) for name in ("b", "c"))
    assert fingerprint([one]) != fingerprint([other])


def test_functions_that_call_each_other_come_to_an_end():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    assert len(fingerprint([even])) == 20
    assert fingerprint([even]) != fingerprint([odd])


def test_empty_closure_does_not_matter():
    def outer():
        def inner():
            return later

        digest = fingerprint([inner])
        later = 1
        return digest, inner

    digest, inner = outer()
    assert fingerprint([inner]) != digest  # the cell is filled now


def test_sources_count_with_their_whole_text(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    before = fingerprint([], [file])
    file.write_text("x = 1  # a comment\n")
    assert fingerprint([], [file]) != before


def test_user_module_named_like_one_of_pythons_is_walked(tmp_path, monkeypatch):
    """Nobody stops a user from calling their file this.py."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    found = []
    for body in ("s + 1", "s + 2"):
        (tmp_path / "this.py").write_text(f"def rule(s):\n    return {body}\n")
        monkeypatch.delitem(sys.modules, "this", raising=False)
        importlib.invalidate_caches()
        from evallearn.compiled.fingerprint import _is_library

        _is_library.cache_clear()
        found.append(fingerprint([importlib.import_module("this").rule]))
        assert Path(sys.modules["this"].__file__).parent == tmp_path
    assert found[0] != found[1]
    monkeypatch.delitem(sys.modules, "this")


def test_kernel_below_another_is_known_by_its_name():
    # A cached kernel imports the one below it by name, and that name follows even the comments of its template.
    source = "def evaluate_mover(s, params):\n    return 0.0\n"
    functions = []
    for name in ("evallearn_kernel_a", "evallearn_kernel_b", "evallearn_kernel_a"):
        scope: dict = {"__name__": name}
        exec(compile(source, "template.py", "exec"), scope)
        functions.append(scope["evaluate_mover"])
    first, other, same = (fingerprint([f]) for f in functions)
    assert first != other
    assert first == same


def test_editing_a_file_does_not_disturb_a_process_that_has_loaded_it(tmp_path, monkeypatch):
    path = tmp_path / "half_edited.py"
    path.write_text("# overload\ndef rule(x):\n    return x\n")
    monkeypatch.syspath_prepend(tmp_path)
    import half_edited

    before = fingerprint([half_edited.rule])
    path.write_text("# overload, and someone is typing\ndef rule(x):\n    retur")
    assert fingerprint([half_edited.rule]) == before


def test_module_in_which_a_function_lives_counts():
    """A cached kernel imports it by name to find its globals: after a move it must be compiled again."""

    def rule(s):
        return s

    before = fingerprint([rule])
    rule.__module__ = "games.moved"
    assert fingerprint([rule]) != before
