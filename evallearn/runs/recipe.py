"""Recipes: what a run does, stage by stage, as TOML.

    help = "One sentence."
    [[stage]]
    verb = "generate"           # generate, fit, selfplay or gate, and fields of its settings
    games = 2000
    [[stage]]
    verb = "fit"
    [game.othello.stage.fit]    # what is different for one game: a stage by its name or its number, from 0
    target = "blend"

A gate ends a loop over the stages since the gate before. `[ladder]` says what is measured at the end. A game that needs
other stages has a list of its own, `[game.NAME] stage = [...]`.

A file may come from a stranger: it can name evaluators that are shipped, and no file, module or program.
"""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from evallearn.core.game import Game
from evallearn.core.settings import MINUTES
from evallearn.errors import SpecError, unknown
from evallearn.runs.stage_settings import Fit, Gate, Generate, Ladder, SelfPlay, Stage
from evallearn.runs.tables import Table, build, only, stage_of, table_of

FOLDER = Path(__file__).with_name("recipes")
PLAYED = ("generate", "selfplay")
"""Verbs that play games."""
MOST_STAGES, MOST_BYTES = 100, 1_000_000
EVALUATORS = ("player", "start", "teacher", "opponent")
"""Fields that name an evaluator."""
SHIPPED = re.compile(r"previous|zero|handwritten:[\w.-]+|zoo:[\w./-]+")
"""What a file may name there."""


@dataclass(frozen=True)
class Recipe:
    """The stages of a run, and what is measured at the end."""

    name: str
    source: str
    """Its name, or its file as it was given."""
    help: str
    stages: tuple[Stage, ...]
    ladder: Ladder
    given: Mapping[str, Any]
    """What a person set, as `--set` takes it: STAGE.FIELD, or games and minutes for all stages."""
    touched: frozenset[str]
    """The same as NUMBER.FIELD."""

    @classmethod
    def load(cls, what: str | Path, game: Game, given: Mapping[str, Any] | None = None) -> Self:
        """Return the recipe of that name, or in that file, for a game.

        given: fields that are set otherwise, as {"fit.target": "blend"}; "games" of all stages that play; "minutes"
        that they share. Texts are read as TOML. Raises SpecError for all that a recipe does not know.
        """
        source, table = _read(what)
        stages, ladder = _for_game(table, game, source)
        given = dict(given or {})
        touched = _apply(stages, ladder, given)
        place = [f"{source}, stage {i} ({t.get('verb')})" for i, t in enumerate(stages)]
        made = tuple(stage_of(t, where) for t, where in zip(stages, place, strict=True))
        for number, (stage, where) in enumerate(zip(made, place, strict=True)):
            _check_order(made[:number], stage, where)
        return cls(
            Path(what).stem,
            str(what),
            str(table["help"]),
            made,
            build(Ladder, ladder, f"{source}, ladder"),
            given,
            touched,
        )

    def __repr__(self) -> str:
        return f"<recipe {self.name}: {', '.join(stage.called for stage in self.stages)}>"

    def changed(self, chosen: Mapping[str, Any]) -> Self:
        """Return the same with other numbers, NUMBER.FIELD or ladder.FIELD, given as if a person had set them."""
        stages, ladder = [*self.stages], self.ladder
        for key, value in chosen.items():
            number, _, name = key.partition(".")
            if number == "ladder":
                ladder = replace(ladder, **{name: value})
            else:
                stages[int(number)] = replace(stages[int(number)], **{name: value})
        return replace(self, stages=tuple(stages), ladder=ladder)

    def flat(self) -> dict[str, Any]:
        """Return all settings as {STAGE.FIELD: value}; a stage whose name is not the only one stands by its number."""
        found: dict[str, Any] = {}
        for number, stage in enumerate(self.stages):
            told = {k: v for k, v in stage.to_json().items() if k != "name"}
            if isinstance(stage, SelfPlay):
                told["model"] = {"kind": stage.model.kind, **stage.model.to_json()}
                del told["learning"]
                told |= stage.learning.to_json()
            found |= {f"{self.called(number)}.{k}": v for k, v in _flat(told)}
        return found | {f"ladder.{k}": v for k, v in self.ladder.to_json().items()}

    def called(self, number: int) -> str:
        """Return the name of a stage, or its number where others have the same name."""
        name = self.stages[number].called
        return name if sum(s.called == name for s in self.stages) == 1 else str(number)

    def dotted(self, key: str) -> str:
        """Return NUMBER.FIELD with the name of the stage, where it is the only one of that name."""
        number, _, name = key.partition(".")
        return key if number == "ladder" else f"{self.called(int(number))}.{name}"

    def loops(self) -> Iterator[tuple[list[tuple[int, Stage]], Gate | None]]:
        """Yield the numbered stages up to each gate, and the gate; at last those that no gate follows."""
        block: list[tuple[int, Stage]] = []
        for number, stage in enumerate(self.stages):
            if isinstance(stage, Gate):
                yield block, stage
                block = []
            else:
                block.append((number, stage))
        if block:
            yield block, None


