"""Templates declare what they are given: tools find a misspelt name, `specialise` one that is missing or strange."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
import toys

import evallearn
from evallearn.compiled import bindings, hooks
from evallearn.compiled.bindings import bindings_of, declarations
from evallearn.compiled.game import TEMPLATE
from evallearn.compiled.hooks import DEFAULTS
from evallearn.compiled.specialise import specialise
from evallearn.core.rules import Rules
from evallearn.train.models import ModelHooks

ROOT = Path(str(evallearn.__file__)).parents[1]
RULES = toys.DOUBLE_MOVE_RULES
TEXT = """# mypy: allow-untyped-defs, allow-untyped-calls
from typing import TYPE_CHECKING

from numba import njit

if TYPE_CHECKING:
    from evallearn.compiled.{module} import {imported}


@njit
def moves(s, out):
    return {called}
"""


def template(folder: Path, imported: str, called: str, module: str = "hooks") -> Path:
    path = folder / "given_kernel.py"
    path.write_text(TEXT.format(module=module, imported=imported, called=called))
    return path


def run(*tool: str, text: str = "") -> str:
    command = [sys.executable, "-m", *tool]
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


# --- tools -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("module", "imported", "called", "by_ruff", "by_mypy"),
    [
        ("hooks", "actions", "actions(s, out)", "All checks passed", "Success"),
        ("hooks", "actions", "acitons(s, out)", "Undefined name `acitons`", 'Name "acitons" is not defined'),
        ("hooks", "acitons", "acitons(s, out)", "", 'has no attribute "acitons"'),
        ("hooks", "actions", "actions(s)", "", 'Missing positional argument "out"'),
        ("learning_hooks", "cell", "cel(0, s)", "Undefined name `cel`", 'Name "cel" is not defined'),
        ("learning_hooks", "cell", "cell(0)", "", 'Missing positional argument "record"'),
    ],
)
def test_tools_read_templates(module, imported, called, by_ruff, by_mypy, tmp_path):
    path = template(tmp_path, imported, called, module)
    config, there = str(ROOT / "pyproject.toml"), "train/models/given_kernel.py"
    ruff = ("ruff", "check", "--no-cache", "--config", config, "--stdin-filename", there, "-")
    assert by_ruff in run(*ruff, text=path.read_text())
    assert by_mypy in run("mypy", "--config-file", config, str(path))


def test_every_template_declares_the_names_that_it_is_given():
    found = [p for p in ROOT.rglob("*_kernel.py") if not {".venv", "build"} & set(p.relative_to(ROOT).parts)]
    texts = {p: p.read_text("utf-8") for p in found}
    silent = {p.name for p, text in texts.items() if not declarations(text) or "mypy: ignore-errors" in text}
    assert len(found) > 30
    assert not silent


# --- what stands for a name --------------------------------------------------------------------------------------
def test_every_rule_that_kernels_call_is_declared():
    functions = {field.name for field in fields(Rules) if "Callable" in str(field.type)}
    declared = {name for name, value in vars(hooks).items() if isinstance(value, FunctionType)}
    assert functions <= declared
    optional = {field.name for field in fields(Rules) if "Callable" in str(field.type) and "None" in str(field.type)}
    optional -= {"phase"}
    assert optional <= set(hooks.DEFAULTS)


@pytest.mark.parametrize(
    ("imported", "more", "message"),
    [
        ("evaluate_mover", {}, "given_kernel.py needs evaluate_mover: give them"),
        ("N_PLAYERS, H1", {"H1": 3}, "given_kernel.py needs N_PLAYERS: give them"),
        ("actions", {"H1": 3, "Z": 1}, "given_kernel.py does not declare H1, Z: import each name"),
        ("acitons", {}, "given_kernel.py needs acitons"),
    ],
)
def test_specialise_demands_what_is_declared_and_nothing_else(imported, more, message, tmp_path):
    with pytest.raises(TypeError, match=message):
        specialise(template(tmp_path, imported, "1"), RULES, **more)


def test_names_come_from_the_rules_from_stand_ins_or_from_the_caller(tmp_path):
    imported = "CACHE, N_WORDS, HAS_CHANCE, State, actions, chances, evaluate_mover as below, on_node, quiet_value"
    given: Any = object()
    found = bindings_of(
        template(tmp_path, imported, "1"), [RULES], {"below": given, "on_node": given, "quiet_value": None}
    )
    assert found == {
        "N_WORDS": RULES.n_words,
        "HAS_CHANCE": False,
        "State": RULES.State,
        "actions": RULES.actions,
        "chances": hooks.chances,
        "below": given,
        "on_node": given,
        "quiet_value": hooks.quiet_value,
    }


def test_names_come_from_the_hooks_of_a_model(tmp_path):
    needed: Any = dict.fromkeys(("observer", "read", "predict", "update"), max)
    model = ModelHooks(**needed, cell=len, row=np.dtype(np.int32), parts=1)
    path = template(tmp_path, "cell, read, visit", "1", "learning_hooks")
    stand_in = DEFAULTS["visit"]
    assert bindings_of(path, [RULES, model], {}) == {"cell": len, "read": max, "visit": stand_in}
    with pytest.raises(TypeError, match="given_kernel.py needs read: give them"):
        bindings_of(path, [RULES], {})


def test_names_of_another_template_come_from_what_was_made_of_it(tmp_path):
    path = tmp_path / "given_kernel.py"
    path.write_text(
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
        "    from evallearn.compiled.game_kernel import look as first_look\n"
        "    from evallearn.evaluators.squash import BOUND, squash\n"
        "    from evallearn.compiled.records import SearchContext\n"
    )
    made = specialise(TEMPLATE, RULES, N_PLAYERS=2)
    with pytest.raises(TypeError, match="needs first_look: give"):
        bindings_of(path, [RULES], {})
    found = bindings_of(path, [made], {})
    assert found.keys() == {"first_look", "BOUND", "squash"}
    assert found["first_look"] is made.look
    assert found["BOUND"] == 1 - 2.0**-20
    assert found["squash"] in bindings.jitable.__globals__["_marked"]  # plain functions are marked for Numba
