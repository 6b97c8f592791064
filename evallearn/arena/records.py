"""One game of a match, written in the game's own notation, and the referee who plays it over again.

A record may come from a stranger's file: `GameRecord.from_json` checks its shape, `replay` its moves, its end and its
result. `evallearn.arena.formats` writes records to files and reads them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.json_shapes import JsonDict
from evallearn.errors import DataError, GameError

FORFEIT, ADJUDICATED = "forfeit", "adjudicated"
"""What `GameRecord.end` begins with, a colon after it."""
FIELDS = ("number", "set", "players", "opening", "opening_actions", "actions", "utilities", "end")
"""In the order in which they are written."""
NEAR = 1e-6
"""Utilities that differ by no more are equal: kernels compute them with 32 bits."""


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game as it was played; texts are in the game's own notation."""

    number: int
    """Of the game in its match."""
    opening: str
    """The position in which the agents took over."""
    opening_actions: tuple[str, ...] | None
    """How it came about from the initial position, if that is known."""
    players: tuple[str, ...]
    """The agents' names by seat."""
    actions: tuple[str, ...]
    """After the opening; rolls of the dice stand among them, where they fell."""
    utilities: tuple[float, ...]
    """To each seat."""
    end: str = ""
    """Empty: by the rules; else "forfeit: why" or "adjudicated: which rule". White space becomes single blanks."""
    set: int = 0
    """The set of games, in all seatings from one opening, that it belongs to."""

    def __post_init__(self) -> None:
        # The reason of a forfeit is whatever an engine said, in however many lines; every format must hold it.
        object.__setattr__(self, "end", " ".join(self.end.split()))

    @property
    def moves(self) -> tuple[str, ...]:
        """All that is known to have been played: the opening, if it is known, and the rest."""
        return (*(self.opening_actions or ()), *self.actions)

    def to_json(self) -> JsonDict:
        """Return plain lists, numbers and texts: ready for json.dump."""
        values = {name: getattr(self, name) for name in FIELDS}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_json(cls, data: object, where: str = "game record") -> GameRecord:
        """Return the record that `to_json` wrote, each field of its type. Raises DataError that begins with `where`."""
        if not isinstance(data, dict):
            raise DataError(f"{where} is {_shown(data)}: expected an object with the fields {', '.join(FIELDS)}")
        if missing := [name for name in FIELDS if name not in data and name not in ("end", "set")]:
            raise DataError(f"{where} has no {missing[0]!r}: the file is damaged, or write that field")
        if strange := sorted(map(str, set(data) - set(FIELDS))):
            raise DataError(f"{where}: unknown field {strange[0]!r}: known: {', '.join(FIELDS)}")
        for name in ("number", "set"):
            if type(data.get(name, 0)) is not int or data.get(name, 0) < 0:
                raise DataError(f"{where}: {name!r} is {_shown(data[name])}: expected a whole number of 0 or more")
        for name in ("opening", "end"):
            if not isinstance(data.get(name, ""), str):
                raise DataError(f"{where}: {name!r} is {_shown(data[name])}: expected a text")
        how = None if data["opening_actions"] is None else _texts(data, "opening_actions", where)
        record = cls(
            number=data["number"],
            opening=data["opening"],
            opening_actions=how,
            players=_texts(data, "players", where),
            actions=_texts(data, "actions", where),
            utilities=_numbers(data, "utilities", where),
            end=data.get("end", ""),
            set=data.get("set", 0),
        )
        check_end(record.end, where)
        return record


def check_end(end: str, where: str) -> None:
    """Refuse an end of which nobody can say who decided it."""
    if end and end.partition(":")[0] not in (FORFEIT, ADJUDICATED):
        raise DataError(
            f"{where}: 'end' is {_shown(end)}: expected nothing for an end by the rules, '{FORFEIT}: why' or "
            f"'{ADJUDICATED}: which rule'"
        )


def _texts(data: JsonDict, name: str, where: str) -> tuple[str, ...]:
    found = data[name]
    if not isinstance(found, list):
        raise DataError(f"{where}: {name!r} is {_shown(found)}: expected a list of texts")
    for i, text in enumerate(found, 1):
        if not isinstance(text, str):
            raise DataError(f"{where}: {name!r} number {i} is {_shown(text)}: expected a text")
    return tuple(found)


def _numbers(data: JsonDict, name: str, where: str) -> tuple[float, ...]:
    found = data[name]
    if not isinstance(found, list):
        raise DataError(f"{where}: {name!r} is {_shown(found)}: expected a list of numbers")
    for i, number in enumerate(found, 1):
        if type(number) not in (int, float) or not abs(number) < 1e300:  # nor infinite, nor NaN
            raise DataError(f"{where}: {name!r} number {i} is {_shown(number)}: expected a number")
    return tuple(map(float, found))


