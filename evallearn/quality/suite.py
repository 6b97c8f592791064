"""Position suites: positions of a game with what is known of them, and the file that keeps them.

A file has one JSON object per line. The first says what it is:

    {"format": "evallearn suite", "version": 1, "game": "connect_four", "by": "depth=10, threats", "exact": false}

Each other line is a position with the value of every legal action to the player to move, or with one value alone (to
`player`; left out: to the player to move, or the one who moves after the roll). `ply` and `exact` may be left out.

    {"position": "44455", "values": {"1": -0.2, "2": 0.1, ...}, "ply": 5}
    {"position": "44455", "value": 0.1, "player": 0, "ply": 5, "exact": true}

Such a file may come from a stranger: it is read as plain data, and every line is checked against the rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from evallearn.core.files import write_atomically
from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.json_shapes import Json, JsonDict
from evallearn.errors import DataError, GameError

FORMAT, VERSION = "evallearn suite", 1
HEADER = {"format": str, "version": int, "game": str, "by": str, "exact": bool}
KNOWN = ("position", "values", "value", "player", "ply", "exact")
LONGEST_LINE = 1 << 20
"""Bytes; the 2,000 plays of the widest backgammon roll take a tenth of it."""
MOST_LINES = 1_000_000
LONGEST_GAME = 100_000
"""Plies; no game lasts longer."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """A position and what is known of it. Values are utilities to `player`."""

    state: State
    player: int
    value: float
    """Of the position: that of the best action, where those are known."""
    values: Mapping[Action, float] | None = None
    """Of every legal action, where they are known; `player` is then to move."""
    ply: int | None = None
    exact: bool = False
    """True if everything said here is proven."""


@dataclass(frozen=True)
class Suite:
    """Positions of one game, all different."""

    game: Game
    items: tuple[Item, ...]
    by: str
    """What the values come from, in words."""

    @property
    def exact(self) -> bool:
        """True if everything is proven."""
        return all(item.exact for item in self.items)

    @property
    def n_exact(self) -> int:
        return sum(item.exact for item in self.items)

    def part(self, most: int) -> Suite:
        """Return at most so many of the positions, evenly spread over the suite."""
        n = len(self.items)
        if n <= most:
            return self
        return Suite(self.game, tuple(self.items[i * n // most] for i in range(most)), self.by)


# --- writing ---------------------------------------------------------------------------------------------------------
def write_suite(suite: Suite, path: Path | str) -> None:
    """Write the suite as a file, whole or not at all; `read_suite` reads it back."""
    write_atomically(Path(path), "".join(line + "\n" for line in suite_lines(suite)).encode())


def suite_lines(suite: Suite) -> Iterator[str]:
    """Yield the lines of the file; the same suite gives the same lines."""
    header = {"format": FORMAT, "version": VERSION, "game": suite.game.name, "by": suite.by, "exact": suite.exact}
    yield json.dumps(header)
    for item in suite.items:
        yield json.dumps(_plain(suite, item))


def _plain(suite: Suite, item: Item) -> JsonDict:
    game, s = suite.game, item.state
    line: JsonDict = {"position": game.to_text(s)}
    if item.values is None:
        line |= {"value": item.value, "player": item.player}
    else:
        line["values"] = {game.action_to_text(s, a): v for a, v in item.values.items()}
    if item.ply is not None:
        line["ply"] = item.ply
    if item.exact != suite.exact:
        line["exact"] = item.exact
    return line


# --- reading ---------------------------------------------------------------------------------------------------------
def read_suite(path: Path | str, game: Game) -> Suite:
    """Read the suite in the file, each line checked against the rules of `game`. Raises DataError: file and line."""
    reader = _Reader(Path(path), game)
    with open(path, "rb") as file:
        return reader.suite(iter(lambda: file.readline(LONGEST_LINE + 1), b""))


Unchecked: TypeAlias = object
"""What a line of a file says."""


class _Reader:
    """Reads line by line and knows where it is."""

    def __init__(self, path: Path, game: Game) -> None:
        self.path, self.game, self.line = path, game, 0
        self.low, self.high = game.utility_range
        self.seen: dict[State, int] = {}

    def wrong(self, why: str) -> NoReturn:
        raise DataError(f"{self.path}, line {self.line}: {why}")

    def suite(self, lines: Iterator[bytes]) -> Suite:
        header = self.header(next(lines, b""))
        items = []
        for line in lines:
            if line.strip() or len(line) > LONGEST_LINE:
                items.append(self.item(line, header["exact"]))
            else:
                self.line += 1
        if not items:
            self.wrong("the suite ends here, without a position: make one with `evallearn suite`")
        return Suite(self.game, tuple(items), header["by"])

    def header(self, line: bytes) -> Mapping[str, Any]:
        plain = self.object(line) if line.strip() else {}
        if plain.get("format") != FORMAT:
            self.line = 1
            self.wrong(f'this is no suite: expected a first line with {{"format": "{FORMAT}", ...}}')
        for key, kind in HEADER.items():
            if not isinstance(plain.get(key), kind):
                self.wrong(f"the header's {key!r} is {_short(plain.get(key))}: expected a {kind.__name__}")
        if plain["version"] != VERSION:
            self.wrong(f"version {plain['version']} of the format: this evallearn reads version {VERSION}, update it")
        if plain["game"] != self.game.name:
            self.wrong(f"a suite of {plain['game']!r}, not of {self.game.name!r}: name that game, or another file")
        return plain

    def object(self, line: bytes) -> Mapping[str, Any]:
        self.line += 1
        if len(line) > LONGEST_LINE or self.line > MOST_LINES:
            self.wrong(f"too long: at most {MOST_LINES:,} lines of {LONGEST_LINE:,} bytes are read; split the file")
        try:
            plain = json.loads(line.decode(), parse_constant=lambda name: self.wrong(f"{name} is no value"))
        except (ValueError, RecursionError) as error:  # JSON's own errors and those of UTF-8 are ValueErrors
            self.wrong(f"not a line of JSON ({_short(error)}): make the suite again")
        if not isinstance(plain, dict):
            self.wrong(f'{_short(plain)} is no JSON object: expected {{"position": ..., "values": ...}}')
        return plain

    def item(self, line: bytes, exact: bool) -> Item:
        plain = self.object(line)
        if strange := [k for k in plain if k not in KNOWN]:
            self.wrong(f"unknown key {_short(strange[0])}: known: {', '.join(KNOWN)}")
        if ("values" in plain) == ("value" in plain):
            self.wrong('expected either "values" of the actions or one "value" of the position')
        s = self.state(plain.get("position"))
        exact = self.checked(plain, "exact", bool, exact)
        ply = self.checked(plain, "ply", int, None)
        if ply is not None and not 0 <= ply <= LONGEST_GAME:
            self.wrong(f"ply {_short(ply)}: expected a whole number from 0 to {LONGEST_GAME:,}")
        if "value" in plain:
            value, player = self.number(plain["value"], "value"), self.player(s, plain)
            return Item(state=s, player=player, value=value, ply=ply, exact=exact)
        values, mover = self.values(s, plain["values"]), self.game.to_play(s)
        if plain.get("player", mover) != mover:
            self.wrong(f"player {_short(plain['player'])}: values of actions are to the player to move, {mover}")
        return Item(state=s, player=mover, value=max(values.values()), values=values, ply=ply, exact=exact)

    def checked(self, plain: Json, key: str, kind: type, otherwise: Any) -> Any:
        value = plain.get(key, otherwise)
        if key in plain and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            self.wrong(f"{key!r} is {_short(value)}: expected a {kind.__name__}")
        return value

    def state(self, text: Unchecked) -> State:
        if not isinstance(text, str):
            self.wrong(f"the position is {_short(text)}: expected a text")
        try:
            s = self.game.from_text(text)
        except GameError as error:
            self.wrong(str(error))
        if self.game.is_terminal(s):
            self.wrong(f"the game is over in {_short(text)}: leave it out")
        if s in self.seen:
            self.wrong(f"position {_short(text)} is in line {self.seen[s]} already: leave it out")
        self.seen[s] = self.line
        return s

    def player(self, s: State, plain: Json) -> int:
        game = self.game
        player = self.checked(plain, "player", int, game.observer(s))
        if not 0 <= player < game.n_players:
            self.wrong(f"player {_short(player)}: {game.name} has players 0 to {game.n_players - 1}")
        return int(player)

    def values(self, s: State, plain: Unchecked) -> dict[Action, float]:
        """Return the values in the game's order, one for each legal action."""
        if self.game.to_play(s) == CHANCE:
            self.wrong('the position waits for the dice: give the position after the roll, or one "value"')
        if not isinstance(plain, dict):
            self.wrong(f"'values' is {_short(plain)}: expected {{move: value, ...}}")
        named = {}
        for text, value in plain.items():
            try:
                a = self.game.action_from_text(s, text)
            except GameError as error:
                self.wrong(str(error))
            if a in named:
                self.wrong(f"move {_short(text)} has a value already: give it once")
            named[a] = self.number(value, f"the value of {_short(text)}")
        missing = [self.game.action_to_text(s, a) for a in self.game.actions(s) if a not in named]
        if missing:
            self.wrong(f"no value for {' '.join(missing[:12])}: give one for every legal move")
        return {a: named[a] for a in self.game.actions(s)}

    def number(self, value: Any, what: str) -> float:
        numeric = isinstance(value, int | float) and not isinstance(value, bool)
        if not numeric or not self.low <= value <= self.high:  # nor is a NaN
            self.wrong(f"{what} is {_short(value)}: expected a number from {self.low:g} to {self.high:g}")
        return float(value)


def _short(value: object) -> str:
    """Return the value as it may stand in a message, however long it is."""
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "a very long number"
    return text if len(text) <= 60 else f"{text[:57]}..."
