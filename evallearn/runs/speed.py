"""Measure how long a game's searches take; what a run can do in a given time follows from it (budget.py)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np

from evallearn.agents import Agent, SearchAgent
from evallearn.core.evaluator import Evaluator
from evallearn.core.game import CHANCE, Game, State
from evallearn.core.search import Limits, SearchResult
from evallearn.core.workers import imap
from evallearn.data import RecordSettings
from evallearn.data.boards import on_fastest_backend
from evallearn.data.generate import play_game
from evallearn.evaluators import LinearEval, heuristic
from evallearn.evaluators.net import NetEval
from evallearn.search.dice.luck import Rolls

SECONDS = 2.0
"""Of measuring, for each depth; one game, or FEWEST searches, at least."""
FEWEST = 5
FIRST_GAME_SECONDS = 60.0
"""A game that takes longer by the least search counts as endless."""
SEARCH_SECONDS = 5.0
"""A depth whose searches take longer is not measured."""
POSITIONS = 500
"""Of the games, for the searches."""
HIDDEN = (32, 16)
"""Units of the neural evaluator that a run fits (NetFitter)."""


@dataclass(frozen=True, kw_only=True)
class GameSpeed:
    """What a process needs, in seconds."""

    moves: float
    """Searches in a game, by all players together; infinite if the first game took more than FIRST_GAME_SECONDS."""
    search_seconds: tuple[float, ...]
    """Of a search of depth 1, of depth 2, and so on, as deep as was measured."""
    leaf_calls: tuple[float, ...]
    """Evaluations in such a search."""
    positions_per_second: float
    """Of the deepest searches."""
    move_seconds: float
    """Of what else a move needs: rules, features, text."""
    neural_seconds: float
    """How much longer one evaluation takes by a neural evaluator."""
    luck_seconds: float
    """Of measuring luck in a match, for each move."""

    @property
    def depth(self) -> int:
        """The deepest search that was measured."""
        return len(self.search_seconds)

    def game_seconds(self, depth: int) -> float:
        """Return the seconds of a game of self-play."""
        return self.moves * (self.move_seconds + self._deep(self.search_seconds, depth))

    def match_seconds(self, depth: int) -> float:
        """Return the seconds of a game of a match."""
        return self.game_seconds(depth) + self.moves * self.luck_seconds

    def neural_match_seconds(self, depth: int) -> float:
        """Return the seconds of a game in which every second move is a neural evaluator's."""
        return self.match_seconds(depth) + self.moves / 2 * self.neural_seconds * self._deep(self.leaf_calls, depth)

    def timed_match_seconds(self, seconds: float) -> float:
        """Return the seconds of a game with so many seconds for a move; no search is shorter than one position."""
        search = max(seconds, 1 / self.positions_per_second)
        return self.moves * (self.move_seconds + self.luck_seconds + search)

    def _deep(self, measured: tuple[float, ...], depth: int) -> float:
        """Return what was measured at this depth; beyond, it grows as it grew last."""
        if depth <= len(measured):
            return measured[depth - 1]
        growth = max(2.0, measured[-1] / measured[-2] if len(measured) > 1 else self.leaf_calls[0])
        return float(measured[-1] * growth ** (depth - len(measured)))


class _Endless(Exception):
    """The first game takes too long."""


@dataclass
class _Watched(Agent):
    """An agent with a search of depth 1 that keeps the positions; raises _Endless if the first game takes too long."""

    game: Game
    search: SearchAgent
    name: str = "watched"
    deadline: float = math.inf
    states: list[State] = field(default_factory=list)
    found: list[SearchResult] = field(default_factory=list)

    def choose(self, s: State, seed: int) -> SearchResult:
        if perf_counter() > self.deadline:
            raise _Endless
        found = self.search.choose(s, seed)
        if len(self.states) < POSITIONS:
            self.states.append(s)
        self.found.append(found)
        return found


def measure_together(workers: int, game: Game, depth: int, opening_plies: int, enough: float = math.inf) -> GameSpeed:
    """Run `measure_speed` in so many processes at a time, as a run plays: they share caches, and perhaps cores."""
    job = partial(_measure_job, game, depth, opening_plies, enough)
    speeds = [speed for _, speed in imap(job, range(workers), workers)]
    return GameSpeed(**{f.name: _mean([getattr(speed, f.name) for speed in speeds]) for f in fields(GameSpeed)})


def _measure_job(game: Game, depth: int, opening_plies: int, enough: float, number: int) -> GameSpeed:
    return measure_speed(game, depth, opening_plies, enough)


def _mean(values: Sequence[Any]) -> Any:
    """Return the mean of numbers; of tuples the tuple of the means, as long as the shortest."""
    if isinstance(values[0], tuple):
        return tuple(map(fmean, zip(*values, strict=False)))
    return fmean(values)