def _shown(value: object) -> str:
    """Return a stranger's value, at a length that leaves the message readable."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# --- playing it over again -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Replayed:
    """A game that was played over: every move was legal."""

    states: tuple[State, ...]
    """From the initial position, or from the opening if it is not known how that came about: one more than actions."""
    actions: tuple[Action, ...]
    opening_plies: int
    """So many of the actions belong to the opening."""

    @property
    def final(self) -> State:
        """Where the game ended."""
        return self.states[-1]


def replay(game: Game, record: GameRecord, *, source: str = "") -> State:
    """Return the final state. Raises DataError that names `source`, the game, the ply, the move and the remedy.

    Every move must be legal, the opening must come about as the record says, the game must have ended by the rules
    unless `end` says otherwise, and then the utilities must be what the game says.
    """
    return play_over(game, record, source=source).final


def play_over(game: Game, record: GameRecord, *, source: str = "") -> Replayed:
    """Do what `replay` does, and return all positions and actions on the way."""
    game = getattr(game, "plain", game)  # of a CompiledGame: the plain Python version is the oracle
    where = place(source, record.number)
    check_seats(game, record, where)
    opening = position(game, record.opening, where)
    known = record.opening_actions is not None
    states = [game.initial() if known else opening]
    actions: list[Action] = []
    for ply, text in enumerate(record.moves, 1):
        actions.append(legal_action(game, states[-1], text, f"{where}, ply {ply}, {text!r}"))
        states.append(game.result(states[-1], actions[-1]))
    found = Replayed(tuple(states), tuple(actions), len(record.opening_actions or ()))
    if known and states[found.opening_plies] != opening:
        there = game.to_text(states[found.opening_plies])
        raise DataError(
            f"{where}: its opening moves lead to {there!r}, but its opening is {record.opening!r}: correct one of them"
        )
    _check_result(game, record, found.final, where)
    return found


def place(source: str, number: int) -> str:
    """Say which game of which source it is."""
    return f"{source}: game {number}" if source else f"game {number}"


def check_seats(game: Game, record: GameRecord, where: str) -> None:
    """Refuse wrong numbers of players or utilities, and utilities that the game cannot give. Raises DataError."""
    for what, given in (("players", record.players), ("utilities", record.utilities)):
        if len(given) != game.n_players:
            raise DataError(
                f"{where} has {len(given)} {what}, but {game.name} has {game.n_players} seats: give one for each"
            )
    low, high = game.utility_range
    for value in record.utilities:
        if not low - NEAR <= value <= high + NEAR:
            raise DataError(f"{where}: utility {value:g}: {game.name} gives {low:g} to {high:g}; correct the result")


def legal_action(game: Game, s: State, text: str, where: str) -> Action:
    """Return the move or the roll that `text` says. Raises DataError that begins with `where`."""
    if game.is_terminal(s):
        raise DataError(f"{where}: the game is over before it, in {game.to_text(s)!r}: take it out")
    try:
        if game.to_play(s) != CHANCE:
            return game.action_from_text(s, text)
    except GameError as error:
        raise DataError(f"{where}: {error}: correct it, or take the game out of the file") from None
    outcomes = {game.action_to_text(s, a): a for a, _ in game.chances(s)}
    if text not in outcomes:
        raise DataError(f"{where}: chance cannot give that; it gives one of {' '.join(outcomes)}: correct it")
    return outcomes[text]


def position(game: Game, text: str, where: str) -> State:
    """Return the opening that `text` says. Raises DataError that begins with `where`."""
    try:
        return game.from_text(text)
    except GameError as error:
        raise DataError(f"{where}: its opening cannot be: {error}: correct it") from None


def _check_result(game: Game, record: GameRecord, s: State, where: str) -> None:
    plies, over = len(record.moves), game.is_terminal(s)
    if not over and not record.end:
        raise DataError(
            f"{where}, after ply {plies}: the game goes on in {game.to_text(s)!r}: its last moves are missing, or "
            f"'end' must say '{FORFEIT}: why' or '{ADJUDICATED}: which rule'"
        )
    if not over:
        check_end(record.end, where)
        return
    utilities = [game.utility(s, player) for player in range(game.n_players)]
    if not all(
        math.isclose(a, b, rel_tol=NEAR, abs_tol=NEAR) for a, b in zip(utilities, record.utilities, strict=True)
    ):
        raise DataError(
            f"{where}, after ply {plies}: the game is over with {numbers(utilities)}, but the record says "
            f"{numbers(record.utilities)}: correct the result"
        )


def numbers(values: Sequence[float]) -> str:
    """Format numbers as in `1 -1`: as short as they can be read back exactly."""
    return " ".join(str(int(v)) if float(v).is_integer() and abs(v) < 1e15 else repr(float(v)) for v in values)
