"""Openings: random positions to start from, and the referee who knows the rules on the fastest floor there is."""

from __future__ import annotations

import random
from collections.abc import Sequence

from evallearn.errors import SpecError
from evallearn.mixing import scramble
from evallearn.protocols import CHANCE, Action, Game, State

MISSES = 1000
"""Random openings in a row that were all seen before, or over: then all are listed, to know how many there are."""
LISTABLE = 20_000
"""Positions of one length that are listed (about a second); a longer list is not needed, or not worth waiting for."""


class Referee:
    """What a match asks of a game, in as few calls as possible: the plain floor."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def look(self, s: State) -> tuple[int, Sequence[Action]]:
        """Who is to play, and the legal actions: none if the game is over."""
        if self.game.is_terminal(s):
            return self.game.to_play(s), ()
        player = self.game.to_play(s)
        return player, self.game.actions(s) if player != CHANCE else [a for a, _ in self.game.chances(s)]

    def after(self, s: State, a: Action) -> State:
        """The state after `a`, which `look` has just found legal in `s`."""
        return self.game.result(s, a)

    def roll(self, s: State, seed: int) -> Action:
        """An outcome of the dice."""
        chances = self.game.chances(s)
        return random.Random(seed).choices([a for a, _ in chances], [p for _, p in chances])[0]

    def random_action(self, s: State, player: int, actions: Sequence[Action], rng: random.Random) -> Action:
        """A move for a random opening."""
        return self.roll(s, rng.getrandbits(62)) if player == CHANCE else actions[rng.randrange(len(actions))]


class CompiledReferee(Referee):
    """The same from the compiled floor, one kernel call per question."""

    def __init__(self, game: Game) -> None:
        from evallearn.compiled.game import CompiledGame

        super().__init__(game)
        compiled = CompiledGame(game)  # our own: an agent that shared its record would overwrite it
        self.look, self.after = compiled.look, compiled.after  # type: ignore[method-assign, assignment]  # no detour: a ply counts


def referee_of(game: Game) -> Referee:
    """The fastest there is."""
    return Referee(game) if game.rules is None else CompiledReferee(game)


def mix(number: int) -> int:
    """62 well-mixed bits; neighbouring numbers give unrelated ones, and 0 does not give 0."""
    return scramble(number + 0x9E3779B97F4A7C15) >> 2


def openings(game: Game, pairs: int, random_plies: int, seed: int) -> list[State]:
    """Random positions in which the game goes on: one per pair, all different, or fewer if no more can be found.

    A position played again would be the same game, not new evidence; only with dice are openings repeated.
    """
    referee, rng = referee_of(game), random.Random(mix(seed))
    found: dict[State, None] = {}
    misses = 0
    while len(found) < pairs and misses < MISSES:
        s = _random_opening(referee, random_plies, rng)
        misses = misses + 1 if s is None or s in found else 0
        if s is not None:
            found[s] = None
    if len(found) < pairs:
        rest = [s for s in _every_opening(referee, random_plies) if s not in found]
        rng.shuffle(rest)
        found.update(dict.fromkeys(rest))
    if not found:
        raise SpecError(f"no random game of {game.name} goes on after {random_plies} plies: use fewer random plies")
    distinct = list(found)[:pairs]
    return [distinct[i % len(distinct)] for i in range(pairs)] if game.has_chance else distinct


def _random_opening(referee: Referee, plies: int, rng: random.Random) -> State | None:
    """The position after `plies` random moves, or None if the game is over by then."""
    s = referee.game.initial()
    for _ in range(plies):
        player, actions = referee.look(s)
        if not actions:
            return None
        s = referee.after(s, referee.random_action(s, player, actions, rng))
    return s if referee.look(s)[1] else None


def _every_opening(referee: Referee, plies: int) -> list[State]:
    """All positions after `plies` moves in which the game goes on, or nothing if they are too many to list."""
    layer: dict[State, None] = {referee.game.initial(): None}
    for _ in range(plies):
        layer = {referee.after(s, a): None for s in layer for a in referee.look(s)[1]}
        if len(layer) > LISTABLE:
            return []
    return [s for s in layer if referee.look(s)[1]]