def measure_speed(game: Game, depth: int, opening_plies: int, enough: float = math.inf) -> GameSpeed:
    """Play some games by the searches that suit the game, then search their positions deeper.

    depth: the deepest search of interest. enough: seconds of a game; once it takes longer, no deeper searches are
    measured.
    """
    evaluator = _typical(game)
    watched = _Watched(game, _agent(game, evaluator, 1))
    watched.search.prepare()
    seconds, games = _play(watched, opening_plies)
    moves = len(watched.found) / games if games else math.inf
    searched = [sum(r.seconds for r in watched.found) / len(watched.found)]
    leaf_calls = [sum(r.leaf_calls for r in watched.found) / len(watched.found)]
    nodes = sum(r.nodes for r in watched.found) / len(watched.found)
    rest = max(0.0, seconds / len(watched.found) - searched[0])
    while games and len(searched) < depth and moves * searched[-1] <= enough:
        found = _search(_agent(game, evaluator, len(searched) + 1), watched.states)
        if not found:
            break
        searched.append(sum(r.seconds for r in found) / len(found))
        leaf_calls.append(sum(r.leaf_calls for r in found) / len(found))
        nodes = sum(r.nodes for r in found) / len(found)
    return GameSpeed(
        moves=moves,
        search_seconds=tuple(searched),
        leaf_calls=tuple(leaf_calls),
        positions_per_second=nodes / max(searched[-1], 1e-9),
        move_seconds=rest,
        neural_seconds=max(0.0, _evaluation(_neural(game), watched.states) - _evaluation(evaluator, watched.states)),
        luck_seconds=_luck(game, watched),
    )


def _typical(game: Game) -> LinearEval:
    """Return the game's last heuristic; or random weights, which order moves about as well as learned ones."""
    if game.heuristics:
        return heuristic(game, list(game.heuristics)[-1])
    weights = np.random.default_rng(1).normal(0.0, 0.1, (game.n_phases, len(game.feature_names)))
    return LinearEval(game, weights)


def _neural(game: Game) -> NetEval:
    """Return a neural evaluator as large as the one that a run fits."""
    rng, (h1, h2) = np.random.default_rng(1), HIDDEN
    shapes = {"w1": (1, len(game.feature_names), h1), "b1": (game.n_phases, h1), "w2": (1, h1, h2), "b2": (1, h2),
              "w3": (1, h2, 1), "b3": (1, 1)}  # fmt: skip
    return NetEval(game, {name: rng.normal(0.0, 0.1, shape) for name, shape in shapes.items()})


def _agent(game: Game, evaluator: Evaluator, depth: int) -> SearchAgent:
    return SearchAgent(game, evaluator, Limits(depth=depth, seconds=FIRST_GAME_SECONDS), random_ties=True)


def _play(watched: _Watched, opening_plies: int) -> tuple[float, int]:
    """Play for SECONDS, one game at least; return the seconds and how many games ended."""
    game = on_fastest_backend(watched.game)
    config = RecordSettings(opening_plies=opening_plies, epsilon=0.02)
    start = perf_counter()
    watched.deadline = start + FIRST_GAME_SECONDS
    games = 0
    try:
        while perf_counter() - start < SECONDS:
            play_game(game, [watched] * game.n_players, config, games)
            games, watched.deadline = games + 1, math.inf
    except _Endless:
        pass
    return perf_counter() - start, games


def _search(agent: SearchAgent, states: list[State]) -> list[SearchResult]:
    """Search positions for SECONDS, FEWEST at least; none if one search takes longer than SEARCH_SECONDS."""
    agent.limits = Limits(depth=agent.limits.depth, seconds=SEARCH_SECONDS)
    order, start, found = np.random.default_rng(1).permutation(len(states)), perf_counter(), list[SearchResult]()
    for i in order.tolist():
        if len(found) >= FEWEST and perf_counter() - start > SECONDS:
            break
        found.append(agent.choose(states[i], 1))
        if found[-1].seconds >= SEARCH_SECONDS:
            return []
    return found


def _evaluation(evaluator: Evaluator, states: list[State]) -> float:
    """Measure the seconds of one evaluation."""
    start, n = perf_counter(), 0
    for s in states:
        evaluator.evaluate(s, evaluator.game.to_play(s))
        n += 1
        if perf_counter() - start > SECONDS / 4:
            break
    return (perf_counter() - start) / n


def _luck(game: Game, watched: _Watched) -> float:
    """Measure the seconds for the luck of a roll, where a match measures it; there is about one for every move."""
    if not (game.has_chance and game.n_players == 2 and game.zero_sum and game.heuristics):
        return 0.0
    rolls, start, n = Rolls(game, watched.search.evaluator), perf_counter(), 0
    for s in _before_rolls(game, watched):
        rolls.values(s)
        n += 1
        if perf_counter() - start > SECONDS:
            break
    return (perf_counter() - start) / n if n else 0.0


def _before_rolls(game: Game, watched: _Watched) -> Iterator[State]:
    for s, found in zip(watched.states, watched.found, strict=False):
        after = game.result(s, found.action)
        if game.to_play(after) == CHANCE and not game.is_terminal(after):
            yield after
