"""Who sits where: the people (`--you first`), and the agents that play against them."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Protocol

from evallearn.agents import Agent, SearchAgent, parse_agent, parse_evaluator, search_of, zero_evaluator
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import Game
from evallearn.core.search import Limits
from evallearn.core.trust import NO_TRUST, Trust
from evallearn.errors import SpecError

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
PERSON = "you"
"""How a seat is written that a person takes."""
COMPILED_LIMITS = Limits(nodes=300_000, seconds=1)
"""Alpha-beta in compiled games: a third of a second, and nodes repeat where time does not."""
PLAIN_LIMITS = Limits(nodes=10_000, seconds=1)
"""Everything else: about as long."""
LONGEST_LOOK = 300
"""Plies of the random game that shows how wide a game is."""
JUDGE_LIMITS = Limits(seconds=1)

Seats = tuple[Agent | None, ...]
"""One entry per player; None is a person."""


class MakeAgent(Protocol):
    """`make_agent` for a game and limits that are settled."""

    def __call__(self, text: str, *, trust: Trust) -> Agent: ...


def ordinal(player: int) -> str:
    """Return first, second, .. of the players."""
    return ORDINALS[player] if player < len(ORDINALS) else f"player {player + 1}"


def people(text: str, game: Game) -> frozenset[int]:
    """Return the seats that `--you` names.

    They are first, second or 1, 2, .., several with commas; both or all; none.
    """
    word = text.strip().lower()
    if word in ("both", "all"):
        return frozenset(range(game.n_players))
    if word == "none":
        return frozenset()
    seats = {name: i for i in range(game.n_players) for name in (ordinal(i), str(i + 1))}
    named = [part.strip() for part in word.split(",")]
    for part in named:
        if part not in seats:
            have = "one player" if game.n_players == 1 else f"{game.n_players} players"
            raise SpecError(
                f"--you {text!r}: {game.name} has {have}; give {', '.join(seats)}, several with commas, all or none"
            )
    return frozenset(seats[part] for part in named)


def take_seats(game: Game, you: Collection[int], agents: Sequence[Agent]) -> Seats:
    """Set the agents in order on the seats that no person takes; one agent alone takes them all."""
    free = [player for player in range(game.n_players) if player not in you]
    if len(agents) not in (len(free), 1) or (agents and not free):
        want = f"{len(free)} seat{'s' * (len(free) != 1)}"
        raise SpecError(
            f"{len(agents)} opponents for {want} of {game.name}: give --opponent once for all of them, once for each, "
            "or leave it out"
            if free
            else f"--opponent has no seat left in {game.name}: leave it out, or say with --you where people sit"
        )
    places = dict(zip(free, agents if len(agents) > 1 else [*agents] * len(free), strict=True))
    return tuple(places.get(player) for player in range(game.n_players))


def default_limits(game: Game, search: str | None = None) -> Limits:
    """Return limits of about half a second, or less, that the search can keep."""
    if search == "minimax":
        return Limits(depth=minimax_depth(game))
    fast = game.n_players == 2 and game.zero_sum and not game.has_chance and game.rules is not None
    return COMPILED_LIMITS if fast else PLAIN_LIMITS


def minimax_depth(game: Game) -> int:
    """Return how many plies take about as many positions as PLAIN_LIMITS, where a random game leaves most choice."""
    assert PLAIN_LIMITS.nodes is not None
    rng, s, widest = random.Random(0), game.initial(), 2
    for _ in range(LONGEST_LOOK):
        if game.is_terminal(s):
            break
        choices = game.actions(s) or [outcome for outcome, _ in game.chances(s)]
        widest = max(widest, len(choices))
        s = game.result(s, rng.choice(choices))
    depth = 1
    while widest ** (depth + 1) <= PLAIN_LIMITS.nodes:
        depth += 1
    return depth


def default_agent(game: Game) -> str:
    """Return the last heuristic that the game lists (games list their best last); else a search without knowledge."""
    return f"handwritten:{list(game.heuristics)[-1]}" if game.heuristics else "zero"


def make_agent(text: str, game: Game, limits: Limits | None = None, *, trust: Trust = NO_TRUST) -> Agent:
    """Return the agent that `text` describes; it chooses at random among the actions that it values equally."""
    agent = parse_agent(text, game, limits or default_limits(game, search_of(text)), trust=trust)
    return replace(agent, random_ties=True) if isinstance(agent, SearchAgent) else agent


def make_evaluator(text: str, game: Game, *, trust: Trust = NO_TRUST) -> Evaluator:
    """Return the evaluator that `text` names; `zero` also for a game without features."""
    return zero_evaluator(game) if text == "zero" else parse_evaluator(text, game, trust=trust)


def judge_evaluator(game: Game, seats: Seats) -> Evaluator:
    """Return the first opponent's evaluator, so that verdicts and the opponent agree; else the default agent's."""
    searching = [agent for agent in seats if isinstance(agent, SearchAgent)]
    return searching[0].evaluator if searching else make_evaluator(default_agent(game), game)
