"""Tables of TOML to settings: what is unknown, of another type or out of range is refused, with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from evallearn.core.settings import Settings
from evallearn.errors import SpecError, unknown
from evallearn.runs.models import MODELS
from evallearn.runs.stage_settings import HIDDEN, VERBS, SelfPlay, Stage

KINDS = {"int": (int, "a whole number"), "float": (float, "a number"), "bool": (bool, "true or false"),
         "str": (str, "a text")}  # fmt: skip
Table = dict[str, Any]
S = TypeVar("S", bound=Settings)


def stage_of(table: Table, where: str) -> Stage:
    """Return the settings of a stage."""
    verb = table.pop("verb", None)
    if not isinstance(verb, str) or verb not in VERBS:
        raise SpecError(f"{where}: {unknown('verb', str(verb), VERBS)}")
    if verb == "selfplay":
        inner = table_of(table.pop("model", {}), f"{where}, model")
        kind = inner.pop("kind", "linear")
        if not isinstance(kind, str) or kind not in MODELS:
            raise SpecError(f"{where}: {unknown('kind of model', str(kind), MODELS)}")
        table["model"] = build(MODELS[kind], inner, f"{where}, model")
        schedule = table_of(table.setdefault("schedule", {}), f"{where}, schedule")
        if "games" not in table and "games" not in schedule:
            schedule["shape"] = "constant"  # nobody knows when the games end
        schedule.setdefault("games", 0 if schedule.get("shape", "constant") == "constant" else table.get("games"))
        learning = {f.name for f in fields(SelfPlay.LEARNING)} - HIDDEN
        own = {k: table.pop(k) for k in [*table] if k in learning or f"{k}_" in learning}
        if "learning" in table:
            raise SpecError(f"{where}: give the fields of learning themselves")
        table["learning"] = build(SelfPlay.LEARNING, own, where)
    return build(VERBS[verb], table, where)


def build(kind: type[S], table: Mapping[str, Any], where: str) -> S:
    """Return settings made from a table; refuse unknown fields, wrong types and ranges, with their place."""
    types = {f.name: f for f in fields(kind) if f.name not in HIDDEN}  # type: ignore[arg-type]  # they are dataclasses
    values = {}
    for key, value in table.items():
        name = key if key in types else f"{key}_"
        if name not in types:
            raise SpecError(f"{where}: {unknown('field', key, [n.rstrip('_') for n in types])}")
        inner = types[name].default if "setting" not in types[name].metadata else None
        if isinstance(inner, Settings) and isinstance(value, Mapping):
            value = build(type(inner), value, f"{where}, {key}")
        elif not isinstance(value, Settings):
            known = types[name].metadata.get("setting")
            if inner is not None or known is None:
                raise SpecError(f"{where}: {key}={value!r}: give a table")
            value = _typed(value, str(types[name].type), bool(known.auto), f"{where}: {key}")
        values[name] = value
    try:
        return kind(**values)
    except SpecError as error:
        raise SpecError(f"{where}: {error}") from None


def _typed(value: Any, wanted: str, may_be_none: bool, where: str) -> Any:
    """Return the value as the type of its field."""
    if may_be_none and value in (None, "auto"):
        return None
    base = wanted.removesuffix(" | None")
    if base.startswith("tuple"):
        inner = base.removeprefix("tuple[").partition(",")[0]
        return tuple(
            _typed(one, inner, False, where) for one in (value if isinstance(value, list | tuple) else [value])
        )
    kind, words = KINDS[base]
    if kind is float and type(value) is int and abs(value) < 1 << 53:
        return float(value)
    if type(value) is not kind:
        raise SpecError(f"{where}={value!r}: give {words}")
    return value


def table_of(value: Any, where: str) -> Table:
    """Refuse what is no table."""
    if not isinstance(value, dict):
        raise SpecError(f"{where} is no table: give it fields")
    return value


def only(table: Table, known: set[str], where: str) -> None:
    """Refuse other keys."""
    for key in table:
        if key not in known:
            raise SpecError(f"{where}: {unknown('key', key, known)}")