# --- reading ---------------------------------------------------------------------------------------------------------
def recipe_names() -> list[str]:
    """Return the names of the recipes that are shipped."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def _read(what: str | Path) -> tuple[str, Table]:
    """Return what messages call the recipe, and its table; texts in it name nothing but what is shipped."""
    shipped = str(what) in recipe_names()
    path = FOLDER / f"{what}.toml" if shipped else Path(what)
    if not shipped and path.suffix != ".toml":
        raise SpecError(f"{unknown('recipe', str(what), recipe_names())}, or give the path of a .toml file")
    source = f"recipe {what}"
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise SpecError(f"{source} is longer than {MOST_BYTES:,} bytes: give a shorter one")
        table = tomllib.loads(data.decode())
    except OSError as error:
        raise SpecError(f"{source} cannot be read ({error.strerror}): check the path") from None
    except (ValueError, RecursionError) as error:
        problem = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise SpecError(f"{source} is no TOML ({problem}): mend it; `evallearn recipes linear` shows one") from None
    only(table, {"help", "stage", "ladder", "game"}, source)
    if not isinstance(table.get("help"), str):
        raise SpecError(f'{source} has no help: give it one sentence, help = "..."')
    _refuse_names(table, source)
    return source, table


def _for_game(table: Table, game: Game, source: str) -> tuple[list[Table], Table]:
    """Return the tables of the stages and of the ladder, with what is different for this game."""
    games = table_of(table.get("game", {}), f"{source}, game")
    own = table_of(games.get(game.name.partition(",")[0], {}), f"{source}, game.{game.name}")
    only(own, {"stage", "ladder"}, f"{source}, game.{game.name}")
    theirs = own.get("stage", {})
    stages = copy.deepcopy(theirs if isinstance(theirs, list) else table.get("stage", []))
    if not isinstance(stages, list) or not 0 < len(stages) <= MOST_STAGES:
        raise SpecError(f"{source} has no stages for {game.name}: give it 1 to {MOST_STAGES} tables [[stage]]")
    stages = [table_of(stage, f"{source}, stage {i}") for i, stage in enumerate(stages)]
    for key, changes in ({} if isinstance(theirs, list) else table_of(theirs, f"{source}, game.{game.name}")).items():
        for number in _numbers(stages, key, f"{source}, game.{game.name}"):
            _merge(stages[number], table_of(changes, f"{source}, game.{game.name}.stage.{key}"))
    ladder = copy.deepcopy(table_of(table.get("ladder", {"pairs": 0}), f"{source}, ladder"))
    _merge(ladder, table_of(own.get("ladder", {}), f"{source}, game.{game.name}.ladder"))
    return stages, ladder


def _refuse_names(table: Any, source: str, key: str = "") -> None:
    """Refuse a text that names an evaluator which is not shipped."""
    if isinstance(table, dict):
        for name, value in table.items():
            _refuse_names(value, source, name)
    elif isinstance(table, list):
        for value in table:
            _refuse_names(value, source, key)
    elif key in EVALUATORS and isinstance(table, str) and not SHIPPED.fullmatch(table):
        raise SpecError(
            f"{source}: {key}={table!r} is not shipped, and a file may name nothing else: give previous, zero, "
            f"handwritten:NAME or zoo:NAME there, and others by --set STAGE.{key}=..."
        )


# --- what a person set -----------------------------------------------------------------------------------------------
def _apply(stages: list[Table], ladder: Table, given: Mapping[str, Any]) -> frozenset[str]:
    """Write what was given into the tables; return it as NUMBER.FIELD."""
    touched = set()
    if (minutes := given.get("minutes")) is not None:
        _share(stages, minutes, keep="games" in given)
    for key, value in given.items():
        if key in ("games", "minutes"):
            targets = [i for i, s in enumerate(stages) if key == "games" and s.get("verb") in PLAYED]
            path = ["games"]
        else:
            name, *path = key.split(".")
            if not path:
                raise SpecError(f"--set {key}: give STAGE.FIELD=VALUE, as in generate.games=500")
            if name == "ladder":
                _put(ladder, path, _value(value))
                touched.add(f"ladder.{'.'.join(path)}")
                continue
            targets = _numbers(stages, name, f"--set {key}")
        for number in targets:
            _put(stages[number], path, _value(value))
            touched.add(f"{number}.{'.'.join(path)}")
    return frozenset(touched)


def _share(stages: list[Table], minutes: float, keep: bool) -> None:
    """Give every stage of self-play its share of the minutes; games end it, too, only if they were given."""
    MINUTES.require("minutes", minutes)
    for stage, share in shares(stages).items():
        if stages[stage]["verb"] == "selfplay":
            stages[stage]["minutes"] = minutes * share
            if not keep:
                stages[stage].pop("games", None)


def shares(stages: list[Table]) -> dict[int, float]:
    """Return the part of a run's time that each stage with games has."""
    found = {i: stage.get("share", 1.0) for i, stage in enumerate(stages) if stage.get("verb") in PLAYED}
    sound = {i: float(share) if type(share) in (int, float) and share > 0 else 1.0 for i, share in found.items()}
    return {i: share / sum(sound.values()) for i, share in sound.items()}


