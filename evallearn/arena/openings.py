"""Openings: positions to start from, drawn at random or read from a file, each different from all others."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evallearn.core.game import CHANCE, Action, Game, State
from evallearn.core.positions import read_position
from evallearn.core.rng import GOLDEN, scramble
from evallearn.data.boards import Board, board_of, on_fastest_backend
from evallearn.errors import BadNotation, SpecError

MISSES = 1000
"""Random openings in a row that were all seen before, or over: then all are listed, to know how many there are."""
LISTABLE = 20_000
"""Positions of one length that are listed (about a second); a longer list is not needed, or not worth waiting for."""
LARGEST = 100_000_000
"""Bytes of a file of openings; real ones have some thousand."""


class Opening(NamedTuple):
    """A position in which the agents take over."""

    state: State
    actions: tuple[Action, ...] | None = None
    """How it came about from the initial state, rolls included; None if only the position is known."""


def mix(number: int) -> int:
    """Return 62 well-mixed bits; neighbouring numbers give unrelated ones, and 0 does not give 0."""
    return scramble(number + GOLDEN) >> 2


def draw(outcomes: Sequence[Action], probabilities: Sequence[float], seed: int) -> Action:
    """Roll the dice: return one of the outcomes."""
    return random.Random(seed).choices(outcomes, probabilities)[0]


def openings(game: Game, n: int, opening_plies: int, seed: int, *, repeat: bool = False) -> list[Opening]:
    """Draw random positions in which the game goes on: n different ones, or fewer if no more can be found.

    A position played again, or its mirror image, would be the same game, not new evidence; with dice it is not, so
    there openings are repeated, and wherever `repeat` says so. What is drawn and known already is drawn again, so the
    first openings of a seed are those of any larger n.
    """
    board, rng = board_of(on_fastest_backend(game)), random.Random(mix(seed))
    found: dict[Hashable, Opening] = {}
    misses = 0
    while len(found) < n and misses < MISSES:
        before = len(found)
        opening = _random_opening(board, opening_plies, rng)
        if opening is not None:
            found.setdefault(essence(game, opening.state), opening)
        misses = misses + 1 if len(found) == before else 0
    if len(found) < n:
        rest = [o for o in _every_opening(board, opening_plies) if essence(game, o.state) not in found]
        rng.shuffle(rest)
        for o in rest:
            found.setdefault(essence(game, o.state), o)
    if not found:
        raise SpecError(f"no random game of {game.name} goes on after {opening_plies} plies: use fewer random plies")
    return take(list(found.values()), n, repeat=repeat or game.has_chance)


def essence(game: Game, s: State) -> Hashable:
    """Return what is equal for two positions that are one up to the symmetries of the game."""
    return min(game.images(s))  # type: ignore[type-var]  # they sort


def take(different: Sequence[Opening], n: int, *, repeat: bool) -> list[Opening]:
    """Return the first n; where there are fewer, all of them, or again from the beginning."""
    return [different[i % len(different)] for i in range(n)] if repeat else list(different[:n])


def _random_opening(board: Board, plies: int, rng: random.Random) -> Opening | None:
    """Return the position after `plies` random moves, or None if the game is over by then."""
    board.reset()
    path: list[Action] = []
    n = len(board.look())
    for _ in range(plies):
        if n == 0:
            return None
        actions = board.choices()
        if board.player == CHANCE:
            path.append(draw(actions, board.probabilities(), rng.getrandbits(62)))
        else:
            path.append(actions[rng.randrange(n)])
        n = board.step(path[-1])
    return Opening(board.state(), tuple(path)) if n else None


def _every_opening(board: Board, plies: int) -> list[Opening]:
    """Return all positions after `plies` moves in which the game goes on, or nothing if they are too many to list."""
    board.reset()
    layer = {board.state(): Opening(board.state(), ())}
    for _ in range(plies):
        layer = {o.state: o for old in layer.values() for o in _after(board, old)}
        if len(layer) > LISTABLE:
            return []
    return [o for o in layer.values() if list(_after(board, o))]


def _after(board: Board, opening: Opening) -> Iterator[Opening]:
    board.reset(opening.state)
    for a in board.look():
        board.reset(opening.state)
        board.advance(a)
        yield Opening(board.state(), (*(opening.actions or ()), a))


def read_openings(path: Path, game: Game) -> list[Opening]:
    """Read the positions of a file, one a line.

    A line is `start`, or a position in the notation of the game; empty lines and # do not count.
    Every position must be unfinished and different from the others, also by mirroring: refusals name the line.
    """
    found: dict[State, int] = {}
    known: dict[Hashable, int] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        s = _position(game, text, f"{path}, line {number}")
        if s in found:
            raise SpecError(f"{path}, line {number}: the position of line {found[s]} again: take one of them out")
        if (same := known.setdefault(essence(game, s), number)) != number:
            raise SpecError(
                f"{path}, line {number}: a mirror image of the position of line {same}: take one of them out"
            )
        found[s] = number
    if not found:
        raise SpecError(f"{path} holds no position: write one a line, in the notation of {game.name}")
    return [Opening(s) for s in found]


def read_text(path: Path) -> str:
    """Return the text of a file of openings. Raises SpecError."""
    try:
        if path.is_file() and path.stat().st_size > LARGEST:
            raise SpecError(f"{path} has more than {LARGEST} bytes: give a file of positions, one a line")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise SpecError(f"cannot read the openings {path} ({why}): give a file of positions, one a line") from None


def _position(game: Game, text: str, where: str) -> State:
    try:
        s = read_position(game, text)
    except BadNotation as error:
        raise SpecError(f"{where}: {error}") from None
    if game.is_terminal(s):
        raise SpecError(f"{where}: the game is over in {text!r}: take it out")
    return s
