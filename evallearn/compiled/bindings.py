"""What a template is given: the names that it imports in its block `if TYPE_CHECKING:`.

    if TYPE_CHECKING:
        from evallearn.compiled.hooks import N_WORDS, State, evaluate_mover as below
        from evallearn.compiled.vectors import add_rows
        from evallearn.search.alphabeta.tree_kernel import value_mover

Type checkers and linters follow these imports; nothing is imported when the template runs. Names of hooks.py and
learning_hooks.py are the game's own, a default or the caller's; those of another template come from what `specialise`
made of it; others are imported here, so that they stand in the fingerprint's sight.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TypeAlias

from evallearn.compiled import hooks, learning_hooks
from evallearn.compiled.bits import jitable
from evallearn.compiled.records import Record
from evallearn.core.rules import Rules

Given: TypeAlias = Rules | ModuleType | tuple[object, ...]
"""What names are taken from: a game's rules, what `specialise` made of a template, or a NamedTuple of hooks."""
HOOKS = (hooks.__name__, learning_hooks.__name__)
OF_A_RULE = frozenset(field.name for field in fields(Rules))


class Missing(Exception):
    """Nobody gave it."""


def bindings_of(template: Path, given: Sequence[Given], more: Mapping[str, object]) -> dict[str, object]:
    """Return {name: what stands for it} for every name that the template declares.

    given: the game's rules, what `specialise` made of the templates that this one imports from, and hooks; more: by
    name, None for what stands in.
    """
    declared = declarations(template.read_text(encoding="utf-8"))
    if strangers := sorted(more.keys() - declared.keys()):
        raise TypeError(
            f"{template.name} does not declare {', '.join(strangers)}: import each name that is injected from "
            "evallearn.compiled.hooks, or whence it comes, in a block `if TYPE_CHECKING:`"
        )
    found, missing = {name: value for name, value in more.items() if value is not None}, []
    for name, (module, original) in declared.items():
        if name in found or name == "CACHE":
            continue
        try:
            value = _value(module, original, given)
        except Missing:
            missing.append(name)
            continue
        if not (isinstance(value, type) and issubclass(value, Record)):  # the type of a record is for annotations
            found[name] = value
    if missing:
        raise TypeError(f"{template.name} needs {', '.join(sorted(missing))}: give them to `specialise`")
    return found


@lru_cache(maxsize=256)
def declarations(text: str) -> dict[str, tuple[str, str]]:
    """Return {name in the template: (module, name there)}."""
    blocks = [
        node.body
        for node in ast.parse(text).body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    ]
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for block in blocks
        for node in block
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _value(module: str, name: str, given: Sequence[Given]) -> object:
    if module in HOOKS:
        for each in given:
            if isinstance(each, tuple) and (own := getattr(each, name, None)) is not None:
                return own
        return _hook(name, next((each for each in given if isinstance(each, Rules)), None))
    if module.endswith("_kernel"):
        return _made(module, name, given)
    value = getattr(importlib.import_module(module), name)
    # A module that imports `overload` has compiled versions of its own.
    plain = isinstance(value, FunctionType) and "overload" not in value.__globals__
    return jitable(value) if plain else value


def _hook(name: str, rules: Rules | None) -> object:
    if rules is not None and name in hooks.SIZES:
        return hooks.SIZES[name](rules)
    if rules is not None and name == "utility_player" and rules.utility_mover is not None:
        return hooks.utility_to_any(rules)
    if name in OF_A_RULE:
        own = getattr(rules, name, None)
        if own is not None:
            return own
    if name not in hooks.DEFAULTS or (name in OF_A_RULE and rules is None):
        raise Missing
    return hooks.DEFAULTS[name]


def _made(module: str, name: str, given: Sequence[Given]) -> object:
    """Return what `specialise` made of another template."""
    for each in given:
        if isinstance(each, ModuleType) and Path(str(each.__file__)).resolve() == _file_of(module):
            return getattr(each, name)
    raise Missing


@lru_cache(maxsize=64)
def _file_of(module: str) -> Path | None:
    spec = find_spec(module)
    return None if spec is None or spec.origin is None else Path(spec.origin).resolve()