def _value(value: Any) -> Any:
    """Return a text as the TOML value that it is, or as a text."""
    if not isinstance(value, str):
        return value
    try:
        return tomllib.loads(f"x = {value}")["x"]
    except (ValueError, RecursionError):
        return value


def _put(table: Table, path: list[str], value: Any) -> None:
    for name in path[:-1]:
        inner = table.setdefault(name, {})
        if not isinstance(inner, dict):
            raise SpecError(f"--set {'.'.join(path)}: {name} has no fields: leave out what follows it")
        table = inner
    table[path[-1]] = value


def _numbers(stages: list[Table], name: str, where: str) -> list[int]:
    """Return the numbers of the stages of that name, verb or number."""
    names = [str(s.get("name", s.get("verb"))) for s in stages]
    found = [i for i, known in enumerate(names) if name in (known, str(i))]
    if not found:
        raise SpecError(f"{where}: {unknown('stage', name, [*names, 'ladder'])}, or a number below {len(stages)}")
    return found


def _merge(table: Table, changes: Table) -> None:
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(table.get(key), dict):
            _merge(table[key], value)
        else:
            table[key] = copy.deepcopy(value)


# --- what is whole, and what it says ---------------------------------------------------------------------------------
def _check_order(before: tuple[Stage, ...], stage: Stage, where: str) -> None:
    """Refuse a stage that lacks what an earlier one must have made."""
    if isinstance(stage, Fit) and not any(isinstance(s, Generate) for s in before):
        raise SpecError(f"{where} has no records to learn from: put a stage generate before it")
    if isinstance(stage, Gate) and not any(isinstance(s, Fit | SelfPlay) for s in _since_gate(before)):
        raise SpecError(f"{where} has nobody to promote: put a stage fit or selfplay before it")


def _since_gate(stages: tuple[Stage, ...]) -> Iterator[Stage]:
    for stage in reversed(stages):
        if isinstance(stage, Gate):
            return
        yield stage


def _flat(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from ((f"{key}.{inner}", v) for inner, v in _flat(value))
        else:
            yield key, value
